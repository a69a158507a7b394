//! What each chart's templates see: values, files and metadata of their own, and what all share.

use std::rc::Rc;
use std::sync::Arc;

use super::{Capabilities, Release};
use crate::chart::{Chart, Dependency, ImportValues, Maintainer, Metadata};
use crate::value::{Entries, Map, MapType, Object, Text, Value, new_map};

/// A template's file, and what it sees.
pub(super) struct Scoped<'chart> {
    /// The path that shows in `# Source:` lines.
    pub(super) path: String,
    pub(super) text: &'chart Arc<[u8]>,
    /// The dot.
    pub(super) dot: Map,
    /// The folder of the chart's templates.
    pub(super) base_path: String,
}

/// What all charts of a release share.
pub(super) struct Shared {
    release: Value,
    capabilities: Value,
}

impl Shared {
    pub(super) fn new(release: &Release, capabilities: &Capabilities) -> Self {
        let entries = [
            ("Name", Value::string(&release.name)),
            ("Namespace", Value::string(&release.namespace)),
            ("IsUpgrade", Value::Bool(release.is_upgrade)),
            ("IsInstall", Value::Bool(!release.is_upgrade)),
            ("Revision", Value::int(i64::from(release.revision))),
            ("Service", Value::string("Helm")),
        ];
        let capabilities = Object::Capabilities {
            kube_version: capabilities.kube_version.clone(),
            api_versions: Rc::new(capabilities.api_versions.iter().map(Value::string).collect()),
        };
        Self { release: map(entries), capabilities: Value::object(capabilities) }
    }
}

/// Collects the templates of a chart and its sub-charts; hands back the chart's dot.
pub(super) fn collect<'chart>(
    chart: &'chart Chart,
    path: &str,
    is_root: bool,
    values: Map,
    shared: &Shared,
    templates: &mut Vec<Scoped<'chart>>,
) -> Value {
    let subcharts = new_map(Entries::new());
    let dot = new_map(entries([
        ("Chart", metadata(&chart.metadata, is_root)),
        ("Files", files(chart)),
        ("Release", shared.release.clone()),
        ("Capabilities", shared.capabilities.clone()),
        ("Values", Value::Map(MapType::Values, Rc::clone(&values))),
        ("Subcharts", Value::Map(MapType::Any, Rc::clone(&subcharts))),
    ]));
    for subchart in &chart.dependencies {
        let name = &subchart.metadata.name;
        let own = match values.borrow().get(name.as_str()) {
            Some(Value::Map(_, own)) => Rc::clone(own),
            _ => new_map(Entries::new()),
        };
        let below = collect(subchart, &format!("{path}/charts/{name}"), false, own, shared, templates);
        subcharts.borrow_mut().insert(Rc::from(name.as_str()), below);
    }
    let is_library = chart.metadata.is_library();
    for file in &chart.templates {
        let base = file.name.rsplit('/').next().unwrap_or(&file.name);
        // A library chart lends its partials only.
        if is_library && !base.starts_with('_') {
            continue;
        }
        templates.push(Scoped {
            path: format!("{path}/{}", file.name),
            text: &file.data,
            dot: Rc::clone(&dot),
            base_path: format!("{path}/templates"),
        });
    }
    Value::Map(MapType::Any, dot)
}

fn files(chart: &Chart) -> Value {
    let entry =
        |file: &crate::chart::File| (Rc::from(file.name.as_str()), Value::Bytes(Text::from(&*file.data)));
    Value::Map(MapType::Files, new_map(chart.files.iter().map(entry).collect()))
}

fn entries<const COUNT: usize>(entries: [(&str, Value); COUNT]) -> Entries {
    entries.into_iter().map(|(key, value)| (Rc::from(key), value)).collect()
}

fn map<const COUNT: usize>(list: [(&str, Value); COUNT]) -> Value {
    Value::map(entries(list))
}

fn texts(texts: &[String]) -> Value {
    Value::list(texts.iter().map(Value::string).collect())
}

/// `.Chart`: a map under the names of Go's fields.
fn metadata(metadata: &Metadata, is_root: bool) -> Value {
    let annotations =
        metadata.annotations.iter().map(|(key, value)| (Rc::from(key.as_str()), Value::string(value)));
    let annotations_type =
        if metadata.annotations.is_empty() { MapType::NilStrings } else { MapType::Strings };
    map([
        ("Name", Value::string(&metadata.name)),
        ("Home", Value::string(&metadata.home)),
        ("Sources", texts(&metadata.sources)),
        ("Version", Value::string(&metadata.version)),
        ("Description", Value::string(&metadata.description)),
        ("Keywords", texts(&metadata.keywords)),
        ("Maintainers", Value::list(metadata.maintainers.iter().map(maintainer).collect())),
        ("Icon", Value::string(&metadata.icon)),
        ("APIVersion", Value::string(&metadata.api_version)),
        ("Condition", Value::string(&metadata.condition)),
        ("Tags", Value::string(&metadata.tags)),
        ("AppVersion", Value::string(&metadata.app_version)),
        ("Deprecated", Value::Bool(metadata.deprecated)),
        ("Annotations", Value::Map(annotations_type, new_map(annotations.collect()))),
        ("KubeVersion", Value::string(&metadata.kube_version)),
        ("Dependencies", Value::list(metadata.dependencies.iter().map(dependency).collect())),
        ("Type", Value::string(&metadata.kind)),
        ("IsRoot", Value::Bool(is_root)),
    ])
}

fn maintainer(maintainer: &Maintainer) -> Value {
    map([
        ("Name", Value::string(&maintainer.name)),
        ("Email", Value::string(&maintainer.email)),
        ("URL", Value::string(&maintainer.url)),
    ])
}

fn dependency(dependency: &Dependency) -> Value {
    let imported = |import: &ImportValues| match import {
        ImportValues::Exported(name) => Value::string(name),
        ImportValues::Mapped { child, parent } => {
            let entries = entries([("child", Value::string(child)), ("parent", Value::string(parent))]);
            Value::Map(MapType::Strings, new_map(entries))
        }
    };
    map([
        ("Name", Value::string(&dependency.name)),
        ("Version", Value::string(&dependency.version)),
        ("Repository", Value::string(&dependency.repository)),
        ("Condition", Value::string(&dependency.condition)),
        ("Tags", texts(&dependency.tags)),
        ("Enabled", Value::Bool(dependency.enabled)),
        ("ImportValues", Value::list(dependency.import_values.iter().map(imported).collect())),
        ("Alias", Value::string(&dependency.alias)),
    ])
}
