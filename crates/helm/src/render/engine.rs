//! Running all templates of a chart.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::scope::{self, Shared};
use super::{Capabilities, Environment, Error, Lookup, Release};
use crate::chart::Chart;
use crate::functions::random::Random;
use crate::functions::supply::Supply;
use crate::template::ast::{Source, Template};
use crate::template::execute::{Executor, World};
use crate::template::failure::report_parse;
use crate::template::parser;
use crate::template::set::Set;
use crate::value::{MapType, Value, convert, new_map, text};
use crate::values::{Table, Values, coalesce, schema};

/// The stack of the thread that renders, in bytes. It is reserved, not taken: only what is used is memory.
const STACK: usize = 512 * 1024 * 1024;

/// Renders every template that is no partial; the texts by path.
///
/// Values are put together on the same thread: what that needed and gave back is what templates are parsed into.
pub(super) fn run(
    chart: &Chart,
    values: &Values,
    release: &Release,
    capabilities: &Capabilities,
    lookup: &(dyn Lookup + Sync),
    environment: &Environment,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let keys = Supply::for_templates(texts(chart).into_iter());
    std::thread::scope(|threads| {
        let thread = std::thread::Builder::new().name("helm-templates".to_owned()).stack_size(STACK);
        let render = || {
            let values = coalesce::coalesce(chart, values)?;
            schema::validate(chart, &values)?;
            let random = Random::new(environment.seed);
            let world = World { lookup, now: environment.now, random, keys };
            render(chart, values, &Shared::new(release, capabilities), world)
        };
        let started =
            thread.spawn_scoped(threads, render).map_err(|error| Error::Thread(error.to_string()))?;
        started.join().unwrap_or_else(|_| Err(Error::Thread("it ended by itself; this is a bug".to_owned())))
    })
}

/// All templates of a chart and its sub-charts, in no order.
fn texts(chart: &Chart) -> Vec<&[u8]> {
    let own = chart.templates.iter().map(|file| &*file.data);
    own.chain(chart.dependencies.iter().flat_map(texts)).collect()
}

fn render(
    chart: &Chart,
    values: Table,
    shared: &Shared,
    world: World<'_>,
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut templates = Vec::new();
    let values = new_map(convert::from_table(values));
    scope::collect(chart, &chart.metadata.name, true, values, shared, &mut templates);
    // Helm's order, which shows when templates change what others see: the deepest paths first, then by name, backwards.
    templates.sort_by(|left, right| {
        let depth = |path: &str| path.matches('/').count();
        (depth(&right.path), &right.path).cmp(&(depth(&left.path), &left.path))
    });
    // Of two files with one path the later one counts.
    templates.dedup_by(|later, earlier| {
        let same = later.path == earlier.path;
        if same {
            std::mem::swap(later, earlier);
        }
        same
    });
    let mut set = Set::default();
    for template in &templates {
        let parsed = parser::parse(&template.path, Arc::clone(template.text));
        for definition in parsed.map_err(|error| report_parse(&template.path, &error))? {
            set.add(definition);
        }
    }
    let set = Rc::new(set);
    let start = Rc::new(Template {
        name: Rc::from("gotpl"),
        source: Rc::new(Source { name: "gotpl".to_owned(), text: Arc::from(&b""[..]) }),
        body: Vec::new(),
    });
    let mut executor = Executor::new(world, Rc::clone(&set), start);
    let mut files = BTreeMap::new();
    for template in &templates {
        let base = template.path.rsplit('/').next().unwrap_or(&template.path);
        if base.starts_with('_') {
            continue;
        }
        let Some(parsed) = set.find(&template.path) else { continue };
        let about =
            [("Name", Value::string(&template.path)), ("BasePath", Value::string(&template.base_path))];
        let about = about.into_iter().map(|(key, value)| (Rc::from(key), value)).collect();
        template.dot.borrow_mut().insert(Rc::from("Template"), Value::Map(MapType::Values, new_map(about)));
        let dot = Value::Map(MapType::Values, Rc::clone(&template.dot));
        let written = executor.run(parsed, &dot).map_err(|failure| failure.report())?;
        files.insert(template.path.clone(), text::replace(&written, b"<no value>", b""));
    }
    // A template may have put a map into itself.
    for template in &templates {
        template.dot.borrow_mut().clear();
    }
    Ok(files)
}
