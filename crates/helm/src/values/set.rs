//! The language of `--set`: `a.b=1,list[0].c=x,names={a,b},d=null`.

use std::iter::Peekable;
use std::str::Chars;

use super::tree::{Table, Tree};

/// How deep a name may nest, as Helm limits it.
const MAX_NESTING: usize = 30;

/// The largest index into a list, as Helm limits it.
const MAX_INDEX: usize = 65_536;

/// How the text of a value becomes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// `true`, `false`, `null` and whole numbers are what they look like.
    Guess,
    /// Everything is a string.
    String,
}

/// An expression that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// A key without `=`.
    #[error("key {0:?} has no value")]
    NoValue(String),
    /// Something inside `[ ]` that is no index, or an index that is too large.
    #[error("expected an index between 0 and {MAX_INDEX} within [ ], got {0:?}")]
    Index(String),
    /// Text between `]` and what may follow it.
    #[error("unexpected {0:?} after the end of a list index")]
    AfterIndex(String),
    /// A list without its closing brace.
    #[error("list must terminate with '}}'")]
    OpenList,
    /// A name with too many parts.
    #[error("name is nested deeper than {MAX_NESTING} levels")]
    TooDeep,
    /// A path that goes through a value of another type.
    #[error("{key:?} is {found}, expected {expected}")]
    Conflict {
        /// The part of the path.
        key: String,
        /// What stands there.
        found: &'static str,
        /// What the path needs there.
        expected: &'static str,
    },
}

/// Sets what the expression says into the table.
pub(crate) fn apply(table: &mut Table, expression: &str, typing: Typing) -> Result<(), SetError> {
    let mut parser = Parser { rest: expression.chars().peekable(), typing };
    while parser.rest.peek().is_some() {
        parser.key(table, 0)?;
    }
    Ok(())
}

struct Parser<'text> {
    rest: Peekable<Chars<'text>>,
    typing: Typing,
}

impl Parser<'_> {
    fn key(&mut self, table: &mut Table, depth: usize) -> Result<(), SetError> {
        let (key, stop) = self.until(&['=', '[', ',', '.']);
        match stop {
            None if key.is_empty() => Ok(()),
            None | Some(',') => Err(SetError::NoValue(key)),
            Some('=') => {
                let value = self.value()?;
                if !key.is_empty() {
                    table.insert(key, value);
                }
                Ok(())
            }
            Some('[') => {
                let index = self.index()?;
                let slot = table.entry(key.clone()).or_insert_with(|| Tree::List(Vec::new()));
                self.item(list_in(slot, &key)?, index, depth)
            }
            Some(_) => {
                let depth = deeper(depth)?;
                let slot = table.entry(key.clone()).or_insert_with(|| Tree::Map(Table::new()));
                self.key(table_in(slot, &key)?, depth)
            }
        }
    }

    fn item(&mut self, list: &mut Vec<Tree>, index: usize, depth: usize) -> Result<(), SetError> {
        let (text, stop) = self.until(&['[', '.', '=']);
        if !text.is_empty() {
            return Err(SetError::AfterIndex(text));
        }
        if list.len() <= index {
            list.resize(index + 1, Tree::Null);
        }
        let Some(slot) = list.get_mut(index) else { return Err(SetError::Index(index.to_string())) };
        match stop {
            None => Err(SetError::NoValue(format!("[{index}]"))),
            Some('=') => {
                *slot = self.value()?;
                Ok(())
            }
            Some('[') => {
                let next = self.index()?;
                if slot.is_null() {
                    *slot = Tree::List(Vec::new());
                }
                let depth = deeper(depth)?;
                self.item(list_in(slot, &format!("[{index}]"))?, next, depth)
            }
            Some(_) => {
                if slot.as_table().is_none() {
                    *slot = Tree::Map(Table::new());
                }
                self.key(table_in(slot, &format!("[{index}]"))?, deeper(depth)?)
            }
        }
    }

    fn index(&mut self) -> Result<usize, SetError> {
        let (text, _) = self.until(&[']']);
        match text.parse::<usize>() {
            Ok(index) if index <= MAX_INDEX => Ok(index),
            Ok(_) | Err(_) => Err(SetError::Index(text)),
        }
    }

    fn value(&mut self) -> Result<Tree, SetError> {
        if self.rest.next_if_eq(&'{').is_none() {
            let (text, _) = self.until(&[',']);
            return Ok(self.typed(text));
        }
        let mut items = Vec::new();
        loop {
            let (text, stop) = self.until(&[',', '}']);
            let Some(stop) = stop else { return Err(SetError::OpenList) };
            items.push(self.typed(text));
            if stop == '}' {
                self.rest.next_if_eq(&',');
                return Ok(Tree::List(items));
            }
        }
    }

    /// The text up to one of the characters, and that character. A backslash takes the next one as it is.
    fn until(&mut self, stops: &[char]) -> (String, Option<char>) {
        let mut text = String::new();
        while let Some(character) = self.rest.next() {
            if stops.contains(&character) {
                return (text, Some(character));
            }
            if character == '\\' {
                text.extend(self.rest.next());
            } else {
                text.push(character);
            }
        }
        (text, None)
    }

    fn typed(&self, text: String) -> Tree {
        if self.typing == Typing::String {
            return Tree::String(text);
        }
        if text.eq_ignore_ascii_case("true") {
            return Tree::Bool(true);
        }
        if text.eq_ignore_ascii_case("false") {
            return Tree::Bool(false);
        }
        if text.eq_ignore_ascii_case("null") {
            return Tree::Null;
        }
        let leading_zero = text.starts_with('0') && text != "0";
        match text.parse::<i64>() {
            Ok(number) if !leading_zero => Tree::Integer(number),
            Ok(_) | Err(_) => Tree::String(text),
        }
    }
}

const fn deeper(depth: usize) -> Result<usize, SetError> {
    if depth == MAX_NESTING { Err(SetError::TooDeep) } else { Ok(depth + 1) }
}

fn list_in<'slot>(slot: &'slot mut Tree, key: &str) -> Result<&'slot mut Vec<Tree>, SetError> {
    let found = slot.kind();
    let Tree::List(list) = slot else {
        return Err(SetError::Conflict { key: key.to_owned(), found, expected: "a list" });
    };
    Ok(list)
}

fn table_in<'slot>(slot: &'slot mut Tree, key: &str) -> Result<&'slot mut Table, SetError> {
    let found = slot.kind();
    let Tree::Map(table) = slot else {
        return Err(SetError::Conflict { key: key.to_owned(), found, expected: "a mapping" });
    };
    Ok(table)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(expression: &str) -> serde_json::Value {
        let mut table = Table::new();
        apply(&mut table, expression, Typing::Guess).unwrap();
        Tree::Map(table).to_json()
    }

    #[test]
    fn paths_lists_and_types_are_read() {
        assert_eq!(
            read("a.b=1,c=007,d=TRUE,e=null"),
            json!({"a": {"b": 1}, "c": "007", "d": true, "e": null})
        );
        assert_eq!(read("l[1].x=y,n={a,2}"), json!({"l": [null, {"x": "y"}], "n": ["a", 2]}));
        assert_eq!(read(r"a\.b=c\,d"), json!({"a.b": "c,d"}));
        assert_eq!(read("m[0][1]=z"), json!({"m": [[null, "z"]]}));
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let mut table = Table::new();
        assert_eq!(apply(&mut table, "a", Typing::Guess), Err(SetError::NoValue("a".into())));
        assert_eq!(apply(&mut table, "a={b", Typing::Guess), Err(SetError::OpenList));
        assert_eq!(apply(&mut table, "a[70000]=1", Typing::Guess), Err(SetError::Index("70000".into())));
        let deep = format!("{}=1", vec!["a"; 40].join("."));
        assert_eq!(apply(&mut table, &deep, Typing::Guess), Err(SetError::TooDeep));
    }

    #[test]
    fn a_path_never_goes_through_another_type() {
        let mut table = Table::new();
        apply(&mut table, "a=1", Typing::Guess).unwrap();
        assert!(matches!(apply(&mut table, "a.b=1", Typing::Guess), Err(SetError::Conflict { .. })));
    }
}
