//! Versions of Talos and Kubernetes, and which go together.

use std::fmt;

use thiserror::Error;

/// A release: `MAJOR.MINOR.PATCH`, with a pre-release where there is one. A leading `v` is accepted and not kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(semver::Version);

/// Why a text is no version, or why two versions don't go together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VersionError {
    /// Not a version.
    #[error("{0:?} is not a version: expected MAJOR.MINOR.PATCH, for example {1}")]
    Malformed(String, &'static str),
    /// A Talos that this provider does not know.
    #[error("Talos {0} is not supported: this provider configures Talos 1.{OLDEST} to 1.{NEWEST}", OLDEST = OLDEST_TALOS, NEWEST = NEWEST_TALOS)]
    UnknownTalos(Version),
    /// A pair outside Talos' support matrix.
    #[error("Talos {talos} does not run Kubernetes {kubernetes}: it supports 1.{from} to 1.{to}")]
    Unsupported {
        /// The Talos version.
        talos: Version,
        /// The Kubernetes version.
        kubernetes: Version,
        /// The oldest supported minor of Kubernetes.
        from: u64,
        /// The newest supported minor of Kubernetes.
        to: u64,
    },
}

/// The oldest minor of Talos 1 that can be configured.
const OLDEST_TALOS: u64 = 10;
/// The newest minor of Talos 1 that the support matrix below knows.
const NEWEST_TALOS: u64 = 13;

/// Talos' minor, and the oldest and newest minor of Kubernetes that it runs (Talos' own table, as of 1.13.9).
const SUPPORT: [(u64, u64, u64); 4] = [(10, 28, 33), (11, 29, 34), (12, 30, 35), (13, 31, 36)];

impl Version {
    /// Parses a version.
    ///
    /// # Errors
    ///
    /// [`VersionError::Malformed`], with `example` in its text.
    pub fn parse(text: &str, example: &'static str) -> Result<Self, VersionError> {
        semver::Version::parse(text.strip_prefix('v').unwrap_or(text))
            .map(Self)
            .map_err(|_| VersionError::Malformed(text.to_owned(), example))
    }

    /// The major version.
    #[must_use]
    pub fn major(&self) -> u64 {
        self.0.major
    }

    /// The minor version.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.0.minor
    }

    /// With the leading `v` of tags.
    #[must_use]
    pub fn tag(&self) -> String {
        format!("v{}", self.0)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Checks that a Talos runs a Kubernetes.
///
/// # Errors
///
/// [`VersionError::UnknownTalos`] or [`VersionError::Unsupported`].
pub fn check_pair(talos: &Version, kubernetes: &Version) -> Result<(), VersionError> {
    let row = SUPPORT.iter().find(|(minor, ..)| talos.major() == 1 && talos.minor() == *minor);
    let Some((_, from, to)) = row.copied() else { return Err(VersionError::UnknownTalos(talos.clone())) };
    if kubernetes.major() == 1 && (from..=to).contains(&kubernetes.minor()) {
        Ok(())
    } else {
        let (talos, kubernetes) = (talos.clone(), kubernetes.clone());
        Err(VersionError::Unsupported { talos, kubernetes, from, to })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text, "v1.13.9").unwrap()
    }

    #[test]
    fn a_leading_v_is_accepted_and_orders_like_semver() {
        assert_eq!(version("v1.13.9"), version("1.13.9"));
        assert_eq!(version("1.13.9").tag(), "v1.13.9");
        assert!(version("1.13.10") > version("1.13.9") && version("1.14.0-rc.1") < version("1.14.0"));
        for bad in ["", "v", "1.13", "latest", "1.13.x", "vv1.13.9"] {
            assert!(Version::parse(bad, "v1.13.9").is_err(), "{bad}");
        }
    }

    #[test]
    fn pairs_outside_the_support_matrix_are_refused() {
        for (talos, kubernetes, good) in [
            ("1.13.9", "1.36.3", true),
            ("1.13.9", "1.31.0", true),
            ("1.13.9", "1.30.9", false),
            ("1.12.4", "1.36.0", false),
            ("1.12.4", "1.35.0", true),
            ("1.9.0", "1.30.0", false),
            ("2.13.0", "1.36.0", false),
        ] {
            assert_eq!(
                check_pair(&version(talos), &version(kubernetes)).is_ok(),
                good,
                "{talos} {kubernetes}"
            );
        }
    }
}
