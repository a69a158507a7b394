//! The types that an attribute's value may have.

use std::collections::BTreeMap;

use super::Model;
use crate::plugin::attr::{Attr, List, Map};
use crate::plugin::schema::Kind;
use crate::plugin::value::{Number, Value};
use crate::plugin::{Diagnostic, Diagnostics, Path, Secret};

/// A type that an attribute's value may have: [`bool`], [`i64`], [`u64`], [`f64`], [`String`], [`Secret`], a
/// nested [`Model`], and a [`List`] or a [`Map`] of these.
///
/// Numbers keep the client's full precision as far as a model hands them on unchanged.
pub trait Field: sealed::Field {}

impl<T: sealed::Field> Field for T {}

/// Reads a value that may be null or unknown.
pub(super) fn decode_attr<T: Field>(value: Value, path: &Path) -> Result<Attr<T>, Diagnostics> {
    match value {
        Value::Null => Ok(Attr::Null),
        Value::Unknown => Ok(Attr::Unknown),
        known
        @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::List(_) | Value::Object(_)) => {
            T::decode(known, path).map(Attr::Known)
        }
    }
}

/// Writes a value that may be null or unknown.
pub(super) fn encode_attr<T: Field>(attr: Attr<T>) -> Value {
    match attr {
        Attr::Null => Value::Null,
        Attr::Unknown => Value::Unknown,
        Attr::Known(value) => value.encode(),
    }
}

/// A value of another type than the attribute's.
pub(super) fn unexpected(path: &Path, expected: &str, came: &str) -> Diagnostics {
    if path.steps().is_empty() {
        return Diagnostics::error(
            "the resource's object has the wrong type",
            format!("Expected {expected}, got {came}."),
        );
    }
    Diagnostic::error(format!("{path} has the wrong type"), format!("Expected {expected}, got {came}."))
        .at(path.clone())
        .into()
}

pub(crate) mod sealed {
    use super::{Diagnostics, Kind, Path, Value};

    /// The part of a field that only this layer uses, in terms of its own values.
    pub trait Field: Clone + Send + Sync + Sized + 'static {
        /// Whether the value must not be shown.
        const SENSITIVE: bool = false;

        /// The type as the schema names it.
        fn kind() -> Kind;

        /// Reads a value that is neither null nor unknown.
        fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics>;

        /// Writes it.
        fn encode(self) -> Value;
    }
}

impl sealed::Field for bool {
    fn kind() -> Kind {
        Kind::Bool
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        if let Value::Bool(value) = value { Ok(value) } else { Err(unexpected(path, "a bool", value.what())) }
    }

    fn encode(self) -> Value {
        Value::Bool(self)
    }
}

impl sealed::Field for String {
    fn kind() -> Kind {
        Kind::String
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        if let Value::String(value) = value {
            Ok(value)
        } else {
            Err(unexpected(path, "a string", value.what()))
        }
    }

    fn encode(self) -> Value {
        Value::String(self)
    }
}

impl sealed::Field for Secret {
    const SENSITIVE: bool = true;

    fn kind() -> Kind {
        Kind::String
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        String::decode(value, path).map(Self::from)
    }

    fn encode(self) -> Value {
        Value::String(self.expose().to_owned())
    }
}

/// The number that the wire holds: where it is text, the same text may stand for a number.
fn number(value: Value, path: &Path) -> Result<Number, Diagnostics> {
    match value {
        Value::Number(number) => Ok(number),
        Value::String(text) => {
            Number::from_text(&text).ok_or_else(|| unexpected(path, "a number", "a string that is none"))
        }
        other @ (Value::Null | Value::Unknown | Value::Bool(_) | Value::List(_) | Value::Object(_)) => {
            Err(unexpected(path, "a number", other.what()))
        }
    }
}

fn number_text(number: &Number) -> String {
    match number {
        Number::Integer(value) => value.to_string(),
        Number::Unsigned(value) => value.to_string(),
        Number::Float(value) => value.to_string(),
        Number::Decimal(text) => text.clone(),
    }
}

impl sealed::Field for i64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        let number = number(value, path)?;
        number.as_i64().ok_or_else(|| unexpected(path, "a whole number", &number_text(&number)))
    }

    fn encode(self) -> Value {
        Value::Number(Number::Integer(self))
    }
}

impl sealed::Field for u64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        let number = number(value, path)?;
        number.as_u64().ok_or_else(|| unexpected(path, "a whole number of 0 or more", &number_text(&number)))
    }

    fn encode(self) -> Value {
        Value::Number(Number::from_u64(self))
    }
}

impl sealed::Field for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        number(value, path).map(|number| number.as_f64())
    }

    /// What is not finite has no form on the wire and is null.
    fn encode(self) -> Value {
        Number::written(self).map_or(Value::Null, Value::Number)
    }
}

impl<T: Field> sealed::Field for List<T> {
    const SENSITIVE: bool = T::SENSITIVE;

    fn kind() -> Kind {
        Kind::List(Box::new(T::kind()))
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        let Value::List(items) = value else { return Err(unexpected(path, "a list", value.what())) };
        let mut errors = Diagnostics::new();
        let mut decoded = Self::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            match decode_attr(item, &path.clone().index(index)) {
                Ok(item) => decoded.push(item),
                Err(found) => errors.extend(found),
            }
        }
        errors.into_result(decoded)
    }

    fn encode(self) -> Value {
        Value::List(self.into_iter().map(encode_attr).collect())
    }
}

impl<T: Field> sealed::Field for Map<T> {
    const SENSITIVE: bool = T::SENSITIVE;

    fn kind() -> Kind {
        Kind::Map(Box::new(T::kind()))
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        let Value::Object(entries) = value else { return Err(unexpected(path, "a map", value.what())) };
        let mut errors = Diagnostics::new();
        let mut decoded = Self::new();
        for (key, entry) in entries {
            match decode_attr(entry, &path.clone().key(&key)) {
                Ok(entry) => drop(decoded.insert(key, entry)),
                Err(found) => errors.extend(found),
            }
        }
        errors.into_result(decoded)
    }

    fn encode(self) -> Value {
        let entries: BTreeMap<_, _> =
            self.into_iter().map(|(key, entry)| (key, encode_attr(entry))).collect();
        Value::Object(entries)
    }
}

impl<M: Model> sealed::Field for M {
    fn kind() -> Kind {
        Kind::Object(super::attributes_of::<M>())
    }

    fn decode(value: Value, path: &Path) -> Result<Self, Diagnostics> {
        super::decode(value, path)
    }

    fn encode(self) -> Value {
        super::encode(self)
    }
}
