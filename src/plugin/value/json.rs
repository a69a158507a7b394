//! Values as JSON, the form in which a stored state comes back for its upgrade.

use super::{Number, Value, ValueError};

/// Reads one value. JSON has no unknown values; states have none either.
///
/// serde_json bounds the nesting itself (128 levels).
pub(crate) fn from_json(bytes: &[u8]) -> Result<serde_json::Value, ValueError> {
    serde_json::from_slice(bytes).map_err(ValueError::Json)
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            // By its text: 0.1 in a state is the 0.1 of the configuration, not the nearest double.
            serde_json::Value::Number(number) => {
                Number::from_text(&number.to_string()).map_or(Self::Null, Self::Number)
            }
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(fields) => {
                Self::Object(fields.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}
