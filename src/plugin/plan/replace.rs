//! Which changes need a new resource.

use crate::plugin::Path;
use crate::plugin::schema::{AttributeSchema, Kind};
use crate::plugin::value::Value;

/// The attributes that differ and are marked as replacing, as far as they are in both objects.
pub(crate) fn replacements(attributes: &[AttributeSchema], prior: &Value, planned: &Value) -> Vec<Path> {
    let mut paths = Vec::new();
    if !prior.is_null() && !planned.is_null() {
        within(attributes, prior, planned, &Path::root(), &mut paths);
    }
    paths
}

fn within(
    attributes: &[AttributeSchema],
    prior: &Value,
    planned: &Value,
    path: &Path,
    paths: &mut Vec<Path>,
) {
    for attribute in attributes {
        let (prior, planned) = (prior.field(attribute.name), planned.field(attribute.name));
        let path = path.clone().attribute(attribute.name);
        if prior == planned {
            continue;
        }
        if attribute.replaces {
            paths.push(path);
        } else {
            nested(&attribute.kind, prior, planned, &path, paths);
        }
    }
}

fn nested(kind: &Kind, prior: &Value, planned: &Value, path: &Path, paths: &mut Vec<Path>) {
    match (kind, prior, planned) {
        (Kind::Object(attributes), Value::Object(_), Value::Object(_)) => {
            within(attributes, prior, planned, path, paths);
        }
        (Kind::List(kind), Value::List(before), Value::List(after)) => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                nested(kind, before, after, &path.clone().index(index), paths);
            }
        }
        (Kind::Map(kind), Value::Object(before), Value::Object(after)) => {
            for (key, before) in before {
                if let Some(after) = after.get(key) {
                    nested(kind, before, after, &path.clone().key(key), paths);
                }
            }
        }
        (Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) | Kind::Object(_), _, _) => {
        }
    }
}
