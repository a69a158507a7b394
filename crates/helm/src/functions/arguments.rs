//! The arguments of a function, read by their types. The signature has been checked before.

use crate::value::{Map, Text, Value, convert};

/// The arguments of a function.
pub(crate) struct Arguments(pub(crate) Vec<Value>);

impl Arguments {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The argument at a place; nil where there is none.
    pub(crate) fn at(&self, index: usize) -> &Value {
        self.0.get(index).unwrap_or(&Value::Nil)
    }

    /// Takes the argument out.
    pub(crate) fn take(&mut self, index: usize) -> Value {
        self.0.get_mut(index).map_or(Value::Nil, |slot| std::mem::replace(slot, Value::Nil)).stored()
    }

    /// A string, as bytes.
    pub(crate) fn text(&self, index: usize) -> Text {
        convert::to_text(self.at(index))
    }

    /// A string, as text.
    pub(crate) fn string(&self, index: usize) -> String {
        convert::text_of(self.at(index))
    }

    pub(crate) fn int(&self, index: usize) -> i64 {
        if let Value::Integer(_, number) = self.at(index) { *number } else { 0 }
    }

    pub(crate) fn is_true(&self, index: usize) -> bool {
        matches!(self.at(index), Value::Bool(true))
    }

    /// A map; an empty one where there is none.
    pub(crate) fn map(&self, index: usize) -> Map {
        if let Value::Map(_, map) = self.at(index) { map.clone() } else { Map::default() }
    }

    /// All arguments from a place on.
    pub(crate) fn from(&self, index: usize) -> &[Value] {
        self.0.get(index..).unwrap_or_default()
    }
}
