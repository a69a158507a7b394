//! Values in the form that a schema gives them.

use super::schema::{AttributeSchema, Kind};
use super::value::{Number, Value};

/// A value from the client. Numbers that are exact neither as integers nor as doubles come as text, and only
/// the schema knows that they are numbers.
pub(crate) fn received(attributes: &[AttributeSchema], mut object: Value) -> Value {
    numbers_of(attributes, &mut object);
    object
}

fn numbers_of(attributes: &[AttributeSchema], object: &mut Value) {
    let Value::Object(fields) = object else { return };
    for attribute in attributes {
        if let Some(field) = fields.get_mut(attribute.name) {
            numbers(&attribute.kind, field);
        }
    }
}

fn numbers(kind: &Kind, value: &mut Value) {
    match (kind, value) {
        (Kind::Number, value) => {
            if let Value::String(text) = value
                && let Some(number) = Number::from_text(text)
            {
                *value = Value::Number(number);
            }
        }
        (Kind::Object(attributes), value) => numbers_of(attributes, value),
        (Kind::List(kind), Value::List(items)) => items.iter_mut().for_each(|item| numbers(kind, item)),
        (Kind::Map(kind), Value::Object(entries)) => {
            entries.values_mut().for_each(|entry| numbers(kind, entry));
        }
        (Kind::Bool | Kind::String | Kind::List(_) | Kind::Map(_), _) => {}
    }
}

/// A stored object: no attribute that the schema lacks, null for what is not there.
pub(crate) fn stored(attributes: &[AttributeSchema], object: Value) -> Value {
    let Value::Object(mut fields) = object else { return object };
    let fields = attributes.iter().map(|attribute| {
        let field = fields.remove(attribute.name).unwrap_or_default();
        (attribute.name.to_owned(), stored_value(&attribute.kind, field))
    });
    Value::Object(fields.collect())
}

fn stored_value(kind: &Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Object(attributes), value) => stored(attributes, value),
        (Kind::List(kind), Value::List(items)) => {
            Value::List(items.into_iter().map(|item| stored_value(kind, item)).collect())
        }
        (Kind::Map(kind), Value::Object(entries)) => {
            Value::Object(entries.into_iter().map(|(key, entry)| (key, stored_value(kind, entry))).collect())
        }
        (Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_), value) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::value::testing::{json, value};
    use super::*;
    use crate::plugin::model::attributes_of;
    use crate::plugin::{Attr, List, Map, Model, Visitor, optional};

    #[derive(Clone, Default)]
    struct Outer {
        text: Attr<String>,
        ratio: Attr<f64>,
        inner: Attr<Map<Inner>>,
    }

    #[derive(Clone, Default)]
    struct Inner {
        ratios: Attr<List<f64>>,
    }

    impl Model for Outer {
        fn attributes(&mut self, v: &mut impl Visitor) {
            v.attribute(optional("text", ""), &mut self.text);
            v.attribute(optional("ratio", ""), &mut self.ratio);
            v.attribute(optional("inner", ""), &mut self.inner);
        }
    }

    impl Model for Inner {
        fn attributes(&mut self, v: &mut impl Visitor) {
            v.attribute(optional("ratios", ""), &mut self.ratios);
        }
    }

    #[test]
    fn text_is_a_number_where_the_schema_says_so() {
        let came =
            value(json!({ "text": "0.1", "ratio": "0.1", "inner": { "k": { "ratios": ["0.2", "none"] } } }));
        assert_eq!(
            json(&received(&attributes_of::<Outer>(), came)),
            json!({
                "text": "0.1", "ratio": { "decimal": "0.1" },
                "inner": { "k": { "ratios": [{ "decimal": "0.2" }, "none"] } },
            })
        );
    }

    #[test]
    fn a_stored_object_has_the_schemas_attributes_at_every_level() {
        let old = value(json!({ "gone": 1, "inner": { "k": { "gone": 2 } } }));
        assert_eq!(
            json(&stored(&attributes_of::<Outer>(), old)),
            json!({ "text": null, "ratio": null, "inner": { "k": { "ratios": null } } })
        );
    }
}
