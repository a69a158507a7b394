//! Strings: cutting, joining, searching, quoting. Words and cases are in [`words`](super::words).

use super::Parameter::{Any, Int, String};
use super::{Function, pure, variadic};
use crate::template::failure::Cause;
use crate::value::{Entries, MapType, Text, Value, convert, format, new_map, text};

/// The longest text that `repeat`, `indent` and the like make, in bytes.
const MAX_LENGTH: usize = 64 * 1024 * 1024;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("trim", &[String], |arguments| Ok(Value::string(arguments.string(0).trim()))),
    pure("trimAll", &[String, String], |arguments| Ok(trim_all(&arguments.string(0), &arguments.string(1)))),
    pure("trimall", &[String, String], |arguments| Ok(trim_all(&arguments.string(0), &arguments.string(1)))),
    pure("trimPrefix", &[String, String], |arguments| {
        let (prefix, text) = (arguments.text(0), arguments.text(1));
        Ok(text.strip_prefix(&*prefix).map_or_else(|| Value::String(text.clone()), Value::string))
    }),
    pure("trimSuffix", &[String, String], |arguments| {
        let (suffix, text) = (arguments.text(0), arguments.text(1));
        Ok(text.strip_suffix(&*suffix).map_or_else(|| Value::String(text.clone()), Value::string))
    }),
    pure("trunc", &[Int, String], |arguments| Ok(truncate(arguments.int(0), &arguments.text(1)))),
    pure("substr", &[Int, Int, String], |arguments| {
        substring(arguments.int(0), arguments.int(1), &arguments.text(2))
    }),
    pure("repeat", &[Int, String], |arguments| repeat(arguments.int(0), &arguments.text(1))),
    pure("contains", &[String, String], |arguments| {
        Ok(Value::Bool(text::find(&arguments.text(1), &arguments.text(0)).is_some()))
    }),
    pure("hasPrefix", &[String, String], |arguments| {
        Ok(Value::Bool(arguments.text(1).starts_with(&arguments.text(0))))
    }),
    pure("hasSuffix", &[String, String], |arguments| {
        Ok(Value::Bool(arguments.text(1).ends_with(&arguments.text(0))))
    }),
    variadic("quote", &[], Any, |arguments| {
        Ok(joined(arguments.from(0), |value| format::quote(&convert::to_text(value)).into_bytes()))
    }),
    variadic("squote", &[], Any, |arguments| {
        Ok(joined(arguments.from(0), |value| [b"'", format::shown_bytes(value).as_slice(), b"'"].concat()))
    }),
    variadic("cat", &[], Any, |arguments| {
        let text = parts(arguments.from(0), format::shown_bytes).join(&b' ');
        Ok(Value::string(text))
    }),
    pure("indent", &[Int, String], |arguments| indent(arguments.int(0), &arguments.text(1), b"")),
    pure("nindent", &[Int, String], |arguments| indent(arguments.int(0), &arguments.text(1), b"\n")),
    pure("replace", &[String, String, String], |arguments| {
        let replaced = text::replace(&arguments.text(2), &arguments.text(0), &arguments.text(1));
        if replaced.len() > MAX_LENGTH { Err(too_long()) } else { Ok(Value::string(replaced)) }
    }),
    pure("plural", &[String, String, Int], |mut arguments| {
        let chosen = if arguments.int(2) == 1 { 0 } else { 1 };
        Ok(arguments.take(chosen))
    }),
    pure("toString", &[Any], |arguments| Ok(Value::String(convert::to_text(arguments.at(0))))),
    pure("toStrings", &[Any], |arguments| Ok(Value::strings(to_strings(arguments.at(0))))),
    pure("join", &[String, Any], |arguments| {
        let items = to_strings(arguments.at(1));
        let separator = arguments.text(0);
        Ok(Value::string(items.join(&*separator)))
    }),
    pure("split", &[String, String], |arguments| {
        Ok(numbered(split(&arguments.text(1), &arguments.text(0), -1)))
    }),
    pure("splitn", &[String, Int, String], |arguments| {
        Ok(numbered(split(&arguments.text(2), &arguments.text(0), arguments.int(1))))
    }),
    pure("splitList", &[String, String], |arguments| {
        Ok(Value::strings(split(&arguments.text(1), &arguments.text(0), -1)))
    }),
    pure("sortAlpha", &[Any], |arguments| {
        let value = arguments.at(0);
        if !matches!(value, Value::List(..)) {
            return Ok(Value::strings([convert::to_text(value)]));
        }
        let mut items = to_strings(value);
        items.sort();
        Ok(Value::strings(items))
    }),
];

fn too_long() -> Cause {
    Cause::Plain(format!("the text would be longer than {MAX_LENGTH} bytes"))
}

fn trim_all(set: &str, text: &str) -> Value {
    Value::string(text.trim_matches(|character| set.contains(character)))
}

fn truncate(count: i64, text: &Text) -> Value {
    let length = text.len();
    let cut = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    match count {
        0.. if length > cut => Value::string(&text[..cut]),
        ..0 if length > cut => Value::string(&text[length - cut..]),
        _ => Value::String(text.clone()),
    }
}

fn substring(start: i64, end: i64, text: &Text) -> Result<Value, Cause> {
    let out_of_range =
        || Cause::Plain(format!("slice bounds out of range [{start}:{end}] with length {}", text.len()));
    let end_of = usize::try_from(end).ok().filter(|end| *end <= text.len());
    let range = match (usize::try_from(start), end_of) {
        (Err(_), end) => 0..end.ok_or_else(out_of_range)?,
        (Ok(start), None) => start..text.len(),
        (Ok(start), Some(end)) => start..end,
    };
    text.get(range).map(Value::string).ok_or_else(out_of_range)
}

fn repeat(count: i64, text: &Text) -> Result<Value, Cause> {
    let count = usize::try_from(count).map_err(|_| Cause::from("strings: negative Repeat count"))?;
    if count.saturating_mul(text.len()) > MAX_LENGTH {
        return Err(too_long());
    }
    Ok(Value::string(text.repeat(count)))
}

fn indent(spaces: i64, text: &Text, start: &[u8]) -> Result<Value, Cause> {
    let spaces = usize::try_from(spaces).map_err(|_| Cause::from("strings: negative Repeat count"))?;
    let lines = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
    if spaces.saturating_mul(lines).saturating_add(text.len()) > MAX_LENGTH {
        return Err(too_long());
    }
    let mut out = Vec::with_capacity(start.len() + text.len() + spaces * lines);
    out.extend_from_slice(start);
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.resize(out.len() + spaces, b' ');
        out.extend_from_slice(line);
    }
    Ok(Value::String(Text::from(out)))
}

/// The texts of all that is not nil.
fn parts(values: &[Value], convert: fn(&Value) -> Vec<u8>) -> Vec<Vec<u8>> {
    values.iter().filter(|value| !value.is_nil()).map(convert).collect()
}

fn joined(values: &[Value], convert: fn(&Value) -> Vec<u8>) -> Value {
    Value::string(parts(values, convert).join(&b' '))
}

/// The items as strings, without nil; what is no list is the only item.
pub(super) fn to_strings(value: &Value) -> Vec<Text> {
    match value {
        Value::List(_, items) => items.iter().filter(|item| !item.is_nil()).map(convert::to_text).collect(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| Text::from(byte.to_string().as_str())).collect(),
        value if value.is_nil() => Vec::new(),
        value => vec![convert::to_text(value)],
    }
}

/// Go's `strings.SplitN`: at most `count` parts, all if it is negative.
pub(super) fn split(text: &[u8], separator: &[u8], count: i64) -> Vec<Vec<u8>> {
    let limit = match usize::try_from(count) {
        Ok(0) => return Vec::new(),
        Ok(count) => count,
        Err(_) => usize::MAX,
    };
    let mut parts = Vec::new();
    if separator.is_empty() {
        let text = text::lossy(text);
        let mut characters = text.chars();
        while parts.len() + 1 < limit {
            let Some(character) = characters.next() else { return parts };
            parts.push(character.to_string().into_bytes());
        }
        if !characters.as_str().is_empty() {
            parts.push(characters.as_str().as_bytes().to_vec());
        }
        return parts;
    }
    let mut rest = text;
    while parts.len() + 1 < limit {
        let Some(at) = text::find(rest, separator) else { break };
        parts.push(rest[..at].to_vec());
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest.to_vec());
    parts
}

/// A map with the keys `_0`, `_1`, …
fn numbered(parts: Vec<Vec<u8>>) -> Value {
    let entry = |(index, part): (usize, Vec<u8>)| (format!("_{index}").into(), Value::string(part));
    Value::Map(MapType::Strings, new_map(parts.into_iter().enumerate().map(entry).collect::<Entries>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_bytes_from_either_end() {
        let text = Text::from("abcdef");
        for (count, expected) in
            [(3, "abc"), (0, ""), (9, "abcdef"), (-2, "ef"), (-6, "abcdef"), (-9, "abcdef")]
        {
            assert_eq!(format::shown(&truncate(count, &text)), expected);
        }
    }

    #[test]
    fn splitting_follows_go() {
        let shown = |parts: Vec<Vec<u8>>| format::shown(&Value::strings(parts));
        assert_eq!(shown(split(b"a,b,c", b",", -1)), "[a b c]");
        assert_eq!(shown(split(b"a,b,c", b",", 2)), "[a b,c]");
        assert_eq!(shown(split(b"abc", b"", -1)), "[a b c]");
        assert_eq!(shown(split(b"abc", b"", 2)), "[a bc]");
        assert_eq!(split(b"", b",", -1).len(), 1);
    }

    #[test]
    fn no_function_makes_texts_without_bound() {
        assert!(repeat(i64::MAX, &Text::from("a")).is_err());
        assert!(indent(i64::MAX, &Text::from("a"), b"").is_err());
    }
}
