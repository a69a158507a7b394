//! Which published version is meant.

use helm::version::{Constraint, Version};

use super::error::Cause;

/// How many versions an error names.
const NAMED: usize = 5;

/// Whether a text names one version and not a range: three numbers, a leading `v` and a prerelease allowed.
#[must_use]
pub fn is_exact(version: &str) -> bool {
    let numbers = version.trim().trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<_> = numbers.split('.').collect();
    let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(|part| is_number(part)) && Version::parse(version.trim()).is_ok()
}

/// Chooses among published versions: the one that is written exactly so, else the highest that satisfies the
/// constraint. An empty text asks for the highest that is no prerelease.
pub(super) fn choose<'version>(published: &[&'version str], wanted: &str) -> Result<&'version str, Cause> {
    if let Some(exact) = published.iter().find(|version| **version == wanted) {
        return Ok(exact);
    }
    let text = if wanted.trim().is_empty() { "*" } else { wanted };
    let constraint = Constraint::parse(text).map_err(|_| Cause::NotAVersion(wanted.to_owned()))?;
    let sorted = newest_first(published);
    let found = sorted.iter().find(|(version, _)| constraint.check(version)).map(|(_, text)| *text);
    found.ok_or_else(|| {
        let newest: Vec<_> = sorted.iter().take(NAMED).map(|(_, text)| *text).collect();
        let newest = if newest.is_empty() { "none".to_owned() } else { newest.join(", ") };
        Cause::NoVersion { wanted: wanted.to_owned(), newest }
    })
}

fn newest_first<'version>(published: &[&'version str]) -> Vec<(Version, &'version str)> {
    let versions = published.iter().filter_map(|text| Some((Version::parse(text).ok()?, *text)));
    let mut versions: Vec<_> = versions.collect();
    versions.sort_by(|(a, _), (b, _)| b.cmp(a));
    versions
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    const PUBLISHED: [&str; 6] = ["1.19.7", "1.21.0-pre.0", "1.20.2", "1.18.6", "v1.20.10", "1.20.0"];

    #[test]
    fn a_range_takes_the_highest_that_fits_and_no_prerelease() {
        for (wanted, chosen) in [
            ("", "v1.20.10"),
            ("*", "v1.20.10"),
            ("~1.20.0", "v1.20.10"),
            ("1.20.2", "1.20.2"),
            ("v1.19.7", "1.19.7"),
            ("1.20.10", "v1.20.10"),
            (">=1.18, <1.20", "1.19.7"),
            (">=1.21.0-0", "1.21.0-pre.0"),
        ] {
            assert_eq!(choose(&PUBLISHED, wanted).unwrap(), chosen, "{wanted:?}");
        }
    }

    #[test]
    fn what_is_not_published_is_answered_with_what_is() {
        let error = choose(&PUBLISHED, "2.x").unwrap_err().to_string();
        assert!(error.contains("1.21.0-pre.0, v1.20.10"), "{error}");
        assert!(matches!(choose(&PUBLISHED, "latest"), Err(Cause::NotAVersion(_))));
    }

    #[test]
    fn exact_versions_are_told_from_ranges() {
        for exact in ["1.20.2", "v1.21.2", "1.21.0-pre.0", "1.2.3+build"] {
            assert!(is_exact(exact), "{exact}");
        }
        for range in ["", "1.20", "v1", "1.20.x", "~1.20.0", ">=1.0.0", "1.0.0 - 2.0.0", "latest"] {
            assert!(!is_exact(range), "{range}");
        }
    }
}
