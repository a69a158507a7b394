//! From tokens to templates. As in Go, functions and variables must be known here already.

use std::rc::Rc;

use super::ast::{Branch, Command, Node, Operand, Pipeline, Source, Template, Term};
use super::lexer::Lexer;
use super::literal;
use super::number::Number;
use super::token::{Kind, Token};
use crate::functions;
use crate::value::{Text, format};

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
pub(crate) fn parse(name: &str, text: Rc<[u8]>) -> Result<Vec<Template>> {
    let source = Rc::new(Source { name: name.to_owned(), text: Rc::clone(&text) });
    let mut parser = Parser {
        lexer: Lexer::new(text),
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

struct Parser {
    lexer: Lexer,
    source: Rc<Source>,
    /// Tokens that were handed back, the next one last.
    pending: Vec<Token>,
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

impl Parser {
    // Tokens.

    fn next(&mut self) -> Token {
        if let Some(token) = self.pending.pop() {
            return token;
        }
        let token = self.lexer.next();
        self.last_line = token.line;
        token
    }

    fn back(&mut self, token: Token) {
        self.pending.push(token);
    }

    fn peek(&mut self) -> Kind {
        let token = self.next();
        let kind = token.kind;
        self.back(token);
        kind
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.back(token.clone());
        token
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError { line: self.last_line, message: message.into() })
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Result<T> {
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

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token> {
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
                Parsed::Ended(ended) => return Ok((nodes, ended)),
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

    fn template_name(&self, token: &Token, context: &str) -> Result<Rc<str>> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return self.unexpected(token, context);
        }
        match literal::unquote(&token.text) {
            Some(name) => Ok(Rc::from(crate::value::text::lossy(&name))),
            None => self.error("invalid syntax"),
        }
    }

    // Pipelines.

    fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipeline> {
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
            let comma = next.kind == Kind::Character && next.text == b",";
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
        let mut operands = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(operand) = self.operand()? {
                operands.push(operand);
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
        let mut operands = operands.into_iter();
        let Some(first) = operands.next() else { return self.error("empty command") };
        Ok(Command { first, arguments: operands.collect() })
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
