//! Values in tests: written and read as JSON, with `"<unknown>"` for what is unknown.

use serde_json::{Value as Json, json};

use super::{Number, Value};

const UNKNOWN: &str = "<unknown>";

/// The value of a JSON text.
pub(crate) fn value(json: Json) -> Value {
    match json {
        Json::String(text) if text == UNKNOWN => Value::Unknown,
        Json::Array(items) => Value::List(items.into_iter().map(value).collect()),
        Json::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, field)| (key, value(field))).collect())
        }
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => other.into(),
    }
}

/// The JSON of a value, to be compared and shown.
pub(crate) fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Unknown => UNKNOWN.into(),
        Value::Bool(value) => (*value).into(),
        Value::Number(Number::Integer(value)) => (*value).into(),
        Value::Number(Number::Unsigned(value)) => (*value).into(),
        Value::Number(Number::Float(value)) => (*value).into(),
        Value::Number(Number::Decimal(text)) => json!({ "decimal": text }),
        Value::String(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), json(field))).collect(),
    }
}
