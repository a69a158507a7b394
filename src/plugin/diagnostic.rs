//! What a user is told: errors and warnings, each with a place in the configuration where there is one.
//!
//! The summary is one line that names the object and the cause (some clients show nothing else); the
//! detail says what was expected, what came and what to do.

use std::fmt;

use super::path::Path;

/// Whether the operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The operation failed.
    Error,
    /// It did not, but the user should know something.
    Warning,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether the operation failed.
    pub severity: Severity,
    /// One line, without a full stop.
    pub summary: String,
    /// Sentences: what was expected, what came, what to do.
    pub detail: String,
    /// The attribute that is to blame, if one is.
    pub path: Option<Path>,
}

impl Diagnostic {
    /// An error.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Error, summary: summary.into(), detail: detail.into(), path: None }
    }

    /// A warning.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, summary: summary.into(), detail: detail.into(), path: None }
    }

    /// An error that no configuration can cause; the text asks the user to report it.
    pub(crate) fn bug(summary: impl Into<String>, detail: impl fmt::Display) -> Self {
        Self::error(
            summary,
            format!(
                "{detail}\n\nThis is a bug in the provider, not in your configuration; please report it."
            ),
        )
    }

    /// The same, pointing at an attribute.
    #[must_use]
    pub fn at(mut self, path: Path) -> Self {
        self.path = Some(path);
        self
    }
}

/// Errors and warnings in the order in which they were found.
///
/// As the error of a `Result` it holds at least one error; warnings of a call that succeeds go through
/// [`Operation::warn`](super::Operation::warn).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "diagnostics are shown to nobody until they are returned"]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One error.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Diagnostic::error(summary, detail).into()
    }

    /// One warning.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Diagnostic::warning(summary, detail).into()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// The same, all that name no attribute yet pointing at `path`.
    pub fn at(mut self, path: &Path) -> Self {
        for diagnostic in &mut self.0 {
            diagnostic.path.get_or_insert_with(|| path.clone());
        }
        self
    }

    /// Whether one of them is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    /// `value`, unless one of these is an error.
    ///
    /// Warnings alone do not fail and are dropped: hand them to
    /// [`Operation::warn`](super::Operation::warn) first.
    ///
    /// # Errors
    /// These diagnostics, if one of them is an error.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.has_errors() { Err(self) } else { Ok(value) }
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, others: I) {
        self.0.extend(others);
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// For tests and logs: one line a diagnostic.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{:?}: {}", diagnostic.severity, diagnostic.summary)?;
            if let Some(path) = &diagnostic.path {
                write!(f, " (at {path})")?;
            }
            if !diagnostic.detail.is_empty() {
                write!(f, ": {}", diagnostic.detail)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_alone_do_not_fail() {
        assert_eq!(Diagnostics::warning("w", "").into_result(7), Ok(7));
        assert!(Diagnostics::error("e", "").into_result(7).is_err());
    }

    #[test]
    fn a_path_that_is_there_is_kept() {
        let inner = Path::new("a").attribute("b");
        let all = Diagnostics::from(Diagnostic::error("e", "").at(inner.clone())).at(&Path::new("a"));
        assert_eq!(all.iter().next().and_then(|d| d.path.clone()), Some(inner));
    }
}
