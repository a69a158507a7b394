//! From a model to its schema.

use super::{Attribute, Field, Model, Visitor};
use crate::plugin::attr::Attr;
use crate::plugin::schema::AttributeSchema;

/// The attributes of a model, in its order.
pub(crate) fn attributes_of<M: Model>() -> Vec<AttributeSchema> {
    let mut reader = Reader(Vec::new());
    M::default().attributes(&mut reader);
    reader.0
}

struct Reader(Vec<AttributeSchema>);

impl Visitor for Reader {
    fn attribute<T: Field>(&mut self, attribute: Attribute, _: &mut Attr<T>) {
        let Attribute {
            name,
            description,
            required,
            optional,
            computed,
            sensitive,
            replaces,
            recomputed,
            default,
            deprecated,
        } = attribute;
        self.0.push(AttributeSchema {
            name,
            description,
            kind: T::kind(),
            required,
            optional,
            computed,
            sensitive: sensitive || T::SENSITIVE,
            replaces,
            recomputed,
            default,
            deprecated,
        });
    }
}
