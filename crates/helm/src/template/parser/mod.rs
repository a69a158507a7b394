//! From tokens to templates. As in Go, functions and variables must be known here already.

mod pipeline;

use std::rc::Rc;
use std::sync::Arc;

use super::ast::{Branch, Node, Source, Template};
use super::lexer::Lexer;
use super::literal;
use super::token::{Kind, Token};
use crate::value::format;

/// How deep parentheses and blocks may nest: far more than any chart does, little for a stack.
const MAX_DEPTH: usize = 500;

/// Why a text is no template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParseError {
    /// The line, counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

type Result<T> = std::result::Result<T, ParseError>;

/// Parses a file: the templates that it defines, itself (under its name) last.
pub(crate) fn parse(name: &str, text: Arc<[u8]>) -> Result<Vec<Template>> {
    let source = Rc::new(Source { name: name.to_owned(), text: Arc::clone(&text) });
    let mut parser = Parser {
        lexer: Lexer::new(&text),
        source,
        pending: Vec::new(),
        last_line: 1,
        action_line: 0,
        variables: vec![Rc::from("$")],
        range_depth: 0,
        depth: 0,
        templates: Vec::new(),
    };
    parser.file(name)?;
    Ok(parser.templates)
}

struct Parser<'text> {
    lexer: Lexer<'text>,
    source: Rc<Source>,
    /// Tokens that were handed back, the next one last.
    pending: Vec<Token<'text>>,
    last_line: usize,
    action_line: usize,
    variables: Vec<Rc<str>>,
    range_depth: usize,
    depth: usize,
    templates: Vec<Template>,
}

/// How a list of nodes ended.
enum Ended {
    End,
    /// `{{else}}`; the keyword that follows directly, as in `{{else if}}`, is still to be read.
    Else,
}

/// A node, or the end of the list it would be in.
enum Parsed {
    Node(Node),
    Ended(Ended),
}

impl<'text> Parser<'text> {
    // Tokens.

    fn next(&mut self) -> Token<'text> {
        if let Some(token) = self.pending.pop() {
            return token;
        }
        let token = self.lexer.next();
        self.last_line = token.line;
        token
    }

    fn back(&mut self, token: Token<'text>) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> Kind {
        let token = self.next();
        let kind = token.kind;
        self.back(token);
        kind
    }

    fn next_non_space(&mut self) -> Token<'text> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token<'text> {
        let token = self.next_non_space();
        self.back(token.clone());
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.last_line, message: message.into() })
    }

    fn unexpected<T>(&self, token: &Token<'_>, context: &str) -> Result<T> {
        if token.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", token.shown()));
        }
        let mut message = token.shown();
        if self.action_line != 0 && self.action_line != token.line {
            let place = format!(" started at {}:{}", self.source.name, self.action_line);
            if !message.ends_with(" action") {
                message.push_str(" in action");
            }
            message.push_str(&place);
        }
        self.error(message)
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token<'text>> {
        let token = self.next_non_space();
        if token.kind == kind { Ok(token) } else { self.unexpected(&token, context) }
    }

    fn deeper(&mut self) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return self.error("max expression depth exceeded");
        }
        self.depth += 1;
        Ok(())
    }

    // Lists.

    fn file(&mut self, name: &str) -> Result<()> {
        let mut body = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                Kind::EndOfFile => break,
                Kind::LeftDelimiter => {
                    let keyword = self.next_non_space();
                    if keyword.kind == Kind::Define {
                        self.definition()?;
                        continue;
                    }
                    self.back(keyword);
                    self.back(token);
                }
                _ => self.back(token),
            }
            match self.text_or_action()? {
                Parsed::Node(node) => body.push(node),
                Parsed::Ended(Ended::End) => return self.error("unexpected {{end}}"),
                Parsed::Ended(Ended::Else) => return self.error("unexpected {{else}}"),
            }
        }
        self.add(Rc::from(name), body)
    }

    fn definition(&mut self) -> Result<()> {
        let token = self.next_non_space();
        let name = self.template_name(&token, "define clause")?;
        self.expect(Kind::RightDelimiter, "define clause")?;
        self.template(name, "define clause")
    }

    /// The body of a `define` or `block`, which sees no variables of what is around it.
    fn template(&mut self, name: Rc<str>, context: &str) -> Result<()> {
        self.deeper()?;
        let variables = std::mem::replace(&mut self.variables, vec![Rc::from("$")]);
        let range_depth = std::mem::take(&mut self.range_depth);
        let (body, ended) = self.list()?;
        if matches!(ended, Ended::Else) {
            return self.error(format!("unexpected {{{{else}}}} in {context}"));
        }
        self.variables = variables;
        self.range_depth = range_depth;
        self.depth -= 1;
        self.add(name, body)
    }

    /// A definition replaces only a blank one of the same name and file.
    fn add(&mut self, name: Rc<str>, body: Vec<Node>) -> Result<()> {
        let template = Template { name, source: Rc::clone(&self.source), body };
        let Some(index) = self.templates.iter().position(|known| known.name == template.name) else {
            self.templates.push(template);
            return Ok(());
        };
        if self.templates[index].is_blank() {
            self.templates[index] = template;
        } else if !template.is_blank() {
            let name = format::quote(template.name.as_bytes());
            return self.error(format!("template: multiple definition of template {name}"));
        }
        Ok(())
    }

    fn list(&mut self) -> Result<(Vec<Node>, Ended)> {
        let mut nodes = Vec::new();
        while self.peek_non_space().kind != Kind::EndOfFile {
            match self.text_or_action()? {
                Parsed::Node(node) => nodes.push(node),
                Parsed::Ended(ended) => {
                    nodes.shrink_to_fit();
                    return Ok((nodes, ended));
                }
            }
        }
        self.error("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Result<Parsed> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Parsed::Node(Node::Text(Rc::from(token.text)))),
            Kind::LeftDelimiter => {
                self.action_line = token.line;
                let parsed = self.action();
                self.action_line = 0;
                parsed
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn action(&mut self) -> Result<Parsed> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break => self.leave("break").map(|()| Node::Break)?,
            Kind::Continue => self.leave("continue").map(|()| Node::Continue)?,
            Kind::Else => return self.otherwise().map(|()| Parsed::Ended(Ended::Else)),
            Kind::End => {
                self.expect(Kind::RightDelimiter, "end")?;
                return Ok(Parsed::Ended(Ended::End));
            }
            Kind::If => Node::If(self.branch("if")?),
            Kind::Range => Node::Range(self.branch("range")?),
            Kind::Template => self.call()?,
            Kind::With => Node::With(self.branch("with")?),
            _ => {
                self.back(token);
                Node::Action(self.pipeline("command", Kind::RightDelimiter)?)
            }
        };
        Ok(Parsed::Node(node))
    }

    // Control.

    fn leave(&mut self, keyword: &str) -> Result<()> {
        let token = self.next_non_space();
        if token.kind != Kind::RightDelimiter {
            return self.unexpected(&token, &format!("{{{{{keyword}}}}}"));
        }
        if self.range_depth == 0 {
            return self.error(format!("{{{{{keyword}}}}} outside {{{{range}}}}"));
        }
        Ok(())
    }

    fn otherwise(&mut self) -> Result<()> {
        if matches!(self.peek_non_space().kind, Kind::If | Kind::With) {
            return Ok(());
        }
        self.expect(Kind::RightDelimiter, "else").map(drop)
    }

    fn branch(&mut self, context: &'static str) -> Result<Branch> {
        self.deeper()?;
        let known = self.variables.len();
        let pipeline = self.pipeline(context, Kind::RightDelimiter)?;
        let ranges = usize::from(context == "range");
        self.range_depth += ranges;
        let (body, ended) = self.list()?;
        self.range_depth -= ranges;
        let otherwise = match ended {
            Ended::End => None,
            Ended::Else => Some(self.else_branch(context)?),
        };
        self.variables.truncate(known);
        self.depth -= 1;
        Ok(Branch { position: pipeline.position, pipeline, body, otherwise })
    }

    fn else_branch(&mut self, context: &'static str) -> Result<Vec<Node>> {
        let kind = self.peek();
        if context == "if" && kind == Kind::If {
            self.next();
            return Ok(vec![Node::If(self.branch("if")?)]);
        }
        if context == "with" && kind == Kind::With {
            self.next();
            return Ok(vec![Node::With(self.branch("with")?)]);
        }
        match self.list()? {
            (nodes, Ended::End) => Ok(nodes),
            (_, Ended::Else) => self.error("expected end; found {{else}}"),
        }
    }

    fn block(&mut self) -> Result<Node> {
        let token = self.next_non_space();
        let name = self.template_name(&token, "block clause")?;
        let pipeline = Some(self.pipeline("block clause", Kind::RightDelimiter)?);
        self.template(Rc::clone(&name), "block clause")?;
        Ok(Node::Template { position: token.position, name, pipeline })
    }

    fn call(&mut self) -> Result<Node> {
        let token = self.next_non_space();
        let name = self.template_name(&token, "template clause")?;
        let next = self.next_non_space();
        let pipeline = if next.kind == Kind::RightDelimiter {
            None
        } else {
            self.back(next);
            Some(self.pipeline("template clause", Kind::RightDelimiter)?)
        };
        Ok(Node::Template { position: token.position, name, pipeline })
    }

    fn template_name(&self, token: &Token<'_>, context: &str) -> Result<Rc<str>> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        match literal::unquote(&token.text) {
            Some(name) => Ok(Rc::from(crate::value::text::lossy(&name))),
            None => self.error("invalid syntax"),
        }
    }
}
