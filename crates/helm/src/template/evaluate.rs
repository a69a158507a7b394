//! Evaluating pipelines: fields, variables, functions and their arguments.

use std::rc::Rc;

use super::ast::{Command, Operand, Pipeline, Term};
use super::execute::{Executor, Outcome};
use super::failure::{Cause, Failure};
use crate::functions::arguments::Arguments;
use crate::functions::{Body, Function, Parameter, Signature};
use crate::value::object::Member;
use crate::value::{IntegerType, ListType, MapType, Value, kind, object};

/// What a command has beside its first operand.
struct Rest<'pipeline> {
    arguments: &'pipeline [Operand],
    /// The value of the command before.
    last: Option<Value>,
}

impl Rest<'_> {
    const NONE: Self = Rest { arguments: &[], last: None };

    const fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.last.is_none()
    }
}

impl Executor<'_> {
    pub(super) fn pipeline(&mut self, dot: &Value, pipeline: &Pipeline) -> Outcome<Value> {
        self.deeper()?;
        let mut last = None;
        for command in &pipeline.commands {
            let value = self.command(dot, command, last.take())?;
            last = Some(if matches!(value, Value::Nil) { Value::Absent } else { value });
        }
        self.shallower();
        let value = last.unwrap_or(Value::Absent);
        for variable in &pipeline.variables {
            if pipeline.assigns {
                self.assign(pipeline, variable, value.clone())?;
            } else {
                self.variables.push((Rc::clone(variable), value.clone()));
            }
        }
        Ok(value)
    }

    pub(super) fn assign(&mut self, pipeline: &Pipeline, name: &str, value: Value) -> Outcome<()> {
        if let Some(slot) = self.variables.iter_mut().rev().find(|(known, _)| **known == *name) {
            slot.1 = value;
            return Ok(());
        }
        let message = format!("undefined variable: {name}");
        Err(match pipeline.last_evaluated() {
            Some(operand) => self.failure(operand, message),
            None => Failure::new(&self.template, pipeline.position, pipeline.to_string(), message),
        })
    }

    fn variable(&self, operand: &Operand, name: &str) -> Outcome<Value> {
        match self.variables.iter().rev().find(|(known, _)| **known == *name) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(self.failure(operand, format!("undefined variable: {name}"))),
        }
    }

    fn command(&mut self, dot: &Value, command: &Command, last: Option<Value>) -> Outcome<Value> {
        self.step()?;
        let rest = Rest { arguments: &command.arguments, last };
        let first = &command.first;
        match &first.term {
            Term::Function(function) => self.function(dot, function, first, rest, &command),
            Term::Field(names) => self.fields(dot, dot, names, first, rest),
            Term::Chain(inner, names) => {
                let receiver = self.operand(dot, inner)?;
                self.fields(dot, &receiver, names, first, rest)
            }
            Term::Variable(name, names) if !names.is_empty() => {
                let receiver = self.variable(first, name)?;
                self.fields(dot, &receiver, names, first, rest)
            }
            Term::Nil => Err(self.failure(first, "nil is not a command")),
            Term::Dot
            | Term::Bool(_)
            | Term::Number(_)
            | Term::String(..)
            | Term::Pipeline(_)
            | Term::Variable(..) => {
                if !rest.is_empty() {
                    return Err(self.failure(first, format!("can't give argument to non-function {first}")));
                }
                self.operand(dot, first)
            }
        }
    }

    /// The value of an operand by itself.
    fn operand(&mut self, dot: &Value, operand: &Operand) -> Outcome<Value> {
        match &operand.term {
            Term::Dot => Ok(dot.clone()),
            Term::Nil => Ok(Value::Nil),
            Term::Bool(value) => Ok(Value::Bool(*value)),
            Term::Number(number) => Ok(number.value()),
            Term::String(text, _) => Ok(Value::String(text.clone())),
            Term::Field(names) => self.fields(dot, dot, names, operand, Rest::NONE),
            Term::Variable(name, names) => {
                let value = self.variable(operand, name)?;
                if names.is_empty() {
                    Ok(value)
                } else {
                    self.fields(dot, &value, names, operand, Rest::NONE)
                }
            }
            Term::Function(function) => self.function(dot, function, operand, Rest::NONE, &operand),
            Term::Pipeline(pipeline) => self.pipeline(dot, pipeline),
            Term::Chain(inner, names) => {
                if matches!(inner.term, Term::Nil) {
                    return Err(
                        self.failure(operand, format!("indirection through explicit nil in {operand}"))
                    );
                }
                let receiver = self.operand(dot, inner)?;
                self.fields(dot, &receiver, names, operand, Rest::NONE)
            }
        }
    }

    // Fields.

    fn fields(
        &mut self,
        dot: &Value,
        receiver: &Value,
        names: &[Rc<str>],
        operand: &Operand,
        rest: Rest<'_>,
    ) -> Outcome<Value> {
        let Some((last, others)) = names.split_last() else { return Ok(receiver.clone()) };
        let mut value = receiver.clone();
        let mut inside = false;
        for name in others {
            value = self.field(dot, &value, inside, name, operand, Rest::NONE)?;
            inside = true;
        }
        self.field(dot, &value, inside, last, operand, rest)
    }

    /// A field, a key or a method. `inside` tells that the receiver came out of a map, so that Go knows it as an
    /// interface.
    fn field(
        &mut self,
        dot: &Value,
        receiver: &Value,
        inside: bool,
        name: &str,
        operand: &Operand,
        rest: Rest<'_>,
    ) -> Outcome<Value> {
        let fail = |executor: &Self, message: String| Err(executor.failure(operand, message));
        match receiver {
            Value::Absent => return Ok(Value::Absent),
            Value::Nil => return fail(self, format!("nil pointer evaluating interface {{}}.{name}")),
            Value::Bool(_)
            | Value::Integer(..)
            | Value::Float(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::List(..)
            | Value::Map(..)
            | Value::Time(_)
            | Value::Duration(_)
            | Value::Object(_) => {}
        }
        match object::member(receiver, name) {
            Some(Member::Method(method)) => {
                let arguments = self.arguments(dot, name, &method.signature, operand, rest)?;
                return (method.call)(receiver, &arguments).map_err(|message| {
                    self.failure(operand, format!("error calling {name}: ")).with_cause(Cause::Plain(message))
                });
            }
            Some(Member::Field(value)) if rest.is_empty() => return Ok(value),
            Some(Member::Field(_)) => {
                return fail(self, format!("{name} has arguments but cannot be invoked as function"));
            }
            None => {}
        }
        if let Value::Map(kind, map) = receiver {
            if !rest.is_empty() {
                return fail(self, format!("{name} is not a method but has arguments"));
            }
            return Ok(match (map.borrow().get(name), kind) {
                (Some(value), _) => value.clone(),
                (None, MapType::Any | MapType::Values) => Value::Nil,
                (None, MapType::Strings | MapType::NilStrings) => Value::string(""),
                (None, MapType::Files) => Value::Bytes(crate::value::Text::default()),
            });
        }
        let of = if inside { "interface {}".to_owned() } else { kind::type_name(receiver) };
        fail(self, format!("can't evaluate field {name} in type {of}"))
    }

    // Functions.

    fn function(
        &mut self,
        dot: &Value,
        function: &'static Function,
        operand: &Operand,
        rest: Rest<'_>,
        whole: &dyn std::fmt::Display,
    ) -> Outcome<Value> {
        if let Body::ShortCircuit { stops_at } = function.body {
            return self.short_circuit(dot, function, operand, rest, stops_at);
        }
        let arguments = self.arguments(dot, function.name, &function.signature, operand, rest)?;
        let result = match function.body {
            Body::Pure(call) => call(Arguments(arguments)),
            Body::World(call) => call(self, Arguments(arguments)),
            Body::ShortCircuit { .. } => Ok(Value::Absent),
        };
        result.map_err(|cause| {
            let message = format!("error calling {}: ", function.name);
            Failure::new(&self.template, operand.position, whole.to_string(), message).with_cause(cause)
        })
    }

    /// `and` and `or`: the arguments after the one that decides are not evaluated.
    fn short_circuit(
        &mut self,
        dot: &Value,
        function: &Function,
        operand: &Operand,
        rest: Rest<'_>,
        stops_at: bool,
    ) -> Outcome<Value> {
        if rest.is_empty() {
            let message = format!("wrong number of args for {}: want at least 1 got 0", function.name);
            return Err(self.failure(operand, message));
        }
        let mut value = Value::Absent;
        for argument in rest.arguments {
            value = self.argument(dot, argument, Parameter::Reflect)?;
            if kind::is_true(&value) == stops_at {
                return Ok(value);
            }
        }
        Ok(rest.last.unwrap_or(value))
    }

    fn arguments(
        &mut self,
        dot: &Value,
        name: &str,
        signature: &Signature,
        operand: &Operand,
        rest: Rest<'_>,
    ) -> Outcome<Vec<Value>> {
        let count = rest.arguments.len() + usize::from(rest.last.is_some());
        let fixed = signature.fixed;
        match signature.variadic {
            Some(_) if count < fixed.len() => {
                let (want, got) = (fixed.len(), rest.arguments.len());
                let message = format!("wrong number of args for {name}: want at least {want} got {got}");
                return Err(self.failure(operand, message));
            }
            None if count != fixed.len() => {
                let message = format!("wrong number of args for {name}: want {} got {count}", fixed.len());
                return Err(self.failure(operand, message));
            }
            Some(_) | None => {}
        }
        let parameter =
            |index: usize| fixed.get(index).copied().or(signature.variadic).unwrap_or(Parameter::Any);
        let mut values = Vec::with_capacity(count);
        for (index, argument) in rest.arguments.iter().enumerate() {
            values.push(self.argument(dot, argument, parameter(index))?);
        }
        if let Some(last) = rest.last {
            let at = rest.arguments.last().unwrap_or(operand);
            values.push(self.validate(last, parameter(values.len()), at)?);
        }
        Ok(values)
    }

    fn argument(&mut self, dot: &Value, operand: &Operand, parameter: Parameter) -> Outcome<Value> {
        let found = |executor: &Self, expected: &str| {
            Err(executor.failure(operand, format!("expected {expected}; found {operand}")))
        };
        match (&operand.term, parameter) {
            (Term::Nil, parameter) => {
                if parameter.accepts_nil() {
                    return Ok(parameter.nil());
                }
                return Err(self.failure(operand, format!("cannot assign nil to {}", parameter.type_name())));
            }
            (Term::Bool(_) | Term::Number(_) | Term::String(..), Parameter::Any | Parameter::Reflect)
            | (Term::String(..), Parameter::String)
            | (Term::Bool(_), Parameter::Bool) => return self.operand(dot, operand),
            (Term::Number(number), Parameter::Int) => {
                return match number.integer {
                    Some(integer) => Ok(Value::int(integer)),
                    None => found(self, "integer"),
                };
            }
            (Term::Number(number), Parameter::Float) => {
                return match number.float {
                    Some(float) => Ok(Value::Float(float)),
                    None => found(self, "float"),
                };
            }
            (Term::Bool(_) | Term::Number(_), Parameter::String) => return found(self, "string"),
            (Term::Number(_) | Term::String(..), Parameter::Bool) => return found(self, "bool"),
            (Term::Bool(_) | Term::String(..), Parameter::Int) => return found(self, "integer"),
            (Term::Bool(_) | Term::String(..), Parameter::Float) => return found(self, "float"),
            (
                Term::Bool(_) | Term::Number(_) | Term::String(..),
                Parameter::Map | Parameter::List | Parameter::Time | Parameter::Certificate,
            ) => {
                let message = format!("can't handle {operand} for arg of type {}", parameter.type_name());
                return Err(self.failure(operand, message));
            }
            (
                Term::Dot
                | Term::Field(_)
                | Term::Variable(..)
                | Term::Function(_)
                | Term::Pipeline(_)
                | Term::Chain(..),
                _,
            ) => {}
        }
        let value = self.operand(dot, operand)?;
        self.validate(value, parameter, operand)
    }

    /// The value as an argument of the parameter's type.
    fn validate(&self, value: Value, parameter: Parameter, operand: &Operand) -> Outcome<Value> {
        let fits = match (parameter, &value) {
            (Parameter::Reflect, _) => true,
            (parameter, Value::Absent) => {
                if parameter.accepts_nil() {
                    return Ok(parameter.nil());
                }
                let message = format!("invalid value; expected {}", parameter.type_name());
                return Err(self.failure(operand, message));
            }
            (Parameter::Any, _)
            | (Parameter::String, Value::String(_))
            | (Parameter::Bool, Value::Bool(_))
            | (Parameter::Float, Value::Float(_))
            | (Parameter::Int, Value::Integer(IntegerType::Int, _))
            | (Parameter::Map, Value::Map(MapType::Any | MapType::Values, _))
            | (Parameter::Time, Value::Time(_)) => true,
            (Parameter::List, Value::List(kind, _)) => matches!(kind, ListType::Any | ListType::Nil),
            (Parameter::Certificate, Value::Object(object)) => {
                matches!(**object, object::Object::Certificate { .. })
            }
            (_, _) => false,
        };
        if fits {
            return Ok(value);
        }
        let got = kind::type_name(&value);
        let expected = parameter.type_name();
        Err(self.failure(operand, format!("wrong type for value; expected {expected}; got {got}")))
    }
}
