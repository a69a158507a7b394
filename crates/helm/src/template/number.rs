//! Number constants: as in Go, a constant has no type of its own until it is used.

use crate::value::number;
use crate::value::{Value, format};

/// A number constant, under each type that can hold it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) text: String,
    pub(crate) integer: Option<i64>,
    pub(crate) float: Option<f64>,
    /// Written as a float.
    looks_float: bool,
}

impl Number {
    /// Reads what the lexer took for a number.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.ends_with('i') {
            return Err(format!("complex numbers are not supported: {}", format::quote(text.as_bytes())));
        }
        let hexadecimal = text.trim_start_matches(['+', '-']).starts_with("0x");
        let looks_float = !hexadecimal && text.contains(['.', 'e', 'E']);
        if let Some(integer) = number::parse_integer(text) {
            #[expect(clippy::cast_precision_loss, reason = "Go promotes constants so")]
            let float = Some(integer as f64);
            return Ok(Self { text: text.to_owned(), integer: Some(integer), float, looks_float: false });
        }
        if matches!(number::parse_magnitude(text), Some((false, _))) {
            return Err(format!("{text} overflows int"));
        }
        let digits = text.replace('_', "");
        match number::parse_float(&digits) {
            Some(_) if !looks_float => Err(format!("integer overflow: {}", format::quote(text.as_bytes()))),
            Some(float) => {
                let whole = number::truncate(float);
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the comparison finds out whether any was lost"
                )]
                let integer = (whole as f64 == float).then_some(whole);
                Ok(Self { text: text.to_owned(), integer, float: Some(float), looks_float })
            }
            None => Err(format!("illegal number syntax: {}", format::quote(text.as_bytes()))),
        }
    }

    /// A character constant.
    pub(crate) fn character(text: &str, code: i64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a character's code is small")]
        let float = Some(code as f64);
        Self { text: text.to_owned(), integer: Some(code), float, looks_float: false }
    }

    /// The value where any type is accepted: the notation decides.
    pub(crate) fn value(&self) -> Value {
        match (self.looks_float, self.integer, self.float) {
            (false, Some(integer), _) => Value::int(integer),
            (_, _, Some(float)) => Value::Float(float),
            (true, Some(integer), None) => Value::int(integer),
            (_, None, None) => Value::Nil,
        }
    }
}
