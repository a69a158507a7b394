//! From a value to a model.

use std::collections::BTreeMap;

use super::field::{decode_attr, unexpected};
use super::{Attribute, Field, Model, Visitor};
use crate::plugin::attr::Attr;
use crate::plugin::value::Value;
use crate::plugin::{Diagnostic, Diagnostics, Path};

/// Reads an object into a model. All that is wrong with it is found at once; attributes that are not there
/// are null.
pub(crate) fn decode<M: Model>(value: Value, path: &Path) -> Result<M, Diagnostics> {
    let Value::Object(fields) = value else {
        return Err(unexpected(path, "an object", value.what()));
    };
    let mut decoder = Decoder { fields, path, errors: Diagnostics::new() };
    let mut model = M::default();
    model.attributes(&mut decoder);
    for name in decoder.fields.keys() {
        let error = Diagnostic::error(
            format!("{name} is not an attribute"),
            "The schema has no attribute of that name.",
        );
        // Not at its own path: a client cannot show what its schema lacks.
        decoder.errors.push(if path.steps().is_empty() { error } else { error.at(path.clone()) });
    }
    decoder.errors.into_result(model)
}

struct Decoder<'a> {
    fields: BTreeMap<String, Value>,
    path: &'a Path,
    errors: Diagnostics,
}

impl Visitor for Decoder<'_> {
    fn attribute<T: Field>(&mut self, attribute: Attribute, value: &mut Attr<T>) {
        let field = self.fields.remove(attribute.name).unwrap_or_default();
        match decode_attr(field, &self.path.clone().attribute(attribute.name)) {
            Ok(decoded) => *value = decoded,
            Err(found) => self.errors.extend(found),
        }
    }
}
