//! What differs between two machine configurations, value by value.
//!
//! What is compared is what Talos would write, so that the order of keys and of documents and other spellings of one
//! value are no difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use yaml::{Typing, Value, emit_v4, resolve};

use super::decode::join;
use super::document::Document;
use super::redaction::{self, Treatment};
use super::schema::Kind;
use super::{MachineConfiguration, Secret, encode};

/// What differs between two machine configurations.
///
/// It holds values that may be secrets, and prints as the places alone; [`redacted`](Self::redacted) is what a person
/// may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    changes: Vec<Change>,
}

/// One value that came, went, or is another one now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The document's kind, with the name if it has one; empty for the main document.
    document: String,
    pub(super) kind: &'static str,
    pub(super) steps: Vec<Step>,
    /// How many of the steps lead to the outermost section that only one side has.
    pub(super) section: Option<usize>,
    /// The value stands in a part of which the schema knows nothing.
    is_free: bool,
    before: Option<Secret>,
    after: Option<Secret>,
}

/// One step on the way from a document's root to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Key(String),
    Item(usize),
}

/// More of a value than this is not shown: certificates are long and say nothing to a reader.
const LONGEST_SHOWN: usize = 160;

impl Difference {
    /// Compares what a machine has with what it is to have.
    #[must_use]
    pub fn between(old: &MachineConfiguration, new: &MachineConfiguration) -> Self {
        let mut changes = Vec::new();
        for before in &old.documents {
            let after = new.documents.iter().find(|document| document.is_same(before));
            documents(Some(before), after, &mut changes);
        }
        for after in &new.documents {
            if !old.documents.iter().any(|document| document.is_same(after)) {
                documents(None, Some(after), &mut changes);
            }
        }
        Self { changes }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// All that differs: what the old configuration has in its order, then what is new.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The difference for a person to read, without any secret: each place with what was there (`-`) and what is there
    /// now (`+`). Empty when nothing differs.
    #[must_use]
    pub fn redacted(&self) -> String {
        let mut listing = String::new();
        for change in &self.changes {
            let treatment = change.treatment();
            // Writing to a text cannot fail.
            let _ = writeln!(listing, "{}", printable(&change.place()));
            for (sign, value) in [('-', &change.before), ('+', &change.after)] {
                if let Some(value) = value {
                    let _ = writeln!(listing, "  {sign} {}", shown(value, treatment));
                }
            }
        }
        listing
    }
}

impl Change {
    /// Where it is: `machine.kubelet.extraArgs.v`, `machine.certSANs[0]`, `HostnameConfig: hostname`,
    /// `LinkConfig "eth0": mtu`, or the document alone when it has no keys.
    #[must_use]
    pub fn place(&self) -> String {
        let path = path(&self.steps);
        match (self.document.as_str(), path.as_str()) {
            ("", _) => path,
            (document, "") => document.to_owned(),
            (document, _) => format!("{document}: {path}"),
        }
    }

    /// What was there, as a text, with all its lines; `None` when nothing was. It may be a secret.
    #[must_use]
    pub const fn before(&self) -> Option<&Secret> {
        self.before.as_ref()
    }

    /// What is there now, likewise.
    #[must_use]
    pub const fn after(&self) -> Option<&Secret> {
        self.after.as_ref()
    }

    /// Whether the values, or parts of them, must not be shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.treatment() != Treatment::Shown
    }

    fn treatment(&self) -> Treatment {
        redaction::treatment(self.kind, &self.steps, self.is_free)
    }
}

/// Steps as a path of keys, with items by their index.
pub(super) fn path(steps: &[Step]) -> String {
    steps.iter().fold(String::new(), |path, step| match step {
        Step::Key(key) => join(&path, key),
        Step::Item(index) => format!("{path}[{index}]"),
    })
}

/// Compares two versions of one document, of which one may be missing.
fn documents(before: Option<&Document>, after: Option<&Document>, changes: &mut Vec<Change>) {
    let Some(known) = before.or(after) else { return };
    let is_main = known.kind.kind.is_empty();
    let written = |document: &Document| {
        let Value::Mapping(mut pairs) = encode::section(&document.value, known.kind.fields) else {
            return Value::Null;
        };
        // The name is the same on both sides, and the place names it already.
        pairs.retain(|(key, _)| !known.kind.named || key.as_str() != Some("name"));
        Value::Mapping(pairs)
    };
    let mut walk = Walk {
        document: if is_main { String::new() } else { known.name() },
        kind: known.kind.kind,
        steps: Vec::new(),
        section: None,
        changes,
    };
    let (before, after) = (before.map(written), after.map(written));
    walk.compare(before.as_ref(), after.as_ref(), &Kind::Struct(known.kind.fields));
}

/// The way through two versions of a document.
struct Walk<'out> {
    document: String,
    kind: &'static str,
    steps: Vec<Step>,
    section: Option<usize>,
    changes: &'out mut Vec<Change>,
}

impl Walk<'_> {
    fn compare(&mut self, before: Option<&Value>, after: Option<&Value>, kind: &Kind) {
        if before == after {
            return;
        }
        match (children(before), children(after)) {
            (None, None) => self.note(before, after, kind),
            (Some(left), Some(right)) if left.is_alike(&right) => self.below(Some(left), Some(right), kind),
            (left, right) => {
                // A section on one side only, or one that was a single value: what is gone, then what came.
                let is_nothing = |value: Option<&Value>| value.is_none_or(Value::is_null);
                let outer = self.section;
                if is_nothing(before) || is_nothing(after) {
                    self.section = outer.or(Some(self.steps.len()));
                }
                match left {
                    Some(left) => self.below(Some(left), None, kind),
                    None if !is_hollow(before) => self.note(before, None, kind),
                    None => {}
                }
                match right {
                    Some(right) => self.below(None, Some(right), kind),
                    None if !is_hollow(after) => self.note(None, after, kind),
                    None => {}
                }
                self.section = outer;
            }
        }
    }

    fn below(&mut self, left: Option<Children<'_>>, right: Option<Children<'_>>, kind: &Kind) {
        let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
        let new = right.order.iter().filter(|step| !left.values.contains_key(step));
        for step in left.order.iter().chain(new) {
            self.steps.push(step.clone());
            let (before, after) = (left.values.get(step).copied(), right.values.get(step).copied());
            self.compare(before, after, below(kind, step));
            self.steps.pop();
        }
    }

    fn note(&mut self, before: Option<&Value>, after: Option<&Value>, kind: &Kind) {
        self.changes.push(Change {
            document: self.document.clone(),
            kind: self.kind,
            steps: self.steps.clone(),
            section: self.section,
            is_free: matches!(kind, Kind::Free),
            before: before.map(text),
            after: after.map(text),
        });
    }
}

/// What a section or a list holds, by the step that leads there, and in which order.
#[derive(Default)]
struct Children<'value> {
    order: Vec<Step>,
    values: BTreeMap<Step, &'value Value>,
}

impl Children<'_> {
    /// Both are sections, or both are lists.
    fn is_alike(&self, other: &Self) -> bool {
        let is_list = |children: &Self| matches!(children.order.first(), Some(Step::Item(_)));
        is_list(self) == is_list(other)
    }
}

/// What is in a value that holds others; `None` for single values and for what is empty.
fn children(value: Option<&Value>) -> Option<Children<'_>> {
    let children: Vec<_> = match value? {
        Value::Mapping(pairs) => pairs.iter().map(|(key, value)| (Step::Key(key_text(key)), value)).collect(),
        Value::Sequence(items) => {
            items.iter().enumerate().map(|(index, value)| (Step::Item(index), value)).collect()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::String(_) => return None,
    };
    let order: Vec<Step> = children.iter().map(|(step, _)| step.clone()).collect();
    (!order.is_empty()).then(|| Children { order, values: children.into_iter().collect() })
}

/// Nothing that a change from or to it would have to name beside what comes or goes.
fn is_hollow(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Sequence(items)) => items.is_empty(),
        Some(Value::Mapping(pairs)) => pairs.is_empty(),
        Some(
            Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Float(_)
            | Value::Timestamp(_)
            | Value::String(_),
        ) => false,
    }
}

/// What the schema knows of a part. What it does not know counts as free-form, of which least is shown.
fn below<'kind>(kind: &'kind Kind, step: &Step) -> &'kind Kind {
    match (kind, step) {
        (Kind::Struct(fields), Step::Key(key)) => {
            fields.iter().find(|field| field.key == key).map_or(&Kind::Free, |field| &field.kind)
        }
        (Kind::List(item), Step::Item(_)) => item,
        (Kind::Map(of), Step::Key(_)) => of,
        (Kind::TextMap | Kind::Arguments | Kind::Text, _) => &Kind::Text,
        (Kind::BoolMap, _) => &Kind::Bool,
        _ => &Kind::Free,
    }
}

fn key_text(key: &Value) -> String {
    key.as_str().map_or_else(|| emit_v4(key).trim_end().to_owned(), str::to_owned)
}

/// A single or empty value; a text that would read as something else stands in quotes.
fn text(value: &Value) -> Secret {
    Secret::new(match value {
        Value::String(text) if resolve(text, Typing::V4) == *value => text.clone(),
        Value::String(text) => format!("{text:?}"),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => emit_v4(value).trim_end().to_owned(),
    })
}

fn shown(value: &Secret, treatment: Treatment) -> String {
    let text = match treatment {
        Treatment::Hidden => return redaction::SENSITIVE.to_owned(),
        Treatment::WithoutCredentials => redaction::without_credentials(value.expose()),
        Treatment::Shown => value.expose().to_owned(),
    };
    let length = text.chars().count();
    if length <= LONGEST_SHOWN {
        return printable(&text);
    }
    let start: String = text.chars().take(LONGEST_SHOWN).collect();
    format!("{}… ({length} characters)", printable(&start))
}

/// A text that stays on its line and steers no terminal.
fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|character| {
            let escaped = character.is_control().then(|| character.escape_default());
            let plain = (!character.is_control()).then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests;
