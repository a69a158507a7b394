//! What a model looks like from outside: for the client, for planning, and for the generated docs pages.

use std::collections::BTreeSet;

use super::{Diagnostic, Diagnostics, Path};

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

impl Schema {
    /// What no client would accept, as errors of the provider's.
    pub(crate) fn problems(&self, name: &str) -> Diagnostics {
        let mut problems = Diagnostics::new();
        attribute_problems(&self.attributes, &Path::root(), &mut |path, what| {
            problems
                .push(Diagnostic::bug(format!("the schema of {name} is wrong"), format!("{path} {what}.")));
        });
        problems
    }
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

fn attribute_problems(attributes: &[AttributeSchema], path: &Path, tell: &mut impl FnMut(&Path, &str)) {
    let mut names = BTreeSet::new();
    for attribute in attributes {
        let path = path.clone().attribute(attribute.name);
        if !names.insert(attribute.name) {
            tell(&path, "is there twice");
        }
        if !is_name(attribute.name) {
            tell(&path, "is not a name of lower-case letters, digits and underscores");
        }
        match (attribute.required, attribute.optional, attribute.computed) {
            (true, false, false) | (false, true, _) | (false, false, true) => {}
            (true, _, _) => tell(&path, "is required and something else at once"),
            (false, false, false) => tell(&path, "can be set by nobody"),
        }
        let default_fits = match attribute.default {
            None => true,
            Some(DefaultValue::Bool(_)) => attribute.kind == Kind::Bool,
            Some(DefaultValue::Integer(_)) => attribute.kind == Kind::Number,
            Some(DefaultValue::String(_)) => attribute.kind == Kind::String,
        };
        if !default_fits {
            tell(&path, "has a default of another type");
        }
        match &attribute.kind {
            Kind::Object(nested) => attribute_problems(nested, &path, tell),
            Kind::List(inner) | Kind::Map(inner) => match &**inner {
                Kind::Object(nested) => attribute_problems(nested, &path, tell),
                deeper if deeper.has_object() => tell(&path, "nests objects deeper than in one list or map"),
                Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) => {}
            },
            Kind::Bool | Kind::Number | Kind::String => {}
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_')
}

impl Kind {
    fn has_object(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::List(inner) | Self::Map(inner) => inner.has_object(),
            Self::Bool | Self::Number | Self::String => false,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::model::attributes_of;
    use crate::plugin::{Attr, List, Model, Visitor, computed, optional, required};

    #[derive(Clone, Default)]
    struct Wrong {
        text: Attr<String>,
        deep: Attr<List<List<Right>>>,
        right: Attr<Right>,
    }

    #[derive(Clone, Default)]
    struct Right {
        number: Attr<i64>,
        text: Attr<String>,
    }

    impl Model for Wrong {
        fn attributes(&mut self, v: &mut impl Visitor) {
            v.attribute(required("text", "").default_value("x"), &mut self.text);
            v.attribute(optional("text", "").default_value(true), &mut Attr::<String>::Null);
            v.attribute(optional("Deep", ""), &mut self.deep);
            v.attribute(optional("right", ""), &mut self.right);
        }
    }

    impl Model for Right {
        fn attributes(&mut self, v: &mut impl Visitor) {
            v.attribute(optional("number", "").default_value(1_i64), &mut self.number);
            v.attribute(computed("text", ""), &mut self.text);
        }
    }

    fn problems<M: Model>() -> Vec<String> {
        let schema = Schema { version: 0, description: String::new(), attributes: attributes_of::<M>() };
        schema.problems("thing").iter().map(|one| one.detail.replace('\n', " ")).collect()
    }

    #[test]
    fn a_schema_that_clients_would_refuse_is_found_out() {
        assert!(problems::<Right>().is_empty());
        let found = problems::<Wrong>();
        let expected = [
            "text is required and something else at once.",
            "text is there twice.",
            "text has a default of another type.",
            "Deep is not a name of lower-case letters, digits and underscores.",
            "Deep nests objects deeper than in one list or map.",
        ];
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
