//! Which sub-charts are used, under which names, and what their parents take over from them.

use crate::render::Error;
use crate::values::coalesce::{self, coalesce};
use crate::values::{Table, Tree, Values};
use crate::version;

use super::{Chart, ImportValues};

/// That the chart can be installed and has all charts that it names.
pub(crate) fn check(chart: &Chart) -> Result<(), Error> {
    if chart.metadata.is_library() {
        return Err(Error::Library);
    }
    let has = |name: &str| chart.dependencies.iter().any(|subchart| subchart.metadata.name == name);
    let names = chart.metadata.dependencies.iter().map(|dependency| dependency.name.as_str());
    let missing: Vec<String> = names.filter(|name| !has(name)).map(str::to_owned).collect();
    if missing.is_empty() { Ok(()) } else { Err(Error::MissingDependencies(missing)) }
}

/// Drops what conditions and tags switch off, renames by alias, and takes over imported values.
pub(crate) fn process(chart: &mut Chart, values: &Values) -> Result<(), Error> {
    enable(chart, values, "")?;
    import(chart)
}

fn enable(chart: &mut Chart, values: &Values, path: &str) -> Result<(), Error> {
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    rename(chart);
    for dependency in &mut chart.metadata.dependencies {
        dependency.enabled = true;
    }
    let coalesced = Values(coalesce(chart, values)?);
    by_tags(chart, &coalesced.0);
    by_conditions(chart, &coalesced.0, path);
    let disabled: Vec<String> = chart
        .metadata
        .dependencies
        .iter()
        .filter(|dependency| !dependency.enabled)
        .map(|dependency| dependency.name.clone())
        .collect();
    chart.dependencies.retain(|subchart| !disabled.contains(&subchart.metadata.name));
    chart.metadata.dependencies.retain(|dependency| !disabled.contains(&dependency.name));
    for subchart in &mut chart.dependencies {
        let path = format!("{path}{}.", subchart.metadata.name);
        enable(subchart, &coalesced, &path)?;
    }
    Ok(())
}

/// Puts the sub-charts into the order of `Chart.yaml`, those that it does not name first; one that is named under
/// several aliases is there several times.
fn rename(chart: &mut Chart) {
    let fits = |subchart: &Chart, name: &str, range: &str| {
        subchart.metadata.name == name
            && (range.is_empty() || version::satisfies(range, &subchart.metadata.version))
    };
    let named = |subchart: &Chart| {
        chart
            .metadata
            .dependencies
            .iter()
            .any(|dependency| fits(subchart, &dependency.name, &dependency.version))
    };
    let mut charts: Vec<Chart> =
        chart.dependencies.iter().filter(|subchart| !named(subchart)).cloned().collect();
    for dependency in &mut chart.metadata.dependencies {
        let found =
            chart.dependencies.iter().find(|subchart| fits(subchart, &dependency.name, &dependency.version));
        if let Some(subchart) = found {
            let mut subchart = subchart.clone();
            if !dependency.alias.is_empty() {
                subchart.metadata.name.clone_from(&dependency.alias);
            }
            charts.push(subchart);
        }
        if !dependency.alias.is_empty() {
            dependency.name.clone_from(&dependency.alias);
        }
    }
    chart.dependencies = charts;
}

fn by_tags(chart: &mut Chart, values: &Table) {
    let Some(Tree::Map(tags)) = values.get("tags") else { return };
    for dependency in &mut chart.metadata.dependencies {
        let set = |wanted| dependency.tags.iter().any(|tag| tags.get(tag) == Some(&Tree::Bool(wanted)));
        dependency.enabled = set(true) || !set(false);
    }
}

/// The first path that holds a boolean decides.
fn by_conditions(chart: &mut Chart, values: &Table, path: &str) {
    for dependency in &mut chart.metadata.dependencies {
        let conditions = dependency.condition.trim().split(',').filter(|condition| !condition.is_empty());
        let decided = conditions
            .map(|condition| value_at(values, &format!("{path}{condition}")))
            .find_map(|found| if let Some(Tree::Bool(enabled)) = found { Some(*enabled) } else { None });
        if let Some(enabled) = decided {
            dependency.enabled = enabled;
        }
    }
}

fn value_at<'table>(values: &'table Table, path: &str) -> Option<&'table Tree> {
    let (parents, key) = path.rsplit_once('.').map_or((None, path), |(parents, key)| (Some(parents), key));
    let table = match parents {
        Some(parents) => table_at(values, parents)?,
        None => values,
    };
    table.get(key)
}

/// The table at a path of names joined by dots.
fn table_at<'table>(values: &'table Table, path: &str) -> Option<&'table Table> {
    path.split('.').try_fold(values, |table, key| table.get(key)?.as_table())
}

/// Takes over values from sub-charts, the innermost first.
fn import(chart: &mut Chart) -> Result<(), Error> {
    for subchart in &mut chart.dependencies {
        import(subchart)?;
    }
    if chart.metadata.dependencies.is_empty() {
        return Ok(());
    }
    let own = coalesce::defaults_with_nulls(chart)?;
    let mut imported = Table::new();
    for dependency in &mut chart.metadata.dependencies {
        for import in &mut dependency.import_values {
            let (child, parent) = match import {
                ImportValues::Exported(name) => (format!("exports.{name}"), ".".to_owned()),
                ImportValues::Mapped { child, parent } => (child.clone(), parent.clone()),
            };
            if let Some(table) = table_at(&own, &format!("{}.{child}", dependency.name)) {
                coalesce::merge_tables(&mut imported, nested(&parent, table.clone()));
            }
            *import = ImportValues::Mapped { child, parent };
        }
    }
    let mut values = own;
    coalesce::merge_tables(&mut values, imported);
    chart.values = Values(values);
    Ok(())
}

/// The table, below a path of names joined by dots.
fn nested(path: &str, table: Table) -> Table {
    if path == "." {
        return table;
    }
    path.rsplit('.').fold(table, |table, key| Table::from([(key.to_owned(), Tree::Map(table))]))
}
