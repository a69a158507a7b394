//! Helm's own functions: other templates, what a chart demands, the cluster.

use super::Parameter::{Any, String};
use super::{Function, world};
use crate::template::failure::Cause;
use crate::value::{Value, convert};

pub(super) static FUNCTIONS: &[Function] = &[
    world("include", &[String, Any], |executor, arguments| {
        executor.include(&arguments.string(0), arguments.at(1)).map(Value::string)
    }),
    world("tpl", &[String, Any], |executor, arguments| {
        executor.text(&arguments.text(0), arguments.at(1)).map(Value::string)
    }),
    world("lookup", &[String, String, String, String], |executor, arguments| {
        let found = executor.world.lookup.lookup(
            &arguments.string(0),
            &arguments.string(1),
            &arguments.string(2),
            &arguments.string(3),
        );
        match found {
            Ok(object) => Ok(convert::from_object(&object)),
            Err(error) => Err(Cause::Plain(error.to_string())),
        }
    }),
    world("getHostByName", &[String], |_, _| Ok(Value::string(""))),
    super::pure("required", &[String, Any], |mut arguments| {
        let value = arguments.take(1);
        let missing = match &value {
            Value::Nil | Value::Absent => true,
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        if missing { Err(Cause::Refusal(arguments.string(0))) } else { Ok(value) }
    }),
    super::pure("fail", &[String], |arguments| Err(Cause::Refusal(arguments.string(0)))),
    super::pure("hello", &[], |_| Ok(Value::string("Hello!"))),
];
