//! What the cluster can do, as templates see it under `.Capabilities`.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// A cluster's version and API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The version of the API server.
    pub kube_version: KubeVersion,
    /// What it serves: `group/version` and `group/version/Kind` (for the core group `version`, `version/Kind`).
    pub api_versions: Vec<String>,
}

impl Capabilities {
    /// What Helm 4.3.1 assumes without a cluster: a version, and every API that Kubernetes itself has.
    #[must_use]
    pub fn offline() -> Self {
        let version = KubeVersion {
            version: "v1.37.0".to_owned(),
            normalized: "v1.37.0".to_owned(),
            major: "1".to_owned(),
            minor: "37".to_owned(),
        };
        Self {
            kube_version: version,
            api_versions: OFFLINE.iter().map(|&version| version.to_owned()).collect(),
        }
    }
}

/// The version of an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KubeVersion {
    version: String,
    normalized: String,
    major: String,
    minor: String,
}

/// A text that is no version of Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid kube version {0:?}: expected a version such as v1.36.3")]
pub struct KubeVersionError(pub String);

static GENERIC: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"^\s*v?([0-9]+(?:\.[0-9]+)*)(.*)*$"));

impl KubeVersion {
    /// Reads a version such as `1.36.3` or `v1.33.4-gke.1245000`, for `helm template --kube-version` as for
    /// what is known of a cluster beforehand: constraints of charts see it without its suffix.
    ///
    /// # Errors
    /// When the text is no version with two numbers at least.
    pub fn parse(text: &str) -> Result<Self, KubeVersionError> {
        let invalid = || KubeVersionError(text.to_owned());
        let found = GENERIC.captures(text).ok_or_else(invalid)?;
        let numbers: Result<Vec<u32>, _> = found[1].split('.').map(str::parse).collect();
        let mut numbers = numbers.map_err(|_| invalid())?;
        if numbers.len() < 2 {
            return Err(invalid());
        }
        let (major, minor) = (numbers[0].to_string(), numbers[1].to_string());
        if numbers.len() == 2 {
            numbers.push(0);
        }
        let normalized: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let version = if text.starts_with('v') { text.to_owned() } else { format!("v{text}") };
        Ok(Self { version, normalized: format!("v{}", normalized.join(".")), major, minor })
    }

    /// Takes the version as a live API server tells it: constraints of charts see it with its suffix.
    #[must_use]
    pub fn live(git_version: &str, major: &str, minor: &str) -> Self {
        Self {
            version: git_version.to_owned(),
            normalized: git_version.to_owned(),
            major: major.to_owned(),
            minor: minor.to_owned(),
        }
    }

    /// The full version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The version that constraints of charts are checked against.
    #[must_use]
    pub fn normalized(&self) -> &str {
        &self.normalized
    }

    /// The major number.
    #[must_use]
    pub fn major(&self) -> &str {
        &self.major
    }

    /// The minor number.
    #[must_use]
    pub fn minor(&self) -> &str {
        &self.minor
    }
}

/// The API of Kubernetes 1.37 as Helm 4.3.1's client library knows it.
const OFFLINE: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_is_shown_but_not_checked() {
        let version = KubeVersion::parse("1.33.4-gke.12").unwrap();
        assert_eq!((version.version(), version.normalized()), ("v1.33.4-gke.12", "v1.33.4"));
        assert_eq!((version.major(), version.minor()), ("1", "33"));
        assert_eq!(KubeVersion::parse("1.33").unwrap().normalized(), "v1.33.0");
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "1", "x.y", "v"] {
            assert!(KubeVersion::parse(text).is_err(), "{text}");
        }
    }
}
