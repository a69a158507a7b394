//! Patterns: regular expressions of our own, and the two kinds of file patterns that charts use.

use regex::Regex;

/// A file pattern that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub(crate) struct BadPattern;

/// Compiles a pattern that stands in our own source.
pub(crate) fn constant(pattern: &str) -> Regex {
    Regex::new(pattern)
        .unwrap_or_else(|error| unreachable!("our own pattern {pattern:?} does not compile: {error}"))
}

/// A pattern in the syntax of Go's `filepath.Match`, for whole paths: `*` and `?` stop at `/`.
pub(crate) fn path_match(pattern: &str) -> Result<Regex, BadPattern> {
    let mut expression = String::from("(?s)^");
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => expression.push_str(&class(&mut rest, '^')?),
            '\\' => {
                expression.push_str(&regex::escape(rest.next().ok_or(BadPattern)?.encode_utf8(&mut [0; 4])))
            }
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    expression.push('$');
    Regex::new(&expression).map_err(|_| BadPattern)
}

/// A pattern in the syntax of `.Files.Glob`: `*` stops at `/`, `**` does not, `{a,b}` are alternatives.
pub(crate) fn glob(pattern: &str) -> Result<Regex, BadPattern> {
    let mut expression = String::from("(?s)^");
    let mut depth = 0_usize;
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' if rest.next_if_eq(&'*').is_some() => {
                while rest.next_if_eq(&'*').is_some() {}
                expression.push_str(".*");
            }
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => expression.push_str(&class(&mut rest, '!')?),
            '{' => {
                depth += 1;
                expression.push_str("(?:");
            }
            '}' if depth > 0 => {
                depth -= 1;
                expression.push(')');
            }
            ',' if depth > 0 => expression.push('|'),
            '\\' => {
                expression.push_str(&regex::escape(rest.next().ok_or(BadPattern)?.encode_utf8(&mut [0; 4])))
            }
            other => expression.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    if depth > 0 {
        return Err(BadPattern);
    }
    expression.push('$');
    Regex::new(&expression).map_err(|_| BadPattern)
}

/// The rest of a character class after its `[`, as a class of a regular expression.
fn class(rest: &mut impl Iterator<Item = char>, negation: char) -> Result<String, BadPattern> {
    let mut class = String::from("[");
    let mut first = true;
    loop {
        match rest.next().ok_or(BadPattern)? {
            character if first && character == negation => {
                class.push('^');
                continue;
            }
            ']' if !first => break,
            '-' if !first => class.push('-'),
            '\\' => {
                class.push('\\');
                class.push(rest.next().ok_or(BadPattern)?);
            }
            character @ ('[' | ']' | '^' | '&' | '~' | '-') => {
                class.push('\\');
                class.push(character);
            }
            character => class.push(character),
        }
        first = false;
    }
    class.push(']');
    Ok(class)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_path_pattern_stops_at_slashes() {
        for (pattern, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "d/a.txt", false),
            ("templates/.?*", "templates/.a", true),
            ("templates/.?*", "templates/a", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            (r"\*", "*", true),
        ] {
            assert_eq!(path_match(pattern).unwrap().is_match(path), expected, "{pattern} {path}");
        }
        assert!(path_match("[a").is_err());
    }

    #[test]
    fn a_glob_knows_double_stars_and_alternatives() {
        for (pattern, path, expected) in [
            ("**.yaml", "a/b/c.yaml", true),
            ("*.yaml", "a/c.yaml", false),
            ("{a,b}/*.{txt,md}", "b/x.md", true),
            ("[!a]x", "bx", true),
            ("f?", "f/", false),
        ] {
            assert_eq!(glob(pattern).unwrap().is_match(path), expected, "{pattern} {path}");
        }
        assert!(glob("{a").is_err());
    }
}
