//! Values on their way between the client and a model: known, null or unknown, whatever their type.

mod json;
mod msgpack;
mod number;
#[cfg(test)]
pub(crate) mod testing;

use std::collections::BTreeMap;
use std::fmt;

pub(crate) use json::from_json;
pub(crate) use msgpack::{from_message_pack, to_message_pack};
pub(crate) use number::Number;

/// How deep values may nest. Configurations stay below ten; the bound keeps a hostile one off the stack.
pub(crate) const MAXIMUM_DEPTH: usize = 64;

/// One value, whole.
#[derive(Clone, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    /// Known after apply. Refinements (a prefix, a range) are not kept.
    Unknown,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Self>),
    /// A map or an object: the wire does not tell them apart.
    Object(BTreeMap<String, Self>),
}

/// Why bytes are not a value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ValueError {
    #[error("failed to read a MessagePack value")]
    MessagePack(#[source] rmpv::decode::Error),
    #[error("failed to read a JSON value")]
    Json(#[source] serde_json::Error),
    #[error("failed to read a value: {0} bytes follow its end")]
    Trailing(usize),
    #[error("failed to read a value: a {0} stands where the protocol has none")]
    Unexpected(&'static str),
    #[error("failed to read a value: it nests deeper than {MAXIMUM_DEPTH} levels")]
    TooDeep,
    #[error("failed to write a MessagePack value")]
    Write(#[source] rmpv::encode::Error),
}

impl Value {
    pub(crate) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The field of an object; null where there is none.
    pub(crate) fn field(&self, name: &str) -> &Self {
        match self {
            Self::Object(fields) => fields.get(name).unwrap_or(&Self::Null),
            Self::Null
            | Self::Unknown
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::List(_) => &Self::Null,
        }
    }

    /// The element of a list; null where there is none.
    pub(crate) fn item(&self, index: usize) -> &Self {
        match self {
            Self::List(items) => items.get(index).unwrap_or(&Self::Null),
            Self::Null
            | Self::Unknown
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::Object(_) => &Self::Null,
        }
    }

    /// What it is, in words for an error: never its content, which may be secret.
    pub(crate) const fn what(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Unknown => "an unknown value",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    /// Takes over from `original` the exact form of each number that is the same as a double here.
    ///
    /// A model's `f64` holds 53 bits where the client's numbers hold 512; without this, `1/3` would go out
    /// changed, and the client refuses an answer that changes what the user wrote.
    pub(crate) fn keep_numbers_of(&mut self, original: &Self) {
        match (self, original) {
            (Self::Number(mine), Self::Number(theirs)) if mine.is_nearly(theirs) => mine.clone_from(theirs),
            (Self::List(mine), Self::List(theirs)) => {
                for (mine, theirs) in mine.iter_mut().zip(theirs) {
                    mine.keep_numbers_of(theirs);
                }
            }
            (Self::Object(mine), Self::Object(theirs)) => {
                for (name, mine) in mine {
                    if let Some(theirs) = theirs.get(name) {
                        mine.keep_numbers_of(theirs);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The shape only: contents may be secret.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(items) => f.debug_list().entries(items).finish(),
            Self::Object(fields) => f.debug_map().entries(fields).finish(),
            Self::Null | Self::Unknown | Self::Bool(_) | Self::Number(_) | Self::String(_) => {
                f.write_str(self.what())
            }
        }
    }
}
