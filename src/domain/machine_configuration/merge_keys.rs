//! `<<` in maps. Talos takes merge keys where keys are free, and refuses them as unknown keys in sections.

use std::borrow::Cow;

use yaml::{Content, Node};

use super::problem::{Problem, ProblemKind};

/// The node with all that merge keys name put in their place.
pub(super) fn expanded<'node>(
    node: &'node Node,
    path: &str,
    problems: &mut Vec<Problem>,
) -> Cow<'node, Node> {
    if has_merge_key(node) { Cow::Owned(expand(node, path, problems)) } else { Cow::Borrowed(node) }
}

fn has_merge_key(node: &Node) -> bool {
    match &node.content {
        Content::Scalar(_) => false,
        Content::Sequence(items) => items.iter().any(has_merge_key),
        Content::Mapping(pairs) => pairs.iter().any(|(key, value)| is_merge_key(key) || has_merge_key(value)),
    }
}

fn is_merge_key(key: &Node) -> bool {
    key.as_scalar().is_some_and(|scalar| scalar.plain && scalar.text == "<<")
}

fn expand(node: &Node, path: &str, problems: &mut Vec<Problem>) -> Node {
    let content = match &node.content {
        scalar @ Content::Scalar(_) => scalar.clone(),
        Content::Sequence(items) => {
            Content::Sequence(items.iter().map(|item| expand(item, path, problems)).collect())
        }
        Content::Mapping(pairs) => {
            let (merges, own): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| is_merge_key(key));
            let mut all: Vec<(Node, Node)> =
                own.iter().map(|(key, value)| (key.clone(), expand(value, path, problems))).collect();
            for (key, merge) in merges {
                // Talos' check of unknown keys fails on a list of mappings, which YAML would allow.
                let Content::Mapping(pairs) = expand(merge, path, problems).content else {
                    problems.push(Problem::at(
                        key,
                        path,
                        ProblemKind::Invalid("`<<` takes a mapping".to_owned()),
                    ));
                    continue;
                };
                // What stands there itself counts.
                for (key, value) in pairs {
                    if !all.iter().any(|(known, _)| known.text() == key.text()) {
                        all.push((key, value));
                    }
                }
            }
            Content::Mapping(all)
        }
    };
    Node { content, line: node.line, column: node.column }
}
