//! `.helmignore`: which files of a chart's folder do not belong to it. Archives are not filtered.

use std::collections::BTreeSet;

use regex::Regex;

use super::LoadError;
use crate::pattern;

/// Rules in their order; the first that matches decides.
pub(crate) struct Rules(Vec<Rule>);

struct Rule {
    pattern: Regex,
    /// The pattern has a slash, so it is for the whole path, else for the name alone.
    whole_path: bool,
    negated: bool,
    directories_only: bool,
}

impl Rules {
    /// Reads a file of rules, and adds Helm's own: hidden files of `templates/` are left out.
    pub(crate) fn parse(text: &str) -> Result<Self, LoadError> {
        let mut rules = Vec::new();
        for line in text.lines().map(str::trim) {
            if !line.is_empty() && !line.starts_with('#') {
                rules.push(Rule::parse(line)?);
            }
        }
        rules.push(Rule::parse("templates/.?*")?);
        Ok(Self(rules))
    }

    /// Of all paths, those that stay.
    pub(crate) fn keep<'path>(&self, paths: impl Iterator<Item = &'path str>) -> BTreeSet<&'path str> {
        paths.filter(|path| !self.ignores_with_parents(path)).collect()
    }

    /// A file goes with each folder above it.
    fn ignores_with_parents(&self, path: &str) -> bool {
        let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
        folders.into_iter().any(|folder| self.ignores(folder, true)) || self.ignores(path, false)
    }

    fn ignores(&self, path: &str, is_directory: bool) -> bool {
        for rule in &self.0 {
            let wrong_kind = rule.directories_only && !is_directory;
            if rule.negated {
                // A negated rule takes away whatever it does not match.
                if wrong_kind || !rule.matches(path) {
                    return true;
                }
            } else if !wrong_kind && rule.matches(path) {
                return true;
            }
        }
        false
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Self, LoadError> {
        let bad = || LoadError::IgnoreRule(line.to_owned());
        if line.contains("**") {
            return Err(bad());
        }
        let (negated, rest) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (directories_only, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let (rooted, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        Ok(Self {
            pattern: pattern::path_match(rest).map_err(|_| bad())?,
            whole_path: rooted || rest.contains('/'),
            negated,
            directories_only,
        })
    }

    fn matches(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.pattern.is_match(if self.whole_path { path } else { name })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn kept(rules: &str, paths: &[&str]) -> Vec<String> {
        Rules::parse(rules).unwrap().keep(paths.iter().copied()).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn names_paths_and_folders_are_ignored() {
        let paths = ["Chart.yaml", "a.txt", "docs/a.md", "docs/sub/b.md", "x/docs", "templates/.hidden"];
        assert_eq!(kept("*.txt\n# comment\n\ndocs/\n", &paths), ["Chart.yaml", "x/docs"]);
        assert_eq!(kept("/docs/*.md", &paths), ["Chart.yaml", "a.txt", "docs/sub/b.md", "x/docs"]);
    }

    #[test]
    fn a_negated_rule_takes_all_else_away() {
        assert_eq!(kept("!*.yaml", &["Chart.yaml", "a.txt"]), ["Chart.yaml"]);
    }

    #[test]
    fn double_stars_are_refused() {
        assert!(Rules::parse("a/**").is_err());
    }
}
