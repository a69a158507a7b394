//! Semantic versions and constraints as charts use them: loose (`v1.2`), with `^ ~ - x || ,`, by the rules of
//! the Masterminds library that Helm links. They differ from Cargo's: a pre-release never satisfies a
//! group of constraints that names none.

use std::cmp::Ordering;
use std::fmt;
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// The longest version that is accepted, in bytes.
const MAX_VERSION_LENGTH: usize = 256;

/// The longest constraint that is accepted, in bytes.
const MAX_CONSTRAINT_LENGTH: usize = 512;

/// The largest number of `||` groups in one constraint.
const MAX_CONSTRAINT_GROUPS: usize = 32;

static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    pattern::constant(
        r"^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?$",
    )
});

const CONSTRAINT_VERSION: &str = r"v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?(-([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(?:\.[0-9A-Za-z\-]+)*))?";

const OPERATORS: &str = r"=||!=|>|<|>=|=>|<=|=<|~|~>|\^";

static CONSTRAINT: LazyLock<Regex> =
    LazyLock::new(|| pattern::constant(&format!(r"^\s*({OPERATORS})\s*({CONSTRAINT_VERSION})\s*$")));

static RANGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern::constant(&format!(r"\s*({CONSTRAINT_VERSION})\s+-\s+({CONSTRAINT_VERSION})\s*"))
});

static FIND: LazyLock<Regex> =
    LazyLock::new(|| pattern::constant(&format!(r"({OPERATORS})\s*({CONSTRAINT_VERSION})")));

static GROUP: LazyLock<Regex> = LazyLock::new(|| {
    pattern::constant(&format!(
        r"^(\s*({OPERATORS})\s*({CONSTRAINT_VERSION})\s*)((?:\s+|,\s*)({OPERATORS})\s*({CONSTRAINT_VERSION})\s*)*$"
    ))
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

/// What a version must satisfy: groups joined by `||`, each a list joined by spaces or commas.
#[derive(Debug, Clone)]
pub struct Constraint {
    groups: Vec<Vec<Clause>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

#[derive(Debug, Clone)]
struct Clause {
    operator: Operator,
    version: Version,
    /// A part is `x` or left out.
    dirty: bool,
    minor_dirty: bool,
    patch_dirty: bool,
}

impl Constraint {
    /// Reads a constraint such as `>=1.2, <2`, `~1.4`, `1.x || >=3.0.0-0` or `1.2 - 1.4`.
    ///
    /// # Errors
    /// [`Error::Constraint`] when the text is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let improper = || Error::Constraint(text.to_owned());
        if text.len() > MAX_CONSTRAINT_LENGTH {
            return Err(improper());
        }
        let rewritten = RANGE
            .replace_all(text, |found: &regex::Captures<'_>| format!(">= {}, <= {} ", &found[1], &found[9]));
        let mut groups = Vec::new();
        for group in rewritten.split("||") {
            if groups.len() == MAX_CONSTRAINT_GROUPS || !GROUP.is_match(group) {
                return Err(improper());
            }
            let clauses: Result<Vec<_>, _> =
                FIND.find_iter(group).map(|found| Clause::parse(found.as_str())).collect();
            groups.push(clauses?);
        }
        Ok(Self { groups })
    }

    /// Whether the version satisfies one of the groups. A pre-release only satisfies a group that names one.
    #[must_use]
    pub fn check(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let names_prerelease = group.iter().any(|clause| !clause.version.prerelease.is_empty());
            let wanted = version.prerelease.is_empty() || names_prerelease;
            wanted && group.iter().all(|clause| clause.check(version))
        })
    }
}

impl Clause {
    fn parse(text: &str) -> Result<Self, Error> {
        let improper = || Error::Constraint(text.to_owned());
        let found = CONSTRAINT.captures(text).ok_or_else(improper)?;
        let part = |group: usize| found.get(group).map_or("", |part| part.as_str());
        let any = |part: &str| matches!(part.trim_start_matches('.'), "" | "x" | "X" | "*");
        let (major, minor, patch, prerelease) = (part(3), part(4), part(5), part(6));
        let (number, minor_dirty, patch_dirty) = if any(major) {
            (format!("0.0.0{prerelease}"), false, false)
        } else if any(minor) {
            (format!("{major}.0.0{prerelease}"), true, false)
        } else if any(patch) {
            (format!("{major}{minor}.0{prerelease}"), false, true)
        } else {
            (part(2).to_owned(), false, false)
        };
        let operator = match part(1) {
            "" | "=" => Operator::Equal,
            "!=" => Operator::NotEqual,
            ">" => Operator::Greater,
            "<" => Operator::Less,
            ">=" | "=>" => Operator::GreaterOrEqual,
            "<=" | "=<" => Operator::LessOrEqual,
            "~" | "~>" => Operator::Tilde,
            _ => Operator::Caret,
        };
        Ok(Self {
            operator,
            version: Version::parse(&number).map_err(|_| improper())?,
            dirty: any(major) || minor_dirty || patch_dirty,
            minor_dirty,
            patch_dirty,
        })
    }

    fn check(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.operator {
            Operator::Equal if self.dirty => self.tilde(version),
            Operator::Equal => version == own,
            Operator::NotEqual => self.differs(version),
            Operator::Greater if !self.dirty => version > own,
            Operator::Greater if version.major != own.major => version.major > own.major,
            Operator::Greater if self.minor_dirty => false,
            Operator::Greater if self.patch_dirty => version.minor > own.minor,
            Operator::Greater => version > own,
            Operator::Less => version < own,
            Operator::GreaterOrEqual => version >= own,
            Operator::LessOrEqual if !self.dirty => version <= own,
            Operator::LessOrEqual => {
                version.major < own.major
                    || (version.major == own.major && (self.minor_dirty || version.minor <= own.minor))
            }
            Operator::Tilde => self.tilde(version),
            Operator::Caret => self.caret(version),
        }
    }

    fn differs(&self, version: &Version) -> bool {
        let own = &self.version;
        if !self.dirty {
            return version != own;
        }
        if version.major != own.major {
            return true;
        }
        if self.minor_dirty {
            return false;
        }
        if version.minor != own.minor {
            return true;
        }
        if self.patch_dirty {
            return compare_prerelease(&version.prerelease, &own.prerelease) != Ordering::Equal;
        }
        version != own
    }

    fn tilde(&self, version: &Version) -> bool {
        let own = &self.version;
        if version < own {
            return false;
        }
        let anything =
            own.major == 0 && own.minor == 0 && own.patch == 0 && !self.minor_dirty && !self.patch_dirty;
        anything || (version.major == own.major && (self.minor_dirty || version.minor == own.minor))
    }

    fn caret(&self, version: &Version) -> bool {
        let own = &self.version;
        if version < own {
            return false;
        }
        if own.major > 0 || self.minor_dirty {
            return version.major == own.major;
        }
        if version.major > 0 {
            return false;
        }
        if own.minor > 0 || self.patch_dirty {
            return version.minor == own.minor;
        }
        version.minor == 0 && version.patch == own.patch
    }
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
