//! From values to the text that Talos would write.

use yaml::{Typing, Value, sort_naturally};

use super::scalars::print_duration;
use super::schema::{Field, Kind};

/// A section in the order of the table, with what Talos writes for keys that are not set.
pub(super) fn section(value: &Value, fields: &[Field]) -> Value {
    let pairs = fields.iter().filter_map(|field| {
        let written = field_value(value.field(field.key), field)?;
        Some((Value::string(field.key), written))
    });
    Value::Mapping(pairs.collect())
}

fn field_value(value: Option<&Value>, field: &Field) -> Option<Value> {
    // A section that is no pointer and holds nothing is not set.
    let is_hollow = |value: &Value| {
        let required = field.hollow_without;
        is_empty(value)
            || (!required.is_empty() && required.iter().all(|key| value.field(key).is_none_or(is_empty)))
    };
    let is_set =
        |value: &&Value| field.pointer || !matches!(field.kind, Kind::Struct(_)) || !is_hollow(value);
    let written = value.filter(is_set).map(|value| any_value(value, &field.kind));
    if !field.optional {
        return Some(written.unwrap_or_else(|| unset(field)));
    }
    written.filter(|written| field.distinguishes_absent() || !is_empty(written))
}

/// What stands for a key that is always written and not set.
fn unset(field: &Field) -> Value {
    if field.distinguishes_absent() {
        return Value::Null;
    }
    match &field.kind {
        Kind::List(_) => Value::Sequence(Vec::new()),
        Kind::Struct(fields) => section(&Value::Mapping(Vec::new()), fields),
        Kind::Free | Kind::TextMap | Kind::BoolMap | Kind::Map(_) | Kind::Arguments => {
            Value::Mapping(Vec::new())
        }
        Kind::Integer(_) => Value::Int(0),
        Kind::Bool | Kind::PlainBool => Value::Bool(false),
        Kind::Duration => Value::string("0s"),
        Kind::Permissions => permissions(0),
        Kind::Url => Value::string(""),
        Kind::Word(words) => Value::string(words.zero),
        Kind::RoutingTable => Value::string("unspec"),
        Kind::Text
        | Kind::PartitionSize
        | Kind::ByteSize
        | Kind::Size
        | Kind::SizeMatch
        | Kind::Base64
        | Kind::Expression
        | Kind::Prefix
        | Kind::Address
        | Kind::AddressAndPort
        | Kind::HardwareAddress
        | Kind::PortRange => Value::string(""),
    }
}

fn any_value(value: &Value, kind: &Kind) -> Value {
    match (kind, value) {
        (Kind::Struct(fields), value) => section(value, fields),
        (Kind::List(item), Value::Sequence(items)) => {
            Value::Sequence(items.iter().map(|value| any_value(value, item)).collect())
        }
        (Kind::Map(of), Value::Mapping(pairs)) => sorted(Value::Mapping(
            pairs.iter().map(|(key, value)| (key.clone(), any_value(value, of))).collect(),
        )),
        (Kind::Arguments, Value::Mapping(pairs)) => {
            sorted(Value::Mapping(pairs.iter().map(|(key, value)| (key.clone(), argument(value))).collect()))
        }
        (Kind::TextMap | Kind::BoolMap | Kind::Free, value) => {
            let mut value = value.clone();
            sort_naturally(&mut value, Typing::V4);
            value
        }
        (Kind::Duration, Value::Int(nanoseconds)) => Value::String(print_duration(*nanoseconds)),
        (Kind::Permissions, Value::Int(mode)) => permissions(*mode),
        (_, value) => value.clone(),
    }
}

/// A flag's value. Go's type holds no empty text, and writes texts bare that its YAML quotes elsewhere: those that only
/// older readers take for something else.
fn argument(value: &Value) -> Value {
    match value {
        Value::String(text) if text.is_empty() => Value::Null,
        Value::String(text) => bare(text),
        Value::Sequence(items) => {
            Value::Sequence(items.iter().map(|item| item.as_str().map_or(Value::Null, bare)).collect())
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::Mapping(_) => value.clone(),
    }
}

fn bare(text: &str) -> Value {
    let value = Value::string(text);
    let is_quoted = yaml::emit_v4(&value) == format!("\"{text}\"\n");
    let reads_back = text != "<<" && yaml::resolve(text, Typing::V4) == value;
    // No kind of value of the emitter's is a bare text, but a time is written as it stands.
    if is_quoted && reads_back { Value::Timestamp(text.to_owned()) } else { value }
}

/// Octal numbers are written bare; no value of the emitter's prints so, but a time does: as it is.
fn permissions(mode: i64) -> Value {
    Value::Timestamp(format!("0o{mode:o}"))
}

/// Maps, but not the sections in them, are written in natural order.
fn sorted(value: Value) -> Value {
    let Value::Mapping(mut pairs) = value else { return value };
    let mut keys = Value::Mapping(pairs.iter().map(|(key, _)| (key.clone(), Value::Null)).collect());
    sort_naturally(&mut keys, Typing::V4);
    let Value::Mapping(keys) = keys else { return Value::Mapping(pairs) };
    let position = |key: &Value| keys.iter().position(|(known, _)| known == key);
    pairs.sort_by_key(|(key, _)| position(key));
    Value::Mapping(pairs)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Sequence(items) => items.is_empty(),
        Value::Mapping(pairs) => pairs.is_empty(),
        Value::Bool(value) => !value,
        Value::Float(_) | Value::Timestamp(_) => false,
    }
}
