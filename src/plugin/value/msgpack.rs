//! Values as MessagePack, the protocol's usual form.
//!
//! Any extension type is an unknown value: type 0 a plain one, type 12 one with refinements. (Measured with
//! Terraform 1.11; the encoding is go-cty's, `docs/plugin-protocol/object-wire-format.md` of Terraform.)

use rmpv::Value as Wire;

use super::{MAXIMUM_DEPTH, Number, Value, ValueError};

/// Reads one value; no bytes are null, as the protocol leaves a value out.
pub(crate) fn from_message_pack(mut bytes: &[u8]) -> Result<Value, ValueError> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let wire =
        rmpv::decode::read_value_with_max_depth(&mut bytes, MAXIMUM_DEPTH).map_err(|error| match error {
            rmpv::decode::Error::DepthLimitExceeded => ValueError::TooDeep,
            other @ (rmpv::decode::Error::InvalidMarkerRead(_) | rmpv::decode::Error::InvalidDataRead(_)) => {
                ValueError::MessagePack(other)
            }
        })?;
    if !bytes.is_empty() {
        return Err(ValueError::Trailing(bytes.len()));
    }
    decode(wire)
}

/// Writes one value.
pub(crate) fn to_message_pack(value: Value) -> Result<Vec<u8>, ValueError> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, &encode(value)).map_err(ValueError::Write)?;
    Ok(bytes)
}

fn decode(wire: Wire) -> Result<Value, ValueError> {
    Ok(match wire {
        Wire::Nil => Value::Null,
        Wire::Ext(..) => Value::Unknown,
        Wire::Boolean(value) => Value::Bool(value),
        Wire::Integer(value) => Value::Number(match (value.as_i64(), value.as_u64()) {
            (Some(value), _) => Number::Integer(value),
            (None, Some(value)) => Number::Unsigned(value),
            (None, None) => return Err(ValueError::Unexpected("number out of range")),
        }),
        Wire::F32(value) => float(value.into())?,
        Wire::F64(value) => float(value)?,
        Wire::String(value) => {
            Value::String(value.into_str().ok_or(ValueError::Unexpected("string that is not UTF-8"))?)
        }
        Wire::Binary(_) => return Err(ValueError::Unexpected("binary value")),
        Wire::Array(items) => Value::List(items.into_iter().map(decode).collect::<Result<_, _>>()?),
        Wire::Map(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| match key {
                    Wire::String(key) => {
                        let key = key.into_str().ok_or(ValueError::Unexpected("key that is not UTF-8"))?;
                        Ok((key, decode(value)?))
                    }
                    Wire::Nil
                    | Wire::Boolean(_)
                    | Wire::Integer(_)
                    | Wire::F32(_)
                    | Wire::F64(_)
                    | Wire::Binary(_)
                    | Wire::Array(_)
                    | Wire::Map(_)
                    | Wire::Ext(..) => Err(ValueError::Unexpected("key that is not a string")),
                })
                .collect::<Result<_, _>>()?,
        ),
    })
}

fn float(value: f64) -> Result<Value, ValueError> {
    Number::from_f64(value).map(Value::Number).ok_or(ValueError::Unexpected("number that is not finite"))
}

fn encode(value: Value) -> Wire {
    match value {
        Value::Null => Wire::Nil,
        Value::Unknown => Wire::Ext(0, vec![0]),
        Value::Bool(value) => Wire::Boolean(value),
        Value::Number(Number::Integer(value)) => Wire::from(value),
        Value::Number(Number::Unsigned(value)) => Wire::from(value),
        Value::Number(Number::Float(value)) => Wire::F64(value),
        Value::Number(Number::Decimal(text)) | Value::String(text) => Wire::from(text),
        Value::List(items) => Wire::Array(items.into_iter().map(encode).collect()),
        Value::Object(fields) => {
            Wire::Map(fields.into_iter().map(|(key, value)| (Wire::from(key), encode(value))).collect())
        }
    }
}
