//! Lists. They never change: each function makes a new one.

use std::rc::Rc;

use super::Parameter::{Any, Int};
use super::arguments::Arguments;
use super::{Function, builtin, cast, pure, variadic};
use crate::template::failure::Cause;
use crate::value::{IntegerType, ListType, Value, kind};

pub(super) static FUNCTIONS: &[Function] = &[
    variadic("list", &[], Any, |arguments| Ok(list(arguments.0))),
    variadic("tuple", &[], Any, |arguments| Ok(list(arguments.0))),
    pure("append", &[Any, Any], append),
    pure("mustAppend", &[Any, Any], append),
    pure("push", &[Any, Any], append),
    pure("mustPush", &[Any, Any], append),
    pure("prepend", &[Any, Any], prepend),
    pure("mustPrepend", &[Any, Any], prepend),
    pure("first", &[Any], first),
    pure("mustFirst", &[Any], first),
    pure("last", &[Any], last),
    pure("mustLast", &[Any], last),
    pure("rest", &[Any], rest),
    pure("mustRest", &[Any], rest),
    pure("initial", &[Any], initial),
    pure("mustInitial", &[Any], initial),
    pure("reverse", &[Any], reverse),
    pure("mustReverse", &[Any], reverse),
    pure("compact", &[Any], compact),
    pure("mustCompact", &[Any], compact),
    pure("uniq", &[Any], unique),
    pure("mustUniq", &[Any], unique),
    variadic("without", &[Any], Any, without),
    variadic("mustWithout", &[Any], Any, without),
    pure("has", &[Any, Any], has),
    pure("mustHas", &[Any, Any], has),
    // Sprig's function hides Go's own.
    variadic("slice", &[Any], Any, slice),
    variadic("mustSlice", &[Any], Any, slice),
    variadic("concat", &[], Any, concat),
    pure("chunk", &[Int, Any], chunk),
    pure("mustChunk", &[Int, Any], chunk),
];

/// A list of any values.
fn list(items: Vec<Value>) -> Value {
    Value::list(items.into_iter().map(Value::stored).collect())
}

/// The items of what Go calls a slice.
fn items(value: &Value, problem: &str) -> Result<(ListType, Rc<Vec<Value>>), Cause> {
    match value {
        Value::List(kind, items) => Ok((*kind, Rc::clone(items))),
        Value::Bytes(bytes) => {
            let byte = |byte: &u8| Value::Integer(IntegerType::Uint8, i64::from(*byte));
            Ok((ListType::Any, Rc::new(bytes.iter().map(byte).collect())))
        }
        Value::Absent | Value::Nil => {
            Err("runtime error: invalid memory address or nil pointer dereference".into())
        }
        other => Err(Cause::Plain(format!("{problem} {}", kind::kind_name(other)))),
    }
}

fn append(mut arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot push on type")?;
    let mut items = items.to_vec();
    items.push(arguments.take(1));
    Ok(Value::list(items))
}

fn prepend(mut arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot prepend on type")?;
    let mut all = vec![arguments.take(1)];
    all.extend(items.iter().cloned());
    Ok(Value::list(all))
}

fn first(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find first on type")?;
    Ok(items.first().cloned().unwrap_or(Value::Nil))
}

fn last(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find last on type")?;
    Ok(items.last().cloned().unwrap_or(Value::Nil))
}

fn rest(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find rest on type")?;
    Ok(nil_if_none(&items, items.iter().skip(1)))
}

fn initial(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find initial on type")?;
    Ok(nil_if_none(&items, items.iter().take(items.len().saturating_sub(1))))
}

/// The part of a list; of an empty list, nil.
fn nil_if_none<'items>(all: &[Value], part: impl Iterator<Item = &'items Value>) -> Value {
    let part = part.cloned().collect();
    if all.is_empty() { Value::list_or_nil(part) } else { Value::list(part) }
}

fn reverse(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find reverse on type")?;
    Ok(Value::list(items.iter().rev().cloned().collect()))
}

fn compact(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot compact on type")?;
    Ok(Value::list(items.iter().filter(|item| !kind::is_empty(item)).cloned().collect()))
}

fn contains(items: &[Value], wanted: &Value) -> bool {
    items.iter().any(|item| kind::deep_equal(item, wanted))
}

fn unique(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find uniq on type")?;
    let mut unique: Vec<Value> = Vec::new();
    for item in items.iter() {
        if !contains(&unique, item) {
            unique.push(item.clone());
        }
    }
    Ok(Value::list(unique))
}

fn without(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(0), "Cannot find without on type")?;
    let left_out = arguments.from(1);
    Ok(Value::list(items.iter().filter(|item| !contains(left_out, item)).cloned().collect()))
}

fn has(arguments: Arguments) -> Result<Value, Cause> {
    if arguments.at(1).is_nil() {
        return Ok(Value::Bool(false));
    }
    let (_, items) = items(arguments.at(1), "Cannot find has on type")?;
    Ok(Value::Bool(contains(&items, arguments.at(0))))
}

fn slice(arguments: Arguments) -> Result<Value, Cause> {
    let (kind, items) = items(arguments.at(0), "list should be type of slice or array but")?;
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let length = items.len();
    let start = if arguments.len() > 1 { cast::to_int(arguments.at(1)) } else { 0 };
    let end = if arguments.len() > 2 { Some(cast::to_int(arguments.at(2))) } else { None };
    let out_of_range = || Cause::from("reflect.Value.Slice: slice index out of bounds");
    let start = usize::try_from(start).map_err(|_| out_of_range())?;
    let end = end.map_or(Ok(length), usize::try_from).map_err(|_| out_of_range())?;
    Ok(builtin::part(kind, items.get(start..end).ok_or_else(out_of_range)?))
}

fn concat(arguments: Arguments) -> Result<Value, Cause> {
    let mut all = Vec::new();
    for argument in arguments.from(0) {
        if !matches!(argument, Value::List(..) | Value::Bytes(_) | Value::Nil | Value::Absent) {
            let message = format!("Cannot concat type {} as list", kind::kind_name(argument));
            return Err(Cause::Plain(message));
        }
        let (_, items) = items(argument, "Cannot concat type")?;
        all.extend(items.iter().cloned());
    }
    Ok(Value::list_or_nil(all))
}

fn chunk(arguments: Arguments) -> Result<Value, Cause> {
    let (_, items) = items(arguments.at(1), "Cannot chunk type")?;
    let size = usize::try_from(arguments.int(0)).ok().filter(|size| *size > 0);
    let Some(size) = size else { return Err(Cause::from("chunk: the size must be positive")) };
    let chunks = items.chunks(size).map(|chunk| Value::list(chunk.to_vec())).collect();
    Ok(Value::List(ListType::Lists, Rc::new(chunks)))
}
