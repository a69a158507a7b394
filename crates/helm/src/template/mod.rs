//! The template language of Go's `text/template`: text with actions in `{{ }}`.

pub(crate) mod ast;
mod evaluate;
pub(crate) mod execute;
pub(crate) mod failure;
mod lexer;
mod literal;
mod number;
pub(crate) mod parser;
mod print;
mod range;
pub(crate) mod set;
mod token;
