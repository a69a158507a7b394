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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::testing::{json, value};
    use super::*;

    /// Bytes as Terraform 1.11 sent them for these values.
    #[test]
    fn what_terraform_sends_is_read() {
        let cases: [(&[u8], serde_json::Value); 11] = [
            (b"", json!(null)),
            (b"\xc0", json!(null)),
            (b"\x01", json!(1)),
            (b"\xff", json!(-1)),
            (b"\xcb\x3f\xf8\0\0\0\0\0\0", json!(1.5)),
            (b"\xa30.1", json!("0.1")),
            (b"\xd4\0\0", json!("<unknown>")),
            (b"\xc7\x09\x0c\x82\x01\xc2\x02\xa4pre-", json!("<unknown>")),
            (b"\x92\xc3\xc2", json!([true, false])),
            (b"\x81\xa1a\xc0", json!({ "a": null })),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
        ];
        for (bytes, expected) in cases {
            assert_eq!(json(&from_message_pack(bytes).unwrap()), expected);
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let deep = [b"\x91".repeat(100), b"\xc0".to_vec()].concat();
        let cases: [(&[u8], &str); 7] = [
            (b"\xc0\xc0", "1 bytes follow"),
            (b"\xa5ab", "failed to read a MessagePack value"),
            (&deep, "deeper than 64"),
            (b"\x81\x01\xc0", "key that is not a string"),
            (b"\xc4\x01a", "binary value"),
            (b"\xa1\xff", "not UTF-8"),
            (b"\xcb\x7f\xf0\0\0\0\0\0\0", "not finite"),
        ];
        for (bytes, text) in cases {
            let error = from_message_pack(bytes).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            Just(Value::Unknown),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|number| Value::Number(Number::Integer(number))),
            any::<u64>().prop_map(|number| Value::Number(Number::from_u64(number))),
            any::<f64>().prop_filter_map("finite", |number| Number::from_f64(number).map(Value::Number)),
            ".*".prop_map(Value::String),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
                prop::collection::btree_map(".{0,9}", inner, 0..6).prop_map(Value::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let bytes = to_message_pack(value.clone()).unwrap();
            prop_assert_eq!(json(&from_message_pack(&bytes).unwrap()), json(&value));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = from_message_pack(&bytes) {
                to_message_pack(value).unwrap();
            }
        }
    }

    #[test]
    fn decimal_numbers_travel_as_text() {
        let bytes = to_message_pack(value(json!(0.1))).unwrap();
        assert_eq!(bytes, b"\xa30.1");
    }
}
