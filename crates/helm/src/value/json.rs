//! JSON as Go writes it.

use super::{ListType, MAX_DEPTH, MapType, Value, format, number, object};

/// How JSON is written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// `<`, `>` and `&` are escaped, so that the text may stand in HTML.
    escape_html: bool,
    /// Two spaces a level.
    indent: bool,
}

impl Style {
    pub(crate) const COMPACT: Self = Self { escape_html: true, indent: false };
    pub(crate) const PRETTY: Self = Self { escape_html: true, indent: true };
    pub(crate) const RAW: Self = Self { escape_html: false, indent: false };
}

/// Writes JSON.
pub(crate) struct Writer {
    out: Vec<u8>,
    style: Style,
    depth: usize,
}

/// The JSON of a value.
pub(crate) fn to_json(value: &Value, style: Style) -> Result<Vec<u8>, String> {
    let mut writer = Writer::new(style);
    writer.value(value)?;
    Ok(writer.finish())
}

/// Standard base64, with padding.
pub(crate) fn base64(data: &[u8]) -> String {
    use ::base64::Engine as _;
    ::base64::engine::general_purpose::STANDARD.encode(data)
}

impl Writer {
    pub(crate) const fn new(style: Style) -> Self {
        Self { out: Vec::new(), style, depth: 0 }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    pub(crate) fn value(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Absent | Value::Nil => self.raw("null"),
            Value::Bool(value) => self.raw(if *value { "true" } else { "false" }),
            Value::Integer(_, number) | Value::Duration(number) => self.raw(&number.to_string()),
            Value::Float(number) if number.is_finite() => self.raw(&number::json(*number)),
            Value::Float(number) => {
                return Err(format!(
                    "json: unsupported value: {}",
                    number::special(*number).unwrap_or_default()
                ));
            }
            Value::String(text) => self.string(&text.lossy()),
            Value::Bytes(data) => self.string(&base64(data)),
            Value::Time(time) => self.string(&format::rfc3339(time)),
            Value::List(ListType::Nil | ListType::NilStrings, _) | Value::Map(MapType::NilStrings, _) => {
                self.raw("null")
            }
            Value::List(_, items) => {
                self.open(b'[')?;
                for (index, item) in items.iter().enumerate() {
                    self.separate(index);
                    self.value(item)?;
                }
                self.close(b']', items.is_empty());
            }
            Value::Map(_, map) => {
                let map = map.borrow();
                self.open(b'{')?;
                for (index, (key, value)) in map.iter().enumerate() {
                    self.separate(index);
                    self.key(key);
                    self.value(value)?;
                }
                self.close(b'}', map.is_empty());
            }
            Value::Object(object) => object::to_json(object, self)?,
        }
        Ok(())
    }

    /// A structure's fields, in their order.
    pub(crate) fn structure(&mut self, fields: &[(&str, Value)]) -> Result<(), String> {
        self.open(b'{')?;
        for (index, (key, value)) in fields.iter().enumerate() {
            self.separate(index);
            self.key(key);
            self.value(value)?;
        }
        self.close(b'}', fields.is_empty());
        Ok(())
    }

    fn key(&mut self, key: &str) {
        self.string(key);
        self.raw(if self.style.indent { ": " } else { ":" });
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn open(&mut self, bracket: u8) -> Result<(), String> {
        self.out.push(bracket);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("json: unsupported value: encountered a cycle, or values nested too deep".to_owned());
        }
        Ok(())
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push(b',');
        }
        self.line();
    }

    fn close(&mut self, bracket: u8, empty: bool) {
        self.depth -= 1;
        if !empty {
            self.line();
        }
        self.out.push(bracket);
    }

    fn line(&mut self) {
        if self.style.indent {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.depth, b' ');
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push(b'"');
        for character in text.chars() {
            match character {
                '"' => self.raw("\\\""),
                '\\' => self.raw("\\\\"),
                '\n' => self.raw("\\n"),
                '\r' => self.raw("\\r"),
                '\t' => self.raw("\\t"),
                '\u{8}' => self.raw("\\b"),
                '\u{c}' => self.raw("\\f"),
                '<' | '>' | '&' if self.style.escape_html => self.escape(character),
                '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => self.escape(character),
                character => self.raw(character.encode_utf8(&mut [0; 4])),
            }
        }
        self.out.push(b'"');
    }

    fn escape(&mut self, character: char) {
        self.raw(&format!("\\u{:04x}", u32::from(character)));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::value::Entries;

    fn write(value: &Value, style: Style) -> String {
        String::from_utf8(to_json(value, style).unwrap()).unwrap()
    }

    #[test]
    fn html_is_escaped_unless_asked_otherwise() {
        let value = Value::string("<a&b>\u{2028}\u{1}\"é");
        assert_eq!(write(&value, Style::COMPACT), r#""\u003ca\u0026b\u003e\u2028\u0001\"é""#);
        assert_eq!(write(&value, Style::RAW), r#""<a&b>\u2028\u0001\"é""#);
    }

    #[test]
    fn pretty_json_is_indented_by_two() {
        let map = Entries::from([
            ("a".into(), Value::list(vec![Value::Float(1e6), Value::Nil])),
            ("b".into(), Value::map(Entries::new())),
        ]);
        assert_eq!(
            write(&Value::map(map), Style::PRETTY),
            "{\n  \"a\": [\n    1000000,\n    null\n  ],\n  \"b\": {}\n}"
        );
    }

    #[test]
    fn a_cycle_is_an_error() {
        let map = crate::value::new_map(Entries::new());
        let value = Value::Map(MapType::Any, map.clone());
        map.borrow_mut().insert("me".into(), value.clone());
        assert!(to_json(&value, Style::COMPACT).is_err());
        assert!(crate::value::convert::to_yaml(&value).is_err());
        map.borrow_mut().clear();
    }
}
