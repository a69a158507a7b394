//! Coalescing: a chart's defaults, its sub-charts' and the user's values become one tree.
//!
//! The rules are those of Helm 4.2 and later: a null of the user removes the chart's default, a null among the
//! defaults never shows.

use super::Values;
use super::tree::{Table, Tree};
use crate::chart::Chart;
use crate::render::Error;

/// The key whose table is handed down to all sub-charts.
pub(crate) const GLOBAL: &str = "global";

/// What becomes of nulls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// A null removes; the result is for templates.
    Remove,
    /// Nulls stay; the result is coalesced again later.
    Keep,
}

/// The values that the templates of `chart` see, those of its sub-charts below their names.
pub(crate) fn coalesce(chart: &Chart, values: &Values) -> Result<Table, Error> {
    let mut table = values.0.clone();
    with_subcharts(chart, &mut table, Nulls::Remove)?;
    Ok(table)
}

/// Like [`coalesce`] without values of the user, but nulls stay.
pub(crate) fn defaults_with_nulls(chart: &Chart) -> Result<Table, Error> {
    let mut table = Table::new();
    with_subcharts(chart, &mut table, Nulls::Keep)?;
    Ok(table)
}

/// Lays `over` over `under`, nulls kept.
pub(crate) fn merge_tables(over: &mut Table, under: Table) {
    tables(over, under, Nulls::Keep);
}

fn with_subcharts(chart: &Chart, table: &mut Table, nulls: Nulls) -> Result<(), Error> {
    own(chart, table, nulls);
    for subchart in &chart.dependencies {
        let name = &subchart.metadata.name;
        let globals = table.get(GLOBAL).cloned();
        let slot = table.entry(name.clone()).or_insert_with(|| Tree::Map(Table::new()));
        let found = slot.kind();
        let Tree::Map(values) = slot else {
            return Err(Error::SubchartValues { chart: name.clone(), found });
        };
        hand_down_globals(values, globals);
        with_subcharts(subchart, values, nulls)?;
        let below = values.get(GLOBAL).and_then(Tree::as_table).cloned();
        if let (Some(Tree::Map(own)), Some(below)) = (table.get_mut(GLOBAL), below) {
            share_globals(own, &below);
        }
    }
    Ok(())
}

/// Lays the values over the chart's own defaults.
fn own(chart: &Chart, table: &mut Table, nulls: Nulls) {
    for (key, default) in &chart.values.0 {
        match table.get_mut(key) {
            Some(Tree::Null) if nulls == Nulls::Remove => {
                table.remove(key);
            }
            Some(Tree::Map(values)) => {
                if let Tree::Map(defaults) = default {
                    let for_subchart =
                        chart.dependencies.iter().any(|subchart| subchart.metadata.name == *key);
                    let nulls = if for_subchart { Nulls::Keep } else { nulls };
                    let mut defaults = defaults.clone();
                    if nulls == Nulls::Remove {
                        remove_nulls(&mut defaults);
                    }
                    tables(values, defaults, nulls);
                }
            }
            Some(_) => {}
            None if nulls == Nulls::Keep => {
                table.insert(key.clone(), default.clone());
            }
            None => {
                let mut default = default.clone();
                if let Tree::Map(defaults) = &mut default {
                    remove_nulls(defaults);
                }
                if !default.is_null() {
                    table.insert(key.clone(), default);
                }
            }
        }
    }
}

/// The parent's globals win over the sub-chart's.
fn hand_down_globals(values: &mut Table, globals: Option<Tree>) {
    let globals = match globals {
        None => Table::new(),
        Some(Tree::Map(globals)) => globals,
        Some(_) => return,
    };
    let Tree::Map(own) = values.entry(GLOBAL.to_owned()).or_insert_with(|| Tree::Map(Table::new())) else {
        return;
    };
    for (key, value) in globals {
        match (value, own.get_mut(&key)) {
            (Tree::Map(mut table), Some(Tree::Map(below))) => {
                tables(&mut table, std::mem::take(below), Nulls::Keep);
                own.insert(key, Tree::Map(table));
            }
            (Tree::Map(_), Some(_)) | (_, Some(Tree::Map(_))) => {}
            (value, _) => {
                own.insert(key, value);
            }
        }
    }
}

/// Tables two levels below `global` are the same for a chart and its sub-charts: in Helm they are one object, which
/// a sub-chart's defaults fill up for all that come after it.
fn share_globals(own: &mut Table, below: &Table) {
    for (key, value) in own {
        let (Tree::Map(own), Some(Tree::Map(below))) = (value, below.get(key)) else { continue };
        for (key, value) in own {
            if let (Tree::Map(_), Some(shared @ Tree::Map(_))) = (&*value, below.get(key)) {
                *value = shared.clone();
            }
        }
    }
}

/// Lays `over` over `under`, into `over`.
fn tables(over: &mut Table, under: Table, nulls: Nulls) {
    for (key, below) in under {
        match (over.get_mut(&key), below) {
            (None, below) => {
                over.insert(key, below);
            }
            // The user's null removes a default; where there is none it stays.
            (Some(Tree::Null), below) => {
                if nulls == Nulls::Remove && !below.is_null() {
                    over.remove(&key);
                }
            }
            (Some(Tree::Map(above)), Tree::Map(below)) => tables(above, below, nulls),
            (Some(_), _) => {}
        }
    }
}

fn remove_nulls(table: &mut Table) {
    table.retain(|_, value| !value.is_null());
    for value in table.values_mut() {
        if let Tree::Map(table) = value {
            remove_nulls(table);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value as Json, json};

    use super::*;

    fn chart(files: &[(&str, &str)]) -> Chart {
        let files: BTreeMap<_, _> =
            files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
        Chart::from_files(files).unwrap()
    }

    fn coalesced(chart: &Chart, values: &str) -> Json {
        Tree::Map(coalesce(chart, &Values::from_yaml(values).unwrap()).unwrap()).to_json()
    }

    const PARENT: &str = "name: parent\nversion: 1.0.0\napiVersion: v2";

    #[test]
    fn a_null_of_the_user_removes_a_default_and_defaults_of_null_never_show() {
        let chart = chart(&[
            ("Chart.yaml", PARENT),
            ("values.yaml", "a: 1\nb: {c: 1, d: null}\ne: null\nf: {g: {h: 1}}"),
        ]);
        assert_eq!(
            coalesced(&chart, "{a: null, x: null}"),
            json!({"b": {"c": 1}, "x": null, "f": {"g": {"h": 1}}})
        );
        assert_eq!(coalesced(&chart, "f: {g: null, i: null}")["f"], json!({"i": null}));
    }

    #[test]
    fn globals_flow_down_and_win() {
        let chart = chart(&[
            ("Chart.yaml", PARENT),
            ("values.yaml", "global: {a: {x: 1}, b: 2}\nsub: {global: {a: {x: 9, z: 9}}, own: 2}"),
            ("charts/sub/Chart.yaml", "name: sub\nversion: 1.0.0"),
            ("charts/sub/values.yaml", "own: 1\nmore: {k: 1}\nglobal: {c: 3}"),
        ]);
        let values = coalesced(&chart, "sub: {more: {l: 2}}");
        let sub =
            json!({"own": 2, "more": {"k": 1, "l": 2}, "global": {"a": {"x": 1, "z": 9}, "b": 2, "c": 3}});
        assert_eq!(values["sub"], sub);
    }

    #[test]
    fn values_for_a_subchart_must_be_a_table() {
        let chart = chart(&[("Chart.yaml", PARENT), ("charts/sub/Chart.yaml", "name: sub\nversion: 1.0.0")]);
        let error = coalesce(&chart, &Values::from_yaml("sub: 1").unwrap()).unwrap_err();
        assert!(matches!(error, Error::SubchartValues { chart, .. } if chart == "sub"));
    }
}
