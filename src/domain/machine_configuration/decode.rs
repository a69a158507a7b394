//! From a parsed document to values under the tables of keys.
//!
//! What comes out holds a key only if it is set: an empty value of a key that does not tell absent from empty is
//! dropped, as Go's decoder leaves the field at zero. All problems are gathered, not only the first.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use yaml::{Content, Node, Scalar, Typing, Value, sort_naturally};

use super::merge_keys;
use super::problem::{Problem, ProblemKind, nearest};
use super::scalars::scalar;
use super::schema::{Field, Kind};

/// Reads a section: the set keys in the order of the table.
pub(super) fn section(node: &Node, fields: &[Field], path: &str, problems: &mut Vec<Problem>) -> Value {
    let Content::Mapping(pairs) = &node.content else {
        if !node.is_null() {
            problems.push(Problem::wrong_type(node, path, "a mapping"));
        }
        return Value::Mapping(Vec::new());
    };
    let mut values = Vec::new();
    for (key, value) in pairs {
        let name = key.text().unwrap_or_default();
        let place = join(path, name);
        let Some(field) = fields.iter().find(|field| field.key == name) else {
            let nearest = nearest(name, fields.iter().map(|field| field.key));
            problems.push(Problem::at(key, &place, ProblemKind::UnknownKey { nearest }));
            continue;
        };
        if let Some(value) = field_value(value, field, &place, problems) {
            values.push((Value::string(field.key), value));
        }
    }
    Value::Mapping(values)
}

fn field_value(node: &Node, field: &Field, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    let value = any_value(node, &field.kind, path, problems)?;
    (field.distinguishes_absent() || !is_zero(&value, &field.kind)).then_some(value)
}

/// Whether Go holds this as its zero value where a field is no pointer. Empty lists and maps differ from absent ones
/// in a merge, where an empty list can replace.
fn is_zero(value: &Value, kind: &Kind) -> bool {
    match value {
        Value::String(text) => {
            let zero = if let Kind::Word(words) = kind { words.zero } else { "" };
            text == zero || (matches!(kind, Kind::RoutingTable) && text == "unspec")
        }
        Value::Int(number) => *number == 0,
        Value::Uint(number) => *number == 0,
        Value::Null => true,
        Value::Bool(_) | Value::Float(_) | Value::Timestamp(_) | Value::Sequence(_) | Value::Mapping(_) => {
            false
        }
    }
}

fn any_value(node: &Node, kind: &Kind, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    if node.is_null() {
        return None;
    }
    match kind {
        Kind::Struct(fields) => Some(section(node, fields, path, problems)),
        Kind::List(item) => list(node, item, path, problems),
        Kind::Map(value) => mapping(node, path, problems, |node, path, problems| {
            if node.is_null() && matches!(value, Kind::Struct(_)) {
                problems.push(Problem::wrong_type(node, path, "a mapping"));
            }
            any_value(node, value, path, problems).or(Some(Value::Mapping(Vec::new())))
        }),
        Kind::TextMap => mapping(node, path, problems, |node, path, problems| {
            any_value(node, &Kind::Text, path, problems).or_else(|| Some(Value::string("")))
        }),
        Kind::BoolMap => mapping(node, path, problems, |node, path, problems| {
            any_value(node, &Kind::Bool, path, problems).or(Some(Value::Bool(false)))
        }),
        Kind::Arguments => mapping(node, path, problems, argument),
        Kind::Free => free(node, path, problems),
        Kind::Base64 => one(node, path, problems, "base64", |scalar| {
            let text: String =
                scalar.text.chars().filter(|character| !matches!(character, '\n' | '\r')).collect();
            STANDARD.decode(&text).is_ok().then_some(Value::String(text))
        }),
        Kind::Text
        | Kind::Bool
        | Kind::PlainBool
        | Kind::Integer(_)
        | Kind::Duration
        | Kind::Permissions
        | Kind::PartitionSize
        | Kind::ByteSize
        | Kind::Size
        | Kind::SizeMatch
        | Kind::Url
        | Kind::Expression
        | Kind::Prefix
        | Kind::Address
        | Kind::AddressAndPort
        | Kind::HardwareAddress
        | Kind::RoutingTable
        | Kind::PortRange
        | Kind::Word(_) => {
            let Some(written) = node.as_scalar() else {
                problems.push(Problem::wrong_type(node, path, "a single value"));
                return None;
            };
            match scalar(written, kind) {
                Ok(value) => Some(value),
                Err(expected) => {
                    problems.push(Problem::wrong_value(node, path, &expected));
                    None
                }
            }
        }
    }
}

fn one(
    node: &Node,
    path: &str,
    problems: &mut Vec<Problem>,
    expected: &str,
    read: impl FnOnce(&Scalar) -> Option<Value>,
) -> Option<Value> {
    let value = node.as_scalar().and_then(read);
    if value.is_none() {
        problems.push(Problem::wrong_value(node, path, expected));
    }
    value
}

fn list(node: &Node, item: &Kind, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    let Some(items) = node.as_sequence() else {
        problems.push(Problem::wrong_type(node, path, "a list"));
        return None;
    };
    let values = items.iter().enumerate().filter_map(|(index, node)| {
        let place = format!("{path}[{index}]");
        // Go leaves null items out, except where they are sections: there it keeps a hole that nothing can use.
        if node.is_null() && matches!(item, Kind::Struct(_) | Kind::Free) {
            problems.push(Problem::wrong_type(node, &place, "a mapping"));
        }
        any_value(node, item, &place, problems)
    });
    Some(Value::Sequence(values.collect()))
}

fn mapping(
    node: &Node,
    path: &str,
    problems: &mut Vec<Problem>,
    mut read: impl FnMut(&Node, &str, &mut Vec<Problem>) -> Option<Value>,
) -> Option<Value> {
    let node = merge_keys::expanded(node, path, problems);
    let Some(pairs) = node.as_mapping() else {
        problems.push(Problem::wrong_type(&node, path, "a mapping"));
        return None;
    };
    let values = pairs.iter().filter_map(|(key, value)| {
        let name = key.text().unwrap_or_default();
        Some((Value::string(name), read(value, &join(path, name), problems)?))
    });
    Some(Value::Mapping(values.collect()))
}

/// A flag's value: a text or a list of texts. An empty one stays, to be written as null.
fn argument(node: &Node, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    if node.as_sequence().is_some() {
        return list(node, &Kind::Text, path, problems);
    }
    any_value(node, &Kind::Text, path, problems).or_else(|| Some(Value::string("")))
}

/// Any mapping, in the order in which Go would write it.
fn free(node: &Node, path: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    let node = merge_keys::expanded(node, path, problems);
    let Some(pairs) = node.as_mapping() else {
        problems.push(Problem::wrong_type(&node, path, "a mapping"));
        return None;
    };
    let values =
        pairs.iter().map(|(key, value)| (Value::string(key.text().unwrap_or_default()), value.to_value()));
    let mut value = Value::Mapping(values.collect());
    sort_naturally(&mut value, Typing::V4);
    Some(value)
}

/// A path and one key more; a key with dots stands in brackets.
pub(super) fn join(path: &str, key: &str) -> String {
    match (path.is_empty(), key.contains('.')) {
        (true, _) => key.to_owned(),
        (false, false) => format!("{path}.{key}"),
        (false, true) => format!("{path}[{key}]"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use crate::domain::machine_configuration::{MachineConfiguration, ParseError, Problem, ProblemKind};

    fn problems(text: &str) -> Vec<Problem> {
        let ParseError::Problems(problems) = MachineConfiguration::parse(text).unwrap_err() else {
            unreachable!("the text is YAML")
        };
        problems
    }

    #[test]
    fn names_all_unknown_keys_with_path_line_and_nearest_key() {
        let text = "machine:\n  type: worker\n  network:\n    hostnam: x\n    interfaces:\n      - interfce: eth0\n  zzz: 1\n";
        let found: Vec<String> = problems(text).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "line 4: machine.network.hostnam: unknown key; did you mean `hostname`?",
                "line 6: machine.network.interfaces[0].interfce: unknown key; did you mean `interface`?",
                "line 7: machine.zzz: unknown key",
            ]
        );
    }

    #[test]
    fn names_what_was_expected_and_never_the_value() {
        let text = "machine:\n  token: [topsecret]\n  certSANs: topsecret\n  install: {wipe: topsecret}\n  ca: {key: topsecret}\n";
        let found = problems(text);
        let expected: Vec<_> = found
            .iter()
            .map(|problem| match &problem.kind {
                ProblemKind::WrongType { expected, found } => format!("{expected}, not {found}"),
                ProblemKind::WrongValue { expected } => expected.clone(),
                ProblemKind::UnknownKey { .. } | ProblemKind::TooNew { .. } | ProblemKind::Invalid(_) => {
                    String::new()
                }
            })
            .collect();
        assert_eq!(expected, ["a single value, not list", "a list, not string", "true or false", "base64"]);
        assert!(found.iter().all(|problem| !problem.to_string().contains("topsecret")), "{found:?}");
    }

    #[test]
    fn reads_documents_by_kind_and_refuses_others() {
        for (text, words) in [
            ("{apiVersion: v1alpha1, kind: LinkConfg, name: a}", "did you mean `LinkConfig`?"),
            ("{apiVersion: v2, kind: LinkConfig, name: a}", "expected apiVersion v1alpha1"),
            ("{kind: LinkConfig, name: a}", "missing apiVersion"),
            ("{name: a}", "missing kind"),
            ("[]", "found a list"),
            ("", "no document"),
            ("debug: true\n---\ndebug: false\n", "stands twice"),
        ] {
            let found = problems(text);
            assert!(found[0].to_string().contains(words), "{text}: {}", found[0]);
        }
    }
}
