//! What a plan says, decided from the schema, the configuration and the prior state alone.

mod contract;
mod replace;
#[cfg(test)]
mod tests;

use super::schema::{AttributeSchema, DefaultValue, Kind};
use super::value::{Number, Value};

pub(crate) use contract::{applied, no_unknown, observed, planned};
pub(crate) use replace::replacements;

/// The object to plan: the user's values and the defaults; computed attributes unknown in new objects, as they
/// are in others, and unknown where they are recomputed and anything changes.
///
/// `prior` is null for a new resource. An object is new where the prior state has none in its place: lists
/// are compared by position, maps by key.
pub(crate) fn propose(attributes: &[AttributeSchema], config: &Value, prior: &Value) -> Value {
    let mut proposal = object(attributes, config, prior, &Value::Unknown);
    if !prior.is_null() && proposal != *prior {
        recompute(attributes, config, &mut proposal);
    }
    proposal
}

/// A configuration with its defaults, for what is not planned: a data source, the provider.
pub(crate) fn asked(attributes: &[AttributeSchema], config: &Value) -> Value {
    object(attributes, config, &Value::Null, &Value::Null)
}

/// `unset` is what a computed attribute of a new object is.
fn object(attributes: &[AttributeSchema], config: &Value, prior: &Value, unset: &Value) -> Value {
    let new = !matches!(prior, Value::Object(_));
    let fields = attributes.iter().map(|attribute| {
        let (written, before) = (config.field(attribute.name), prior.field(attribute.name));
        let planned = match (written, attribute.default) {
            (Value::Null, Some(default)) => default.into(),
            (Value::Null, None) if attribute.computed && new => unset.clone(),
            (Value::Null, None) if attribute.computed => before.clone(),
            (Value::Null, None) => Value::Null,
            (set, _) => value(&attribute.kind, set, before, unset),
        };
        (attribute.name.to_owned(), planned)
    });
    Value::Object(fields.collect())
}

fn value(kind: &Kind, config: &Value, prior: &Value, unset: &Value) -> Value {
    match (kind, config) {
        (Kind::Object(attributes), Value::Object(_)) => object(attributes, config, prior, unset),
        (Kind::List(kind), Value::List(items)) => Value::List(
            items
                .iter()
                .enumerate()
                .map(|(index, item)| value(kind, item, prior.item(index), unset))
                .collect(),
        ),
        (Kind::Map(kind), Value::Object(entries)) => Value::Object(
            entries
                .iter()
                .map(|(key, entry)| (key.clone(), value(kind, entry, prior.field(key), unset)))
                .collect(),
        ),
        // A stored state keeps a number's first 17 digits; what is the same up to there has not changed.
        (Kind::Number, Value::Number(written)) => match prior {
            Value::Number(before) if before.is_nearly(written) => prior.clone(),
            Value::Null
            | Value::Unknown
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::List(_)
            | Value::Object(_) => config.clone(),
        },
        (Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) | Kind::Object(_), _) => {
            config.clone()
        }
    }
}

fn recompute(attributes: &[AttributeSchema], config: &Value, planned: &mut Value) {
    let Value::Object(fields) = planned else { return };
    for attribute in attributes {
        let written = config.field(attribute.name);
        let Some(planned) = fields.get_mut(attribute.name) else { continue };
        if attribute.recomputed && written.is_null() {
            *planned = Value::Unknown;
        } else {
            recompute_within(&attribute.kind, written, planned);
        }
    }
}

fn recompute_within(kind: &Kind, config: &Value, planned: &mut Value) {
    match (kind, planned) {
        (Kind::Object(attributes), planned @ Value::Object(_)) => recompute(attributes, config, planned),
        (Kind::List(kind), Value::List(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                recompute_within(kind, config.item(index), item);
            }
        }
        (Kind::Map(kind), Value::Object(entries)) => {
            for (key, entry) in entries {
                recompute_within(kind, config.field(key), entry);
            }
        }
        (Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) | Kind::Object(_), _) => {}
    }
}

impl From<DefaultValue> for Value {
    fn from(default: DefaultValue) -> Self {
        match default {
            DefaultValue::Bool(value) => Self::Bool(value),
            DefaultValue::Integer(value) => Self::Number(Number::Integer(value)),
            DefaultValue::String(value) => Self::String(value.to_owned()),
        }
    }
}
