//! Reading fields of `Chart.yaml` by the types that are expected there.

use std::collections::BTreeMap;

use super::LoadError;
use crate::value::number;

/// Reads fields by the type that is expected there: scalars become texts where a text is expected.
pub(super) struct Reader {
    file: &'static str,
    path: String,
}

impl Reader {
    /// A reader of the root of a file.
    pub(super) const fn of(file: &'static str) -> Self {
        Self { file, path: String::new() }
    }

    pub(super) fn below(&self, key: &str) -> Self {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        Self { file: self.file, path }
    }

    fn wrong(&self, expected: &'static str) -> LoadError {
        LoadError::Field { file: self.file, path: self.path.clone(), expected }
    }

    pub(super) fn entries<'value>(
        &self,
        value: &'value yaml::Value,
    ) -> Result<Vec<(String, &'value yaml::Value)>, LoadError> {
        match value {
            yaml::Value::Null => Ok(Vec::new()),
            yaml::Value::Mapping(entries) => {
                let entry = |(key, value): &'value (yaml::Value, yaml::Value)| Ok((self.text(key)?, value));
                entries.iter().map(entry).collect()
            }
            yaml::Value::Bool(_)
            | yaml::Value::Int(_)
            | yaml::Value::Uint(_)
            | yaml::Value::Float(_)
            | yaml::Value::String(_)
            | yaml::Value::Timestamp(_)
            | yaml::Value::Sequence(_) => Err(self.wrong("a mapping")),
        }
    }

    pub(super) fn text(&self, value: &yaml::Value) -> Result<String, LoadError> {
        match value {
            yaml::Value::Null => Ok(String::new()),
            yaml::Value::String(text) | yaml::Value::Timestamp(text) => Ok(text.clone()),
            yaml::Value::Bool(value) => Ok(value.to_string()),
            yaml::Value::Int(number) => Ok(number.to_string()),
            yaml::Value::Uint(number) => Ok(number.to_string()),
            yaml::Value::Float(number) => Ok(number::shortest_32(*number)),
            yaml::Value::Sequence(_) | yaml::Value::Mapping(_) => Err(self.wrong("a string")),
        }
    }

    pub(super) fn boolean(&self, value: &yaml::Value) -> Result<bool, LoadError> {
        match value {
            yaml::Value::Null => Ok(false),
            yaml::Value::Bool(value) => Ok(*value),
            yaml::Value::String(_)
            | yaml::Value::Timestamp(_)
            | yaml::Value::Int(_)
            | yaml::Value::Uint(_)
            | yaml::Value::Float(_)
            | yaml::Value::Sequence(_)
            | yaml::Value::Mapping(_) => Err(self.wrong("a boolean")),
        }
    }

    pub(super) fn list<T>(
        &self,
        value: &yaml::Value,
        read: impl Fn(&Self, &yaml::Value) -> Result<T, LoadError>,
    ) -> Result<Vec<T>, LoadError> {
        match value {
            yaml::Value::Null => Ok(Vec::new()),
            yaml::Value::Sequence(items) => {
                let item = |(index, item)| {
                    let reader = self.below(&format!("[{index}]"));
                    if matches!(item, &yaml::Value::Null) {
                        return Err(reader.wrong("an entry that is not null"));
                    }
                    read(&reader, item)
                };
                items.iter().enumerate().map(item).collect()
            }
            yaml::Value::Bool(_)
            | yaml::Value::Int(_)
            | yaml::Value::Uint(_)
            | yaml::Value::Float(_)
            | yaml::Value::String(_)
            | yaml::Value::Timestamp(_)
            | yaml::Value::Mapping(_) => Err(self.wrong("a list")),
        }
    }

    pub(super) fn texts(&self, value: &yaml::Value) -> Result<Vec<String>, LoadError> {
        self.list(value, Self::text)
    }

    pub(super) fn text_map(&self, value: &yaml::Value) -> Result<BTreeMap<String, String>, LoadError> {
        let entry = |(key, value): (String, &yaml::Value)| {
            let text = self.below(&key).text(value)?;
            Ok((key, text))
        };
        self.entries(value)?.into_iter().map(entry).collect()
    }
}
