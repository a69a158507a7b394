//! Converting whatever a template has to a number.

use crate::value::{Value, number};

/// A whole number; 0 for what is none.
pub(crate) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Integer(_, number) => *number,
        Value::Float(float) => number::truncate(*float),
        Value::Bool(value) => i64::from(*value),
        Value::String(text) => {
            let text = text.lossy();
            number::parse_integer(without_zero_decimals(&text)).unwrap_or(0)
        }
        Value::Absent
        | Value::Nil
        | Value::Bytes(_)
        | Value::List(..)
        | Value::Map(..)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Object(_) => 0,
    }
}

/// A float; 0 for what is none.
#[expect(clippy::cast_precision_loss, reason = "Go converts whole numbers so")]
pub(crate) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Integer(_, number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::String(text) => number::parse_float(&text.lossy()).unwrap_or(0.0),
        Value::Absent
        | Value::Nil
        | Value::Bytes(_)
        | Value::List(..)
        | Value::Map(..)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Object(_) => 0.0,
    }
}

/// `3.00` is read as `3`.
fn without_zero_decimals(text: &str) -> &str {
    match text.rsplit_once('.') {
        Some((whole, decimals)) if !decimals.is_empty() && decimals.bytes().all(|digit| digit == b'0') => {
            whole
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_numbers_as_in_go() {
        for (text, number) in
            [("12", 12), ("3.00", 3), ("3.10", 0), ("0x10", 16), ("010", 8), ("abc", 0), ("", 0)]
        {
            assert_eq!(to_int(&Value::string(text)), number, "{text}");
        }
        assert_eq!((to_int(&Value::Float(3.9)), to_int(&Value::Bool(true))), (3, 1));
    }
}
