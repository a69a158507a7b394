//! The template language of Go's `text/template`: text with actions in `{{ }}`.

pub(crate) mod ast;
mod evaluate;
pub(crate) mod execute;
pub(crate) mod failure;
mod lexer;
mod literal;
mod number;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the grammar names the tokens that it takes; all others are one case"
)]
pub(crate) mod parser;
mod print;
mod range;
pub(crate) mod set;
mod token;
