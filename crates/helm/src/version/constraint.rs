//! Constraints on versions.

use std::cmp::Ordering;
use std::sync::LazyLock;

use regex::Regex;

use super::{Error, Version, compare_prerelease};
use crate::pattern;

/// The longest constraint that is accepted, in bytes.
const MAX_CONSTRAINT_LENGTH: usize = 512;

/// The largest number of `||` groups in one constraint.
const MAX_CONSTRAINT_GROUPS: usize = 32;

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
