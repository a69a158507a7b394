//! From and to the forms that values have outside templates.

use std::rc::Rc;

use super::{Entries, ListType, MAX_DEPTH, MapType, Object, Value, format, json, new_map, text};
use crate::values::{Table, Tree};

/// A tree as a value.
pub(crate) fn from_tree(tree: Tree) -> Value {
    match tree {
        Tree::Null => Value::Nil,
        Tree::Bool(value) => Value::Bool(value),
        Tree::Integer(number) => Value::int64(number),
        Tree::Float(number) => Value::Float(number),
        Tree::String(text) => Value::string(text),
        Tree::List(items) => Value::list(items.into_iter().map(from_tree).collect()),
        Tree::Map(table) => Value::Map(MapType::Any, new_map(from_table(table))),
    }
}

pub(crate) fn from_table(table: Table) -> Entries {
    table.into_iter().map(|(key, value)| (Rc::from(key), from_tree(value))).collect()
}

/// YAML, typed by the rules of version 1.1, as `fromYaml` gives it.
pub(crate) fn from_yaml(yaml: &yaml::Value) -> Result<Value, String> {
    Tree::from_yaml(yaml).map(from_tree).map_err(|error| error.to_string())
}

/// JSON, as `fromJson` gives it: every number is a float.
pub(crate) fn from_json(json: &serde_json::Value) -> Value {
    from_tree(Tree::from_json(json))
}

/// What a cluster answers: whole numbers stay whole.
pub(crate) fn from_object(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(number) => Value::int64(number),
            None => Value::Float(number.as_f64().unwrap_or_default()),
        },
        serde_json::Value::Array(items) => Value::list(items.iter().map(from_object).collect()),
        serde_json::Value::Object(entries) => Value::map(
            entries.iter().map(|(key, value)| (Rc::from(key.as_str()), from_object(value))).collect(),
        ),
        scalar @ (serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::String(_)) => {
            from_json(scalar)
        }
    }
}

/// `toYaml`: the text of yaml.v2, without the newline at its end.
pub(crate) fn to_yaml(value: &Value) -> Result<String, String> {
    let mut text = yaml::emit_v2(&yaml_value(value, 0)?).map_err(|error| error.to_string())?;
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// `toYamlPretty`: the text of yaml.v3, without the newline at its end.
pub(crate) fn to_yaml_pretty(value: &Value) -> Result<String, String> {
    let mut text = yaml::emit_v3(&yaml_value(value, 0)?, 2);
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

fn yaml_value(value: &Value, depth: usize) -> Result<yaml::Value, String> {
    if depth > MAX_DEPTH {
        return Err("encountered a cycle, or values nested too deep".to_owned());
    }
    Ok(match value {
        Value::Absent
        | Value::Nil
        | Value::List(ListType::Nil | ListType::NilStrings, _)
        | Value::Map(MapType::NilStrings, _) => yaml::Value::Null,
        Value::Bool(value) => yaml::Value::Bool(*value),
        Value::Integer(_, number) | Value::Duration(number) => yaml::Value::Int(*number),
        Value::Float(number) => yaml::Value::Float(*number),
        Value::String(text) => yaml::Value::String(text.lossy().into_owned()),
        Value::Bytes(data) => yaml::Value::String(json::base64(data)),
        Value::List(_, items) => yaml::Value::Sequence(
            items.iter().map(|item| yaml_value(item, depth + 1)).collect::<Result<_, _>>()?,
        ),
        Value::Map(_, map) => {
            let entry = |(key, value): (&Rc<str>, &Value)| {
                Ok::<_, String>((yaml::Value::String(key.to_string()), yaml_value(value, depth + 1)?))
            };
            yaml::Value::Mapping(map.borrow().iter().map(entry).collect::<Result<_, _>>()?)
        }
        Value::Time(time) => yaml::Value::String(format::rfc3339(time)),
        Value::Object(object) => structure(object, depth)?,
    })
}

fn structure(object: &Object, depth: usize) -> Result<yaml::Value, String> {
    let mut writer = json::Writer::new(json::Style::RAW);
    super::object::to_json(object, &mut writer)?;
    let json = serde_json::from_slice(&writer.finish()).map_err(|error| error.to_string())?;
    yaml_value(&from_json(&json), depth + 1)
}

/// The text of a value that Go would convert to a string (`toString`).
pub(crate) fn to_text(value: &Value) -> super::Text {
    if let Value::String(text) | Value::Bytes(text) = value {
        return text.clone();
    }
    super::Text::from(format::shown_bytes(value))
}

/// The text, as a string for functions that work on characters.
pub(crate) fn text_of(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.lossy().into_owned();
    }
    text::lossy(&to_text(value)).into_owned()
}
