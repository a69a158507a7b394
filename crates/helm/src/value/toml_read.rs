//! Reading TOML 1.0, as `fromToml` does.

use std::rc::Rc;

use super::{Entries, ListType, Map, MapType, Value, new_map, number};
use crate::functions::date;

/// How deep arrays and inline tables may nest.
const MAX_DEPTH: usize = 100;

/// The table of a TOML text.
///
/// # Errors
/// The line, and what is wrong there.
pub(crate) fn read(text: &str) -> Result<Map, String> {
    let root = new_map(Entries::new());
    let mut reader = Reader { rest: text, line: 1 };
    let mut table = Rc::clone(&root);
    loop {
        reader.skip_lines();
        if reader.rest.is_empty() {
            return Ok(root);
        }
        if reader.take("[[") {
            let path = reader.path()?;
            reader.require("]]")?;
            table = reader.item_of(&root, &path)?;
        } else if reader.take("[") {
            let path = reader.path()?;
            reader.require("]")?;
            table = reader.table_at(&root, &path)?;
        } else {
            reader.pair(&table, 0)?;
        }
        reader.end_of_line()?;
    }
}

struct Reader<'text> {
    rest: &'text str,
    line: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, message: impl std::fmt::Display) -> Result<T, String> {
        Err(format!("toml: line {}: {message}", self.line))
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn require(&mut self, text: &str) -> Result<(), String> {
        self.skip_blanks();
        if self.take(text) { Ok(()) } else { self.fail(format!("expected {text:?}, got {:?}", self.shown())) }
    }

    fn shown(&self) -> String {
        self.rest.chars().take(10).collect()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// White space, line breaks and comments.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            if self.take("\n") || self.take("\r\n") {
                self.line += 1;
            } else if self.rest.starts_with('#') {
                self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
            } else {
                return;
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), String> {
        self.skip_blanks();
        if self.rest.is_empty() || self.rest.starts_with(['\n', '#']) || self.rest.starts_with("\r\n") {
            return Ok(());
        }
        self.fail(format!("expected a newline, got {:?}", self.shown()))
    }

    // Keys.

    fn path(&mut self) -> Result<Vec<String>, String> {
        let mut path = Vec::new();
        loop {
            self.skip_blanks();
            path.push(self.key()?);
            self.skip_blanks();
            if !self.take(".") {
                return Ok(path);
            }
        }
    }

    fn key(&mut self) -> Result<String, String> {
        if self.rest.starts_with(['"', '\'']) {
            return self.string();
        }
        let bare = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '-');
        let end = self.rest.find(|next| !bare(next)).unwrap_or(self.rest.len());
        if end == 0 {
            return self.fail(format!("expected a key, got {:?}", self.shown()));
        }
        let key = self.rest[..end].to_owned();
        self.rest = &self.rest[end..];
        Ok(key)
    }

    fn pair(&mut self, table: &Map, depth: usize) -> Result<(), String> {
        let path = self.path()?;
        self.require("=")?;
        self.skip_blanks();
        let value = self.value(depth)?;
        let Some((key, parents)) = path.split_last() else { return Ok(()) };
        let table = self.table_at(table, parents)?;
        if table.borrow().contains_key(key.as_str()) {
            return self.fail(format!("key {key:?} has already been defined"));
        }
        table.borrow_mut().insert(Rc::from(key.as_str()), value);
        Ok(())
    }

    /// The table at a path; of a list of tables, the last one.
    fn table_at(&self, root: &Map, path: &[String]) -> Result<Map, String> {
        let mut table = Rc::clone(root);
        for key in path {
            let found = table.borrow().get(key.as_str()).cloned();
            let next = match found {
                None => {
                    let next = new_map(Entries::new());
                    table
                        .borrow_mut()
                        .insert(Rc::from(key.as_str()), Value::Map(MapType::Any, Rc::clone(&next)));
                    next
                }
                Some(Value::Map(_, next)) => next,
                Some(Value::List(_, items)) => match items.last() {
                    Some(Value::Map(_, next)) => Rc::clone(next),
                    _ => return self.fail(format!("key {key:?} is no table")),
                },
                Some(_) => return self.fail(format!("key {key:?} is no table")),
            };
            table = next;
        }
        Ok(table)
    }

    /// A new table in the list at a path.
    fn item_of(&self, root: &Map, path: &[String]) -> Result<Map, String> {
        let Some((key, parents)) = path.split_last() else { return Ok(Rc::clone(root)) };
        let table = self.table_at(root, parents)?;
        let item = new_map(Entries::new());
        let found = table.borrow().get(key.as_str()).cloned();
        let mut items = match found {
            None => Vec::new(),
            Some(Value::List(ListType::Tables, items)) => items.to_vec(),
            Some(_) => return self.fail(format!("key {key:?} is no list of tables")),
        };
        items.push(Value::Map(MapType::Any, Rc::clone(&item)));
        table.borrow_mut().insert(Rc::from(key.as_str()), Value::List(ListType::Tables, Rc::new(items)));
        Ok(item)
    }

    // Values.

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return self.fail("values are nested too deep");
        }
        if self.rest.starts_with(['"', '\'']) {
            return self.string().map(Value::string);
        }
        if self.take("[") {
            return self.array(depth);
        }
        if self.take("{") {
            return self.inline_table(depth);
        }
        self.scalar()
    }

    fn array(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            if self.take("]") {
                return Ok(Value::list(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_lines();
            if !self.take(",") {
                self.require("]")?;
                return Ok(Value::list(items));
            }
        }
    }

    fn inline_table(&mut self, depth: usize) -> Result<Value, String> {
        let table = new_map(Entries::new());
        self.skip_blanks();
        if self.take("}") {
            return Ok(Value::Map(MapType::Any, table));
        }
        loop {
            self.pair(&table, depth + 1)?;
            self.skip_blanks();
            if !self.take(",") {
                self.require("}")?;
                return Ok(Value::Map(MapType::Any, table));
            }
        }
    }

    fn scalar(&mut self) -> Result<Value, String> {
        let end = self.rest.find([',', ']', '}', '\n', '\r', '#']).unwrap_or(self.rest.len());
        let text = self.rest[..end].trim_end();
        let value = match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            text => number_of(text).or_else(|| time_of(text)),
        };
        let Some(value) = value else { return self.fail(format!("expected a value, got {text:?}")) };
        self.rest = &self.rest[text.len()..];
        Ok(value)
    }

    fn string(&mut self) -> Result<String, String> {
        for (quote, escapes) in [("\"\"\"", true), ("'''", false)] {
            if self.take(quote) {
                // A line break right after the quotes is none.
                if self.take("\n") || self.take("\r\n") {
                    self.line += 1;
                }
                return self.quoted(quote, escapes, true);
            }
        }
        let escapes = self.take("\"");
        if !escapes {
            self.take("'");
        }
        self.quoted(if escapes { "\"" } else { "'" }, escapes, false)
    }

    fn quoted(&mut self, quote: &str, escapes: bool, many_lines: bool) -> Result<String, String> {
        let mut out = String::new();
        loop {
            if self.rest.starts_with(quote) {
                // Up to two more quotes belong to a text of many lines.
                let extra = if many_lines {
                    self.rest.len() - self.rest.trim_start_matches(&quote[..1]).len()
                } else {
                    1
                };
                if many_lines && extra > 3 && extra <= 5 {
                    out.push_str(&self.rest[..extra - 3]);
                    self.rest = &self.rest[extra - 3..];
                }
                self.take(quote);
                return Ok(out);
            }
            let Some(character) = self.rest.chars().next() else {
                return self.fail("a string is not closed");
            };
            self.rest = &self.rest[character.len_utf8()..];
            match character {
                '\n' if !many_lines => return self.fail("strings cannot contain newlines"),
                '\n' => {
                    self.line += 1;
                    out.push('\n');
                }
                '\\' if escapes => self.escape(&mut out, many_lines)?,
                other => out.push(other),
            }
        }
    }

    fn escape(&mut self, out: &mut String, many_lines: bool) -> Result<(), String> {
        let Some(kind) = self.rest.chars().next() else { return self.fail("a string is not closed") };
        if many_lines && kind.is_whitespace() {
            self.line += self.rest.len() - self.rest.trim_start().len();
            self.rest = self.rest.trim_start();
            return Ok(());
        }
        self.rest = &self.rest[kind.len_utf8()..];
        let plain = match kind {
            'b' => Some('\u{8}'),
            't' => Some('\t'),
            'n' => Some('\n'),
            'f' => Some('\u{c}'),
            'r' => Some('\r'),
            '"' | '\\' => Some(kind),
            'u' | 'U' => None,
            other => return self.fail(format!("invalid escape character {other:?}")),
        };
        if let Some(plain) = plain {
            out.push(plain);
            return Ok(());
        }
        let digits = if kind == 'u' { 4 } else { 8 };
        let code = self.rest.get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match code.and_then(char::from_u32) {
            Some(character) => {
                out.push(character);
                self.rest = &self.rest[digits..];
                Ok(())
            }
            None => self.fail(format!("invalid escape {:?}", self.shown())),
        }
    }
}

fn number_of(text: &str) -> Option<Value> {
    let bare = text.trim_start_matches(['+', '-']);
    let bytes = bare.as_bytes();
    let underscores_stand_between = bytes.iter().enumerate().all(|(at, byte)| {
        *byte != b'_'
            || (at > 0
                && bytes[at - 1].is_ascii_alphanumeric()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric))
    });
    if !underscores_stand_between {
        return None;
    }
    match bare {
        "inf" => {
            return Some(Value::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        "nan" => return Some(Value::Float(f64::NAN)),
        _ => {}
    }
    let leading_zero = bytes.first() == Some(&b'0') && bytes.get(1).is_some_and(u8::is_ascii_digit);
    if leading_zero || !bytes.first()?.is_ascii_digit() {
        return None;
    }
    if let Some(integer) = number::parse_integer(text) {
        return Some(Value::int64(integer));
    }
    let digits = text.replace('_', "");
    let point =
        digits.find('.').is_none_or(|at| digits[at + 1..].starts_with(|next: char| next.is_ascii_digit()));
    number::parse_float(&digits).filter(|_| point).map(Value::Float)
}

/// Dates and times; those without an offset count as UTC.
fn time_of(text: &str) -> Option<Value> {
    let text = text.replacen(' ', "T", 1).replace('t', "T").replace('z', "Z");
    let layouts = ["2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02", "15:04:05"];
    layouts.iter().find_map(|layout| date::parse(&text, layout).ok()).map(Value::Time)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let value = Value::Map(MapType::Any, read(text).unwrap());
        String::from_utf8(super::super::json::to_json(&value, super::super::json::Style::COMPACT).unwrap())
            .unwrap()
    }

    #[test]
    fn all_kinds_of_values_are_read() {
        let text = r#"
title = "a \"b\" \u00e9" # comment
'quoted key' = 'raw \n'
a.b.c = 1_000
hex = 0xff
float = -1.5e3
list = [1, 2, # comment
  [3],
]
inline = { x = 1, y = { z = true } }
many = """
one
two \
   three"""

[table.sub]
k = 2024-01-02T03:04:05Z
[[items]]
n = 1
[[items]]
n = 2
[items.deep]
m = 3
"#;
        assert_eq!(
            json(text),
            r#"{"a":{"b":{"c":1000}},"float":-1500,"hex":255,"inline":{"x":1,"y":{"z":true}},"items":[{"n":1},{"deep":{"m":3},"n":2}],"list":[1,2,[3]],"many":"one\ntwo three","quoted key":"raw \\n","table":{"sub":{"k":"2024-01-02T03:04:05Z"}},"title":"a \"b\" é"}"#
        );
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for text in [
            "a",
            "a = ",
            "a = 1 b",
            "a = 1\na = 2",
            "[a",
            "a = \"x",
            "a = 01",
            "a = 1__0",
            "a = [1",
            "a = \"\\q\"",
            "a = 1\n[a]",
        ] {
            let message = read(text).err().unwrap();
            assert!(message.starts_with("toml: line "), "{text}: {message}");
        }
    }
}
