//! Errors of execution, and how Helm words them.

use super::ast::Template;
use super::parser::ParseError;
use crate::render::TemplateError;
use crate::value::format;

/// A template failed: where, and why.
#[derive(Debug)]
pub(crate) struct Failure(Box<Details>);

#[derive(Debug)]
struct Details {
    /// The file.
    source: String,
    line: usize,
    /// In bytes, counted from 0.
    column: usize,
    /// The template's name, which differs from the file for definitions.
    template: String,
    /// The part of the template, as Go prints it.
    at: String,
    /// Without the cause.
    message: String,
    cause: Option<Cause>,
}

/// Why a function failed.
#[derive(Debug)]
pub(crate) enum Cause {
    /// In its own words.
    Plain(String),
    /// There is no template of that name.
    NoTemplate(String),
    /// The chart refuses, by `fail` or `required`.
    Refusal(String),
    /// A template that it called failed.
    Template(Failure),
    /// A text given to `tpl` failed; the text.
    Text(String, Failure),
}

impl From<String> for Cause {
    fn from(message: String) -> Self {
        Self::Plain(message)
    }
}

impl From<&str> for Cause {
    fn from(message: &str) -> Self {
        Self::Plain(message.to_owned())
    }
}

impl Failure {
    /// A failure at an offset of a template.
    pub(crate) fn new(template: &Template, position: usize, at: String, message: String) -> Self {
        let before = &template.source.text[..position.min(template.source.text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        Self(Box::new(Details {
            source: template.source.name.clone(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: position - line_start,
            template: template.name.to_string(),
            at,
            message,
            cause: None,
        }))
    }

    pub(crate) fn with_cause(mut self, cause: Cause) -> Self {
        self.0.cause = Some(cause);
        self
    }

    fn location(&self) -> String {
        format!("{}:{}:{}", self.0.source, self.0.line, self.0.column)
    }

    /// The whole chain, as Go prints it.
    fn text(&self) -> String {
        let name = format::quote(self.0.template.as_bytes());
        let mut text =
            format!("template: {}: executing {name} at <{}>: {}", self.location(), self.0.at, self.0.message);
        match self.0.cause.as_ref() {
            None => {}
            Some(Cause::Plain(message) | Cause::NoTemplate(message) | Cause::Refusal(message)) => {
                text.push_str(message)
            }
            Some(Cause::Template(failure)) => text.push_str(&failure.text()),
            Some(Cause::Text(template, failure)) => {
                let template = format::quote(template.as_bytes());
                text.push_str(&format!(
                    "error during tpl function execution for {template}: {}",
                    failure.text()
                ));
            }
        }
        text
    }

    /// The chart's own words, if it refuses.
    fn refusal(&self) -> Option<&str> {
        match self.0.cause.as_ref()? {
            Cause::Plain(_) | Cause::NoTemplate(_) => None,
            Cause::Refusal(message) => Some(message),
            Cause::Template(failure) | Cause::Text(_, failure) => failure.refusal(),
        }
    }

    /// One place below the other, as Helm lists them; nothing when a cause has words of its own.
    fn places(&self) -> Option<String> {
        let name = format::quote(self.0.template.as_bytes());
        let message = match &self.0.cause {
            Some(_) => self.0.message.trim_end(),
            None => &self.0.message,
        };
        let place = format!("{}\n  executing {name} at <{}>:\n    {message}\n", self.location(), self.0.at);
        match self.0.cause.as_ref() {
            None => Some(place),
            Some(Cause::Template(failure)) => Some(place + &failure.places()?),
            Some(Cause::NoTemplate(message)) => Some(format!("{place}{message}\n")),
            Some(Cause::Plain(_) | Cause::Refusal(_) | Cause::Text(..)) => None,
        }
    }

    /// What the innermost template said.
    fn innermost(&self) -> String {
        match self.0.cause.as_ref() {
            None => self.0.message.clone(),
            Some(Cause::Plain(message) | Cause::NoTemplate(message)) => {
                format!("{}{message}", self.0.message)
            }
            Some(Cause::Refusal(message)) => message.clone(),
            Some(Cause::Template(failure) | Cause::Text(_, failure)) => failure.innermost(),
        }
    }

    /// The error as Helm reports it.
    pub(crate) fn report(&self) -> TemplateError {
        let text = match self.refusal() {
            Some(message) => format!("execution error at ({}): {message}", self.location()),
            None => self.places().map_or_else(|| self.text(), |places| places.trim().to_owned()),
        };
        TemplateError {
            template: self.0.source.clone(),
            line: self.0.line,
            column: Some(self.0.column),
            call: Some(self.0.at.clone()),
            message: self.innermost(),
            text,
        }
    }
}

/// An error of parsing as Helm reports it.
pub(crate) fn report_parse(file: &str, error: &ParseError) -> TemplateError {
    // Helm keeps what follows the last ": " only.
    let message = error.message.rsplit(": ").next().unwrap_or(&error.message);
    TemplateError {
        template: file.to_owned(),
        line: error.line,
        column: None,
        call: None,
        message: error.message.clone(),
        text: format!("parse error at ({file}:{}): {message}", error.line),
    }
}
