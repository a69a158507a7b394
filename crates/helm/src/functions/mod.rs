//! The functions that templates can call: Go's own, Sprig's and Helm's.
//!
//! What Helm does not have (`env`, `expandenv`) is no function here either. A function works on its arguments alone
//! unless it is a [`Body::World`].

pub(crate) mod arguments;
mod builtin;
mod cast;
mod certificate;
mod charts;
mod comparison;
mod crypto;
mod data;
pub(crate) mod date;
mod decimal;
mod der;
mod dictionaries;
pub(crate) mod duration;
mod encoding;
mod keys;
mod kinds;
mod lists;
mod merge;
mod numbers;
mod passwords;
mod paths;
pub(crate) mod random;
mod regular;
mod strings;
pub(crate) mod supply;
mod time_layout;
mod urls;
mod versions;
mod words;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::template::execute::Executor;
use crate::template::failure::Cause;
use crate::value::{Entries, Value};
use arguments::Arguments;

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) signature: Signature,
    pub(crate) body: Body,
}

/// The types of a function's arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signature {
    pub(crate) fixed: &'static [Parameter],
    /// The type of all further arguments, if there may be any.
    pub(crate) variadic: Option<Parameter>,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// Any value; no value is nil.
    Any,
    /// Any value, and no value as such.
    Reflect,
    String,
    Int,
    Float,
    Bool,
    Map,
    List,
    Time,
    Certificate,
}

/// What a function does.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Works on its arguments alone.
    Pure(fn(Arguments) -> Result<Value, Cause>),
    /// Calls templates, looks at the cluster or the clock, or takes random numbers.
    World(fn(&mut Executor<'_>, Arguments) -> Result<Value, Cause>),
    /// `and` and `or`: evaluates its arguments until one is as true as this says.
    ShortCircuit { stops_at: bool },
}

impl std::fmt::Debug for Body {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Pure(_) => "Pure",
            Self::World(_) => "World",
            Self::ShortCircuit { .. } => "ShortCircuit",
        })
    }
}

impl Parameter {
    /// Go's name of the type.
    pub(crate) const fn type_name(self) -> &'static str {
        match self {
            Self::Any => "interface {}",
            Self::Reflect => "reflect.Value",
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float64",
            Self::Bool => "bool",
            Self::Map => "map[string]interface {}",
            Self::List => "[]interface {}",
            Self::Time => "time.Time",
            Self::Certificate => "sprig.certificate",
        }
    }

    /// Whether nil can be given.
    pub(crate) const fn accepts_nil(self) -> bool {
        matches!(self, Self::Any | Self::Reflect | Self::Map | Self::List)
    }

    /// Nil as a value of the type.
    pub(crate) fn nil(self) -> Value {
        match self {
            Self::Map => Value::map(Entries::new()),
            Self::List => Value::list(Vec::new()),
            Self::Reflect => Value::Absent,
            Self::Any
            | Self::String
            | Self::Int
            | Self::Float
            | Self::Bool
            | Self::Time
            | Self::Certificate => Value::Nil,
        }
    }
}

const fn pure(
    name: &'static str,
    fixed: &'static [Parameter],
    body: fn(Arguments) -> Result<Value, Cause>,
) -> Function {
    Function { name, signature: Signature { fixed, variadic: None }, body: Body::Pure(body) }
}

const fn variadic(
    name: &'static str,
    fixed: &'static [Parameter],
    more: Parameter,
    body: fn(Arguments) -> Result<Value, Cause>,
) -> Function {
    Function { name, signature: Signature { fixed, variadic: Some(more) }, body: Body::Pure(body) }
}

const fn world(
    name: &'static str,
    fixed: &'static [Parameter],
    body: fn(&mut Executor<'_>, Arguments) -> Result<Value, Cause>,
) -> Function {
    Function { name, signature: Signature { fixed, variadic: None }, body: Body::World(body) }
}

/// All functions, by their subject.
static ALL: &[&[Function]] = &[
    builtin::FUNCTIONS,
    certificate::FUNCTIONS,
    charts::FUNCTIONS,
    comparison::FUNCTIONS,
    crypto::FUNCTIONS,
    data::FUNCTIONS,
    date::FUNCTIONS,
    dictionaries::FUNCTIONS,
    duration::FUNCTIONS,
    encoding::FUNCTIONS,
    kinds::FUNCTIONS,
    lists::FUNCTIONS,
    numbers::FUNCTIONS,
    passwords::FUNCTIONS,
    paths::FUNCTIONS,
    random::FUNCTIONS,
    regular::FUNCTIONS,
    strings::FUNCTIONS,
    urls::FUNCTIONS,
    versions::FUNCTIONS,
    words::FUNCTIONS,
];

static BY_NAME: LazyLock<BTreeMap<&'static str, &'static Function>> =
    LazyLock::new(|| ALL.iter().copied().flatten().map(|function| (function.name, function)).collect());

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        assert_eq!(ALL.iter().map(|functions| functions.len()).sum::<usize>(), BY_NAME.len());
    }

    #[test]
    fn the_environment_of_the_process_is_out_of_reach() {
        assert!(find("env").is_none() && find("expandenv").is_none());
    }
}
