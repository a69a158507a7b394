//! Go's own functions, but for comparisons.

use std::rc::Rc;

use super::Parameter::{Any, Reflect};
use super::{Body, Function, Signature, pure, variadic};
use crate::template::failure::Cause;
use crate::value::{IntegerType, ListType, MapType, Value, convert, format, kind, printf};

pub(super) static FUNCTIONS: &[Function] = &[
    Function {
        name: "and",
        signature: Signature { fixed: &[Reflect], variadic: Some(Reflect) },
        body: Body::ShortCircuit { stops_at: false },
    },
    Function {
        name: "or",
        signature: Signature { fixed: &[Reflect], variadic: Some(Reflect) },
        body: Body::ShortCircuit { stops_at: true },
    },
    variadic("index", &[Reflect], Reflect, |mut arguments| {
        let item = arguments.take(0);
        index(item, arguments.from(1))
    }),
    pure("len", &[Reflect], |arguments| length(arguments.at(0))),
    variadic("print", &[], Any, |arguments| Ok(Value::string(format::sprint(arguments.from(0))))),
    variadic("println", &[], Any, |arguments| Ok(Value::string(format::sprintln(arguments.from(0))))),
    variadic("printf", &[super::Parameter::String], Any, |arguments| {
        arguments.from(1).iter().try_for_each(|value| format::check_depth(value, 0))?;
        Ok(Value::string(printf::sprintf(&arguments.text(0), arguments.from(1))))
    }),
    variadic("html", &[], Any, |arguments| Ok(Value::string(html(&joined(arguments.from(0)))))),
    variadic("js", &[], Any, |arguments| Ok(Value::string(javascript(&joined(arguments.from(0)))))),
    variadic("urlquery", &[], Any, |arguments| Ok(Value::string(query_escape(&joined(arguments.from(0)))))),
    variadic("call", &[Reflect], Reflect, |arguments| {
        Err(Cause::Plain(format!("non-function of type {}", kind::type_name(arguments.at(0)))))
    }),
];

fn index(mut item: Value, indexes: &[Value]) -> Result<Value, Cause> {
    if item.is_nil() {
        return Err("index of untyped nil".into());
    }
    for index in indexes {
        item = match &item {
            Value::Nil | Value::Absent => return Err("index of nil pointer".into()),
            Value::List(_, items) => {
                let place = place(index, items.len())?;
                items.get(place).cloned().ok_or_else(|| out_of_range(place))?
            }
            Value::String(text) | Value::Bytes(text) => {
                let place = place(index, text.len())?;
                let byte = text.get(place).ok_or_else(|| out_of_range(place))?;
                Value::Integer(IntegerType::Uint8, i64::from(*byte))
            }
            Value::Map(kind, map) => {
                let Value::String(key) = index else {
                    return Err(match index {
                        Value::Nil | Value::Absent => "value is nil; should be of type string".into(),
                        other => Cause::Plain(format!(
                            "value has type {}; should be string",
                            kind::type_name(other)
                        )),
                    });
                };
                let found = map.borrow().get(key.lossy().as_ref()).cloned();
                found.unwrap_or_else(|| match kind {
                    MapType::Any | MapType::Values => Value::Nil,
                    MapType::Strings | MapType::NilStrings => Value::string(""),
                    MapType::Files => Value::Bytes(crate::value::Text::default()),
                })
            }
            other => {
                return Err(Cause::Plain(format!("can't index item of type {}", kind::type_name(other))));
            }
        };
    }
    Ok(item)
}

fn out_of_range(place: usize) -> Cause {
    Cause::Plain(format!("reflect: slice index out of range: {place}"))
}

/// A place in something of that length.
fn place(index: &Value, length: usize) -> Result<usize, Cause> {
    match index {
        Value::Integer(_, number) | Value::Duration(number) => match usize::try_from(*number) {
            Ok(place) if place <= length => Ok(place),
            Ok(_) | Err(_) => Err(Cause::Plain(format!("index out of range: {number}"))),
        },
        Value::Nil | Value::Absent => Err("cannot index slice/array with nil".into()),
        other => Err(Cause::Plain(format!("cannot index slice/array with type {}", kind::type_name(other)))),
    }
}

#[expect(clippy::cast_possible_wrap, reason = "nothing is that long")]
fn length(value: &Value) -> Result<Value, Cause> {
    let length = match value {
        Value::String(text) | Value::Bytes(text) => text.len(),
        Value::List(_, items) => items.len(),
        Value::Map(_, map) => map.borrow().len(),
        Value::Nil => return Err("len of nil pointer".into()),
        Value::Absent => return Err("reflect: call of reflect.Value.Type on zero Value".into()),
        other => return Err(Cause::Plain(format!("len of type {}", kind::type_name(other)))),
    };
    Ok(Value::int(length as i64))
}

/// What Go's escaping functions make of their arguments first.
fn joined(values: &[Value]) -> String {
    match values {
        [value @ Value::String(_)] => convert::text_of(value),
        values => crate::value::text::lossy(&format::sprint(values)).into_owned(),
    }
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\0' => out.push('\u{fffd}'),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out
}

fn javascript(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            character if character.is_ascii_control() => {
                out.push_str(&format!("\\u{:04X}", u32::from(character)))
            }
            character if character.is_ascii() || format::is_print(character) => out.push(character),
            character => out.push_str(&format!("\\u{:04X}", u32::from(character))),
        }
    }
    out
}

/// Percent-encoding for a query.
pub(super) fn query_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Part of a list, of the same type.
pub(super) fn part(kind: ListType, items: &[Value]) -> Value {
    Value::List(kind, Rc::new(items.to_vec()))
}
