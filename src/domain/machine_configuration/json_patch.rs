//! JSON patches (RFC 6902), with the semantics of the Go library that Talos applies them with.
//!
//! Talos takes them for configurations of one document alone, so in practice up to contract 1.11: a newer one always
//! has a document for the host name. What differs from the RFC, here as there: `replace` sets a member that is not there,
//! `copy` of a member that is not there sets null, and an index may count from the end (`-1`).

use yaml::{Node, Typing, Value, emit_v2, parse_document};

use super::decode::join;
use super::document::Document;
use super::problem::{Problem, ProblemKind};
use super::{MachineConfiguration, ParseError};

/// One operation.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    act: Act,
    path: Pointer,
    line: usize,
}

#[derive(Debug, Clone)]
enum Act {
    Add(Value),
    Remove,
    Replace(Value),
    Move(Pointer),
    Copy(Pointer),
    Test(Value),
}

/// The keys and indexes that lead to a place; none for the whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pointer(Vec<String>);

impl Operation {
    /// Reads the operations of a patch.
    pub(super) fn read_all(items: &[Node], problems: &mut Vec<Problem>) -> Vec<Self> {
        let read = |item| Self::read(item).map_err(|problem| problems.push(problem)).ok();
        items.iter().filter_map(read).collect()
    }

    fn read(item: &Node) -> Result<Self, Problem> {
        let invalid = |node: &Node, words: String| Problem::at(node, "", ProblemKind::Invalid(words));
        let pairs = item.as_mapping().ok_or_else(|| {
            invalid(
                item,
                "expected an operation of a JSON patch, such as {op: add, path: /a, value: b}".to_owned(),
            )
        })?;
        let known = ["op", "path", "value", "from"];
        if let Some((key, _)) =
            pairs.iter().find(|(key, _)| !key.text().is_some_and(|key| known.contains(&key)))
        {
            return Err(Problem::at(
                key,
                key.text().unwrap_or_default(),
                ProblemKind::UnknownKey { nearest: None },
            ));
        }
        let member =
            |name: &str| item.field(name).ok_or_else(|| invalid(item, format!("`{name}` is missing")));
        let pointer = |name: &str| member(name).and_then(Pointer::read);
        let value = || member("value").and_then(plain);
        let op = member("op")?;
        let act = match op.text().unwrap_or_default() {
            "add" => Act::Add(value()?),
            "remove" => Act::Remove,
            "replace" => Act::Replace(value()?),
            "move" => Act::Move(pointer("from")?),
            "copy" => Act::Copy(pointer("from")?),
            "test" => Act::Test(value()?),
            _ => {
                let words = "op: expected add, remove, replace, move, copy or test";
                return Err(invalid(op, words.to_owned()));
            }
        };
        Ok(Self { act, path: pointer("path")?, line: item.line })
    }

    fn apply(&self, root: &mut Value) -> Result<(), &'static str> {
        match &self.act {
            Act::Add(value) => add(root, &self.path, value.clone()),
            Act::Remove => remove(root, &self.path).map(drop),
            Act::Replace(value) => replace(root, &self.path, value.clone()),
            Act::Move(from) => {
                let value = remove(root, from)?;
                add(root, &self.path, value)
            }
            Act::Copy(from) => {
                let value = find(root, from)?.cloned().unwrap_or_default();
                add(root, &self.path, value)
            }
            Act::Test(expected) => {
                let found = find(root, &self.path)?;
                let is_met = found.is_some_and(|found| is_equal(found, expected));
                if is_met { Ok(()) } else { Err("the test failed: another value is there, or none") }
            }
        }
    }

    /// How a strategic merge says it; values stay out, since they may be secrets.
    fn as_merge(&self) -> Option<String> {
        let inner = match self.act {
            Act::Add(_) | Act::Replace(_) => "…".to_owned(),
            Act::Remove => "{$patch: delete}".to_owned(),
            Act::Move(_) | Act::Copy(_) | Act::Test(_) => return None,
        };
        let is_index = |part: &String| part == "-" || part.parse::<i64>().is_ok();
        (!self.path.0.iter().any(is_index) && !self.path.0.is_empty())
            .then(|| self.path.0.iter().rev().fold(inner, |inner, key| format!("{{{key}: {inner}}}")))
    }

    fn problem(&self, words: &str) -> Problem {
        let path = self.path.0.iter().fold(String::new(), |path, key| join(&path, key));
        Problem { path, line: self.line, kind: ProblemKind::Invalid(words.to_owned()) }
    }
}

/// Applies the operations in their order, and reads the outcome as strictly as a configuration.
pub(super) fn apply(
    operations: &[Operation],
    documents: Vec<Document>,
) -> Result<Vec<Document>, Vec<Problem>> {
    if documents.len() != 1 {
        return Err(operations.first().map(|first| vec![for_several_documents(first)]).unwrap_or_default());
    }
    let text = MachineConfiguration::of(documents).to_yaml();
    let mut root = parse_document(text.expose(), Typing::V2)
        .ok()
        .flatten()
        .map(|document| document.root.into_value())
        .unwrap_or_default();
    for operation in operations {
        operation.apply(&mut root).map_err(|words| vec![operation.problem(words)])?;
    }
    let written =
        emit_v2(&root).map_err(|_| vec![Problem::invalid("", "the patch leaves what YAML cannot write")])?;
    match MachineConfiguration::parse(&written) {
        Ok(configuration) => Ok(configuration.documents),
        Err(ParseError::Problems(problems)) => {
            Err(problems.into_iter().map(|it| placed(it, operations)).collect())
        }
        Err(ParseError::Yaml(_)) => Err(vec![Problem::invalid("", "the patch leaves no YAML")]),
    }
}

fn for_several_documents(first: &Operation) -> Problem {
    let instead = first.as_merge().map(|merge| format!(": {merge}")).unwrap_or_default();
    first.problem(&format!(
        "Talos takes JSON patches for configurations of one document only, and from Talos 1.12 on there are several: \
         write a strategic merge instead{instead}"
    ))
}

/// The line of the last operation at or above a problem's place; the lines of the patched text are nobody's.
fn placed(problem: Problem, operations: &[Operation]) -> Problem {
    let is_above = |operation: &&Operation| {
        let above = operation.problem("").path;
        problem.path.strip_prefix(&above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let line = operations.iter().rev().find(is_above).map_or(0, |operation| operation.line);
    Problem { line, ..problem }
}

impl Pointer {
    fn read(node: &Node) -> Result<Self, Problem> {
        let text = node.text().unwrap_or_default();
        if !text.is_empty() && !text.starts_with('/') {
            let words = "expected a path that starts with `/`, such as /machine/network";
            return Err(Problem::at(node, "", ProblemKind::Invalid(words.to_owned())));
        }
        let decoded = |part: &str| part.replace("~1", "/").replace("~0", "~");
        Ok(Self(text.split('/').skip(1).map(decoded).collect()))
    }
}

/// A value of the patch as JSON has it: keys are texts.
fn plain(node: &Node) -> Result<Value, Problem> {
    node.to_value().with_string_keys().map_err(|_| {
        Problem::at(node, "value", ProblemKind::Invalid("expected keys that JSON can write".to_owned()))
    })
}

const NO_SUCH_PLACE: &str = "nothing is there to patch";
const NO_SUCH_INDEX: &str = "the list has no such index";

/// What holds the last part of a pointer, and that part.
fn holder<'root, 'path>(
    root: &'root mut Value,
    pointer: &'path Pointer,
) -> Result<(&'root mut Value, &'path str), &'static str> {
    let (last, parts) = pointer.0.split_last().ok_or(NO_SUCH_PLACE)?;
    let mut holder = root;
    for part in parts {
        holder = if let Value::Sequence(items) = holder {
            let at = index(part, items.len())?;
            items.get_mut(at).ok_or(NO_SUCH_INDEX)?
        } else {
            let Value::Mapping(pairs) = holder else { return Err(NO_SUCH_PLACE) };
            let member = pairs.iter_mut().find(|(key, _)| key.as_str() == Some(part));
            member.map(|(_, value)| value).ok_or(NO_SUCH_PLACE)?
        };
    }
    Ok((holder, last))
}

/// An index, which may count from the end.
fn index(part: &str, length: usize) -> Result<usize, &'static str> {
    let number: i64 = part.parse().map_err(|_| "expected the index of a list")?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let counted = if number < 0 { number + length } else { number };
    usize::try_from(counted).map_err(|_| NO_SUCH_INDEX)
}

/// The value at a place. A member that is not there is nothing, an index that is not there is an error.
fn find<'root>(root: &'root mut Value, pointer: &Pointer) -> Result<Option<&'root Value>, &'static str> {
    if pointer.0.is_empty() {
        return Ok(Some(root));
    }
    match holder(root, pointer)? {
        (Value::Sequence(items), last) => {
            let at = index(last, items.len())?;
            items.get(at).map(Some).ok_or(NO_SUCH_INDEX)
        }
        (Value::Mapping(pairs), last) => {
            Ok(pairs.iter().find(|(key, _)| key.as_str() == Some(last)).map(|(_, value)| value))
        }
        _ => Err(NO_SUCH_PLACE),
    }
}

fn add(root: &mut Value, pointer: &Pointer, value: Value) -> Result<(), &'static str> {
    match holder(root, pointer)? {
        (Value::Sequence(items), "-") => items.push(value),
        (Value::Sequence(items), last) => {
            let at = index(last, items.len() + 1)?;
            if at > items.len() {
                return Err(NO_SUCH_INDEX);
            }
            items.insert(at, value);
        }
        (Value::Mapping(pairs), last) => set(pairs, last, value),
        _ => return Err(NO_SUCH_PLACE),
    }
    Ok(())
}

fn replace(root: &mut Value, pointer: &Pointer, value: Value) -> Result<(), &'static str> {
    if pointer.0.is_empty() {
        let is_document = matches!(value, Value::Mapping(_) | Value::Sequence(_));
        *root = value;
        return if is_document { Ok(()) } else { Err("expected a mapping in place of the document") };
    }
    match holder(root, pointer)? {
        (Value::Sequence(items), last) => {
            let at = index(last, items.len())?;
            *items.get_mut(at).ok_or(NO_SUCH_INDEX)? = value;
        }
        (Value::Mapping(pairs), last) => set(pairs, last, value),
        _ => return Err(NO_SUCH_PLACE),
    }
    Ok(())
}

fn set(pairs: &mut Vec<(Value, Value)>, key: &str, value: Value) {
    match pairs.iter_mut().find(|(known, _)| known.as_str() == Some(key)) {
        Some((_, existing)) => *existing = value,
        None => pairs.push((Value::string(key), value)),
    }
}

fn remove(root: &mut Value, pointer: &Pointer) -> Result<Value, &'static str> {
    match holder(root, pointer)? {
        (Value::Sequence(items), last) => {
            let at = index(last, items.len())?;
            if at >= items.len() {
                return Err(NO_SUCH_INDEX);
            }
            Ok(items.remove(at))
        }
        (Value::Mapping(pairs), last) => {
            let at = pairs.iter().position(|(key, _)| key.as_str() == Some(last)).ok_or(NO_SUCH_PLACE)?;
            Ok(pairs.remove(at).1)
        }
        _ => Err(NO_SUCH_PLACE),
    }
}

/// Equal whatever the order of the keys.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Mapping(left), Value::Mapping(right)) => {
            let same = |(key, value): &(Value, Value)| {
                right.iter().any(|(other, against)| key == other && is_equal(value, against))
            };
            left.len() == right.len() && left.iter().all(same)
        }
        (Value::Sequence(left), Value::Sequence(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use crate::domain::machine_configuration::{MachineConfiguration, Patch, patch};

    fn patched(base: &str, text: &str) -> Result<String, String> {
        let base = MachineConfiguration::parse(base).map_err(|error| error.to_string())?;
        let read = Patch::parse(text).map_err(|error| error.to_string())?;
        patch(&base, &[read])
            .map(|patched| patched.configuration.to_yaml().expose().to_owned())
            .map_err(|error| error.source.to_string())
    }

    const BASE: &str = "version: v1alpha1\nmachine:\n    type: worker\n    token: t\n    certSANs: [a, b]\n";

    #[test]
    fn every_operation_does_its_part() {
        for (operation, line) in [
            ("{op: add, path: /machine/certSANs/1, value: x}", "- a\n        - x\n        - b"),
            ("{op: add, path: /machine/certSANs/-, value: x}", "- a\n        - b\n        - x"),
            ("{op: remove, path: /machine/certSANs/-2}", "certSANs:\n        - b\n"),
            ("{op: replace, path: /machine/certSANs/0, value: x}", "- x\n        - b"),
            ("{op: replace, path: /machine/env, value: {A: b}}", "env:\n        A: b"),
            (
                "{op: move, from: /machine/certSANs/0, path: /machine/token}",
                "token: a\n    certSANs:\n        - b\n",
            ),
            ("{op: copy, from: /machine/token, path: /machine/certSANs/0}", "- t\n        - a"),
            ("{op: test, path: /machine/certSANs, value: [a, b]}", "token: t"),
            ("{op: add, path: /machine/nodeLabels, value: {a~1b: c}}", "a~1b: c"),
        ] {
            let text = patched(BASE, &format!("[{operation}]")).unwrap();
            assert!(text.contains(line), "{operation}: {text}");
        }
        let labels = "machine: {type: worker, nodeLabels: {a/b: c}}";
        let text = patched(labels, "[{op: replace, path: /machine/nodeLabels/a~1b, value: d}]").unwrap();
        assert!(text.contains("a/b: d"), "{text}");
    }

    #[test]
    fn what_cannot_be_done_is_told_with_its_line_and_place() {
        for (text, words) in [
            (
                "- {op: add, path: /machine/nothing/a, value: b}",
                "line 1: machine.nothing.a: nothing is there",
            ),
            (
                "- {op: test, path: /machine/token, value: t}\n- {op: remove, path: /debug}",
                "line 2: debug: nothing is there",
            ),
            ("- {op: test, path: /debug, value: ~}", "the test failed"),
            ("- {op: remove, path: /machine/certSANs/2}", "machine.certSANs.2: the list has no such index"),
            ("- {op: test, path: /machine/token, value: x}", "the test failed"),
            ("- {op: put, path: /a}", "line 1: op: expected add, remove"),
            ("- {op: add, path: machine, value: a}", "expected a path that starts with `/`"),
            ("- {op: add, path: /a}", "`value` is missing"),
            ("- {op: add, path: /a, vaule: 1}", "line 1: vaule: unknown key"),
            ("- x", "expected an operation"),
            (
                "\n- {op: add, path: /machine/sysctl, value: {}}",
                "line 2: machine.sysctl: unknown key; did you mean `sysctls`?",
            ),
        ] {
            let error = patched(BASE, text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn several_documents_need_a_strategic_merge_which_is_written_down() {
        let base = format!("{BASE}---\napiVersion: v1alpha1\nkind: HostnameConfig\nauto: stable\n");
        let error = patched(&base, "[{op: add, path: /machine/sysctls/a.b, value: topsecret}]").unwrap_err();
        assert!(error.contains("{machine: {sysctls: {a.b: …}}}"), "{error}");
        assert!(!error.contains("topsecret"), "{error}");
        let error = patched(&base, "[{op: remove, path: /machine/token}]").unwrap_err();
        assert!(error.contains("{machine: {token: {$patch: delete}}}"), "{error}");
    }
}
