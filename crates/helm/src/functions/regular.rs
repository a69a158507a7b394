//! Regular expressions, in Go's syntax. Compiled once each.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use regex::bytes::{Regex, RegexBuilder};

use super::Parameter::{Int, String};
use super::{Function, pure};
use crate::template::failure::Cause;
use crate::value::{ListType, Text, Value};

/// The largest compiled expression, in bytes.
const MAX_COMPILED: usize = 10 * 1024 * 1024;

/// How many compiled expressions are kept.
const MAX_KEPT: usize = 1_000;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("regexMatch", &[String, String], |arguments| {
        Ok(Value::Bool(compile(&arguments.string(0)).is_ok_and(|regex| regex.is_match(&arguments.text(1)))))
    }),
    pure("mustRegexMatch", &[String, String], |arguments| {
        Ok(Value::Bool(compile(&arguments.string(0))?.is_match(&arguments.text(1))))
    }),
    pure("regexFind", &[String, String], |arguments| find(&arguments.string(0), &arguments.text(1))),
    pure("mustRegexFind", &[String, String], |arguments| find(&arguments.string(0), &arguments.text(1))),
    pure("regexFindAll", &[String, String, Int], |arguments| {
        find_all(&arguments.string(0), &arguments.text(1), arguments.int(2))
    }),
    pure("mustRegexFindAll", &[String, String, Int], |arguments| {
        find_all(&arguments.string(0), &arguments.text(1), arguments.int(2))
    }),
    pure("regexReplaceAll", &[String, String, String], |arguments| {
        replace(&arguments.string(0), &arguments.text(1), &arguments.text(2), false)
    }),
    pure("mustRegexReplaceAll", &[String, String, String], |arguments| {
        replace(&arguments.string(0), &arguments.text(1), &arguments.text(2), false)
    }),
    pure("regexReplaceAllLiteral", &[String, String, String], |arguments| {
        replace(&arguments.string(0), &arguments.text(1), &arguments.text(2), true)
    }),
    pure("mustRegexReplaceAllLiteral", &[String, String, String], |arguments| {
        replace(&arguments.string(0), &arguments.text(1), &arguments.text(2), true)
    }),
    pure("regexSplit", &[String, String, Int], |arguments| {
        split(&arguments.string(0), &arguments.text(1), arguments.int(2))
    }),
    pure("mustRegexSplit", &[String, String, Int], |arguments| {
        split(&arguments.string(0), &arguments.text(1), arguments.int(2))
    }),
    pure("regexQuoteMeta", &[String], |arguments| Ok(Value::string(quote(&arguments.string(0))))),
];

thread_local! {
    static COMPILED: RefCell<BTreeMap<std::string::String, Rc<Regex>>> = const { RefCell::new(BTreeMap::new()) };
}

fn compile(pattern: &str) -> Result<Rc<Regex>, Cause> {
    if let Some(regex) = COMPILED.with_borrow(|compiled| compiled.get(pattern).cloned()) {
        return Ok(regex);
    }
    let regex = RegexBuilder::new(&translate(pattern)).size_limit(MAX_COMPILED).build().map_err(|error| {
        Cause::Plain(format!(
            "regexp: Compile({}): error parsing regexp: {error}",
            crate::value::format::quote(pattern.as_bytes())
        ))
    })?;
    let regex = Rc::new(regex);
    COMPILED.with_borrow_mut(|compiled| {
        if compiled.len() >= MAX_KEPT {
            compiled.clear();
        }
        compiled.insert(pattern.to_owned(), Rc::clone(&regex));
    });
    Ok(regex)
}

/// From Go's syntax to that of the `regex` crate: ASCII classes, `\z` for the end, braces that count nothing, and no
/// sets within classes.
fn translate(pattern: &str) -> std::string::String {
    let mut out = std::string::String::with_capacity(pattern.len());
    let mut rest = pattern.char_indices().peekable();
    let (mut in_class, mut class_start) = (false, false);
    while let Some((at, character)) = rest.next() {
        let starts = std::mem::take(&mut class_start);
        match character {
            '\\' => {
                let Some((_, escaped)) = rest.next() else {
                    out.push('\\');
                    break;
                };
                match escaped {
                    'Q' if !in_class => {
                        let quoted = &pattern[at + 2..];
                        let end = quoted.find("\\E").unwrap_or(quoted.len());
                        out.push_str(&regex::escape(&quoted[..end]));
                        while rest.next_if(|(next, _)| *next < at + 2 + end + 2).is_some() {}
                    }
                    'd' => out.push_str(if in_class { "0-9" } else { "[0-9]" }),
                    'w' => out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                    's' => out.push_str(if in_class { "\\t\\n\\f\\r\\x20" } else { "[\\t\\n\\f\\r\\x20]" }),
                    'D' => out.push_str("[^0-9]"),
                    'W' => out.push_str("[^0-9A-Za-z_]"),
                    'S' => out.push_str("[^\\t\\n\\f\\r\\x20]"),
                    'b' => out.push_str("(?-u:\\b)"),
                    'B' => out.push_str("(?-u:\\B)"),
                    'C' => out.push_str("(?s:.)"),
                    other => {
                        out.push('\\');
                        out.push(other);
                    }
                }
            }
            '[' if !in_class => {
                in_class = true;
                class_start = true;
                out.push('[');
            }
            '^' if starts => {
                class_start = true;
                out.push('^');
            }
            ']' if in_class && starts => out.push_str("\\]"),
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '[' if pattern[at..].starts_with("[:") => {
                let end = pattern[at..].find(":]").map_or(at + 1, |end| at + end + 2);
                out.push_str(&pattern[at..end]);
                while rest.next_if(|(next, _)| *next < end).is_some() {}
            }
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(character);
            }
            '{' if !in_class && !counts(&pattern[at..]) => out.push_str("\\{"),
            '}' if !in_class && !closes_count(&pattern[..at]) => out.push_str("\\}"),
            other => out.push(other),
        }
    }
    out
}

/// Whether a brace begins a repetition such as `{1,3}`.
fn counts(text: &str) -> bool {
    let Some((count, _)) = text[1..].split_once('}') else { return false };
    let (low, high) = count.split_once(',').unwrap_or((count, ""));
    !low.is_empty()
        && low.bytes().all(|byte| byte.is_ascii_digit())
        && high.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a brace ends a repetition, or the name in `\x{41}` or `\p{Greek}`.
fn closes_count(before: &str) -> bool {
    let Some(open) = before.rfind('{') else { return false };
    let name =
        before[..open].ends_with("\\x") || before[..open].ends_with("\\p") || before[..open].ends_with("\\P");
    name || counts(&format!("{}}}", &before[open..]))
}

fn find(pattern: &str, text: &Text) -> Result<Value, Cause> {
    let regex = compile(pattern)?;
    Ok(Value::string(regex.find(text).map_or(&[][..], |found| found.as_bytes())))
}

/// A negative count finds all.
fn find_all(pattern: &str, text: &Text, count: i64) -> Result<Value, Cause> {
    let regex = compile(pattern)?;
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    let found: Vec<Value> =
        regex.find_iter(text).take(limit).map(|found| Value::string(found.as_bytes())).collect();
    let kind = if found.is_empty() { ListType::NilStrings } else { ListType::Strings };
    Ok(Value::List(kind, Rc::new(found)))
}

fn replace(pattern: &str, text: &Text, replacement: &[u8], literal: bool) -> Result<Value, Cause> {
    let regex = compile(pattern)?;
    let replaced = if literal {
        regex.replace_all(text, regex::bytes::NoExpand(replacement))
    } else {
        // Both take `$1`, `${1}`, `$name` and `$$`; the name is the longest that fits in both.
        regex.replace_all(text, replacement)
    };
    Ok(Value::string(replaced))
}

/// Go's `Split`: at most `count` parts; negative: all; 0: none.
fn split(pattern: &str, text: &Text, count: i64) -> Result<Value, Cause> {
    let regex = compile(pattern)?;
    if count == 0 {
        return Ok(Value::strings::<&[u8]>([]));
    }
    let limit = usize::try_from(count).unwrap_or(usize::MAX);
    if !pattern.is_empty() && text.is_empty() {
        return Ok(Value::strings([b""]));
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for found in regex.find_iter(text) {
        if parts.len() + 1 >= limit {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[start..end]);
        }
        start = found.end();
    }
    if end != text.len() {
        parts.push(&text[start..]);
    }
    Ok(Value::strings(parts))
}

fn quote(text: &str) -> std::string::String {
    let mut out = std::string::String::with_capacity(text.len());
    for character in text.chars() {
        if "\\.+*?()|[]{}^$".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::value::format::shown;

    #[test]
    fn gos_syntax_is_understood() {
        for (pattern, text, expected) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"[\w.-]+", "a.b-c", true),
            (r"a{,2}", "a{,2}", true),
            (r"^a{1,2}$", "aaa", false),
            (r"[[]x", "[x", true),
            (r"^[]a]$", "]", true),
            (r"^[^]a]$", "b", true),
            (r"[&&]", "&", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"[[:alpha:]]", "é", false),
            (r"x}", "x}", true),
            (r"^(?i)ABC\z", "abc", true),
        ] {
            assert_eq!(compile(pattern).unwrap().is_match(text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn matches_are_found_replaced_and_split_as_go_does() {
        let text = Text::from("a1b22c");
        assert_eq!(shown(&find_all(r"\d+", &text, -1).unwrap()), "[1 22]");
        assert_eq!(shown(&find_all(r"\d+", &text, 1).unwrap()), "[1]");
        assert_eq!(shown(&replace(r"(\d)", &text, b"<$1>", false).unwrap()), "a<1>b<2><2>c");
        assert_eq!(shown(&replace(r"(\d)", &text, b"<${1}x>", true).unwrap()), "a<${1}x>b<${1}x><${1}x>c");
        assert_eq!(shown(&split(r"\d+", &text, -1).unwrap()), "[a b c]");
        assert_eq!(shown(&split(r"\d+", &text, 2).unwrap()), "[a b22c]");
        assert_eq!(shown(&split("c", &text, -1).unwrap()), "[a1b22 ]");
    }

    #[test]
    fn an_expression_that_grows_without_bound_is_refused() {
        assert!(compile("((((a{1000}){1000}){1000}){1000})").is_err());
    }
}
