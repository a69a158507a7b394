//! What is to be installed: a chart from a source, in a version, with values.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::values::ValuesError;

/// What a user says about an addon; what is left out is the product's choice.
///
/// `Debug` does not show values, which may hold secrets.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The chart's version, exact or a range.
    pub version: Option<String>,
    /// Values in YAML, laid over the product's own.
    pub values: Option<String>,
    /// Where the chart comes from: a repository's URL, `oci://…`, or a path.
    pub repository: Option<String>,
}

/// An addon to be installed.
///
/// `Debug` does not show its values, which may hold secrets.
#[derive(Clone, PartialEq)]
pub struct Addon {
    /// The release's name.
    pub name: String,
    /// The namespace that the release lives in.
    pub namespace: String,
    /// Labels that the namespace has to have, such as a Pod Security level.
    pub namespace_labels: BTreeMap<String, String>,
    /// Where the chart comes from: a repository's URL, `oci://…`, or a path.
    pub repository: String,
    /// The chart's name in its repository.
    pub chart: String,
    /// The chart's version, exact or a range.
    pub version: String,
    /// The values: ours with the user's on top.
    pub values: Value,
    /// Objects in YAML instead of a chart from somewhere.
    pub manifests: Option<String>,
}

impl Addon {
    pub(super) fn new(
        name: &str,
        namespace: &str,
        repository: &str,
        version: &str,
        overrides: &Overrides,
        values: Value,
    ) -> Self {
        Self {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            namespace_labels: BTreeMap::new(),
            repository: overrides.repository.clone().unwrap_or_else(|| repository.to_owned()),
            chart: name.to_owned(),
            version: overrides.version.clone().unwrap_or_else(|| version.to_owned()),
            values,
            manifests: None,
        }
    }
}

impl fmt::Debug for Overrides {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Overrides");
        shown.field("version", &self.version).field("repository", &self.repository).finish_non_exhaustive()
    }
}

impl fmt::Debug for Addon {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Addon");
        shown.field("name", &self.name).field("version", &self.version).finish_non_exhaustive()
    }
}

/// An addon that cannot be installed as asked. Completes "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The values cannot be read.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// A value contradicts the machines or the way of installing.
    #[error("accept the values: {0}")]
    Refused(#[from] Refusal),
}

/// A value that is known not to work, refused before anything is touched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} {problem}; {remedy}")]
pub struct Refusal {
    /// The value's path, keys joined by dots.
    pub path: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
    /// What to do.
    pub remedy: &'static str,
}
