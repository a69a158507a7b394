//! Parts of a template as Go prints them in error messages.

use std::fmt::{Display, Formatter, Result};

use super::ast::{Command, Operand, Pipeline, Term};

impl Display for Pipeline {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if !self.variables.is_empty() {
            out.write_str(&self.variables.join(", "))?;
            out.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                out.write_str(" | ")?;
            }
            command.fmt(out)?;
        }
        Ok(())
    }
}

impl Display for Command {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (index, operand) in std::iter::once(&self.first).chain(&self.arguments).enumerate() {
            if index > 0 {
                out.write_str(" ")?;
            }
            if let Term::Pipeline(pipeline) = &operand.term {
                write!(out, "({pipeline})")?;
            } else {
                operand.fmt(out)?;
            }
        }
        Ok(())
    }
}

impl Display for Operand {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let fields = |out: &mut Formatter<'_>, fields: &[std::rc::Rc<str>]| {
            fields.iter().try_for_each(|field| write!(out, ".{field}"))
        };
        match &self.term {
            Term::Dot => out.write_str("."),
            Term::Nil => out.write_str("nil"),
            Term::Bool(value) => value.fmt(out),
            Term::Number(number) => out.write_str(&number.text),
            Term::String(_, quoted) => out.write_str(quoted),
            Term::Field(names) => fields(out, names),
            Term::Variable(name, names) => {
                out.write_str(name)?;
                fields(out, names)
            }
            Term::Function(function) => out.write_str(function.name),
            Term::Pipeline(pipeline) => pipeline.fmt(out),
            Term::Chain(inner, names) => {
                if let Term::Pipeline(pipeline) = &inner.term {
                    write!(out, "({pipeline})")?;
                } else {
                    inner.fmt(out)?;
                }
                fields(out, names)
            }
        }
    }
}
