//! Values of a chart, before a chart is there: the user's YAML, laid over the product's own values as
//! `helm install -f ours.yaml -f theirs.yaml` would.

use serde_json::{Map, Number, Value};

/// Values that cannot be used. Completes "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValuesError {
    /// No YAML.
    #[error("read the values")]
    Yaml(#[from] yaml::Error),
    /// YAML, and something else than a mapping.
    #[error("read the values: expected a mapping of chart values, got a {0}")]
    NotAMapping(&'static str),
    /// A value that JSON, in which Helm and Kubernetes keep them, cannot hold.
    #[error("read the values: {0} has no form in JSON")]
    NotJson(String),
}

/// Reads the user's values; an empty text is an empty mapping. Scalars are typed as Helm types them.
///
/// # Errors
/// [`ValuesError`] with the place of what is wrong.
pub fn parse(text: &str) -> Result<Value, ValuesError> {
    let document = yaml::parse_document(text, yaml::Typing::V2)?;
    match document.map(|document| document.root.into_value()) {
        None | Some(yaml::Value::Null) => Ok(Value::Object(Map::new())),
        Some(value @ yaml::Value::Mapping(_)) => json(value),
        Some(other) => Err(ValuesError::NotAMapping(other.kind())),
    }
}

/// The value as JSON, keeping the order of keys. Keys that are no text become text as Go's YAML library makes them.
///
/// # Errors
/// [`ValuesError::NotJson`] for infinities, NaN and keys without a text form.
pub fn json(value: yaml::Value) -> Result<Value, ValuesError> {
    let value = value.with_string_keys().map_err(|error| ValuesError::NotJson(error.to_string()))?;
    convert(value)
}

/// Lays `over` onto `base`: mappings are merged, everything else is replaced. A null in `over` stays: it tells Helm
/// to drop the chart's own value.
#[must_use]
pub fn merge(base: Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (key, value) in over {
                let merged = match base.remove(&key) {
                    Some(below) => merge(below, value),
                    None => value,
                };
                base.insert(key, merged);
            }
            Value::Object(base)
        }
        (_, over) => over,
    }
}

fn convert(value: yaml::Value) -> Result<Value, ValuesError> {
    Ok(match value {
        yaml::Value::Null => Value::Null,
        yaml::Value::Bool(value) => Value::Bool(value),
        yaml::Value::Int(value) => Value::from(value),
        yaml::Value::Uint(value) => Value::from(value),
        yaml::Value::Float(value) => {
            Value::Number(Number::from_f64(value).ok_or_else(|| ValuesError::NotJson(value.to_string()))?)
        }
        yaml::Value::Timestamp(text) | yaml::Value::String(text) => Value::String(text),
        yaml::Value::Sequence(items) => {
            Value::Array(items.into_iter().map(convert).collect::<Result<_, _>>()?)
        }
        yaml::Value::Mapping(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                let key = key
                    .as_str()
                    .map(str::to_owned)
                    .ok_or_else(|| ValuesError::NotJson(key.kind().to_owned()))?;
                object.insert(key, convert(value)?);
            }
            Value::Object(object)
        }
    })
}

/// The value at a path of keys.
pub(super) fn at<'value>(values: &'value Value, path: &str) -> Option<&'value Value> {
    path.split('.').try_fold(values, |value, key| value.get(key))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    #[test]
    fn the_users_values_win_key_by_key_and_lists_are_replaced() {
        let base = json!({"a": {"b": 1, "c": [1, 2]}, "d": true});
        let over = json!({"a": {"c": [3]}, "e": "x"});
        assert_eq!(merge(base, over), json!({"a": {"b": 1, "c": [3]}, "d": true, "e": "x"}));
    }

    #[test]
    fn null_survives_so_that_helm_drops_the_default() {
        assert_eq!(merge(json!({"a": 1}), json!({"a": null})), json!({"a": null}));
    }

    #[test]
    fn scalars_are_typed_as_helm_types_them() {
        let values = parse("a: yes\nb: v1.2\nc: 012\nd: 1.5\n5: x\n").unwrap();
        assert_eq!(values, json!({"a": true, "b": "v1.2", "c": 10, "d": 1.5, "5": "x"}));
    }

    #[test]
    fn nothing_is_an_empty_mapping_and_a_list_is_refused() {
        assert_eq!(parse("").unwrap(), json!({}));
        assert_eq!(parse("# only a comment\n").unwrap(), json!({}));
        assert_eq!(parse("- a\n").unwrap_err(), ValuesError::NotAMapping("list"));
    }
}
