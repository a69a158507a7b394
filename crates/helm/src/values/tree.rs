//! A value before the templates see it: plain, ordered by key, free to share between threads.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Number, Value as Json};

/// A mapping; Go walks maps in the order of their keys' bytes, and so does this.
pub(crate) type Table = BTreeMap<String, Tree>;

/// How deep a tree may nest, so that walking it never exhausts the stack.
pub(crate) const MAX_DEPTH: usize = 250;

/// A value. Numbers from YAML and JSON are floats; whole numbers come from `--set` only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(String),
    List(Vec<Self>),
    Map(Table),
}

/// Why a YAML value has no place in a tree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    #[error("a mapping's key is null")]
    NullKey,
    #[error("a mapping's key is a list or a mapping")]
    CompositeKey,
    #[error("values are nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
}

impl Tree {
    /// The type's name in messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::String(_) => "a string",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }

    /// Takes YAML that was typed by the rules of version 1.1.
    pub(crate) fn from_yaml(value: &yaml::Value) -> Result<Self, TreeError> {
        from_yaml(value, 0)
    }

    pub(crate) fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => Self::Float(number.as_f64().unwrap_or(f64::MAX)),
            Json::String(text) => Self::String(text.clone()),
            Json::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Json::Object(entries) => {
                Self::Map(entries.iter().map(|(key, value)| (key.clone(), Self::from_json(value))).collect())
            }
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(number) => Json::Number(Number::from(*number)),
            Self::Float(number) => float_to_json(*number),
            Self::String(text) => Json::String(text.clone()),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(table) => table_to_json(table),
        }
    }

    pub(crate) const fn as_table(&self) -> Option<&Table> {
        match self {
            Self::Map(table) => Some(table),
            Self::Null
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Float(_)
            | Self::String(_)
            | Self::List(_) => None,
        }
    }

    pub(crate) const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}

/// The documents of a YAML text, typed by the rules of version 1.1.
pub(crate) fn documents(text: &str) -> Result<Vec<yaml::Value>, yaml::Error> {
    let documents = yaml::parse_documents(text, yaml::Typing::V2)?;
    Ok(documents.into_iter().map(|document| document.root.into_value()).collect())
}

/// Lays one table over another: maps are merged, all else is replaced, nulls are kept.
pub(crate) fn merge(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(Tree::Map(below)), Tree::Map(above)) => merge(below, above),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

pub(crate) fn table_to_json(table: &Table) -> Json {
    Json::Object(table.iter().map(|(key, value)| (key.clone(), value.to_json())).collect::<JsonMap<_, _>>())
}

/// A whole float is written as a whole number, as Go's JSON does.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn float_to_json(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 9.0e15 {
        return Json::Number(Number::from(number as i64));
    }
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}

#[expect(clippy::cast_precision_loss, reason = "Helm reads every number as a float")]
fn from_yaml(value: &yaml::Value, depth: usize) -> Result<Tree, TreeError> {
    if depth > MAX_DEPTH {
        return Err(TreeError::TooDeep);
    }
    Ok(match value {
        yaml::Value::Null => Tree::Null,
        yaml::Value::Bool(value) => Tree::Bool(*value),
        yaml::Value::Int(number) => Tree::Float(*number as f64),
        yaml::Value::Uint(number) => Tree::Float(*number as f64),
        yaml::Value::Float(number) => Tree::Float(*number),
        yaml::Value::String(text) | yaml::Value::Timestamp(text) => Tree::String(text.clone()),
        yaml::Value::Sequence(items) => {
            Tree::List(items.iter().map(|item| from_yaml(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        yaml::Value::Mapping(entries) => {
            let mut table = Table::new();
            for (key, value) in entries {
                table.insert(key_text(key)?, from_yaml(value, depth + 1)?);
            }
            Tree::Map(table)
        }
    })
}

fn key_text(key: &yaml::Value) -> Result<String, TreeError> {
    match key {
        yaml::Value::String(text) | yaml::Value::Timestamp(text) => Ok(text.clone()),
        yaml::Value::Bool(value) => Ok(value.to_string()),
        yaml::Value::Int(number) => Ok(number.to_string()),
        yaml::Value::Uint(number) => Ok(number.to_string()),
        yaml::Value::Float(number) => Ok(crate::value::number::shortest_32(*number)),
        yaml::Value::Null => Err(TreeError::NullKey),
        yaml::Value::Sequence(_) | yaml::Value::Mapping(_) => Err(TreeError::CompositeKey),
    }
}
