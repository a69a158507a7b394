//! `$patch: delete`: what a patch takes away before it merges.

use yaml::{Content, Node, Value};

use super::problem::{Problem, ProblemKind};
use super::schema::{Field, Kind};

/// One thing that a patch takes away from its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deletion {
    /// The keys from the document's root; empty for the document itself.
    pub(super) path: Vec<String>,
    /// For an item of the list at the path: the key and the text that choose it.
    pub(super) item: Option<(String, String)>,
    /// The line of the directive's section, counted from 1.
    pub(super) line: usize,
}

/// Takes the deletions out of a patch's document. What is left of the document is `None` when nothing is.
pub(super) fn extract(root: Node) -> Result<(Vec<Deletion>, Option<Node>), Problem> {
    let mut deletions = Vec::new();
    let rest = walk(root, &mut Vec::new(), None, &mut deletions)?;
    let rest = rest.filter(|rest| deletions.is_empty() || !names_only_a_document(rest));
    Ok((deletions, rest))
}

/// Walks a node and returns what is left of it. `in_list` is the list around a list's item.
fn walk(
    node: Node,
    path: &mut Vec<String>,
    in_list: Option<usize>,
    deletions: &mut Vec<Deletion>,
) -> Result<Option<Node>, Problem> {
    let (line, column) = (node.line, node.column);
    let content = match node.content {
        Content::Mapping(pairs) => {
            let position = pairs.iter().position(|(key, _)| key.text() == Some("$patch"));
            if let Some((position, (_, directive))) = position.map(|position| (position, &pairs[position])) {
                // What stands before the directive deletes first; what stands after it counts for nothing.
                for (key, value) in &pairs[..position] {
                    path.push(key.text().unwrap_or_default().to_owned());
                    walk(value.clone(), path, None, deletions)?;
                    path.pop();
                }
                let place = |words: &str| {
                    Problem::at(directive, &path.join("."), ProblemKind::Invalid(words.to_owned()))
                };
                if directive.text() != Some("delete") {
                    return Err(place("the only directive is `$patch: delete`"));
                }
                if path.iter().filter(|part| part.starts_with('[')).count() > usize::from(in_list.is_some()) {
                    return Err(place(
                        "cannot delete a key inside a list's item: delete the item and add it anew",
                    ));
                }
                let item = match in_list {
                    Some(_) => Some(selector(&pairs).ok_or_else(|| {
                        place(
                            "expected a key beside `$patch: delete` that chooses the item, such as `name: x`",
                        )
                    })?),
                    None => None,
                };
                let keys = path.iter().filter(|part| !part.starts_with('[')).cloned().collect();
                deletions.push(Deletion { path: keys, item, line });
                return Ok(None);
            }
            match mapping(pairs, path, deletions)? {
                Some(pairs) => Content::Mapping(pairs),
                None => return Ok(None),
            }
        }
        Content::Sequence(items) => match sequence(items, path, deletions)? {
            Some(items) => Content::Sequence(items),
            None => return Ok(None),
        },
        scalar @ Content::Scalar(_) => scalar,
    };
    Ok(Some(Node { content, line, column }))
}

/// What is left of a mapping; nothing if it became empty.
fn mapping(
    pairs: Vec<(Node, Node)>,
    path: &mut Vec<String>,
    deletions: &mut Vec<Deletion>,
) -> Result<Option<Vec<(Node, Node)>>, Problem> {
    let was_empty = pairs.is_empty();
    let mut left = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        path.push(key.text().unwrap_or_default().to_owned());
        let rest = walk(value, path, None, deletions)?;
        path.pop();
        if let Some(value) = rest {
            left.push((key, value));
        }
    }
    Ok((was_empty || !left.is_empty()).then_some(left))
}

fn sequence(
    items: Vec<Node>,
    path: &mut Vec<String>,
    deletions: &mut Vec<Deletion>,
) -> Result<Option<Vec<Node>>, Problem> {
    let was_empty = items.is_empty();
    let mut left = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        path.push(format!("[{index}]"));
        let rest = walk(item, path, Some(index), deletions)?;
        path.pop();
        left.extend(rest);
    }
    Ok((was_empty || !left.is_empty()).then_some(left))
}

/// The first key beside the directive, with its text.
fn selector(pairs: &[(Node, Node)]) -> Option<(String, String)> {
    let (key, value) = pairs.iter().find(|(key, _)| key.text() != Some("$patch"))?;
    Some((key.text()?.to_owned(), value.text().unwrap_or_default().to_owned()))
}

/// Nothing is left to merge but what chooses the document.
fn names_only_a_document(root: &Node) -> bool {
    root.as_mapping().is_some_and(|pairs| {
        pairs.iter().all(|(key, value)| {
            matches!(key.text(), Some("version" | "apiVersion" | "kind" | "name"))
                && value.as_scalar().is_some()
        })
    })
}

impl Deletion {
    /// The path as a message names it.
    pub(super) fn place(&self) -> String {
        match &self.item {
            Some((key, value)) => format!("{}[{key}: {value}]", self.path.join(".")),
            None => self.path.join("."),
        }
    }

    /// Takes the thing away from a section. A key that is merely not set is no error; a parent that is not there is.
    pub(super) fn apply(&self, value: &mut Value, fields: &[Field]) -> Result<(), Problem> {
        let found = from_section(value, fields, &self.path, self.item.as_ref());
        if found {
            return Ok(());
        }
        let words =
            "nothing to delete there: `$patch: delete` names a key or an item that is not set".to_owned();
        Err(Problem { path: self.place(), line: self.line, kind: ProblemKind::Invalid(words) })
    }
}

type Item<'this> = Option<&'this (String, String)>;

fn from_section(value: &mut Value, fields: &[Field], path: &[String], item: Item<'_>) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let Some(field) = fields.iter().find(|field| field.key == first) else { return false };
    let Value::Mapping(pairs) = value else { return false };
    let position = pairs.iter().position(|(key, _)| key.as_str() == Some(first));
    if rest.is_empty() && item.is_none() {
        // Half of a certificate and its key cannot go alone.
        if is_half(field, fields) {
            return false;
        }
        if let Some(position) = position {
            pairs.remove(position);
        }
        return true;
    }
    match position {
        Some(position) => from_value(&mut pairs[position].1, &field.kind, rest, item),
        // A section that is no pointer is always there, if only empty.
        None => {
            let Kind::Struct(fields) = &field.kind else { return false };
            !field.pointer && from_section(&mut Value::Mapping(Vec::new()), fields, rest, item)
        }
    }
}

fn is_half(field: &Field, fields: &[Field]) -> bool {
    matches!(field.kind, Kind::Base64) && fields.iter().all(|field| matches!(field.key, "crt" | "key"))
}

fn from_value(value: &mut Value, kind: &Kind, path: &[String], item: Item<'_>) -> bool {
    match (kind, path.split_first(), item) {
        (Kind::Struct(fields), Some(_), _) => from_section(value, fields, path, item),
        (Kind::List(of), None, Some((key, text))) => from_list(value, of, key, text),
        (Kind::Map(of), Some((first, rest)), _) => from_map(value, first, rest, item, of),
        (Kind::TextMap | Kind::BoolMap | Kind::Arguments, Some((first, [])), None) => remove(value, first),
        (Kind::Free, Some((first, rest)), _) => from_map(value, first, rest, item, &Kind::Free),
        _ => false,
    }
}

fn from_map(value: &mut Value, key: &str, rest: &[String], item: Item<'_>, of: &Kind) -> bool {
    if rest.is_empty() && item.is_none() {
        return remove(value, key);
    }
    let Value::Mapping(pairs) = value else { return false };
    let found = pairs.iter_mut().find(|(known, _)| known.as_str() == Some(key));
    found.is_some_and(|(_, value)| from_value(value, of, rest, item))
}

fn remove(value: &mut Value, key: &str) -> bool {
    let Value::Mapping(pairs) = value else { return false };
    let before = pairs.len();
    pairs.retain(|(known, _)| known.as_str() != Some(key));
    pairs.len() < before
}

/// The first item whose text under the key is the one given. Only texts choose.
fn from_list(value: &mut Value, of: &Kind, key: &str, text: &str) -> bool {
    let (Kind::Struct(fields), Value::Sequence(items)) = (of, value) else { return false };
    // A list, say, that is not set is not an empty text.
    if !fields.iter().any(|field| field.key == key && matches!(field.kind, Kind::Text)) {
        return false;
    }
    let chosen = |item: &Value| match item.field(key) {
        Some(Value::String(value)) => value == text,
        None => text.is_empty(),
        Some(_) => false,
    };
    let Some(position) = items.iter().position(chosen) else { return false };
    items.remove(position);
    true
}
