//! The type of a scalar that is written without quotes.

use crate::Value;
use crate::number::{
    Integer, is_float_form, parse_float, parse_integer, parse_radix, underscores_between_digits,
};
use crate::timestamp::parse_timestamp;

/// Whose rules type the scalars of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// yaml.v2, as Helm and Kubernetes read: YAML 1.1 (`yes` is true, `0777` is octal), dates stay texts, `<<` merges,
    /// and of a key that stands twice the later value counts.
    V2,
    /// yaml.v3: `yes` is a text, dates are times, `<<` merges, a key that stands twice is an error.
    V3,
    /// yaml.v4, as Talos reads: as v3, but `<<` is a key like any other.
    V4,
}

impl Typing {
    pub(crate) const fn merges(self) -> bool {
        matches!(self, Self::V2 | Self::V3)
    }

    pub(crate) const fn refuses_duplicates(self) -> bool {
        matches!(self, Self::V3 | Self::V4)
    }
}

/// The value of a scalar written without quotes and without a tag.
#[must_use]
pub fn resolve(text: &str, typing: Typing) -> Value {
    if let Some(value) = word(text, typing) {
        return value;
    }
    match text.bytes().next() {
        Some(b'.') if underscores_between_digits(text) => {
            let plain = text.replace('_', "");
            number_form(&plain).unwrap_or_else(|| Value::string(text))
        }
        Some(b'+' | b'-' | b'0'..=b'9') => sign_or_digit(text, typing).unwrap_or_else(|| Value::string(text)),
        _ => Value::string(text),
    }
}

fn word(text: &str, typing: Typing) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" => Some(Value::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(Value::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => Some(Value::Float(f64::NEG_INFINITY)),
        "-0" | "-0.0" if typing == Typing::V4 => Some(Value::Float(-0.0)),
        _ if typing == Typing::V2 => old_boolean(text).map(Value::Bool),
        _ => None,
    }
}

/// The booleans that YAML 1.1 has beyond `true` and `false`.
pub(crate) fn old_boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

fn sign_or_digit(text: &str, typing: Typing) -> Option<Value> {
    if let Some(time) = parse_timestamp(text) {
        return Some(if typing == Typing::V2 { Value::string(text) } else { Value::Timestamp(time) });
    }
    let plain = text.replace('_', "");
    parse_integer(&plain)
        .map(integer)
        .or_else(|| number_form(&plain))
        .or_else(|| prefixed_with_inner_sign(&plain, typing))
}

fn number_form(plain: &str) -> Option<Value> {
    is_float_form(plain).then(|| parse_float(plain)).flatten().map(Value::Float)
}

/// What only v2 and v3 take, and by accident: a sign after the prefix, as in `0b-1` and (v3) `0o-7`.
fn prefixed_with_inner_sign(plain: &str, typing: Typing) -> Option<Value> {
    let (negative, rest) = plain.strip_prefix('-').map_or((false, plain), |rest| (true, rest));
    let (radix, digits) = match typing {
        Typing::V2 => (2, rest.strip_prefix("0b")?),
        Typing::V3 => rest
            .strip_prefix("0b")
            .map(|digits| (2, digits))
            .or_else(|| Some((8, rest.strip_prefix("0o")?)))?,
        Typing::V4 => return None,
    };
    if negative {
        // "-" and the digits are read together, so a second sign is no number.
        return parse_radix(Some('-'), digits, radix).map(integer);
    }
    let (sign, digits) = digits.strip_prefix('-').map_or_else(
        || digits.strip_prefix('+').map_or((None, digits), |rest| (Some('+'), rest)),
        |rest| (Some('-'), rest),
    );
    parse_radix(sign, digits, radix).map(integer)
}

const fn integer(number: Integer) -> Value {
    match number {
        Integer::Signed(number) => Value::Int(number),
        Integer::Unsigned(number) => Value::Uint(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text and its value under v2, v3 and v4; read off the Go packages.
    fn vectors() -> Vec<(&'static str, [Value; 3])> {
        let same = |value: Value| [value.clone(), value.clone(), value];
        let text = |text: &str| same(Value::string(text));
        let time = |written: &str, time: &str| {
            let later = Value::Timestamp(time.to_owned());
            [Value::string(written), later.clone(), later]
        };
        let old =
            |written: &str, value: bool| [Value::Bool(value), Value::string(written), Value::string(written)];
        vec![
            ("", same(Value::Null)),
            ("Null", same(Value::Null)),
            ("nULL", text("nULL")),
            ("TRUE", same(Value::Bool(true))),
            ("y", old("y", true)),
            ("Off", old("Off", false)),
            ("oN", text("oN")),
            ("0777", same(Value::Int(511))),
            ("08", same(Value::Float(8.0))),
            ("1_000", same(Value::Int(1000))),
            ("0b101", same(Value::Int(5))),
            ("0o17", same(Value::Int(15))),
            ("0b-1", [Value::Int(-1), Value::Int(-1), Value::string("0b-1")]),
            ("0o-7", [Value::string("0o-7"), Value::Int(-7), Value::string("0o-7")]),
            ("-0", [Value::Int(0), Value::Int(0), Value::Float(-0.0)]),
            (".5e3", same(Value::Float(500.0))),
            (".1_5", same(Value::Float(0.15))),
            ("._5", text("._5")),
            ("1e400", text("1e400")),
            ("1e3", same(Value::Float(1000.0))),
            ("1.", same(Value::Float(1.0))),
            (".", text(".")),
            ("-.inf", same(Value::Float(f64::NEG_INFINITY))),
            ("18446744073709551615", same(Value::Uint(u64::MAX))),
            ("1:30", text("1:30")),
            ("2026-1-2", time("2026-1-2", "2026-01-02T00:00:00Z")),
            ("2026-01-02T3:4:5.600+01:30", time("2026-01-02T3:4:5.600+01:30", "2026-01-02T03:04:05.6+01:30")),
            ("2026-01-02 03:04:05", time("2026-01-02 03:04:05", "2026-01-02T03:04:05Z")),
            ("2026-02-29", text("2026-02-29")),
            ("2026-13-01", text("2026-13-01")),
            ("<<", text("<<")),
            ("1.2.3", text("1.2.3")),
        ]
    }

    #[test]
    fn types_scalars_as_go_does() {
        for (text, values) in vectors() {
            for (typing, value) in [Typing::V2, Typing::V3, Typing::V4].into_iter().zip(values) {
                assert_eq!(resolve(text, typing), value, "{text:?} under {typing:?}");
            }
        }
    }
}
