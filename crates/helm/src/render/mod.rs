//! Rendering: from a chart and values to manifests in install order.

mod capabilities;
mod engine;
mod error;
mod lookup;
mod manifest;
mod order;
mod scope;
#[cfg(test)]
mod tests;

use std::fmt;

use jiff::Timestamp;

pub use capabilities::{Capabilities, KubeVersion, KubeVersionError};
pub use error::{Error, TemplateError};
pub use lookup::{Lookup, LookupError, NoCluster};
pub use manifest::{Hook, HookEvent, Manifest};

use crate::chart::{Chart, dependencies};
use crate::values::Values;
use crate::version;

/// What templates see as `.Release`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The release's name.
    pub name: String,
    /// The namespace it goes into.
    pub namespace: String,
    /// The revision, counted from 1.
    pub revision: u32,
    /// Whether it replaces an installed revision.
    pub is_upgrade: bool,
}

/// What else a rendering depends on: the same environment (and chart, values, cluster) gives the same output, but
/// for generated keys and certificates, which are always new.
#[derive(Clone)]
pub struct Environment {
    /// The time that templates see; dates are written in UTC.
    pub now: Timestamp,
    /// What random texts are derived from. Passwords come from it: take it from a good source, and never show it.
    pub seed: [u8; 32],
}

impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Environment").field("now", &self.now).finish_non_exhaustive()
    }
}

/// What a chart renders to.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// All objects but hooks and `crds/`, in the order in which they are applied.
    pub manifests: Vec<Manifest>,
    /// The hooks, in install order; see [`Hook::weight`] for the order in which they run.
    pub hooks: Vec<Hook>,
    /// The files of `crds/`, sub-charts' included: applied first, never upgraded or deleted.
    pub crds: Vec<Manifest>,
    /// The files of `crds/` as they are, as one text.
    pub crd_text: String,
    /// The chart's rendered `NOTES.txt`.
    pub notes: Option<String>,
    /// The manifests as one text, as it stands in a release record.
    pub manifest_text: String,
}

impl Rendered {
    /// The hooks of an event in the order in which they run: by weight, then by name.
    #[must_use]
    pub fn hooks_for(&self, event: HookEvent) -> Vec<&Hook> {
        let mut hooks: Vec<&Hook> = self.hooks.iter().filter(|hook| hook.events.contains(&event)).collect();
        hooks.sort_by(|left, right| {
            (left.weight, &left.manifest.name).cmp(&(right.weight, &right.manifest.name))
        });
        hooks
    }
}

/// Renders a chart.
///
/// Runs on a thread of its own, whose stack suits deep recursion of templates; `lookup` is called on it.
///
/// # Errors
/// [`Error`]: the chart refuses the values or the cluster, or a template fails.
pub fn render(
    chart: &Chart,
    values: &Values,
    release: &Release,
    capabilities: &Capabilities,
    lookup: &(dyn Lookup + Sync),
    environment: &Environment,
) -> Result<Rendered, Error> {
    let mut chart = chart.clone();
    dependencies::check(&chart)?;
    dependencies::process(&mut chart, values)?;
    if !chart.metadata.kube_version.is_empty()
        && !version::satisfies(&chart.metadata.kube_version, capabilities.kube_version.normalized())
    {
        return Err(Error::KubeVersion {
            constraint: chart.metadata.kube_version.clone(),
            version: capabilities.kube_version.version().to_owned(),
        });
    }
    let files = engine::run(&chart, values, release, capabilities, lookup, environment)?;
    manifest::assemble(&chart, files)
}
