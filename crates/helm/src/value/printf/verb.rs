//! Values under the verbs of a format.

use super::Flags;
use crate::value::{MAX_DEPTH, Value, format, kind, number, text};

/// A value under a verb. Lists and maps hand the verb down.
pub(super) fn verb_of(value: &Value, verb: char, flags: Flags, depth: usize) -> Vec<u8> {
    if verb == 'T' && depth == 0 {
        let name = if value.is_nil() { "<nil>".to_owned() } else { kind::type_name(value) };
        return pad(name.into_bytes(), flags);
    }
    if verb == 'v' && flags.sharp {
        return go_syntax(value);
    }
    match value {
        Value::Absent | Value::Nil if verb == 'v' || depth > 0 => pad(b"<nil>".to_vec(), flags),
        Value::Absent | Value::Nil => format!("%!{verb}(<nil>)").into_bytes(),
        Value::Bool(truth) if matches!(verb, 't' | 'v') => pad(truth.to_string().into_bytes(), flags),
        Value::Integer(_, number) => integer(value, *number, verb, flags),
        Value::Float(number) => float(value, *number, verb, flags),
        Value::String(text) => string(value, text, verb, flags),
        Value::Bytes(bytes) => match verb {
            's' | 'x' | 'X' | 'q' => string(value, bytes, verb, flags),
            _ => items(bytes.iter().map(|byte| Value::int(i64::from(*byte))), verb, flags, depth),
        },
        Value::List(_, list) => items(list.iter().cloned(), verb, flags, depth),
        Value::Map(_, map) => {
            let mut out = b"map[".to_vec();
            for (index, (key, item)) in map.borrow().iter().enumerate() {
                if index > 0 {
                    out.push(b' ');
                }
                out.extend(nested(&Value::string(key.as_bytes()), verb, flags, depth));
                out.push(b':');
                out.extend(nested(item, verb, flags, depth));
            }
            out.push(b']');
            out
        }
        Value::Time(_) | Value::Object(_) if matches!(verb, 'v' | 's' | 'x' | 'X' | 'q') => {
            string(value, &format::shown_bytes(value), verb, flags)
        }
        Value::Duration(nanoseconds) => match verb {
            'v' | 's' | 'q' => string(value, &format::shown_bytes(value), verb, flags),
            _ => integer(value, *nanoseconds, verb, flags),
        },
        Value::Bool(_) | Value::Time(_) | Value::Object(_) => bad(value, verb),
    }
}

fn nested(value: &Value, verb: char, flags: Flags, depth: usize) -> Vec<u8> {
    if depth > MAX_DEPTH {
        return b"<cycle>".to_vec();
    }
    verb_of(value, verb, flags, depth + 1)
}

fn items(list: impl Iterator<Item = Value>, verb: char, flags: Flags, depth: usize) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for (index, item) in list.enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        out.extend(nested(&item, verb, flags, depth));
    }
    out.push(b']');
    out
}

fn bad(value: &Value, verb: char) -> Vec<u8> {
    format!("%!{verb}({}={})", kind::type_name(value), format::shown(value)).into_bytes()
}

/// Fills up to the width, counted in characters.
fn pad(text: Vec<u8>, flags: Flags) -> Vec<u8> {
    let missing = flags.width.unwrap_or(0).saturating_sub(text::lossy(&text).chars().count());
    if missing == 0 {
        return text;
    }
    let mut padded = Vec::with_capacity(text.len() + missing);
    if flags.minus {
        padded.extend(text);
        padded.resize(padded.len() + missing, b' ');
    } else {
        padded.resize(missing, if flags.zero { b'0' } else { b' ' });
        padded.extend(text);
    }
    padded
}

/// Fills up a number: zeros go between the sign and the digits.
fn pad_number(sign: &str, digits: String, flags: Flags) -> Vec<u8> {
    let length = sign.len() + digits.len();
    let missing = flags.width.unwrap_or(0).saturating_sub(length);
    if flags.zero && missing > 0 {
        return format!("{sign}{}{digits}", "0".repeat(missing)).into_bytes();
    }
    pad(format!("{sign}{digits}").into_bytes(), flags)
}

fn sign(negative: bool, flags: Flags) -> &'static str {
    match (negative, flags.plus, flags.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        (false, false, false) => "",
    }
}

fn integer(value: &Value, number: i64, verb: char, flags: Flags) -> Vec<u8> {
    let magnitude = number.unsigned_abs();
    let digits = match verb {
        'd' | 'v' => magnitude.to_string(),
        'b' => format!("{magnitude:b}"),
        'o' | 'O' => format!("{magnitude:o}"),
        'x' => format!("{magnitude:x}"),
        'X' => format!("{magnitude:X}"),
        'c' | 'q' | 'U' => return character(number, verb, flags),
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 's' | 't' => return bad(value, verb),
        _ => return bad(value, verb),
    };
    let digits = match flags.precision {
        Some(precision) if digits.len() < precision => {
            format!("{}{digits}", "0".repeat(precision - digits.len()))
        }
        _ => digits,
    };
    let prefix = match verb {
        'x' if flags.sharp => "0x",
        'X' if flags.sharp => "0X",
        'b' if flags.sharp => "0b",
        'o' if flags.sharp && !digits.starts_with('0') => "0",
        'O' => "0o",
        _ => "",
    };
    let sign = format!("{}{prefix}", sign(number < 0, flags));
    let flags = Flags { zero: flags.zero && flags.precision.is_none(), ..flags };
    pad_number(&sign, digits, flags)
}

fn character(number: i64, verb: char, flags: Flags) -> Vec<u8> {
    let character =
        u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    match verb {
        'c' => pad(character.to_string().into_bytes(), flags),
        'q' => {
            let text = format::quoted(character.to_string().as_bytes(), '\'', flags.plus);
            pad(text.into_bytes(), flags)
        }
        _ => {
            let mut text = format!("U+{number:04X}");
            if flags.sharp && format::is_print(character) {
                text.push_str(&format!(" '{character}'"));
            }
            pad(text.into_bytes(), flags)
        }
    }
}

fn float(value: &Value, number: f64, verb: char, flags: Flags) -> Vec<u8> {
    if !matches!(verb, 'v' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G') {
        return bad(value, verb);
    }
    if let Some(special) = number::special(number) {
        return pad(special.as_bytes().to_vec(), Flags { zero: false, ..flags });
    }
    let magnitude = number.abs();
    let digits = match verb.to_ascii_lowercase() {
        'f' => format!("{magnitude:.*}", flags.precision.unwrap_or(6)),
        'e' => scientific(magnitude, flags.precision.unwrap_or(6)),
        _ => match flags.precision {
            None => number::shortest(magnitude),
            Some(precision) => general(magnitude, precision.max(1)),
        },
    };
    let digits = if verb.is_ascii_uppercase() { digits.to_ascii_uppercase() } else { digits };
    pad_number(sign(number.is_sign_negative(), flags), digits, flags)
}

/// `d.ddde+XX` with that many digits after the point.
fn scientific(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// The form `g` with that many digits at most.
fn general(magnitude: f64, precision: usize) -> String {
    let text = format!("{magnitude:.*e}", precision - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let exponent = exponent.parse().unwrap_or_default();
    // An exponent is shown from the number of digits on that were asked for.
    let limit = i32::try_from(precision).unwrap_or(i32::MAX);
    number::general(false, digits, exponent, limit)
}

fn string(value: &Value, bytes: &[u8], verb: char, flags: Flags) -> Vec<u8> {
    match verb {
        'v' | 's' => pad(cut(bytes, flags).to_vec(), flags),
        'q' => {
            let bytes = cut(bytes, flags);
            if flags.sharp && can_backquote(bytes) {
                return pad([b"`", bytes, b"`"].concat(), flags);
            }
            pad(format::quoted(bytes, '"', flags.plus).into_bytes(), flags)
        }
        'x' | 'X' => pad(hexadecimal(bytes, verb == 'X', flags).into_bytes(), flags),
        _ => bad(value, verb),
    }
}

/// At most as many characters as the precision says.
fn cut(bytes: &[u8], flags: Flags) -> &[u8] {
    let Some(precision) = flags.precision else { return bytes };
    let text = text::lossy(bytes);
    match text.char_indices().nth(precision) {
        Some((end, _)) if end <= bytes.len() => &bytes[..end],
        _ => bytes,
    }
}

fn can_backquote(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        text.chars().all(|character| {
            character != '`' && character != '\u{feff}' && (character == '\t' || !character.is_control())
        })
    })
}

fn hexadecimal(bytes: &[u8], upper: bool, flags: Flags) -> String {
    let bytes = match flags.precision {
        Some(precision) if precision < bytes.len() => &bytes[..precision],
        _ => bytes,
    };
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if flags.space && index > 0 {
            text.push(' ');
        }
        if flags.sharp && (flags.space || index == 0) {
            text.push_str(if upper { "0X" } else { "0x" });
        }
        text.push_str(&if upper { format!("{byte:02X}") } else { format!("{byte:02x}") });
    }
    text
}

/// `%#v`.
fn go_syntax(value: &Value) -> Vec<u8> {
    match value {
        Value::Absent => b"<nil>".to_vec(),
        Value::Nil => b"interface {}(nil)".to_vec(),
        Value::String(text) => format::quote(text).into_bytes(),
        Value::List(_, items) => {
            let items: Vec<String> =
                items.iter().map(|item| text::lossy(&go_syntax(item)).into_owned()).collect();
            format!("{}{{{}}}", kind::type_name(value), items.join(", ")).into_bytes()
        }
        Value::Map(_, map) => {
            let entry = |(key, item): (&std::rc::Rc<str>, &Value)| {
                format!("{}:{}", format::quote(key.as_bytes()), text::lossy(&go_syntax(item)))
            };
            let entries: Vec<String> = map.borrow().iter().map(entry).collect();
            format!("{}{{{}}}", kind::type_name(value), entries.join(", ")).into_bytes()
        }
        Value::Bool(_)
        | Value::Integer(..)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Object(_) => format::shown_bytes(value),
    }
}
