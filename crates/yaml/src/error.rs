//! What can be wrong with a text.

/// Why a text is no YAML that can be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("parse YAML at line {line}, column {column}: {problem}")]
pub struct Error {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong at a place of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text breaks YAML's grammar; the parser's own words.
    #[error("{0}")]
    Syntax(String),
    /// A key stands twice in one mapping.
    #[error("mapping key {key:?} already defined at line {first_line}")]
    DuplicateKey {
        /// The key as written.
        key: String,
        /// Where it stood first, counted from 1.
        first_line: usize,
    },
    /// A list or a mapping is used as a key.
    #[error("a key must be a single value, not a list or a mapping")]
    CompositeKey,
    /// `<<` takes a mapping or a list of mappings.
    #[error("map merge requires map or sequence of maps as the value")]
    MergeOfNoMapping,
    /// A value's explicit tag does not fit it.
    #[error("cannot decode {text:?} as a {tag}")]
    Tag {
        /// The value as written.
        text: String,
        /// The tag in its short form, for example `!!int`.
        tag: String,
    },
    /// An alias stands inside the value that it names.
    #[error("an alias contains itself")]
    Recursive,
    /// Nesting is deeper than the limit.
    #[error("nested more than {0} levels deep")]
    TooDeep(usize),
    /// Aliases blow the document up beyond the limit.
    #[error("aliases add more than {0} values")]
    TooManyAliases(usize),
    /// The text is larger than the limit.
    #[error("larger than {0} bytes")]
    TooLarge(usize),
}
