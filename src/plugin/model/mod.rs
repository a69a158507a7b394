//! One definition a model: a list of attributes that the schema, the decoder, the encoder and the docs read.
//!
//! A model is a struct whose fields are [`Attr`]s and whose [`Model::attributes`] names each of them once,
//! with the place where its value stands. Who wants to know something about the model visits that list: the
//! schema takes the names, types and flags; the decoder writes the values; the encoder takes them out.

mod decode;
mod encode;
mod field;
mod schema;
#[cfg(test)]
mod tests;

use super::attr::Attr;
use super::schema::DefaultValue;

pub(crate) use decode::decode;
pub(crate) use encode::encode;
pub use field::Field;
pub(crate) use schema::attributes_of;

/// An object of attributes: a resource's, a data source's, the provider's configuration, or a nested one.
///
/// `Default` is the object with every attribute null.
pub trait Model: Clone + Default + Send + Sync + 'static {
    /// Visits every attribute once, in the order of the docs page.
    fn attributes(&mut self, visitor: &mut impl Visitor);
}

/// The model of an object without attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoConfiguration;

impl Model for NoConfiguration {
    fn attributes(&mut self, _: &mut impl Visitor) {}
}

/// Who reads a model's list.
pub trait Visitor {
    /// One attribute and where its value stands.
    fn attribute<T: Field>(&mut self, attribute: Attribute, value: &mut Attr<T>);
}

/// What is said about an attribute besides its type.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Attribute {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) required: bool,
    pub(crate) optional: bool,
    pub(crate) computed: bool,
    pub(crate) sensitive: bool,
    pub(crate) replaces: bool,
    pub(crate) recomputed: bool,
    pub(crate) default: Option<DefaultValue>,
    pub(crate) deprecated: Option<&'static str>,
}

/// An attribute that the user must set.
pub const fn required(name: &'static str, description: &'static str) -> Attribute {
    Attribute { required: true, ..Attribute::none(name, description) }
}

/// An attribute that the user may set; null where not.
pub const fn optional(name: &'static str, description: &'static str) -> Attribute {
    Attribute { optional: true, ..Attribute::none(name, description) }
}

/// An attribute that the provider sets.
///
/// Planned as unknown in a new object, and as it is in one that changes, unless it is
/// [`recomputed`](Attribute::recomputed) or the resource's `plan` says otherwise. Within a computed object,
/// all attributes are computed.
pub const fn computed(name: &'static str, description: &'static str) -> Attribute {
    Attribute { computed: true, ..Attribute::none(name, description) }
}

/// An attribute that the user may set, and that the provider sets where the user does not. Planned as
/// [`computed`] says where it is not set.
pub const fn optional_computed(name: &'static str, description: &'static str) -> Attribute {
    Attribute { optional: true, computed: true, ..Attribute::none(name, description) }
}

impl Attribute {
    const fn none(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            replaces: false,
            recomputed: false,
            default: None,
            deprecated: None,
        }
    }

    /// A change (also to or from null) makes a new resource.
    pub const fn replaces(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Clients hide the value. A [`Secret`](super::Secret) always is.
    pub const fn sensitive(mut self) -> Self {
        self.sensitive = true;
        self
    }

    /// Known after apply whenever anything about the resource changes, as far as the user does not set it.
    pub const fn recomputed(mut self) -> Self {
        self.recomputed = true;
        self
    }

    /// What an optional attribute is where the user sets nothing: `true`, a whole number (`3_i64`) or a text.
    /// The value's type is the attribute's (a test of the provider's schema sees to it).
    pub fn default_value(mut self, value: impl Into<DefaultValue>) -> Self {
        // For the client, a value that the user did not set is a computed one.
        self.computed = true;
        self.default = Some(value.into());
        self
    }

    /// It should no longer be used; `instead` says what to do. Shown to whoever sets it.
    pub const fn deprecated(mut self, instead: &'static str) -> Self {
        self.deprecated = Some(instead);
        self
    }
}
