//! What is wrong at a place of a configuration or a patch.

use std::fmt;

use yaml::Node;

use super::Contract;

/// Something wrong with a configuration or a patch. Values are never quoted: they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path of keys, `machine.network.hostname`.
    pub path: String,
    /// The line, counted from 1; 0 where it is not known.
    pub line: usize,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// Talos knows no such key there.
    UnknownKey {
        /// The known key that is spelled most alike, if one is.
        nearest: Option<&'static str>,
    },
    /// The value is of another type than the key takes.
    WrongType {
        /// What the key takes.
        expected: String,
        /// What stands there.
        found: &'static str,
    },
    /// The value cannot be read as what the key takes.
    WrongValue {
        /// What the key takes.
        expected: String,
    },
    /// The cluster's machines are too old for the key or document.
    TooNew {
        /// The Talos version that brought it.
        since: Contract,
        /// The form that the cluster's machines are given.
        contract: Contract,
    },
    /// Anything else, in words that complete "PATH: …".
    Invalid(String),
}

impl Problem {
    pub(super) fn at(node: &Node, path: &str, kind: ProblemKind) -> Self {
        Self { path: path.to_owned(), line: node.line, kind }
    }

    pub(super) fn wrong_type(node: &Node, path: &str, expected: &str) -> Self {
        Self::at(node, path, ProblemKind::WrongType { expected: expected.to_owned(), found: node.kind() })
    }

    pub(super) fn wrong_value(node: &Node, path: &str, expected: &str) -> Self {
        Self::at(node, path, ProblemKind::WrongValue { expected: expected.to_owned() })
    }

    pub(super) fn invalid(path: impl Into<String>, words: impl Into<String>) -> Self {
        Self { path: path.into(), line: 0, kind: ProblemKind::Invalid(words.into()) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(formatter, "line {}: ", self.line)?;
        }
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        match &self.kind {
            ProblemKind::UnknownKey { nearest: Some(nearest) } => {
                write!(formatter, "unknown key; did you mean `{nearest}`?")
            }
            ProblemKind::UnknownKey { nearest: None } => formatter.write_str("unknown key"),
            ProblemKind::WrongType { expected, found } => {
                write!(formatter, "expected {expected}, found a value of type {found}")
            }
            ProblemKind::WrongValue { expected } => write!(formatter, "expected {expected}"),
            ProblemKind::TooNew { since, contract } => {
                write!(
                    formatter,
                    "needs Talos {since}, this cluster's machines are configured for {contract}"
                )
            }
            ProblemKind::Invalid(words) => formatter.write_str(words),
        }
    }
}

/// The word that is spelled most alike, if no more than a third of it differs.
pub(super) fn nearest(word: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    known
        .map(|candidate| (distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| distance * 3 <= candidate.len().max(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, character) in left.chars().enumerate() {
        let mut diagonal = above;
        row[0] = above + 1;
        for (index, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(character != *other);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
