//! Semantic versions and constraints as charts use them: loose (`v1.2`), with `^ ~ - x || ,`, by the rules of
//! the Masterminds library that Helm links. They differ from Cargo's: a pre-release never satisfies a
//! group of constraints that names none.

mod constraint;

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

pub use constraint::Constraint;

use crate::pattern;

/// The longest version that is accepted, in bytes.
const MAX_VERSION_LENGTH: usize = 256;

static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    pattern::constant(
        r"^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?$",
    )
});

/// A text that is no version or no constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not a version, not even a loose one.
    #[error("invalid semantic version {0:?}")]
    Version(String),
    /// The text is not a constraint.
    #[error("improper constraint: {0:?}")]
    Constraint(String),
}

/// A semantic version; `v1.2` is read as 1.2.0.
#[derive(Debug, Clone)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
    original: String,
}

impl Version {
    /// Reads a version; a leading `v` and missing minor or patch numbers are accepted.
    ///
    /// # Errors
    /// [`Error::Version`] when the text is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let invalid = || Error::Version(text.to_owned());
        if text.len() > MAX_VERSION_LENGTH {
            return Err(invalid());
        }
        let found = VERSION.captures(text).ok_or_else(invalid)?;
        let number = |group: usize| match found.get(group) {
            Some(part) => part.as_str().trim_start_matches('.').parse::<u64>().map_err(|_| invalid()),
            None => Ok(0),
        };
        let text_of =
            |group: usize| found.get(group).map_or_else(String::new, |part| part.as_str().to_owned());
        let prerelease = text_of(5);
        let leading_zero = |part: &str| {
            part.len() > 1 && part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        if prerelease.split('.').any(leading_zero) {
            return Err(invalid());
        }
        Ok(Self {
            major: number(1)?,
            minor: number(2)?,
            patch: number(3)?,
            prerelease,
            metadata: text_of(7),
            original: text.to_owned(),
        })
    }

    /// The first number.
    #[must_use]
    pub const fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    #[must_use]
    pub const fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    #[must_use]
    pub const fn patch(&self) -> u64 {
        self.patch
    }

    /// What follows `-`; empty for a release.
    #[must_use]
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// What follows `+`; never compared.
    #[must_use]
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The text as it was written.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl fmt::Display for Version {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(out, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(out, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| compare_prerelease(&self.prerelease, &other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

fn compare_prerelease(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let mut others = right.split('.');
    for part in left.split('.') {
        let Some(other) = others.next() else { return Ordering::Greater };
        let order = match (part.parse::<u64>(), other.parse::<u64>()) {
            (Ok(part), Ok(other)) => part.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => part.cmp(other),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    if others.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

/// Whether the version satisfies the constraint; a text that is neither never does.
#[must_use]
pub fn satisfies(constraint: &str, version: &str) -> bool {
    match (Constraint::parse(constraint), Version::parse(version)) {
        (Ok(constraint), Ok(version)) => constraint.check(&version),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::satisfies;

    #[test]
    fn a_constraint_holds_as_masterminds_says() {
        for (constraint, version, expected) in [
            (">=1.20.0-0", "v1.30.2-gke.5", true),
            (">=1.20.0", "v1.30.2-gke.5", false),
            ("^1.2", "1.9.0", true),
            ("^0.2.3", "0.3.0", false),
            ("^0.0.3", "0.0.4", false),
            ("~1.4", "1.4.9", true),
            ("~1.4", "1.5.0", false),
            ("1.x", "1.9.1", true),
            ("*", "3.0.0", true),
            ("1.2 - 1.4", "1.3.9", true),
            ("1.2 - 1.4", "1.5.0", false),
            ("<1.0 || >=2", "2.1.0", true),
            ("<1.0 || >=2", "1.1.0", false),
            (">11", "11.1.0", false),
            (">11.1", "11.2.0", true),
            ("<=11", "11.5.0", true),
            ("!=1.x", "1.5.0", false),
            (">=1.2, <2", "1.9.9", true),
            (">=1.2 <2", "2.0.0", false),
            ("v1.2", "1.2.7", true),
            ("nonsense", "1.2.7", false),
        ] {
            assert_eq!(satisfies(constraint, version), expected, "{constraint} {version}");
        }
    }
}
