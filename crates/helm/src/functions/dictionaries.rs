//! Maps. `set`, `unset` and `merge` change the map they are given, and all see it.

use std::rc::Rc;

use super::Parameter::{Any, Map as MapParameter, String};
use super::arguments::Arguments;
use super::{Function, merge, pure, variadic};
use crate::template::failure::Cause;
use crate::value::{Entries, ListType, MAX_DEPTH, MapType, Value, convert, kind, new_map};

pub(super) static FUNCTIONS: &[Function] = &[
    variadic("dict", &[], Any, dict),
    pure("get", &[MapParameter, String], |arguments| {
        let found = arguments.map(0).borrow().get(arguments.string(1).as_str()).cloned();
        Ok(found.unwrap_or_else(|| Value::string("")))
    }),
    pure("set", &[MapParameter, String, Any], |mut arguments| {
        let value = arguments.take(2);
        arguments.map(0).borrow_mut().insert(Rc::from(arguments.string(1)), value);
        Ok(unnamed(&arguments))
    }),
    pure("unset", &[MapParameter, String], |arguments| {
        arguments.map(0).borrow_mut().remove(arguments.string(1).as_str());
        Ok(unnamed(&arguments))
    }),
    pure("hasKey", &[MapParameter, String], |arguments| {
        Ok(Value::Bool(arguments.map(0).borrow().contains_key(arguments.string(1).as_str())))
    }),
    variadic("pluck", &[String], MapParameter, |arguments| {
        let key = arguments.string(0);
        let found = |index: usize| arguments.map(index).borrow().get(key.as_str()).cloned();
        Ok(Value::list((1..arguments.len()).filter_map(found).collect()))
    }),
    variadic("keys", &[], MapParameter, |arguments| {
        let mut keys = Vec::new();
        for index in 0..arguments.len() {
            keys.extend(arguments.map(index).borrow().keys().map(|key| Value::string(key.as_bytes())));
        }
        Ok(Value::List(ListType::Strings, Rc::new(keys)))
    }),
    pure("values", &[MapParameter], |arguments| {
        Ok(Value::list(arguments.map(0).borrow().values().cloned().collect()))
    }),
    variadic("pick", &[MapParameter], String, |arguments| {
        let keys: Vec<_> = arguments.from(1).iter().map(convert::text_of).collect();
        let map = arguments.map(0);
        let map = map.borrow();
        let found = |key: &std::string::String| {
            map.get_key_value(key.as_str()).map(|(key, value)| (Rc::clone(key), value.clone()))
        };
        Ok(Value::map(keys.iter().filter_map(found).collect()))
    }),
    variadic("omit", &[MapParameter], String, |arguments| {
        let keys: Vec<_> = arguments.from(1).iter().map(convert::text_of).collect();
        let mut entries = arguments.map(0).borrow().clone();
        for key in keys {
            entries.remove(key.as_str());
        }
        Ok(Value::map(entries))
    }),
    variadic("merge", &[MapParameter], MapParameter, |arguments| merged(&arguments, false)),
    variadic("mustMerge", &[MapParameter], MapParameter, |arguments| merged(&arguments, false)),
    variadic("mergeOverwrite", &[MapParameter], MapParameter, |arguments| merged(&arguments, true)),
    variadic("mustMergeOverwrite", &[MapParameter], MapParameter, |arguments| merged(&arguments, true)),
    pure("deepCopy", &[Any], |arguments| deep_copy(arguments.at(0), 0)),
    pure("mustDeepCopy", &[Any], |arguments| deep_copy(arguments.at(0), 0)),
    variadic("dig", &[], Any, dig),
];

/// The first argument as the type that the function gives it.
fn unnamed(arguments: &Arguments) -> Value {
    Value::Map(MapType::Any, arguments.map(0))
}

fn dict(arguments: Arguments) -> Result<Value, Cause> {
    let mut entries = Entries::new();
    let mut values = arguments.0.into_iter();
    while let Some(key) = values.next() {
        let value = values.next().unwrap_or_else(|| Value::string(""));
        entries.insert(Rc::from(convert::text_of(&key)), value.stored());
    }
    Ok(Value::map(entries))
}

fn merged(arguments: &Arguments, overwrite: bool) -> Result<Value, Cause> {
    let target = arguments.map(0);
    for index in 1..arguments.len() {
        merge::merge(&target, &arguments.map(index), overwrite)?;
    }
    Ok(Value::Map(MapType::Any, target))
}

fn deep_copy(value: &Value, depth: usize) -> Result<Value, Cause> {
    if depth > MAX_DEPTH {
        return Err("deepCopy error: the value contains itself, or is nested too deep".into());
    }
    Ok(match value {
        Value::List(kind, items) => {
            let items: Result<Vec<_>, _> = items.iter().map(|item| deep_copy(item, depth + 1)).collect();
            Value::List(*kind, Rc::new(items?))
        }
        Value::Map(kind, map) => {
            let entries: Result<Entries, Cause> = map
                .borrow()
                .iter()
                .map(|(key, value)| Ok((Rc::clone(key), deep_copy(value, depth + 1)?)))
                .collect();
            Value::Map(*kind, new_map(entries?))
        }
        scalar => scalar.clone(),
    })
}

fn dig(arguments: Arguments) -> Result<Value, Cause> {
    let [path @ .., default, root] = arguments.0.as_slice() else {
        return Err("dig needs at least three arguments".into());
    };
    if path.is_empty() {
        return Err("dig needs at least three arguments".into());
    }
    let mut value = root.clone();
    for key in path {
        let Value::String(key) = key else {
            return Err(conversion(key, "string"));
        };
        // A named type of map is another type to Go.
        let Value::Map(MapType::Any, map) = &value else {
            return Err(conversion(&value, "map[string]interface {}"));
        };
        let Some(next) = map.borrow().get(key.lossy().as_ref()).cloned() else { return Ok(default.clone()) };
        value = next;
    }
    Ok(value)
}

fn conversion(value: &Value, wanted: &str) -> Cause {
    let found = if value.is_nil() { "nil".to_owned() } else { kind::type_name(value) };
    Cause::Plain(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}
