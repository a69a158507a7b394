//! What the lexer hands to the parser.

use std::borrow::Cow;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Error,
    Bool,
    /// A printable character such as a comma.
    Character,
    CharacterConstant,
    Complex,
    Assign,
    Declare,
    End,
    EndOfFile,
    Field,
    Identifier,
    LeftDelimiter,
    LeftParenthesis,
    Number,
    Pipe,
    RawString,
    RightDelimiter,
    RightParenthesis,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Define,
    Dot,
    Else,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    pub(crate) fn keyword(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"block" => Self::Block,
            b"break" => Self::Break,
            b"continue" => Self::Continue,
            b"define" => Self::Define,
            b"else" => Self::Else,
            b"end" => Self::End,
            b"if" => Self::If,
            b"nil" => Self::Nil,
            b"range" => Self::Range,
            b"template" => Self::Template,
            b"with" => Self::With,
            _ => return None,
        })
    }

    const fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Break
                | Self::Continue
                | Self::Define
                | Self::Dot
                | Self::Else
                | Self::End
                | Self::If
                | Self::Nil
                | Self::Range
                | Self::Template
                | Self::With
        )
    }
}

/// A token and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token<'text> {
    pub(crate) kind: Kind,
    /// The offset of its first byte.
    pub(crate) position: usize,
    /// The line it begins on, counted from 1.
    pub(crate) line: usize,
    /// Its text; for an error, the message.
    pub(crate) text: Cow<'text, [u8]>,
}

impl Token<'_> {
    /// The token as Go shows it in messages.
    pub(crate) fn shown(&self) -> String {
        let text = crate::value::text::lossy(&self.text);
        if self.kind == Kind::EndOfFile {
            "EOF".to_owned()
        } else if self.kind == Kind::Error {
            text.into_owned()
        } else if self.kind.is_keyword() {
            format!("<{text}>")
        } else if self.text.len() > 10 {
            format!("{}...", crate::value::format::quote(&self.text[..10]))
        } else {
            crate::value::format::quote(&self.text)
        }
    }
}
