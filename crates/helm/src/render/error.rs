//! Why a chart does not render.

use std::fmt;

use crate::values::schema::Violations;

/// Why a chart does not render.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The chart does not support the cluster's version.
    #[error("chart requires kubeVersion: {constraint} which is incompatible with Kubernetes {version}")]
    KubeVersion {
        /// What the chart asks for.
        constraint: String,
        /// What the cluster is.
        version: String,
    },
    /// A library chart cannot be installed by itself.
    #[error("library charts are not installable")]
    Library,
    /// `Chart.yaml` names charts that the folder `charts/` lacks.
    #[error("found in Chart.yaml, but missing in charts/ directory: {}", .0.join(", "))]
    MissingDependencies(Vec<String>),
    /// Values for a sub-chart that are no table.
    #[error("type mismatch on {chart}: expected a mapping of values, got {found}")]
    SubchartValues {
        /// The sub-chart.
        chart: String,
        /// What was given.
        found: &'static str,
    },
    /// The values break a chart's JSON schema.
    #[error("values don't meet the specifications of the schema(s) in the following chart(s):\n{0}")]
    Schema(Violations),
    /// A template cannot be parsed or fails.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// What a template renders to is not YAML.
    #[error("YAML parse error on {path}: {reason}")]
    Manifest {
        /// The template.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The thread that renders could not be started, or ended by itself.
    #[error("failed to run the template engine: {0}")]
    Thread(String),
}

/// A template that cannot be parsed or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The template's file, such as `app/templates/service.yaml`.
    pub template: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in bytes, counted from 0 as Go does; absent for errors of parsing.
    pub column: Option<usize>,
    /// The expression that failed, as Go prints it.
    pub call: Option<String>,
    /// What went wrong; for `fail` and `required`, the chart's own words.
    pub message: String,
    /// The whole text as Helm prints it.
    pub(crate) text: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for TemplateError {}
