//! Patches as Talos applies them: strategic merges, and JSON patches where it takes those.

use yaml::{Content, Typing, parse_documents};

use super::delete::{Deletion, extract};
use super::document::{Document, conflicts, kind_of};
use super::json_patch::{self, Operation};
use super::merge;
use super::problem::{Problem, ProblemKind};
use super::{MachineConfiguration, ParseError};

/// A patch: partial documents that are laid over a configuration, and deletions; or the operations of a JSON patch.
#[derive(Debug, Clone)]
pub struct Patch {
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    /// Takes something away from the document that `document` names.
    Delete {
        document: Document,
        deletion: Deletion,
    },
    Merge(Document),
    Json(Vec<Operation>),
}

impl Step {
    /// What is deleted from the main document, the main document, then everything else as it is written.
    fn rank(&self) -> u8 {
        match self {
            Self::Delete { document, .. } if document.kind.kind.is_empty() => 0,
            Self::Merge(document) if document.kind.kind.is_empty() => 1,
            Self::Delete { .. } | Self::Merge(_) | Self::Json(_) => 2,
        }
    }
}

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("apply patch {}", .index + 1)]
pub struct PatchError {
    /// Which of the patches, counted from 0.
    pub index: usize,
    /// What is wrong with it.
    pub source: ParseError,
}

/// A patched configuration.
#[derive(Debug, Clone)]
pub struct Patched {
    /// The configuration.
    pub configuration: MachineConfiguration,
    /// What a patch asked for and what was not needed, one sentence each.
    pub warnings: Vec<String>,
}

impl Patch {
    /// Reads a patch as strictly as Talos does. An empty one is a patch that changes nothing.
    ///
    /// # Errors
    /// Text that is no YAML, keys or kinds of documents that Talos does not know, values of wrong types, directives other
    /// than `$patch: delete`, or operations that RFC 6902 does not know.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut problems = Vec::new();
        let mut steps = Vec::new();
        let roots: Vec<_> = parse_documents(text, Typing::V4)?
            .into_iter()
            .map(|document| document.root)
            .filter(|root| !root.is_null())
            .collect();
        let is_alone = roots.len() < 2;
        let first = roots.first().cloned();
        let says_nothing = |root: &yaml::Node| {
            root.as_mapping().is_some_and(|pairs| pairs.iter().all(|(key, _)| key.text() == Some("version")))
        };
        for root in roots {
            if let Content::Sequence(items) = &root.content {
                if !is_alone {
                    let words = "a JSON patch is a text of its own: expected no other document beside it";
                    problems.push(Problem::at(&root, "", ProblemKind::Invalid(words.to_owned())));
                } else if !items.is_empty() {
                    steps.push(Step::Json(Operation::read_all(items, &mut problems)));
                }
                continue;
            }
            if !is_alone && says_nothing(&root) {
                continue;
            }
            let line = root.line;
            match Self::document_steps(root, &mut problems) {
                Ok(more) => {
                    if let Some(name) = twice(&steps, &more) {
                        let words =
                            format!("document {name} stands twice: write it as one, or as two patches");
                        problems.push(Problem {
                            path: String::new(),
                            line,
                            kind: ProblemKind::Invalid(words),
                        });
                    }
                    steps.extend(more);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if let Some(first) = first.filter(|_| !is_alone && steps.is_empty() && problems.is_empty()) {
            problems.push(Problem::at(
                &first,
                "",
                ProblemKind::Invalid("no document says anything".to_owned()),
            ));
        }
        // The order in which Talos takes the documents of one patch.
        steps.sort_by_key(Step::rank);
        if problems.is_empty() { Ok(Self { steps }) } else { Err(ParseError::Problems(problems)) }
    }

    /// Reads several patches.
    ///
    /// # Errors
    /// The first patch that cannot be read.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Self>, PatchError> {
        texts
            .iter()
            .enumerate()
            .map(|(index, text)| Self::parse(text.as_ref()).map_err(|source| PatchError { index, source }))
            .collect()
    }

    fn document_steps(root: yaml::Node, problems: &mut Vec<Problem>) -> Result<Vec<Step>, Problem> {
        let name = root.field("name").cloned();
        let (deletions, rest) = extract(root.clone())?;
        let mut steps = Vec::new();
        if !deletions.is_empty() {
            // The sections were taken out; what names the document is still in the whole.
            let kind = if root.field("kind").is_some() || root.field("apiVersion").is_some() {
                kind_of(&root)?
            } else {
                &super::schema::MAIN
            };
            let value = name
                .filter(|_| kind.named)
                .map(|name| {
                    yaml::Value::mapping([("name", yaml::Value::string(name.text().unwrap_or_default()))])
                })
                .unwrap_or_else(|| yaml::Value::Mapping(Vec::new()));
            let document = Document::new(kind, value);
            if kind.kind.is_empty() && deletions.iter().any(|deletion| deletion.path.is_empty()) {
                let words = "the main document cannot be deleted: delete `machine` or `cluster` in it";
                return Err(Problem::at(&root, "", ProblemKind::Invalid(words.to_owned())));
            }
            let delete = |deletion| Step::Delete { document: document.clone(), deletion };
            steps.extend(deletions.into_iter().map(delete));
        }
        if let Some(rest) = rest {
            steps.extend(Document::read(&rest, problems).map(Step::Merge));
        }
        Ok(steps)
    }
}

/// The name of a document that would be merged twice, which Talos takes for a mistake.
fn twice(before: &[Step], more: &[Step]) -> Option<String> {
    let merged = |step: &'_ Step| match step {
        Step::Merge(document) => Some(document.clone()),
        // What chooses a document stays when something in it is deleted.
        Step::Delete { document, deletion }
            if !deletion.path.is_empty() && !document.kind.kind.is_empty() =>
        {
            Some(document.clone())
        }
        Step::Delete { .. } | Step::Json(_) => None,
    };
    let found = more
        .iter()
        .filter_map(merged)
        .find(|document| before.iter().filter_map(merged).any(|known| known.is_same(document)));
    found.map(|document| document.name())
}

/// Applies patches in their order. A configuration is patched from what was generated, never from what a machine has:
/// lists would grow each time.
///
/// # Errors
/// The first patch that cannot be applied.
pub fn patch(configuration: &MachineConfiguration, patches: &[Patch]) -> Result<Patched, PatchError> {
    let mut patched = Patched { configuration: configuration.clone(), warnings: Vec::new() };
    for (index, patch) in patches.iter().enumerate() {
        patched
            .apply(patch, index)
            .map_err(|problems| PatchError { index, source: ParseError::Problems(problems) })?;
    }
    Ok(patched)
}

impl Patched {
    fn apply(&mut self, patch: &Patch, index: usize) -> Result<(), Vec<Problem>> {
        let mut documents = std::mem::take(&mut self.configuration.documents);
        for step in &patch.steps {
            match step {
                Step::Merge(right) => match documents.iter_mut().find(|left| left.is_same(right)) {
                    Some(left) => {
                        merge::section(&mut left.value, right.value.clone(), left.kind.fields, "")
                            .map_err(|problem| vec![problem])?;
                    }
                    None => documents.push(right.clone()),
                },
                Step::Delete { document, deletion } => {
                    let Some(position) = documents.iter().position(|left| left.is_same(document)) else {
                        // Talos 1.13 would write a broken document here, 1.14 does nothing.
                        self.warnings.push(format!(
                            "patch {} deletes from the document {}, which is not there",
                            index + 1,
                            document.name()
                        ));
                        continue;
                    };
                    if deletion.path.is_empty() {
                        documents.remove(position);
                    } else {
                        let left = &mut documents[position];
                        deletion.apply(&mut left.value, left.kind.fields).map_err(|problem| vec![problem])?;
                    }
                }
                Step::Json(operations) => documents = json_patch::apply(operations, documents)?,
            }
        }
        if let Some(problem) = conflicts(&documents).into_iter().next() {
            return Err(vec![problem]);
        }
        self.configuration = MachineConfiguration::of(documents);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    fn error(patches: &[&str]) -> String {
        let configuration = MachineConfiguration::parse("machine: {type: worker, certSANs: [a]}").unwrap();
        let error = Patch::parse_all(patches).and_then(|read| patch(&configuration, &read)).unwrap_err();
        format!("{error}: {}", error.source)
    }

    #[test]
    fn an_error_names_the_patch_and_the_line() {
        let fine = "machine: {env: {A: b}}";
        assert_eq!(
            error(&[fine, "machine:\n  sysctl: {}\n"]),
            "apply patch 2: line 2: machine.sysctl: unknown key; did you mean `sysctls`?"
        );
        assert!(
            error(&[fine, fine, "machine: {nodeLabels: {a: {$patch: delete}}}"])
                .starts_with("apply patch 3: line 1: ")
        );
        assert!(error(&["machine: {$patch: replace}"]).contains("the only directive is `$patch: delete`"));
        assert!(error(&["{kind: x"]).starts_with("apply patch 1: no YAML"));
    }

    #[test]
    fn deleting_from_a_document_that_is_not_there_is_a_warning() {
        let configuration = MachineConfiguration::parse("machine: {type: worker}").unwrap();
        let text = "{apiVersion: v1alpha1, kind: LinkConfig, name: eth0, $patch: delete}";
        let patched = patch(&configuration, &[Patch::parse(text).unwrap()]).unwrap();
        assert_eq!(patched.configuration, configuration);
        assert_eq!(
            patched.warnings,
            ["patch 1 deletes from the document LinkConfig \"eth0\", which is not there"]
        );
    }

    #[test]
    fn an_item_is_chosen_by_a_text_and_by_nothing_else() {
        let network = "machine: {network: {interfaces: [{interface: eth0}, {deviceSelector: {driver: x}}]}}";
        let configuration = MachineConfiguration::parse(network).unwrap();
        let deleted = |item: &str| {
            let text = format!("machine: {{network: {{interfaces: [{{{item}, $patch: delete}}]}}}}");
            patch(&configuration, &[Patch::parse(&text).unwrap()])
        };
        assert!(deleted("interface: eth0").is_ok());
        // A name that is not set is an empty text; routes that are not set are none.
        assert!(deleted("interface: ''").is_ok());
        let error = deleted("routes: [{metric: 5}]").unwrap_err();
        assert!(error.source.to_string().contains("nothing to delete there"), "{}", error.source);
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        let configuration = MachineConfiguration::parse("machine: {type: worker}").unwrap();
        for text in ["", "# nothing\n", "null", "[]", "---\n---\n"] {
            let patched = patch(&configuration, &[Patch::parse(text).unwrap()]).unwrap();
            assert_eq!(patched.configuration, configuration, "{text:?}");
        }
    }
}
