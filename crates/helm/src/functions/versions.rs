//! Semantic versions.

use super::Parameter::String;
use super::{Function, pure};
use crate::template::failure::Cause;
use crate::value::{Object, Value};
use crate::version::{Constraint, Version};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("semver", &[String], |arguments| match Version::parse(&arguments.string(0)) {
        Ok(version) => Ok(Value::object(Object::Version(version))),
        Err(_) => Err("invalid semantic version".into()),
    }),
    pure("semverCompare", &[String, String], |arguments| {
        let constraint =
            Constraint::parse(&arguments.string(0)).map_err(|error| Cause::Plain(error.to_string()))?;
        let version =
            Version::parse(&arguments.string(1)).map_err(|_| Cause::from("invalid semantic version"))?;
        Ok(Value::Bool(constraint.check(&version)))
    }),
];
