//! Walking a template: text goes out as it is, actions are evaluated.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ast::{Branch, Node, Operand, Pipeline, Template};
use super::failure::{Cause, Failure};
use super::parser;
use super::set::Set;
use crate::functions::random::Random;
use crate::functions::supply::Supply;
use crate::render::Lookup;
use crate::value::{Value, format, kind, text};

/// How often a template may call itself, by any way: Helm's own limit.
const MAX_INCLUDES: usize = 1_000;

/// How deep calls and blocks may nest in all: what the stack of the rendering thread holds.
const MAX_DEPTH: usize = 12_000;

/// How many times all ranges may go round in one rendering.
const MAX_ITERATIONS: usize = 1_000_000;

/// How many parts of templates one rendering may go through; a large chart takes a million.
const MAX_STEPS: usize = 50_000_000;

/// How much one rendering may hold as text in all its templates, in bytes.
const MAX_OUTPUT: usize = 256 * 1024 * 1024;

/// The name that a text given to `tpl` goes under.
const TEXT_NAME: &str = "gotpl";

pub(crate) type Outcome<T> = Result<T, Failure>;

/// What templates may use of the world.
pub(crate) struct World<'world> {
    pub(crate) lookup: &'world dyn Lookup,
    pub(crate) now: jiff::Timestamp,
    pub(crate) random: Random,
    pub(crate) keys: Supply,
}

/// Runs templates.
pub(crate) struct Executor<'world> {
    pub(crate) world: World<'world>,
    pub(super) templates: Rc<Set>,
    pub(super) template: Rc<Template>,
    pub(super) variables: Vec<(Rc<str>, Value)>,
    output: Vec<u8>,
    includes: BTreeMap<Rc<str>, usize>,
    depth: usize,
    steps: usize,
    iterations: usize,
    written: usize,
}

/// How a list of nodes ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

impl<'world> Executor<'world> {
    /// An executor of the templates of a set; `template` is only a place to start from.
    pub(crate) fn new(world: World<'world>, templates: Rc<Set>, template: Rc<Template>) -> Self {
        Self {
            world,
            templates,
            template,
            variables: Vec::new(),
            output: Vec::new(),
            includes: BTreeMap::new(),
            depth: 0,
            steps: 0,
            iterations: 0,
            written: 0,
        }
    }

    /// Runs a template with its dot, and hands back what it writes.
    pub(crate) fn run(&mut self, template: &Rc<Template>, dot: &Value) -> Outcome<Vec<u8>> {
        let output = std::mem::take(&mut self.output);
        let result = self.call(template, dot);
        let written = std::mem::replace(&mut self.output, output);
        result.map(|()| written)
    }

    /// The function `include`.
    pub(crate) fn include(&mut self, name: &str, dot: &Value) -> Result<Vec<u8>, Cause> {
        let Some(template) = self.templates.find(name).cloned() else {
            let name = format::quote(name.as_bytes());
            return Err(Cause::NoTemplate(format!(
                "template: no template {name} associated with template \"gotpl\""
            )));
        };
        let count = self.includes.entry(Rc::clone(&template.name)).or_insert(0);
        if *count > MAX_INCLUDES {
            return Err(Cause::Plain(format!(
                "rendering template has a nested reference name: {name}: unable to execute template"
            )));
        }
        *count += 1;
        let result = self.run(&template, dot);
        if let Some(count) = self.includes.get_mut(&template.name) {
            *count -= 1;
        }
        result.map_err(Cause::Template)
    }

    /// The function `tpl`: what the text defines is seen within it only.
    pub(crate) fn text(&mut self, source: &[u8], dot: &Value) -> Result<Vec<u8>, Cause> {
        let shown = || text::lossy(source).into_owned();
        let parsed = parser::parse(TEXT_NAME, Arc::from(source)).map_err(|error| {
            let text = format::quote(source);
            Cause::Plain(format!(
                "cannot parse template {text}: template: {TEXT_NAME}:{}: {}",
                error.line, error.message
            ))
        })?;
        let mut templates = Set::over(&self.templates);
        let mut body = None;
        for template in parsed {
            let is_body = *template.name == *TEXT_NAME;
            let template = templates.add(template);
            if is_body {
                body = Some(template);
            }
        }
        let Some(body) = body else { return Ok(Vec::new()) };
        let outer = std::mem::replace(&mut self.templates, Rc::new(templates));
        let result = self.run(&body, dot);
        self.templates = outer;
        let written = result.map_err(|failure| Cause::Text(shown(), failure))?;
        Ok(text::replace(&written, b"<no value>", b""))
    }

    fn call(&mut self, template: &Rc<Template>, dot: &Value) -> Outcome<()> {
        let caller = std::mem::replace(&mut self.template, Rc::clone(template));
        let variables = std::mem::replace(&mut self.variables, vec![(Rc::from("$"), dot.clone())]);
        let result = self.walk(dot, &template.body);
        self.template = caller;
        self.variables = variables;
        result.map(|_| ())
    }

    pub(super) fn walk(&mut self, dot: &Value, nodes: &[Node]) -> Outcome<Flow> {
        self.deeper()?;
        let mut flow = Flow::Next;
        for node in nodes {
            flow = self.node(dot, node)?;
            if flow != Flow::Next {
                break;
            }
        }
        self.depth -= 1;
        Ok(flow)
    }

    fn node(&mut self, dot: &Value, node: &Node) -> Outcome<Flow> {
        match node {
            Node::Text(text) => {
                self.write(text)?;
                Ok(Flow::Next)
            }
            Node::Action(pipeline) => {
                let value = self.pipeline(dot, pipeline)?;
                if pipeline.variables.is_empty() {
                    self.print(pipeline, &value)?;
                }
                Ok(Flow::Next)
            }
            Node::If(branch) => self.branch(dot, branch, false),
            Node::With(branch) => self.branch(dot, branch, true),
            Node::Range(branch) => self.range(dot, branch),
            Node::Template { position, name, pipeline } => {
                self.template_node(dot, *position, name, pipeline.as_ref())?;
                Ok(Flow::Next)
            }
            Node::Break => Ok(Flow::Break),
            Node::Continue => Ok(Flow::Continue),
        }
    }

    fn branch(&mut self, dot: &Value, branch: &Branch, sets_dot: bool) -> Outcome<Flow> {
        let known = self.variables.len();
        let value = self.pipeline(dot, &branch.pipeline)?;
        let flow = if kind::is_true(&value) {
            self.walk(if sets_dot { &value } else { dot }, &branch.body)?
        } else if let Some(otherwise) = &branch.otherwise {
            self.walk(dot, otherwise)?
        } else {
            Flow::Next
        };
        self.variables.truncate(known);
        Ok(flow)
    }

    fn template_node(
        &mut self,
        dot: &Value,
        position: usize,
        name: &str,
        pipeline: Option<&Pipeline>,
    ) -> Outcome<()> {
        let Some(template) = self.templates.find(name).cloned() else {
            let name = format::quote(name.as_bytes());
            let at = match pipeline {
                Some(pipeline) => format!("{{{{template {name} {pipeline}}}}}"),
                None => format!("{{{{template {name}}}}}"),
            };
            let message = format!("template {name} not defined");
            return Err(Failure::new(&self.template, position, at, message));
        };
        let dot = match pipeline {
            Some(pipeline) => self.pipeline(dot, pipeline)?,
            None => Value::Absent,
        };
        self.call(&template, &dot)
    }

    fn print(&mut self, pipeline: &Pipeline, value: &Value) -> Outcome<()> {
        if let Value::String(text) = value {
            return self.write(text);
        }
        let mut printed = Vec::new();
        if matches!(value, Value::Absent) {
            printed.extend_from_slice(b"<no value>");
        } else {
            format::print(&mut printed, value).map_err(|message| {
                let at = format!("{{{{{pipeline}}}}}");
                Failure::new(&self.template, pipeline.position, at, message)
            })?;
        }
        self.write(&printed)
    }

    fn write(&mut self, text: &[u8]) -> Outcome<()> {
        self.written += text.len();
        if self.written > MAX_OUTPUT {
            return Err(self.limit(format!("templates write more than {MAX_OUTPUT} bytes")));
        }
        self.output.extend_from_slice(text);
        Ok(())
    }

    // Limits.

    pub(super) fn deeper(&mut self) -> Outcome<()> {
        if self.depth >= MAX_DEPTH {
            return Err(self.limit(format!("exceeded maximum template depth ({MAX_DEPTH})")));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn step(&mut self) -> Outcome<()> {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return Err(self.limit(format!("templates take more than {MAX_STEPS} steps")));
        }
        Ok(())
    }

    pub(super) fn iterate(&mut self) -> Outcome<()> {
        self.iterations += 1;
        if self.iterations > MAX_ITERATIONS {
            return Err(self.limit(format!("ranges go round more than {MAX_ITERATIONS} times")));
        }
        Ok(())
    }

    fn limit(&self, message: String) -> Failure {
        Failure::new(&self.template, 0, "start of the template".to_owned(), message)
    }

    /// A failure at an operand that was evaluated.
    pub(super) fn failure(&self, operand: &Operand, message: impl Into<String>) -> Failure {
        let operand = operand.last_evaluated();
        Failure::new(&self.template, operand.position, operand.to_string(), message.into())
    }
}
