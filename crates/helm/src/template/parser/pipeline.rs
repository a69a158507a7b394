//! Pipelines, commands and operands.

use std::rc::Rc;

use super::{Parser, Result};
use crate::functions;
use crate::template::ast::{Command, Operand, Pipeline, Term};
use crate::template::literal;
use crate::template::number::Number;
use crate::template::token::Kind;
use crate::value::{Text, format};

impl Parser<'_> {
    pub(super) fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipeline> {
        let position = self.peek_non_space().position;
        let (variables, assigns) = self.declarations(context)?;
        let mut commands = Vec::new();
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::CharacterConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParenthesis => {
                    self.back(token);
                    commands.push(self.command()?);
                }
                _ => return self.unexpected(&token, context),
            }
        }
        commands.shrink_to_fit();
        if commands.is_empty() {
            return self.error(format!("missing value for {context}"));
        }
        let executable = |command: &Command| {
            !matches!(
                command.first.term,
                Term::Bool(_) | Term::Dot | Term::Nil | Term::Number(_) | Term::String(..)
            )
        };
        if let Some(stage) = commands.iter().skip(1).position(|command| !executable(command)) {
            return self.error(format!("non executable command in pipeline stage {}", stage + 2));
        }
        Ok(Pipeline { position, assigns, variables, commands })
    }

    /// The variables before `:=` or `=`, and whether they are assigned.
    fn declarations(&mut self, context: &str) -> Result<(Vec<Rc<str>>, bool)> {
        let mut variables = Vec::new();
        loop {
            let variable = self.next_non_space();
            if variable.kind != Kind::Variable {
                self.back(variable);
                return Ok((variables, false));
            }
            let space = self.next();
            let next = if space.kind == Kind::Space { self.next_non_space() } else { space.clone() };
            let comma = next.kind == Kind::Character && *next.text == *b",";
            if !comma && !matches!(next.kind, Kind::Assign | Kind::Declare) {
                self.back(next);
                if space.kind == Kind::Space {
                    self.back(space);
                }
                self.back(variable);
                return Ok((variables, false));
            }
            let name: Rc<str> = Rc::from(crate::value::text::lossy(&variable.text));
            variables.push(Rc::clone(&name));
            self.variables.push(name);
            if !comma {
                return Ok((variables, next.kind == Kind::Assign));
            }
            if context != "range" || variables.len() > 1 {
                return self.error(format!("too many declarations in {context}"));
            }
            if !matches!(
                self.peek_non_space().kind,
                Kind::Variable | Kind::RightDelimiter | Kind::RightParenthesis
            ) {
                return self.error("range can only initialize variables");
            }
        }
    }

    fn command(&mut self) -> Result<Command> {
        let mut first = None;
        let mut arguments = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                if first.is_none() {
                    first = Some(operand);
                } else {
                    arguments.push(operand);
                }
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelimiter | Kind::RightParenthesis => self.back(token),
                Kind::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        let Some(first) = first else { return self.error("empty command") };
        // Most commands have few, and a chart has ten thousands of them.
        arguments.shrink_to_fit();
        Ok(Command { first, arguments })
    }

    /// A term and the fields after it.
    fn operand(&mut self) -> Result<Option<Operand>> {
        let Some(term) = self.term()? else { return Ok(None) };
        if self.peek() != Kind::Field {
            return Ok(Some(term));
        }
        let mut fields = Vec::new();
        let mut chain_position = term.position;
        while self.peek() == Kind::Field {
            let token = self.next();
            if fields.is_empty() {
                chain_position = token.position;
            }
            fields.push(Rc::from(crate::value::text::lossy(&token.text[1..])));
        }
        // Go reports a chain of fields at its second field.
        let position = chain_position;
        let term = match term.term {
            Term::Field(mut names) => {
                names.extend(fields);
                Term::Field(names)
            }
            Term::Variable(name, mut names) => {
                names.extend(fields);
                Term::Variable(name, names)
            }
            Term::Bool(_) | Term::String(..) | Term::Number(_) | Term::Nil | Term::Dot => {
                let shown = format::quote(term.to_string().as_bytes());
                return self.error(format!("unexpected . after term {shown}"));
            }
            inner @ (Term::Function(_) | Term::Pipeline(_) | Term::Chain(..)) => {
                Term::Chain(Box::new(Operand { position: term.position, term: inner }), fields)
            }
        };
        Ok(Some(Operand { position, term }))
    }

    fn term(&mut self) -> Result<Option<Operand>> {
        let token = self.next_non_space();
        let text = crate::value::text::lossy(&token.text);
        let term = match token.kind {
            Kind::Identifier => match functions::find(&text) {
                Some(function) => Term::Function(function),
                None => return self.error(format!("function {} not defined", format::quote(&token.text))),
            },
            Kind::Dot => Term::Dot,
            Kind::Nil => Term::Nil,
            Kind::Variable => {
                let name: Rc<str> = Rc::from(text);
                if !self.variables.contains(&name) {
                    return self.error(format!("undefined variable {}", format::quote(name.as_bytes())));
                }
                Term::Variable(name, Vec::new())
            }
            Kind::Field => Term::Field(vec![Rc::from(&text[1..])]),
            Kind::Bool => Term::Bool(text == "true"),
            Kind::CharacterConstant => match literal::character(&token.text) {
                Some(code) => Term::Number(Number::character(&text, code)),
                None => return self.error(format!("malformed character constant: {text}")),
            },
            Kind::Complex | Kind::Number => match Number::parse(&text) {
                Ok(number) => Term::Number(number),
                Err(message) => return self.error(message),
            },
            Kind::LeftParenthesis => {
                self.deeper()?;
                let pipeline = self.pipeline("parenthesized pipeline", Kind::RightParenthesis)?;
                self.depth -= 1;
                // Go reports a parenthesized pipeline at its first operand.
                let position = pipeline.position;
                return Ok(Some(Operand { position, term: Term::Pipeline(Box::new(pipeline)) }));
            }
            Kind::String | Kind::RawString => match literal::unquote(&token.text) {
                Some(bytes) => Term::String(Text::from(bytes), text.into_owned()),
                None => return self.error("invalid syntax"),
            },
            _ => {
                self.back(token);
                return Ok(None);
            }
        };
        Ok(Some(Operand { position: token.position, term }))
    }
}
