//! A machine configuration as its documents.

use std::fmt;

use yaml::{Node, Typing, Value, emit_v4_documents, parse_documents};

use super::Contract;
use super::problem::{Problem, ProblemKind, nearest};
use super::schema::{API_VERSION, DocumentKind, Field, MAIN, document_kind, document_kinds};
use super::secrets::Secret;
use super::{decode, encode};

/// A machine configuration. It holds a cluster's secrets, so that it prints nothing of itself.
#[derive(Clone, PartialEq)]
pub struct MachineConfiguration {
    pub(super) documents: Vec<Document>,
}

/// One document: its kind and its set keys.
#[derive(Clone)]
pub(super) struct Document {
    pub(super) kind: &'static DocumentKind,
    pub(super) value: Value,
}

/// Why a text is no machine configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text is no YAML.
    #[error("no YAML")]
    Yaml(#[from] yaml::Error),
    /// The text is YAML, but Talos would not read it; all that is wrong.
    #[error("{}", join(.0))]
    Problems(Vec<Problem>),
}

fn join(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl MachineConfiguration {
    /// Reads a configuration as strictly as Talos does, but reports all that is wrong at once.
    ///
    /// # Errors
    /// Text that is no YAML, keys or kinds of documents that Talos does not know, values of wrong types, or two
    /// documents of one name.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut problems = Vec::new();
        let mut documents: Vec<Document> = Vec::new();
        for parsed in parse_documents(text, Typing::V4)? {
            if parsed.root.is_null() {
                continue;
            }
            let Some(document) = Document::read(&parsed.root, &mut problems) else { continue };
            if documents.iter().any(|known| known.is_same(&document)) {
                let words = format!("document {} stands twice", document.name());
                problems.push(Problem::at(&parsed.root, "", ProblemKind::Invalid(words)));
            }
            documents.push(document);
        }
        problems.extend(conflicts(&documents));
        if documents.is_empty() && problems.is_empty() {
            problems.push(Problem::invalid("", "no document"));
        }
        if !problems.is_empty() {
            return Err(ParseError::Problems(problems));
        }
        Ok(Self::of(documents))
    }

    /// The main document first, the others in their order.
    pub(super) fn of(documents: Vec<Document>) -> Self {
        let (mut main, others): (Vec<_>, Vec<_>) =
            documents.into_iter().partition(|document| document.kind.kind.is_empty());
        main.extend(others);
        Self { documents: main }
    }

    /// The text as Talos would write it.
    #[must_use]
    pub fn to_yaml(&self) -> Secret {
        let values: Vec<Value> = self.documents.iter().map(Document::written).collect();
        Secret::new(emit_v4_documents(&values))
    }

    /// What the documents hold that the machines of a form do not know.
    #[must_use]
    pub fn newer_than(&self, contract: Contract) -> Vec<Problem> {
        let mut problems = Vec::new();
        for document in &self.documents {
            if document.kind.since > contract {
                let kind = ProblemKind::TooNew { since: document.kind.since, contract };
                problems.push(Problem { path: document.name(), line: 0, kind });
            } else {
                newer_keys(
                    &document.value,
                    document.kind.fields,
                    document.kind.kind,
                    contract,
                    &mut problems,
                );
            }
        }
        problems
    }

    /// The subnets of pods, then those of services, as they are written.
    #[must_use]
    pub fn subnets(&self) -> Vec<String> {
        let network = self.main().and_then(|main| main.at(&["cluster", "network"]));
        let lists =
            ["podSubnets", "serviceSubnets"].map(|key| network.and_then(|network| network.field(key)));
        let items = lists.into_iter().flatten().filter_map(Value::as_sequence).flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn main(&self) -> Option<&Value> {
        self.documents
            .first()
            .filter(|document| document.kind.kind.is_empty())
            .map(|document| &document.value)
    }

    /// The documents of a kind.
    pub(super) fn of_kind<'this>(&'this self, kind: &'this str) -> impl Iterator<Item = &'this Value> {
        self.documents
            .iter()
            .filter(move |document| document.kind.kind == kind)
            .map(|document| &document.value)
    }
}

impl fmt::Debug for MachineConfiguration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.documents.iter().map(Document::name).collect();
        formatter.debug_tuple("MachineConfiguration").field(&names).finish()
    }
}

impl Document {
    pub(super) fn new(kind: &'static DocumentKind, value: Value) -> Self {
        Self { kind, value }
    }

    /// Reads one document; `None` when its kind is not known, which is noted.
    pub(super) fn read(root: &Node, problems: &mut Vec<Problem>) -> Option<Self> {
        let kind = match kind_of(root) {
            Ok(kind) => kind,
            Err(problem) => {
                problems.push(problem);
                return None;
            }
        };
        let own = own_keys(root, kind);
        Some(Self::new(kind, decode::section(&own, kind.fields, "", problems)))
    }

    /// The kind, with the name if it has one.
    pub(super) fn name(&self) -> String {
        match (self.kind.kind, self.value.field("name").and_then(Value::as_str)) {
            ("", _) => API_VERSION.to_owned(),
            (kind, Some(name)) => format!("{kind} {name:?}"),
            (kind, None) => kind.to_owned(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.kind.kind == other.kind.kind
            && (!self.kind.named || self.value.field("name") == other.value.field("name"))
    }

    fn written(&self) -> Value {
        let body = encode::section(&self.value, self.kind.fields);
        if self.kind.kind.is_empty() {
            return body;
        }
        let mut pairs = vec![
            (Value::string("apiVersion"), Value::string(API_VERSION)),
            (Value::string("kind"), Value::string(self.kind.kind)),
        ];
        if let Value::Mapping(body) = body {
            pairs.extend(body);
        }
        Value::Mapping(pairs)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.kind.kind == other.kind.kind && self.written() == other.written()
    }
}

/// Kinds among which a name can stand once.
const NAMES_SHARED: [&[&str]; 3] = [
    &[
        "LinkConfig",
        "BondConfig",
        "BridgeConfig",
        "DummyLinkConfig",
        "VLANConfig",
        "VRFConfig",
        "WireguardConfig",
    ],
    &["Layer2VIPConfig", "HCloudVIPConfig"],
    &["ExistingVolumeConfig", "UserVolumeConfig"],
];

/// Documents of two kinds that mean the same thing by one name.
pub(super) fn conflicts(documents: &[Document]) -> Vec<Problem> {
    let group =
        |document: &Document| NAMES_SHARED.iter().position(|group| group.contains(&document.kind.kind));
    let mut problems = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let Some(own) = group(document) else { continue };
        let is_other = |other: &&Document| {
            group(other) == Some(own)
                && other.kind.kind != document.kind.kind
                && other.value.field("name") == document.value.field("name")
        };
        if let Some(other) = documents.iter().take(index).find(is_other) {
            problems.push(Problem::invalid(document.name(), format!("conflicts with {}", other.name())));
        }
    }
    problems
}

/// Which kind of document this is: the main one has no `kind` and is known by its sections.
pub(super) fn kind_of(root: &Node) -> Result<&'static DocumentKind, Problem> {
    let invalid = |node: &Node, words: String| Problem::at(node, "", ProblemKind::Invalid(words));
    let Some(pairs) = root.as_mapping() else {
        return Err(invalid(root, format!("expected a document of keys, found a {}", root.kind())));
    };
    let Some(kind) = root.field("kind") else {
        let is_main = pairs
            .iter()
            .any(|(key, _)| matches!(key.text(), Some("machine" | "cluster" | "debug" | "persist")));
        return if is_main {
            Ok(&MAIN)
        } else {
            Err(invalid(root, "missing kind: expected `machine`, `cluster` or a `kind`".to_owned()))
        };
    };
    let name = kind.text().unwrap_or_default();
    match root.field("apiVersion").map(|version| version.text().unwrap_or_default()) {
        Some(API_VERSION) => {}
        Some(_) => return Err(invalid(kind, format!("expected apiVersion {API_VERSION} for {name}"))),
        None => return Err(invalid(kind, format!("missing apiVersion: expected {API_VERSION}"))),
    }
    document_kind(name).ok_or_else(|| {
        let hint = nearest(name, document_kinds().map(|known| known.kind))
            .map(|nearest| format!("; did you mean `{nearest}`?"))
            .unwrap_or_default();
        invalid(kind, format!("Talos 1.13 knows no document of kind {name:?}{hint}"))
    })
}

/// The document without what names its kind.
fn own_keys(root: &Node, kind: &DocumentKind) -> Node {
    let Some(pairs) = root.as_mapping() else { return root.clone() };
    let is_own = |key: &Node| kind.kind.is_empty() || !matches!(key.text(), Some("apiVersion" | "kind"));
    let own = pairs.iter().filter(|(key, _)| is_own(key)).cloned().collect();
    Node { content: yaml::Content::Mapping(own), line: root.line, column: root.column }
}

fn newer_keys(value: &Value, fields: &[Field], path: &str, contract: Contract, problems: &mut Vec<Problem>) {
    use super::schema::Kind;
    for field in fields {
        let Some(value) = value.field(field.key) else { continue };
        let place = decode::join(path, field.key);
        if field.since > contract {
            let kind = ProblemKind::TooNew { since: field.since, contract };
            problems.push(Problem { path: place, line: 0, kind });
            continue;
        }
        match (&field.kind, value) {
            (Kind::Struct(fields), value) => newer_keys(value, fields, &place, contract, problems),
            (Kind::List(Kind::Struct(fields)), Value::Sequence(items)) => {
                items.iter().for_each(|item| newer_keys(item, fields, &place, contract, problems));
            }
            _ => {}
        }
    }
}
