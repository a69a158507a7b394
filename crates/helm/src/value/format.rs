//! Go's `fmt`: what `print`, `println` and the verb `%v` write, and Go's quoted strings.

use std::fmt::Write as _;

use super::object::{GO_VERSION, HELM_VERSION, KUBE_CLIENT_VERSION};
use super::{MAX_DEPTH, Object, Value, number, text};

/// What a template writes for a value.
///
/// # Errors
/// When the value is nested too deep, or contains itself.
pub(crate) fn print(out: &mut Vec<u8>, value: &Value) -> Result<(), String> {
    if let Value::Object(object) = value
        && let Object::KubeVersion(version) = &**object
    {
        out.extend_from_slice(version.normalized().as_bytes());
        return Ok(());
    }
    check_depth(value, 0)?;
    write(out, value);
    Ok(())
}

/// That walking the value ends.
pub(crate) fn check_depth(value: &Value, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("the value contains itself, or is nested too deep".to_owned());
    }
    match value {
        Value::List(_, items) => items.iter().try_for_each(|item| check_depth(item, depth + 1)),
        Value::Map(_, map) => map.borrow().values().try_for_each(|item| check_depth(item, depth + 1)),
        Value::Absent
        | Value::Nil
        | Value::Bool(_)
        | Value::Integer(..)
        | Value::Float(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Time(_)
        | Value::Duration(_)
        | Value::Object(_) => Ok(()),
    }
}

/// The value as `%v` writes it; what contains itself is cut.
pub(crate) fn shown_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    if check_depth(value, 0).is_ok() {
        write(&mut out, value);
    } else {
        out.extend_from_slice(b"<cycle>");
    }
    out
}

/// The value as `%v` writes it, as text.
pub(crate) fn shown(value: &Value) -> String {
    if let Value::String(text) = value {
        return text.lossy().into_owned();
    }
    text::lossy(&shown_bytes(value)).into_owned()
}

/// `print`: a space between two operands unless one is a string.
pub(crate) fn sprint(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut after_string = true;
    for (index, value) in values.iter().enumerate() {
        let is_string = matches!(value, Value::String(_));
        if index > 0 && !is_string && !after_string {
            out.push(b' ');
        }
        after_string = is_string;
        out.extend_from_slice(&shown_bytes(value));
    }
    out
}

/// `println`: a space between all operands, and a newline.
pub(crate) fn sprintln(values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(&shown_bytes(value));
    }
    out.push(b'\n');
    out
}

fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Absent | Value::Nil => out.extend_from_slice(b"<nil>"),
        Value::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Value::Integer(_, number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => out.extend_from_slice(number::shortest(*number).as_bytes()),
        Value::String(text) => out.extend_from_slice(text),
        Value::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
            out.extend_from_slice(format!("[{}]", bytes.join(" ")).as_bytes());
        }
        Value::List(_, items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b' ');
                }
                write(out, item);
            }
            out.push(b']');
        }
        Value::Map(_, map) => {
            out.extend_from_slice(b"map[");
            for (index, (key, item)) in map.borrow().iter().enumerate() {
                if index > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(key.as_bytes());
                out.push(b':');
                write(out, item);
            }
            out.push(b']');
        }
        Value::Time(time) => out.extend_from_slice(crate::functions::date::shown(time).as_bytes()),
        Value::Duration(nanoseconds) => {
            out.extend_from_slice(crate::functions::duration::shown(*nanoseconds).as_bytes());
        }
        Value::Object(object) => out.extend_from_slice(structure(object).as_bytes()),
    }
}

fn structure(object: &Object) -> String {
    match object {
        Object::Capabilities { .. } => "&{capabilities}".to_owned(),
        Object::KubeVersion(version) => {
            format!(
                "{{{} {} {} {}}}",
                version.version(),
                version.normalized(),
                version.major(),
                version.minor()
            )
        }
        Object::HelmVersion => {
            format!("{{{HELM_VERSION}   {GO_VERSION} {KUBE_CLIENT_VERSION}}}")
        }
        Object::Version(version) => version.to_string(),
        Object::Certificate { certificate, key } => format!("{{{certificate} {key}}}"),
    }
}

/// A time as JSON holds it.
pub(crate) fn rfc3339(time: &jiff::Zoned) -> String {
    crate::functions::date::format(time, "2006-01-02T15:04:05.999999999Z07:00")
}

/// A string in Go's double quotes.
pub(crate) fn quote(bytes: &[u8]) -> String {
    quoted(bytes, '"', false)
}

/// A string in quotes; `ascii` escapes everything else.
pub(crate) fn quoted(bytes: &[u8], quote: char, ascii: bool) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push(quote);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            push_escaped(&mut out, character, quote, ascii);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push(quote);
    out
}

fn push_escaped(out: &mut String, character: char, quote: char, ascii: bool) {
    let code = u32::from(character);
    match character {
        character if character == quote => {
            out.push('\\');
            out.push(character);
        }
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        character if (character.is_ascii() || !ascii) && is_print(character) => out.push(character),
        // Writing to a string does not fail.
        _ if code < 0x20 || code == 0x7f => {
            let _ = write!(out, "\\x{code:02x}");
        }
        _ if code < 0x1_0000 => {
            let _ = write!(out, "\\u{code:04x}");
        }
        _ => {
            let _ = write!(out, "\\U{code:08x}");
        }
    }
}

/// Whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the ASCII space.
pub(crate) fn is_print(character: char) -> bool {
    if character.is_ascii() {
        return (' '..='~').contains(&character);
    }
    if character.is_alphanumeric() || matches!(character, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}') {
        return true;
    }
    !character.is_whitespace() && character.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Entries;

    #[test]
    fn values_are_shown_as_go_shows_them() {
        let map = Entries::from([("b".into(), Value::Float(1.5)), ("a".into(), Value::Nil)]);
        let list = Value::list(vec![Value::int(1), Value::string("x"), Value::map(map)]);
        assert_eq!(shown(&list), "[1 x map[a:<nil> b:1.5]]");
        assert_eq!(shown(&Value::Bytes("ab".into())), "[97 98]");
    }

    #[test]
    fn print_parts_operands_that_are_no_strings() {
        let values =
            [Value::string("a"), Value::string("b"), Value::int(1), Value::int(2), Value::string("c")];
        assert_eq!(sprint(&values), b"ab1 2c");
    }

    #[test]
    fn strings_are_quoted_as_go_quotes_them() {
        let text = quote("a\0\u{7f}\u{200b}é😀\u{7}\n\\\"\u{feff}\u{ad}".as_bytes());
        assert_eq!(text, r#""a\x00\x7f\u200bé😀\a\n\\\"\ufeff\u00ad""#);
        assert_eq!(quote(b"\xff"), r#""\xff""#);
    }
}
