//! From text to tokens.

use std::borrow::Cow;

use super::token::{Kind, Token};

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";

/// Takes a template apart, a token at a time.
pub(crate) struct Lexer<'text> {
    input: &'text [u8],
    position: usize,
    start: usize,
    line: usize,
    start_line: usize,
    parentheses: usize,
    inside_action: bool,
    /// Bytes to drop behind the next token.
    dropped: usize,
    failed: bool,
}

/// A lexical error; its message.
struct Bad(String);

impl<'text> Lexer<'text> {
    pub(crate) const fn new(input: &'text [u8]) -> Self {
        Self {
            input,
            position: 0,
            start: 0,
            line: 1,
            start_line: 1,
            parentheses: 0,
            inside_action: false,
            dropped: 0,
            failed: false,
        }
    }

    pub(crate) fn next(&mut self) -> Token<'text> {
        if self.failed {
            return self.token(Kind::EndOfFile);
        }
        let result = if self.inside_action { self.action() } else { self.text() };
        match result {
            Ok(kind) => self.token(kind),
            Err(Bad(message)) => {
                self.failed = true;
                Token {
                    kind: Kind::Error,
                    position: self.start,
                    line: self.start_line,
                    text: Cow::Owned(message.into_bytes()),
                }
            }
        }
    }

    /// What lies between the start and the position, as a token.
    fn token(&mut self, kind: Kind) -> Token<'text> {
        let text = Cow::Borrowed(&self.input[self.start..self.position]);
        let token = Token { kind, position: self.start, line: self.start_line, text };
        self.position += std::mem::take(&mut self.dropped);
        self.ignore();
        token
    }

    /// Drops what lies between the start and the position.
    fn ignore(&mut self) {
        self.line += newlines(&self.input[self.start..self.position]);
        self.start = self.position;
        self.start_line = self.line;
    }

    fn rest(&self) -> &'text [u8] {
        &self.input[self.position..]
    }

    fn peek(&self) -> Option<char> {
        decode(self.rest()).map(|(character, _)| character)
    }

    fn advance(&mut self) -> Option<char> {
        let (character, length) = decode(self.rest())?;
        self.position += length;
        Some(character)
    }

    fn text(&mut self) -> Result<Kind, Bad> {
        loop {
            let Some(offset) = crate::value::text::find(self.rest(), LEFT) else {
                self.position = self.input.len();
                return Ok(if self.position > self.start { Kind::Text } else { Kind::EndOfFile });
            };
            if offset > 0 {
                let end = self.position + offset;
                let mut kept = end;
                if trims_left(&self.input[end + LEFT.len()..]) {
                    kept = self.start + trim_end(&self.input[self.start..end]);
                }
                if kept > self.start {
                    self.position = kept;
                    // The next call finds the delimiter again, with only white space before it.
                    return Ok(Kind::Text);
                }
                self.position = end;
                self.ignore();
            }
            let trims = trims_left(&self.rest()[LEFT.len()..]);
            let marker = if trims { 2 } else { 0 };
            if self.rest()[LEFT.len() + marker..].starts_with(b"/*") {
                self.comment(LEFT.len() + marker)?;
                continue;
            }
            self.position += LEFT.len();
            self.dropped = marker;
            self.inside_action = true;
            self.parentheses = 0;
            return Ok(Kind::LeftDelimiter);
        }
    }

    fn comment(&mut self, opening: usize) -> Result<(), Bad> {
        self.position += opening;
        self.ignore();
        self.position += 2;
        let end =
            crate::value::text::find(self.rest(), b"*/").ok_or_else(|| Bad("unclosed comment".to_owned()))?;
        self.position += end + 2;
        let (closes, trims) = self.at_right();
        if !closes {
            return Err(Bad("comment ends before closing delimiter".to_owned()));
        }
        self.close(trims);
        Ok(())
    }

    /// Passes the right delimiter and the white space that it trims.
    fn close(&mut self, trims: bool) {
        self.position += RIGHT.len() + if trims { 2 } else { 0 };
        if trims {
            self.position += self.rest().iter().take_while(|&&byte| is_space(char::from(byte))).count();
        }
        self.ignore();
    }

    /// Whether the right delimiter is next, and whether it trims.
    fn at_right(&self) -> (bool, bool) {
        let rest = self.rest();
        if trims_right(rest) && rest[2..].starts_with(RIGHT) {
            return (true, true);
        }
        (rest.starts_with(RIGHT), false)
    }

    fn action(&mut self) -> Result<Kind, Bad> {
        let (closes, trims) = self.at_right();
        if closes {
            return self.right(trims);
        }
        let Some(character) = self.advance() else { return Err(Bad("unclosed action".to_owned())) };
        match character {
            character if is_space(character) => self.space(),
            '=' => Ok(Kind::Assign),
            ':' => {
                if self.advance() != Some('=') {
                    return Err(Bad("expected :=".to_owned()));
                }
                Ok(Kind::Declare)
            }
            '|' => Ok(Kind::Pipe),
            '"' => self.quoted('"', "unterminated quoted string").map(|()| Kind::String),
            '\'' => self.quoted('\'', "unterminated character constant").map(|()| Kind::CharacterConstant),
            '`' => self.raw_quoted(),
            '$' if self.at_terminator() => Ok(Kind::Variable),
            '$' => self.name(Kind::Variable),
            '.' if self.rest().first().is_some_and(|next| !next.is_ascii_digit()) => {
                if self.at_terminator() {
                    Ok(Kind::Dot)
                } else {
                    self.name(Kind::Field)
                }
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.position -= 1;
                self.number()
            }
            character if is_alphanumeric(character) => self.identifier(),
            '(' => {
                self.parentheses += 1;
                Ok(Kind::LeftParenthesis)
            }
            ')' => {
                let message = || Bad("unexpected right paren".to_owned());
                self.parentheses = self.parentheses.checked_sub(1).ok_or_else(message)?;
                Ok(Kind::RightParenthesis)
            }
            ' '..='~' => Ok(Kind::Character),
            other => Err(Bad(format!("unrecognized character in action: {}", shown(other)))),
        }
    }

    fn right(&mut self, trims: bool) -> Result<Kind, Bad> {
        if self.parentheses > 0 {
            return Err(Bad("unclosed left paren".to_owned()));
        }
        if trims {
            self.position += 2;
            self.ignore();
        }
        self.position += RIGHT.len();
        self.inside_action = false;
        if trims {
            self.dropped = self.rest().iter().take_while(|&&byte| is_space(char::from(byte))).count();
        }
        Ok(Kind::RightDelimiter)
    }

    fn space(&mut self) -> Result<Kind, Bad> {
        while self.peek().is_some_and(is_space) {
            self.position += 1;
        }
        let last = &self.input[self.position - 1..];
        if trims_right(last) && last[2..].starts_with(RIGHT) {
            self.position -= 1;
            if self.position == self.start {
                let (_, trims) = self.at_right();
                return self.right(trims);
            }
        }
        Ok(Kind::Space)
    }

    fn identifier(&mut self) -> Result<Kind, Bad> {
        while self.peek().is_some_and(is_alphanumeric) {
            self.advance();
        }
        self.expect_terminator()?;
        let word = &self.input[self.start..self.position];
        Ok(match word {
            b"true" | b"false" => Kind::Bool,
            word => Kind::keyword(word).unwrap_or(Kind::Identifier),
        })
    }

    fn name(&mut self, kind: Kind) -> Result<Kind, Bad> {
        while self.peek().is_some_and(is_alphanumeric) {
            self.advance();
        }
        self.expect_terminator()?;
        Ok(kind)
    }

    fn expect_terminator(&self) -> Result<(), Bad> {
        match self.peek() {
            Some(character) if !self.at_terminator() => {
                Err(Bad(format!("bad character {}", shown(character))))
            }
            _ => Ok(()),
        }
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None | Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(character) => is_space(character) || self.rest().starts_with(RIGHT),
        }
    }

    fn quoted(&mut self, end: char, unterminated: &str) -> Result<(), Bad> {
        loop {
            match self.advance() {
                Some('\\') if !matches!(self.peek(), None | Some('\n')) => {
                    self.advance();
                }
                Some(character) if character == end => return Ok(()),
                None | Some('\n' | '\\') => return Err(Bad(unterminated.to_owned())),
                Some(_) => {}
            }
        }
    }

    fn raw_quoted(&mut self) -> Result<Kind, Bad> {
        while let Some(character) = self.advance() {
            if character == '`' {
                return Ok(Kind::RawString);
            }
        }
        Err(Bad("unterminated raw quoted string".to_owned()))
    }

    fn number(&mut self) -> Result<Kind, Bad> {
        let bad = |lexer: &Self| {
            let text = crate::value::format::quote(&lexer.input[lexer.start..lexer.position]);
            Bad(format!("bad number syntax: {text}"))
        };
        if !self.scan_number() {
            return Err(bad(self));
        }
        if matches!(self.peek(), Some('+' | '-')) {
            if !self.scan_number() || self.input[self.position - 1] != b'i' {
                return Err(bad(self));
            }
            return Ok(Kind::Complex);
        }
        Ok(Kind::Number)
    }

    fn scan_number(&mut self) -> bool {
        self.accept(b"+-");
        let mut digits: &[u8] = b"0123456789_";
        let mut exponents: &[u8] = b"eE";
        if self.accept(b"0") {
            if self.accept(b"xX") {
                (digits, exponents) = (b"0123456789abcdefABCDEF_", b"pP");
            } else if self.accept(b"oO") {
                (digits, exponents) = (b"01234567_", b"");
            } else if self.accept(b"bB") {
                (digits, exponents) = (b"01_", b"");
            }
        }
        self.accept_run(digits);
        if self.accept(b".") {
            self.accept_run(digits);
        }
        if self.accept(exponents) {
            self.accept(b"+-");
            self.accept_run(b"0123456789_");
        }
        self.accept(b"i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.advance();
            return false;
        }
        true
    }

    fn accept(&mut self, bytes: &[u8]) -> bool {
        let accepted = self.rest().first().is_some_and(|byte| bytes.contains(byte));
        self.position += usize::from(accepted);
        accepted
    }

    fn accept_run(&mut self, bytes: &[u8]) {
        while self.accept(bytes) {}
    }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}

/// The next character, and how many bytes it takes; U+FFFD for a byte that is not UTF-8.
fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    Some(match chunk.valid().chars().next() {
        Some(character) => (character, character.len_utf8()),
        None => (char::REPLACEMENT_CHARACTER, 1),
    })
}

const fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn is_alphanumeric(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// Whether a left delimiter with this after it trims the text before it.
fn trims_left(bytes: &[u8]) -> bool {
    matches!(bytes, [b'-', next, ..] if is_space(char::from(*next)))
}

/// Whether this is the marker of a right delimiter that trims.
fn trims_right(bytes: &[u8]) -> bool {
    matches!(bytes, [space, b'-', ..] if is_space(char::from(*space)))
}

/// The length without white space at the end.
fn trim_end(bytes: &[u8]) -> usize {
    bytes.len() - bytes.iter().rev().take_while(|&&byte| is_space(char::from(byte))).count()
}

/// A character as Go's `%#U` shows it.
fn shown(character: char) -> String {
    format!("U+{:04X} '{character}'", u32::from(character))
}
