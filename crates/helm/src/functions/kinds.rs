//! What kind of value is it?

use super::Parameter::{Any, Bool, String};
use super::{Function, pure, variadic};
use crate::value::{Value, kind};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("typeOf", &[Any], |arguments| Ok(Value::string(type_of(arguments.at(0))))),
    pure("typeIs", &[String, Any], |arguments| {
        Ok(Value::Bool(arguments.string(0) == type_of(arguments.at(1))))
    }),
    pure("typeIsLike", &[String, Any], |arguments| {
        let (target, found) = (arguments.string(0), type_of(arguments.at(1)));
        Ok(Value::Bool(target == found || format!("*{target}") == found))
    }),
    pure("kindOf", &[Any], |arguments| Ok(Value::string(kind::kind_name(arguments.at(0))))),
    pure("kindIs", &[String, Any], |arguments| {
        Ok(Value::Bool(arguments.string(0) == kind::kind_name(arguments.at(1))))
    }),
    pure("deepEqual", &[Any, Any], |arguments| {
        Ok(Value::Bool(kind::deep_equal(arguments.at(0), arguments.at(1))))
    }),
    variadic("default", &[Any], Any, |mut arguments| {
        let given = arguments.take(1);
        Ok(if kind::is_empty(&given) { arguments.take(0) } else { given })
    }),
    pure("empty", &[Any], |arguments| Ok(Value::Bool(kind::is_empty(arguments.at(0))))),
    variadic("coalesce", &[], Any, |arguments| {
        Ok(arguments.from(0).iter().find(|value| !kind::is_empty(value)).cloned().unwrap_or(Value::Nil))
    }),
    variadic("all", &[], Any, |arguments| Ok(Value::Bool(!arguments.from(0).iter().any(kind::is_empty)))),
    variadic("any", &[], Any, |arguments| {
        Ok(Value::Bool(arguments.from(0).iter().any(|value| !kind::is_empty(value))))
    }),
    pure("ternary", &[Any, Any, Bool], |mut arguments| {
        let chosen = if arguments.is_true(2) { 0 } else { 1 };
        Ok(arguments.take(chosen))
    }),
];

/// Nil has no type in Go.
fn type_of(value: &Value) -> std::string::String {
    if value.is_nil() { "<nil>".to_owned() } else { kind::type_name(value) }
}
