//! What a model looks like from outside: for the client, for planning, and for the generated docs pages.

/// A resource's, a data source's or the provider's own schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Counts up when the stored form changes in a way that needs an upgrade.
    pub version: i64,
    /// What it is, in Markdown.
    pub description: String,
    /// In the order in which the model lists them.
    pub attributes: Vec<AttributeSchema>,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeSchema {
    /// As the user writes it.
    pub name: &'static str,
    /// What it means, its unit and its default, in Markdown.
    pub description: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The user must set it.
    pub required: bool,
    /// The user may set it.
    pub optional: bool,
    /// The provider sets it where the user does not.
    pub computed: bool,
    /// Clients hide the value.
    pub sensitive: bool,
    /// A change makes a new resource.
    pub replaces: bool,
    /// Known after apply whenever anything about the resource changes.
    pub recomputed: bool,
    /// Taken where the user sets nothing.
    pub default: Option<DefaultValue>,
    /// Why and what instead, if it should no longer be used.
    pub deprecated: Option<&'static str>,
}

/// The type of an attribute's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list of values of one type.
    List(Box<Self>),
    /// Values of one type by name.
    Map(Box<Self>),
    /// A nested object.
    Object(Vec<AttributeSchema>),
}

/// What an attribute is where the user sets nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    String(&'static str),
}

impl From<bool> for DefaultValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for DefaultValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&'static str> for DefaultValue {
    fn from(value: &'static str) -> Self {
        Self::String(value)
    }
}
