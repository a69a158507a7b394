//! Which form of configuration a cluster's machines are given.

use std::fmt;

/// The form that the generator of one Talos version writes. A machine reads every form up to its own version's.
///
/// Frozen when a cluster is created: a newer provider changes no configuration by itself. Contract 1.14 is not among
/// them; a machine of that version takes 1.13's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Contract {
    /// Talos 1.10, whose form is that of 1.9 too.
    V1_10,
    /// Talos 1.11, in the same form as 1.10; volumes may be encrypted by documents.
    V1_11,
    /// Talos 1.12: host names and registries in documents of their own.
    V1_12,
    /// Talos 1.13: KubeSpan in a document of its own.
    V1_13,
}

/// Why a text names no contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractError {
    /// The text is no version.
    #[error("{0:?} is not a Talos version: expected MAJOR.MINOR or MAJOR.MINOR.PATCH, for example v1.13.9")]
    NotAVersion(String),
    /// The version is too old for this provider.
    #[error(
        "Talos {0} is older than 1.10, the oldest version that this provider configures: boot a newer one"
    )]
    TooOld(String),
}

impl Contract {
    /// The newest that this provider knows.
    pub const NEWEST: Self = Self::V1_13;

    /// The newest form that a machine of a Talos version takes and that this provider knows.
    ///
    /// # Errors
    /// A text that is no version, or a version older than 1.10.
    pub fn of_version(version: &str) -> Result<Self, ContractError> {
        let (major, minor) =
            major_and_minor(version).ok_or_else(|| ContractError::NotAVersion(version.to_owned()))?;
        match (major, minor) {
            (0, _) | (1, 0..=9) => Err(ContractError::TooOld(version.to_owned())),
            (1, 10) => Ok(Self::V1_10),
            (1, 11) => Ok(Self::V1_11),
            (1, 12) => Ok(Self::V1_12),
            _ => Ok(Self::NEWEST),
        }
    }

    /// The minor version of Talos 1 whose form it is.
    #[must_use]
    pub const fn minor(self) -> u64 {
        match self {
            Self::V1_10 => 10,
            Self::V1_11 => 11,
            Self::V1_12 => 12,
            Self::V1_13 => 13,
        }
    }

    /// The contract as it is recorded, `1.13`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1_10 => "1.10",
            Self::V1_11 => "1.11",
            Self::V1_12 => "1.12",
            Self::V1_13 => "1.13",
        }
    }

    /// Host names, registries and virtual addresses stand in documents of their own.
    #[must_use]
    pub const fn has_network_documents(self) -> bool {
        matches!(self, Self::V1_12 | Self::V1_13)
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// `v`, if any, MAJOR.MINOR, then the end or a dot, as Talos reads it.
fn major_and_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.strip_prefix('v').unwrap_or(version).splitn(3, '.');
    let mut number = || {
        let part = parts.next()?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_newest_form_that_the_version_takes() {
        for (version, contract) in [
            ("v1.10.0", Contract::V1_10),
            ("1.11", Contract::V1_11),
            ("v1.12.3", Contract::V1_12),
            ("1.13.0-alpha.1", Contract::V1_13),
            ("v1.14.0", Contract::V1_13),
            ("2.0.0", Contract::V1_13),
        ] {
            assert_eq!(Contract::of_version(version), Ok(contract), "{version}");
        }
        for version in ["v1", "v1.13rc", "", "latest", "1.x", "v1.+9"] {
            assert_eq!(Contract::of_version(version), Err(ContractError::NotAVersion(version.to_owned())));
        }
        assert_eq!(Contract::of_version("1.9.5"), Err(ContractError::TooOld("1.9.5".to_owned())));
    }

    #[test]
    fn is_recorded_by_a_text_that_reads_back() {
        for contract in [Contract::V1_10, Contract::V1_11, Contract::V1_12, Contract::V1_13] {
            assert_eq!(Contract::of_version(contract.as_str()), Ok(contract));
        }
    }
}
