//! To and from YAML, JSON and TOML.

use super::Parameter::{Any, String};
use super::{Function, pure};
use crate::template::failure::Cause;
use crate::value::{Entries, MapType, Value, convert, json, toml, toml_read};
use json::Style;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("toYaml", &[Any], |arguments| {
        Ok(Value::string(convert::to_yaml(arguments.at(0)).unwrap_or_default()))
    }),
    pure("mustToYaml", &[Any], |arguments| Ok(Value::string(convert::to_yaml(arguments.at(0))?))),
    pure("toYamlPretty", &[Any], |arguments| {
        Ok(Value::string(convert::to_yaml_pretty(arguments.at(0)).unwrap_or_default()))
    }),
    pure("fromYaml", &[String], |arguments| Ok(from_yaml(&arguments.string(0)))),
    pure("fromYamlArray", &[String], |arguments| Ok(from_yaml_array(&arguments.string(0)))),
    pure("toJson", &[Any], |arguments| Ok(lenient(arguments.at(0), Style::COMPACT))),
    pure("mustToJson", &[Any], |arguments| strict(arguments.at(0), Style::COMPACT)),
    pure("toPrettyJson", &[Any], |arguments| Ok(lenient(arguments.at(0), Style::PRETTY))),
    pure("mustToPrettyJson", &[Any], |arguments| strict(arguments.at(0), Style::PRETTY)),
    pure("toRawJson", &[Any], |arguments| strict(arguments.at(0), Style::RAW)),
    pure("mustToRawJson", &[Any], |arguments| strict(arguments.at(0), Style::RAW)),
    pure("fromJson", &[String], |arguments| Ok(from_json(&arguments.string(0)))),
    pure("mustFromJson", &[String], |arguments| match serde_json::from_str(&arguments.string(0)) {
        Ok(json) => Ok(convert::from_json(&json)),
        Err(error) => Err(Cause::Plain(error.to_string())),
    }),
    pure("fromJsonArray", &[String], |arguments| Ok(from_json_array(&arguments.string(0)))),
    pure("fromToml", &[String], |arguments| {
        Ok(match toml_read::read(&arguments.string(0)) {
            Ok(table) => Value::Map(MapType::Any, table),
            Err(message) => error(&message),
        })
    }),
    pure("toToml", &[Any], |arguments| {
        Ok(Value::string(toml::write(arguments.at(0)).unwrap_or_else(|message| message)))
    }),
    pure("mustToToml", &[Any], |arguments| Ok(Value::string(toml::write(arguments.at(0))?))),
];

fn lenient(value: &Value, style: Style) -> Value {
    Value::string(json::to_json(value, style).unwrap_or_default())
}

fn strict(value: &Value, style: Style) -> Result<Value, Cause> {
    Ok(Value::string(json::to_json(value, style)?))
}

fn error(message: &str) -> Value {
    Value::map(Entries::from([("Error".into(), Value::string(message))]))
}

/// The first document of a text.
fn first_document(text: &str) -> Result<Value, std::string::String> {
    let documents =
        crate::values::documents(text).map_err(|error| format!("error converting YAML to JSON: {error}"))?;
    match documents.first() {
        Some(document) => convert::from_yaml(document),
        None => Ok(Value::Nil),
    }
}

/// A mistake stands under the key `Error`.
fn from_yaml(text: &str) -> Value {
    match first_document(text) {
        Ok(Value::Nil) => Value::map(Entries::new()),
        Ok(value @ Value::Map(..)) => value,
        Ok(other) => error(&format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_kind(&other)
        )),
        Err(message) => error(&message),
    }
}

/// A mistake is the only item.
fn from_yaml_array(text: &str) -> Value {
    match first_document(text) {
        Ok(Value::Nil) => Value::list(Vec::new()),
        Ok(value @ Value::List(..)) => value,
        Ok(other) => Value::list(vec![Value::string(format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type []interface {{}}",
            json_kind(&other)
        ))]),
        Err(message) => Value::list(vec![Value::string(message)]),
    }
}

fn from_json(text: &str) -> Value {
    match serde_json::from_str(text).map(|json| convert::from_json(&json)) {
        Ok(Value::Nil) => Value::map(Entries::new()),
        Ok(value @ Value::Map(..)) => value,
        Ok(other) => error(&format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_kind(&other)
        )),
        Err(failure) => error(&failure.to_string()),
    }
}

fn from_json_array(text: &str) -> Value {
    match serde_json::from_str(text).map(|json| convert::from_json(&json)) {
        Ok(Value::Nil) => Value::list(Vec::new()),
        Ok(value @ Value::List(..)) => value,
        Ok(other) => Value::list(vec![Value::string(format!(
            "json: cannot unmarshal {} into Go value of type []interface {{}}",
            json_kind(&other)
        ))]),
        Err(failure) => Value::list(vec![Value::string(failure.to_string())]),
    }
}

/// Go's word for what stands in the JSON.
const fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Integer(..) | Value::Float(_) | Value::Duration(_) => "number",
        Value::String(_) | Value::Bytes(_) | Value::Time(_) => "string",
        Value::List(..) => "array",
        Value::Map(..) | Value::Object(_) => "object",
        Value::Absent | Value::Nil => "null",
    }
}
