//! Go's comparisons.

use super::Function;
use super::Parameter::Reflect;
use super::arguments::Arguments;
use super::{pure, variadic};
use crate::template::failure::Cause;
use crate::value::{Object, Value, format, kind};

pub(super) static FUNCTIONS: &[Function] = &[
    variadic("eq", &[Reflect], Reflect, |arguments| equal_any(&arguments).map(Value::Bool)),
    pure("ne", &[Reflect, Reflect], |arguments| {
        equal(arguments.at(0), arguments.at(1)).map(|equal| Value::Bool(!equal))
    }),
    pure("lt", &[Reflect, Reflect], |arguments| less(arguments.at(0), arguments.at(1)).map(Value::Bool)),
    pure("le", &[Reflect, Reflect], |arguments| {
        less_or_equal(arguments.at(0), arguments.at(1)).map(Value::Bool)
    }),
    pure("gt", &[Reflect, Reflect], |arguments| {
        less_or_equal(arguments.at(0), arguments.at(1)).map(|less| Value::Bool(!less))
    }),
    pure("ge", &[Reflect, Reflect], |arguments| {
        less(arguments.at(0), arguments.at(1)).map(|less| Value::Bool(!less))
    }),
    pure("not", &[Reflect], |arguments| Ok(Value::Bool(!kind::is_true(arguments.at(0))))),
];

fn equal_any(arguments: &Arguments) -> Result<bool, Cause> {
    if arguments.len() < 2 {
        return Err("missing argument for comparison".into());
    }
    for other in arguments.from(1) {
        if equal(arguments.at(0), other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn incompatible(left: &Value, right: &Value) -> Cause {
    Cause::Plain(format!(
        "incompatible types for comparison: {} and {}",
        kind::type_name(left),
        kind::type_name(right)
    ))
}

fn equal(left: &Value, right: &Value) -> Result<bool, Cause> {
    if left.is_nil() || right.is_nil() {
        return Ok(left.is_nil() && right.is_nil());
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left == right),
        (
            Value::Integer(_, left) | Value::Duration(left),
            Value::Integer(_, right) | Value::Duration(right),
        ) => Ok(left == right),
        (Value::Float(left), Value::Float(right)) => Ok(left == right),
        (Value::String(left), Value::String(right)) => Ok(left == right),
        (Value::Time(left), Value::Time(right)) => Ok(left == right),
        (Value::Object(left), Value::Object(right)) => {
            // A version is a pointer in Go, which equals itself only.
            let pointer = matches!(**left, Object::Version(_) | Object::Capabilities { .. });
            Ok(std::rc::Rc::ptr_eq(left, right) || (!pointer && left == right))
        }
        (left, right) if is_basic(left) || is_basic(right) => Err(incompatible(left, right)),
        (left, right) if kind::kind_name(left) == kind::kind_name(right) => Err(Cause::Plain(format!(
            "non-comparable type {}: {}",
            format::shown(right),
            kind::type_name(right)
        ))),
        (left, right) => Err(Cause::Plain(format!(
            "non-comparable types {}: {}, {}: {}",
            format::shown(left),
            kind::type_name(left),
            kind::type_name(right),
            format::shown(right)
        ))),
    }
}

/// Whether Go calls it a basic kind.
const fn is_basic(value: &Value) -> bool {
    matches!(
        value,
        Value::Bool(_) | Value::Integer(..) | Value::Float(_) | Value::String(_) | Value::Duration(_)
    )
}

fn less(left: &Value, right: &Value) -> Result<bool, Cause> {
    if !is_basic(left) || !is_basic(right) {
        return Err("invalid type for comparison".into());
    }
    match (left, right) {
        (
            Value::Integer(_, left) | Value::Duration(left),
            Value::Integer(_, right) | Value::Duration(right),
        ) => Ok(left < right),
        (Value::Float(left), Value::Float(right)) => Ok(left < right),
        (Value::String(left), Value::String(right)) => Ok(left < right),
        (Value::Bool(_), Value::Bool(_)) => Err("invalid type for comparison".into()),
        (left, right) => Err(incompatible(left, right)),
    }
}

fn less_or_equal(left: &Value, right: &Value) -> Result<bool, Cause> {
    Ok(less(left, right)? || equal(left, right)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<bool, Cause>) -> String {
        match result {
            Err(Cause::Plain(message)) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn types_must_fit() {
        assert_eq!(
            message(equal(&Value::int(1), &Value::Float(1.0))),
            "incompatible types for comparison: int and float64"
        );
        assert_eq!(message(less(&Value::Nil, &Value::int(1))), "invalid type for comparison");
        assert!(matches!(equal(&Value::int(1), &Value::int64(1)), Ok(true)));
    }

    #[test]
    fn nil_equals_nil_only() {
        assert!(matches!(equal(&Value::Nil, &Value::Absent), Ok(true)));
        assert!(matches!(equal(&Value::Nil, &Value::string("")), Ok(false)));
    }
}
