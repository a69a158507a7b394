//! A YAML value without its place.

use crate::number::format_general_32;

/// A value of a document. Mappings keep the order in which their keys were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// `null`, `~` or nothing at all.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number that fits 64 bits with a sign.
    Int(i64),
    /// A whole number that fits 64 bits only without a sign.
    Uint(u64),
    /// Any other number.
    Float(f64),
    /// A point in time, as RFC 3339 writes it (only from [`Typing::V3`](crate::Typing::V3) on).
    Timestamp(String),
    /// A text.
    String(String),
    /// A list.
    Sequence(Vec<Self>),
    /// Keys and their values.
    Mapping(Vec<(Self, Self)>),
}

/// A mapping's key cannot be written as a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unsupported map key of type {kind}")]
pub struct KeyError {
    /// The key's type in words.
    pub kind: &'static str,
}

impl Value {
    /// A text value.
    pub fn string(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// A mapping with text keys, in the order given.
    pub fn mapping<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Mapping(pairs.into_iter().map(|(key, value)| (Self::String(key.into()), value)).collect())
    }

    /// The kind of value in one word, for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) | Self::Uint(_) => "integer",
            Self::Float(_) => "float",
            Self::Timestamp(_) => "timestamp",
            Self::String(_) => "string",
            Self::Sequence(_) => "list",
            Self::Mapping(_) => "mapping",
        }
    }

    /// Whether this is null.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The text, if this is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The truth value, if this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The whole number, if this is one and fits.
    #[must_use]
    pub const fn as_i64(&self) -> Option<i64> {
        if let Self::Int(value) = self { Some(*value) } else { None }
    }

    /// The number as a float, if this is any number.
    #[must_use]
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(value) => Some(*value as f64),
            Self::Uint(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Null
            | Self::Bool(_)
            | Self::Timestamp(_)
            | Self::String(_)
            | Self::Sequence(_)
            | Self::Mapping(_) => None,
        }
    }

    /// The items, if this is a list.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Self]> {
        if let Self::Sequence(items) = self { Some(items) } else { None }
    }

    /// The pairs, if this is a mapping.
    #[must_use]
    pub fn as_mapping(&self) -> Option<&[(Self, Self)]> {
        if let Self::Mapping(pairs) = self { Some(pairs) } else { None }
    }

    /// The value under a text key, if this is a mapping that has it.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&Self> {
        self.as_mapping()?.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
    }

    /// The value under a path of text keys, if all of it is there.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.field(key))
    }

    /// Every mapping's keys as texts, as Go's way from YAML to JSON makes them (`1` becomes `"1"`, `true` `"true"`).
    /// Of two keys that become the same text the later one stays.
    ///
    /// # Errors
    /// A key that has no text form: null, a time, a list, a mapping, or a number above 2^63.
    pub fn with_string_keys(self) -> Result<Self, KeyError> {
        match self {
            Self::Sequence(items) => {
                items.into_iter().map(Self::with_string_keys).collect::<Result<_, _>>().map(Self::Sequence)
            }
            Self::Mapping(pairs) => {
                let mut texts: Vec<(Self, Self)> = Vec::with_capacity(pairs.len());
                let only_texts = pairs.iter().all(|(key, _)| matches!(key, Self::String(_)));
                for (key, value) in pairs {
                    let key = Self::String(key.into_key()?);
                    let value = value.with_string_keys()?;
                    match texts.iter_mut().find(|(known, _)| !only_texts && *known == key) {
                        Some(known) => known.1 = value,
                        None => texts.push((key, value)),
                    }
                }
                Ok(Self::Mapping(texts))
            }
            scalar @ (Self::Null
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Uint(_)
            | Self::Float(_)
            | Self::Timestamp(_)
            | Self::String(_)) => Ok(scalar),
        }
    }

    fn into_key(self) -> Result<String, KeyError> {
        match self {
            Self::String(text) => Ok(text),
            Self::Int(number) => Ok(number.to_string()),
            Self::Float(number) => Ok(format_general_32(number)),
            Self::Bool(value) => Ok(value.to_string()),
            Self::Null | Self::Uint(_) | Self::Timestamp(_) | Self::Sequence(_) | Self::Mapping(_) => {
                Err(KeyError { kind: self.kind() })
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<Vec<Self>> for Value {
    fn from(items: Vec<Self>) -> Self {
        Self::Sequence(items)
    }
}
