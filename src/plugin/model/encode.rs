//! From a model to a value.

use std::collections::BTreeMap;

use super::field::encode_attr;
use super::{Attribute, Field, Model, Visitor};
use crate::plugin::attr::Attr;
use crate::plugin::value::Value;

/// Writes a model as an object with every attribute in it.
pub(crate) fn encode<M: Model>(mut model: M) -> Value {
    let mut encoder = Encoder(BTreeMap::new());
    model.attributes(&mut encoder);
    Value::Object(encoder.0)
}

struct Encoder(BTreeMap<String, Value>);

impl Visitor for Encoder {
    fn attribute<T: Field>(&mut self, attribute: Attribute, value: &mut Attr<T>) {
        self.0.insert(attribute.name.to_owned(), encode_attr(std::mem::replace(value, Attr::Null)));
    }
}
