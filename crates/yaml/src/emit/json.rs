//! The way over JSON that Kubernetes' yaml package takes before it writes YAML.

use crate::number::{Integer, format_json, parse_integer};
use crate::{KeyError, Value};

/// A value that has no form in JSON, or whose JSON Go's YAML reader refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRepresentable {
    /// Infinity or not a number.
    #[error("json: unsupported value: {0}")]
    Number(String),
    /// A key that is no text.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A character that the YAML reader does not take.
    #[error("yaml: control characters are not allowed (U+{:04X})", u32::from(*.0))]
    Character(char),
    /// A key longer than YAML's limit of 1024 characters.
    #[error("yaml: could not find expected ':' (a key of {0} characters)")]
    LongKey(usize),
}

pub(super) fn through_json(value: &Value) -> Result<Value, NotRepresentable> {
    Ok(match value {
        Value::Null => Value::Null,
        Value::Bool(value) => Value::Bool(*value),
        Value::Int(number) => Value::Int(*number),
        Value::Uint(number) => Value::Uint(*number),
        Value::Float(number) => float(*number)?,
        Value::Timestamp(text) => Value::String(text.clone()),
        Value::String(text) => Value::String(text_through_json(text)?),
        Value::Sequence(items) => Value::Sequence(items.iter().map(through_json).collect::<Result<_, _>>()?),
        Value::Mapping(pairs) => Value::Mapping(
            pairs
                .iter()
                .map(|(name, value)| Ok((key(name)?, through_json(value)?)))
                .collect::<Result<_, NotRepresentable>>()?,
        ),
    })
}

/// JSON knows one kind of number, so that a float without a fraction comes back as a whole number.
fn float(number: f64) -> Result<Value, NotRepresentable> {
    let text = format_json(number).ok_or_else(|| NotRepresentable::Number(number.to_string()))?;
    Ok(match parse_integer(&text) {
        Some(Integer::Signed(number)) => Value::Int(number),
        Some(Integer::Unsigned(number)) => Value::Uint(number),
        None => Value::Float(number),
    })
}

fn key(key: &Value) -> Result<Value, NotRepresentable> {
    let name = match key {
        // To the reader it ends the line, and a key must end on its own.
        Value::String(text) if text.contains(NEXT_LINE) => {
            return Err(NotRepresentable::Character(NEXT_LINE));
        }
        Value::String(text) => text_through_json(text)?,
        Value::Int(number) => number.to_string(),
        Value::Null
        | Value::Bool(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => return Err(KeyError { kind: key.kind() }.into()),
    };
    let length = json_length(&name);
    if length > LONGEST_KEY { Err(NotRepresentable::LongKey(length)) } else { Ok(Value::String(name)) }
}

/// The reader wants the colon within 1024 characters from the key's start, quotes and escapes counted.
const LONGEST_KEY: usize = 1024;

fn json_length(text: &str) -> usize {
    let escaped = |character: char| match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{0}'..='\u{1f}' => 6,
        _ => 1,
    };
    2 + text.chars().map(escaped).sum::<usize>()
}

/// JSON leaves the control characters above U+007E as they are. The reader refuses all but U+0085, which is a line
/// break to it: a run of them, with the spaces around, folds to one line break less, and a single one to a space.
fn text_through_json(text: &str) -> Result<String, NotRepresentable> {
    if let Some(refused) = text.chars().find(|character| is_refused(*character)) {
        return Err(NotRepresentable::Character(refused));
    }
    if !text.contains(NEXT_LINE) {
        return Ok(text.to_owned());
    }
    let mut folded = String::with_capacity(text.len());
    let mut breaks = 0_usize;
    for (index, part) in text.split(NEXT_LINE).enumerate() {
        let first = index == 0;
        let part = if first { part } else { part.trim_start_matches(' ') };
        if !first {
            breaks += 1;
        }
        if part.is_empty() && !first {
            continue;
        }
        fold(&mut folded, &mut breaks);
        folded.push_str(part);
        let is_last = text.split(NEXT_LINE).count() == index + 1;
        if !is_last {
            folded.truncate(folded.trim_end_matches(' ').len());
        }
    }
    fold(&mut folded, &mut breaks);
    Ok(folded)
}

fn fold(text: &mut String, breaks: &mut usize) {
    match std::mem::take(breaks) {
        0 => {}
        1 => text.push(' '),
        several => text.extend(std::iter::repeat_n('\n', several - 1)),
    }
}

const NEXT_LINE: char = '\u{85}';

const fn is_refused(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}
