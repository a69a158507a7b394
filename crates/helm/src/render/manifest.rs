//! From rendered files to objects: split, told apart from hooks, sorted.

use std::collections::BTreeMap;
use std::fmt;

use super::order;
use super::{Error, Rendered};
use crate::chart::Chart;
use crate::value::number;

/// An object as rendered.
///
/// `Debug` does not show its text, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The template it came from, such as `app/templates/service.yaml`.
    pub path: String,
    /// Its `kind`; empty when it has none (a document of comments, for example).
    pub kind: String,
    /// Its `apiVersion`; empty when it has none.
    pub api_version: String,
    /// Its `metadata.name`; empty when it has none.
    pub name: String,
    /// Its `metadata.namespace`, if it names one.
    pub namespace: Option<String>,
    /// The YAML.
    pub text: String,
}

impl fmt::Debug for Manifest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Manifest")
            .field("path", &self.path)
            .field("kind", &self.kind)
            .field("api_version", &self.api_version)
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

/// An object that is applied at a point of a release's life instead of with the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The object.
    pub manifest: Manifest,
    /// When it runs.
    pub events: Vec<HookEvent>,
    /// Hooks of one event run by ascending weight, then by name.
    pub weight: i64,
    /// When it is deleted: `before-hook-creation`, `hook-succeeded`, `hook-failed`; none means the first.
    pub delete_policies: Vec<String>,
    /// When its logs are shown.
    pub output_log_policies: Vec<String>,
}

/// A point of a release's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are Helm's and say it all")]
pub enum HookEvent {
    PreInstall,
    PostInstall,
    PreDelete,
    PostDelete,
    PreUpgrade,
    PostUpgrade,
    PreRollback,
    PostRollback,
    Test,
}

impl HookEvent {
    /// The name in the annotation `helm.sh/hook`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreInstall => "pre-install",
            Self::PostInstall => "post-install",
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
            Self::PreUpgrade => "pre-upgrade",
            Self::PostUpgrade => "post-upgrade",
            Self::PreRollback => "pre-rollback",
            Self::PostRollback => "post-rollback",
            Self::Test => "test",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "pre-install" => Self::PreInstall,
            "post-install" => Self::PostInstall,
            "pre-delete" => Self::PreDelete,
            "post-delete" => Self::PostDelete,
            "pre-upgrade" => Self::PreUpgrade,
            "post-upgrade" => Self::PostUpgrade,
            "pre-rollback" => Self::PreRollback,
            "post-rollback" => Self::PostRollback,
            "test" | "test-success" => Self::Test,
            _ => return None,
        })
    }
}

/// Sorts rendered files, by path, into manifests, hooks and notes.
pub(crate) fn assemble(chart: &Chart, files: BTreeMap<String, Vec<u8>>) -> Result<Rendered, Error> {
    let notes_path = format!("{}/templates/NOTES.txt", chart.metadata.name);
    let mut notes = None;
    let (mut manifests, mut hooks) = (Vec::new(), Vec::new());
    for (path, content) in files {
        let text = String::from_utf8(content).map_err(|_| Error::Manifest {
            path: path.clone(),
            reason: "the template renders to bytes that are not UTF-8 text".to_owned(),
        })?;
        if path.ends_with("NOTES.txt") {
            if path == notes_path {
                notes = Some(text);
            }
            continue;
        }
        for document in split(&text) {
            let head = Head::read(&path, document)?;
            let manifest = head.manifest(&path, document);
            match head.annotations.get("helm.sh/hook") {
                None => manifests.push(manifest),
                Some(events) => hooks.extend(hook(manifest, events, &head.annotations)),
            }
        }
    }
    manifests.sort_by(|left: &Manifest, right| order::compare(&left.kind, &right.kind));
    hooks.sort_by(|left: &Hook, right| order::compare(&left.manifest.kind, &right.manifest.kind));
    let manifest_text = manifests.iter().map(|Manifest { path, text, .. }| with_source(path, text)).collect();
    let (mut crds, mut crd_text) = (Vec::new(), String::new());
    collect_crds(chart, &chart.metadata.name, &mut crds, &mut crd_text)?;
    Ok(Rendered { manifests, hooks, crds, crd_text, notes, manifest_text })
}

/// A document as it stands in a stream of manifests.
pub(crate) fn with_source(path: &str, text: &str) -> String {
    format!("---\n# Source: {path}\n{text}\n")
}

/// The documents of a stream: lines that begin with `---` part them, whatever else follows on the line.
pub(crate) fn split(stream: &str) -> Vec<&str> {
    let stream = stream.trim_start();
    let mut documents = Vec::new();
    let mut start = 0;
    let line_starts = std::iter::once(0).chain(stream.match_indices('\n').map(|(at, _)| at + 1));
    for line in line_starts {
        if let Some(rest) = stream[line..].strip_prefix("---") {
            if line >= start {
                documents.push(&stream[start..line]);
            }
            start = stream.len() - rest.trim_start_matches([' ', '\t']).len();
        }
    }
    documents.push(&stream[start..]);
    documents.into_iter().map(str::trim_start).filter(|document| !document.is_empty()).collect()
}

/// What is read of an object to sort it.
struct Head {
    api_version: String,
    kind: String,
    name: String,
    namespace: Option<String>,
    annotations: BTreeMap<String, String>,
}

impl Head {
    fn read(path: &str, document: &str) -> Result<Self, Error> {
        let fail = |reason: String| Error::Manifest { path: path.to_owned(), reason };
        let documents = crate::values::documents(document).map_err(|error| fail(error.to_string()))?;
        let empty = yaml::Value::Null;
        let root = documents.first().unwrap_or(&empty);
        if !matches!(root, yaml::Value::Null | yaml::Value::Mapping(_)) {
            return Err(fail(format!("expected an object, got a {}", root.kind())));
        }
        let text = |value: Option<&yaml::Value>, field: &str| match value {
            None | Some(yaml::Value::Null) => Ok(None),
            Some(value) => scalar(value)
                .map(Some)
                .ok_or_else(|| fail(format!("{field}: expected a string, got a {}", value.kind()))),
        };
        let metadata = root.field("metadata");
        if !matches!(metadata, None | Some(yaml::Value::Null | yaml::Value::Mapping(_))) {
            return Err(fail("metadata: expected an object".to_owned()));
        }
        let of_metadata = |key: &str| metadata.and_then(|metadata| metadata.field(key));
        let mut annotations = BTreeMap::new();
        match of_metadata("annotations") {
            None | Some(yaml::Value::Null) => {}
            Some(yaml::Value::Mapping(entries)) => {
                for (key, value) in entries {
                    let key = text(Some(key), "metadata.annotations")?.unwrap_or_default();
                    let value =
                        text(Some(value), &format!("metadata.annotations.{key}"))?.unwrap_or_default();
                    annotations.insert(key, value);
                }
            }
            Some(other) => {
                return Err(fail(format!(
                    "metadata.annotations: expected an object, got a {}",
                    other.kind()
                )));
            }
        }
        Ok(Self {
            api_version: text(root.field("apiVersion"), "apiVersion")?.unwrap_or_default(),
            kind: text(root.field("kind"), "kind")?.unwrap_or_default(),
            name: text(of_metadata("name"), "metadata.name")?.unwrap_or_default(),
            namespace: of_metadata("namespace").and_then(scalar),
            annotations,
        })
    }

    fn manifest(&self, path: &str, text: &str) -> Manifest {
        Manifest {
            path: path.to_owned(),
            kind: self.kind.clone(),
            api_version: self.api_version.clone(),
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            text: text.to_owned(),
        }
    }
}

/// The text of a scalar.
fn scalar(value: &yaml::Value) -> Option<String> {
    match value {
        yaml::Value::String(text) | yaml::Value::Timestamp(text) => Some(text.clone()),
        yaml::Value::Bool(value) => Some(value.to_string()),
        yaml::Value::Int(number) => Some(number.to_string()),
        yaml::Value::Uint(number) => Some(number.to_string()),
        yaml::Value::Float(number) => Some(number::shortest_32(*number)),
        yaml::Value::Null | yaml::Value::Sequence(_) | yaml::Value::Mapping(_) => None,
    }
}

/// A hook, or nothing when one of its events is unknown: Helm drops such an object.
fn hook(manifest: Manifest, events: &str, annotations: &BTreeMap<String, String>) -> Option<Hook> {
    let names = |key: &str| match annotations.get(key) {
        Some(names) => names.split(',').map(|name| name.trim().to_lowercase()).collect(),
        None => Vec::new(),
    };
    let events: Option<Vec<_>> =
        events.split(',').map(|event| HookEvent::parse(&event.trim().to_lowercase())).collect();
    Some(Hook {
        manifest,
        events: events?,
        weight: annotations
            .get("helm.sh/hook-weight")
            .and_then(|weight| weight.parse().ok())
            .unwrap_or_default(),
        delete_policies: names("helm.sh/hook-delete-policy"),
        output_log_policies: names("helm.sh/hook-output-log-policy"),
    })
}

/// The documents of the folders `crds/`, the chart's own first.
fn collect_crds(
    chart: &Chart,
    path: &str,
    crds: &mut Vec<Manifest>,
    whole: &mut String,
) -> Result<(), Error> {
    for file in &chart.files {
        let is_manifest = [".yaml", ".yml", ".json"].iter().any(|extension| file.name.ends_with(extension));
        if file.name.starts_with("crds/") && is_manifest {
            let path = format!("{path}/{}", file.name);
            let text = String::from_utf8_lossy(&file.data);
            whole.push_str(&with_source(&path, &text));
            for document in split(&text) {
                crds.push(Head::read(&path, document)?.manifest(&path, document));
            }
        }
    }
    for subchart in &chart.dependencies {
        collect_crds(subchart, &format!("{path}/charts/{}", subchart.metadata.name), crds, whole)?;
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_split_at_dashes_that_begin_a_line() {
        assert_eq!(
            split("\n\na: 1\n--- \nb: |\n  ---\n---c: 1\n\n---\n  \n---"),
            ["a: 1\n", "b: |\n  ---\n", "c: 1\n\n"]
        );
        assert_eq!(split("---\n---- x"), ["- x"]);
        assert_eq!(split(" \n"), [""; 0]);
    }

    fn head(document: &str) -> Head {
        Head::read("a.yaml", document).unwrap()
    }

    #[test]
    fn heads_are_read_as_helm_reads_them() {
        let read = head("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 12, annotations: {a: yes}}");
        assert_eq!((read.kind.as_str(), read.name.as_str()), ("ConfigMap", "12"));
        assert_eq!(read.annotations["a"], "true");
        assert_eq!(head("# nothing").kind, "");
        for text in ["[a]", "kind: [a]", "metadata: {annotations: {a: {}}}", "metadata: x", "a: b: c"] {
            assert!(Head::read("a.yaml", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_hook_with_an_unknown_event_is_dropped() {
        let of = |events: &str| {
            let annotations = BTreeMap::from([("helm.sh/hook-weight".to_owned(), "-5".to_owned())]);
            hook(head("kind: Job").manifest("a", ""), events, &annotations)
        };
        let known = of("pre-install, Post-Upgrade").unwrap();
        assert_eq!((known.events, known.weight), (vec![HookEvent::PreInstall, HookEvent::PostUpgrade], -5));
        assert!(of("pre-install,crd-install").is_none());
    }

    #[test]
    fn debug_shows_no_text() {
        let manifest =
            Manifest { text: "password: hunter2".into(), ..head("kind: Secret").manifest("a", "") };
        assert!(!format!("{manifest:?}").contains("hunter2"));
    }
}
