//! Values in tests are JSON; on the wire they are MessagePack. What is unknown is `"<unknown>"`.

use rmpv::Value as Wire;
use serde_json::{Value as Json, json};

use crate::generated::tfplugin6::DynamicValue;

const UNKNOWN: &str = "<unknown>";

/// As a client sends it.
pub(crate) fn dynamic(json: &Json) -> Option<DynamicValue> {
    let mut msgpack = Vec::new();
    rmpv::encode::write_value(&mut msgpack, &encode(json)).expect("a vector takes all bytes");
    Some(DynamicValue { msgpack, json: Vec::new() })
}

/// As a client reads it: no value is null.
pub(crate) fn json(value: Option<DynamicValue>) -> Json {
    value.map_or(Json::Null, |value| {
        decode(&rmpv::decode::read_value(&mut value.msgpack.as_slice()).expect("the answer is MessagePack"))
    })
}

fn encode(json: &Json) -> Wire {
    match json {
        Json::Null => Wire::Nil,
        Json::Bool(value) => Wire::Boolean(*value),
        Json::Number(number) => number
            .as_i64()
            .map(Wire::from)
            .or_else(|| number.as_f64().map(Wire::from))
            .expect("numbers in tests are small"),
        Json::String(text) if text == UNKNOWN => Wire::Ext(0, vec![0]),
        Json::String(text) => Wire::from(text.as_str()),
        Json::Array(items) => Wire::Array(items.iter().map(encode).collect()),
        Json::Object(fields) => {
            Wire::Map(fields.iter().map(|(key, field)| (Wire::from(key.as_str()), encode(field))).collect())
        }
    }
}

fn decode(value: &Wire) -> Json {
    match value {
        Wire::Nil => Json::Null,
        Wire::Boolean(value) => json!(value),
        Wire::Integer(value) => json!(value.as_i64()),
        Wire::F32(value) => json!(value),
        Wire::F64(value) => json!(value),
        Wire::String(text) => json!(text.as_str()),
        Wire::Binary(_) => panic!("no value of a provider is binary"),
        Wire::Array(items) => items.iter().map(decode).collect(),
        Wire::Map(entries) => entries
            .iter()
            .map(|(key, field)| (key.as_str().expect("keys are strings").to_owned(), decode(field)))
            .collect(),
        Wire::Ext(..) => json!(UNKNOWN),
    }
}
