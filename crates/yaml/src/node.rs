//! A YAML value with its place.

use crate::Value;

/// One document of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The document's value; null for a document of comments only.
    pub root: Node,
    /// The line of the document's first value, counted from 1.
    pub line: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What stands there.
    pub content: Content,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

/// What a [`Node`] holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys and their values in the order of the text.
    Mapping(Vec<(Node, Node)>),
}

/// A single value, typed and as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// The value under the typing that was asked for; never a list or a mapping.
    pub value: Value,
    /// The text as written, without quotes.
    pub text: String,
    /// Whether it was written without quotes and without a tag.
    pub plain: bool,
}

impl Node {
    /// The value without places.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self.content {
            Content::Scalar(scalar) => scalar.value,
            Content::Sequence(items) => Value::Sequence(items.into_iter().map(Self::into_value).collect()),
            Content::Mapping(pairs) => Value::Mapping(
                pairs.into_iter().map(|(key, value)| (key.into_value(), value.into_value())).collect(),
            ),
        }
    }

    /// A copy of the value without places.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(scalar) => scalar.value.clone(),
            Content::Sequence(items) => Value::Sequence(items.iter().map(Self::to_value).collect()),
            Content::Mapping(pairs) => {
                Value::Mapping(pairs.iter().map(|(key, value)| (key.to_value(), value.to_value())).collect())
            }
        }
    }

    /// The single value, if this is one.
    #[must_use]
    pub const fn as_scalar(&self) -> Option<&Scalar> {
        if let Content::Scalar(scalar) = &self.content { Some(scalar) } else { None }
    }

    /// The text as written, if this is a single value.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.as_scalar().map(|scalar| scalar.text.as_str())
    }

    /// The items, if this is a list.
    #[must_use]
    pub fn as_sequence(&self) -> Option<&[Self]> {
        if let Content::Sequence(items) = &self.content { Some(items) } else { None }
    }

    /// The pairs, if this is a mapping.
    #[must_use]
    pub fn as_mapping(&self) -> Option<&[(Self, Self)]> {
        if let Content::Mapping(pairs) = &self.content { Some(pairs) } else { None }
    }

    /// The node under a key (compared as written), if this is a mapping that has it.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&Self> {
        self.as_mapping()?.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    /// Whether this is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.value.is_null())
    }

    /// The kind of value in one word, for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(scalar) => scalar.value.kind(),
            Content::Sequence(_) => "list",
            Content::Mapping(_) => "mapping",
        }
    }
}
