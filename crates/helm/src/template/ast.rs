//! The parsed form of a template.

use std::rc::Rc;
use std::sync::Arc;

use super::number::Number;
use crate::functions::Function;
use crate::value::Text;

/// A file (or a text given to `tpl`) that templates were parsed from.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name that errors show.
    pub(crate) name: String,
    pub(crate) text: Arc<[u8]>,
}

/// A named template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) name: Rc<str>,
    pub(crate) source: Rc<Source>,
    pub(crate) body: Vec<Node>,
}

impl Template {
    /// Whether it holds nothing but white space: such a definition never replaces another.
    pub(crate) fn is_blank(&self) -> bool {
        self.body.iter().all(|node| matches!(node, Node::Text(text) if text.trim_ascii().is_empty()))
    }
}

/// A part of a template. Positions are offsets in bytes.
#[derive(Debug)]
pub(crate) enum Node {
    Text(Rc<[u8]>),
    Action(Pipeline),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template { position: usize, name: Rc<str>, pipeline: Option<Pipeline> },
    Break,
    Continue,
}

/// A pipeline and what depends on it.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) position: usize,
    pub(crate) pipeline: Pipeline,
    pub(crate) body: Vec<Node>,
    pub(crate) otherwise: Option<Vec<Node>>,
}

/// Commands, each with the value of the one before as its last argument.
#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) position: usize,
    /// The variables are there already, and are set.
    pub(crate) assigns: bool,
    pub(crate) variables: Vec<Rc<str>>,
    pub(crate) commands: Vec<Command>,
}

impl Pipeline {
    /// What is evaluated last; Go places errors there that show when all is evaluated.
    pub(crate) fn last_evaluated(&self) -> Option<&Operand> {
        let command = self.commands.last()?;
        Some(command.arguments.last().unwrap_or(&command.first).last_evaluated())
    }
}

/// An operand and its arguments.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) first: Operand,
    pub(crate) arguments: Vec<Operand>,
}

/// A part of a command.
#[derive(Debug)]
pub(crate) struct Operand {
    pub(crate) position: usize,
    pub(crate) term: Term,
}

impl Operand {
    /// What is evaluated last of it.
    pub(crate) fn last_evaluated(&self) -> &Self {
        match &self.term {
            Term::Pipeline(pipeline) => pipeline.last_evaluated().unwrap_or(self),
            Term::Chain(inner, _) => inner.last_evaluated(),
            Term::Dot
            | Term::Nil
            | Term::Bool(_)
            | Term::Number(_)
            | Term::String(..)
            | Term::Field(_)
            | Term::Variable(..)
            | Term::Function(_) => self,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Term {
    Dot,
    Nil,
    Bool(bool),
    Number(Number),
    /// The text, and how it was written.
    String(Text, String),
    Field(Vec<Rc<str>>),
    Variable(Rc<str>, Vec<Rc<str>>),
    Function(&'static Function),
    Pipeline(Box<Pipeline>),
    Chain(Box<Operand>, Vec<Rc<str>>),
}
