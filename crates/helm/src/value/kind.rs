//! Go's names for kinds and types, and what counts as true or empty.

use super::{IntegerType, ListType, MapType, Object, Value};

/// Whether `if` takes the value for true.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Absent | Value::Nil => false,
        Value::Bool(value) => *value,
        Value::Integer(_, number) | Value::Duration(number) => *number != 0,
        Value::Float(number) => *number != 0.0,
        Value::String(text) | Value::Bytes(text) => !text.is_empty(),
        Value::List(_, items) => !items.is_empty(),
        Value::Map(_, map) => !map.borrow().is_empty(),
        Value::Time(_) | Value::Object(_) => true,
    }
}

/// Whether the function `empty` takes the value for empty.
pub(crate) fn is_empty(value: &Value) -> bool {
    !is_true(value)
}

/// Go's name of the kind, as `kindOf` gives it.
pub(crate) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Absent | Value::Nil => "invalid",
        Value::Bool(_) => "bool",
        Value::Integer(kind, _) => integer_name(*kind),
        Value::Float(_) => "float64",
        Value::String(_) => "string",
        Value::Bytes(_) | Value::List(..) => "slice",
        Value::Map(..) => "map",
        Value::Time(_) => "struct",
        Value::Duration(_) => "int64",
        Value::Object(object) => match **object {
            Object::Capabilities { .. } | Object::Version(_) => "ptr",
            Object::KubeVersion(_) | Object::HelmVersion | Object::Certificate { .. } => "struct",
        },
    }
}

/// Go's name of the type, as `%T` gives it.
pub(crate) fn type_name(value: &Value) -> String {
    match value {
        Value::Absent => "<nil>".to_owned(),
        Value::Nil => "interface {}".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Integer(kind, _) => integer_name(*kind).to_owned(),
        Value::Float(_) => "float64".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Bytes(_) => "[]uint8".to_owned(),
        Value::List(kind, _) => match kind {
            ListType::Any | ListType::Nil => "[]interface {}",
            ListType::Strings | ListType::NilStrings => "[]string",
            ListType::Ints => "[]int",
            ListType::Lists => "[][]interface {}",
            ListType::Tables => "[]map[string]interface {}",
            ListType::VersionSet => "common.VersionSet",
        }
        .to_owned(),
        Value::Map(kind, _) => match kind {
            MapType::Any => "map[string]interface {}",
            MapType::Values => "common.Values",
            MapType::Strings | MapType::NilStrings => "map[string]string",
            MapType::Files => "engine.files",
        }
        .to_owned(),
        Value::Time(_) => "time.Time".to_owned(),
        Value::Duration(_) => "time.Duration".to_owned(),
        Value::Object(object) => match **object {
            Object::Capabilities { .. } => "*common.Capabilities",
            Object::KubeVersion(_) => "common.KubeVersion",
            Object::HelmVersion => "version.BuildInfo",
            Object::Version(_) => "*semver.Version",
            Object::Certificate { .. } => "sprig.certificate",
        }
        .to_owned(),
    }
}

const fn integer_name(kind: IntegerType) -> &'static str {
    match kind {
        IntegerType::Int => "int",
        IntegerType::Int64 => "int64",
        IntegerType::Uint8 => "uint8",
        IntegerType::Uint64 => "uint64",
    }
}

/// Whether two values are the same to Go's `reflect.DeepEqual`: types count.
pub(crate) fn deep_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Absent | Value::Nil, Value::Absent | Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Integer(left_type, left), Value::Integer(right_type, right)) => {
            left_type == right_type && left == right
        }
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) | (Value::Bytes(left), Value::Bytes(right)) => {
            left == right
        }
        (Value::List(left_type, left), Value::List(right_type, right)) => {
            left_type == right_type
                && left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(left, right)| deep_equal(left, right))
        }
        (Value::Map(left_type, left), Value::Map(right_type, right)) => {
            if left_type != right_type {
                return false;
            }
            if std::rc::Rc::ptr_eq(left, right) {
                return true;
            }
            let (left, right) = (left.borrow(), right.borrow());
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|((left_key, left), (right_key, right))| {
                    left_key == right_key && deep_equal(left, right)
                })
        }
        (Value::Time(left), Value::Time(right)) => left == right,
        (Value::Object(left), Value::Object(right)) => std::rc::Rc::ptr_eq(left, right) || left == right,
        (_, _) => false,
    }
}
