//! Kubernetes objects as they are on the wire: nothing is lost by reading and writing one.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// Which object: enough to find it in the API.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reference {
    /// Group and version, such as `apps/v1` or `v1`.
    pub api_version: String,
    /// The kind, such as `DaemonSet`.
    pub kind: String,
    /// The namespace; none for cluster-wide kinds, and where the caller's default applies.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl Reference {
    /// A reference to a namespaced object.
    #[must_use]
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self { namespace: Some(namespace.to_owned()), ..Self::cluster_wide(api_version, kind, name) }
    }

    /// A reference to an object of a cluster-wide kind.
    #[must_use]
    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(formatter, "{} {namespace}/{}", self.kind, self.name),
            None => write!(formatter, "{} {}", self.kind, self.name),
        }
    }
}

/// A JSON value that is no Kubernetes object. Completes "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read a Kubernetes object: {0}")]
pub struct NotAnObject(String);

/// A Kubernetes object: a JSON object with `apiVersion`, `kind` and `metadata.name`.
///
/// `Debug` shows its reference only, since it may be a Secret.
#[derive(Clone, PartialEq)]
pub struct Object {
    reference: Reference,
    json: Map<String, Value>,
}

impl Object {
    /// Reads `json` as an object.
    ///
    /// # Errors
    /// [`NotAnObject`] when `apiVersion`, `kind` or `metadata.name` is missing or no text.
    pub fn new(json: Value) -> Result<Self, NotAnObject> {
        let Value::Object(json) = json else {
            return Err(NotAnObject("expected a mapping".to_owned()));
        };
        let reference = Reference {
            api_version: text(json.get("apiVersion"), "apiVersion")?,
            kind: text(json.get("kind"), "kind")?,
            name: text(json.get("metadata").and_then(|metadata| metadata.get("name")), "metadata.name")?,
            namespace: json
                .get("metadata")
                .and_then(|metadata| metadata.get("namespace"))
                .and_then(Value::as_str)
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned),
        };
        Ok(Self { reference, json })
    }

    /// Which object this is.
    #[must_use]
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The value at a path of field names.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.json.get(*first)?, |value, field| value.get(field))
    }

    /// The text at a path of field names.
    #[must_use]
    pub fn text_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path).and_then(Value::as_str)
    }

    /// Its labels; those that are no text are left out.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<&str, &str> {
        texts(self.at(&["metadata", "labels"]))
    }

    /// Its annotations; those that are no text are left out.
    #[must_use]
    pub fn annotations(&self) -> BTreeMap<&str, &str> {
        texts(self.at(&["metadata", "annotations"]))
    }

    /// The identity that the server gave it.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.text_at(&["metadata", "uid"])
    }

    /// The revision at which it was read.
    #[must_use]
    pub fn resource_version(&self) -> Option<&str> {
        self.text_at(&["metadata", "resourceVersion"])
    }

    /// Puts it into `namespace`.
    #[must_use]
    pub fn in_namespace(mut self, namespace: Option<&str>) -> Self {
        if let Some(metadata) = self.metadata() {
            match namespace {
                Some(namespace) => metadata.insert("namespace".to_owned(), Value::from(namespace)),
                None => metadata.remove("namespace"),
            };
        }
        self.reference.namespace = namespace.map(str::to_owned);
        self
    }

    /// Sets a label, which is overwritten where it exists.
    #[must_use]
    pub fn with_label(self, key: &str, value: &str) -> Self {
        self.with_metadata("labels", key, value)
    }

    /// Sets an annotation, which is overwritten where it exists.
    #[must_use]
    pub fn with_annotation(self, key: &str, value: &str) -> Self {
        self.with_metadata("annotations", key, value)
    }

    /// The object as JSON.
    #[must_use]
    pub fn into_json(self) -> Value {
        Value::Object(self.json)
    }

    /// The object as the bytes of a request.
    pub(crate) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(&self.json)
    }

    fn with_metadata(mut self, field: &str, key: &str, value: &str) -> Self {
        if let Some(metadata) = self.metadata() {
            let entries = metadata.entry(field).or_insert_with(|| Value::Object(Map::new()));
            if !entries.is_object() {
                *entries = Value::Object(Map::new());
            }
            if let Value::Object(entries) = entries {
                entries.insert(key.to_owned(), Value::from(value));
            }
        }
        self
    }

    fn metadata(&mut self) -> Option<&mut Map<String, Value>> {
        self.json.get_mut("metadata").and_then(Value::as_object_mut)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Object({} {})", self.reference.api_version, self.reference)
    }
}

fn text(value: Option<&Value>, field: &str) -> Result<String, NotAnObject> {
    match value.and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err(NotAnObject(format!("it has no {field}"))),
    }
}

fn texts(value: Option<&Value>) -> BTreeMap<&str, &str> {
    let entries = value.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_keeps_fields_that_nobody_here_knows() {
        let json = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "new": [1]}, "future": {"b": 1.5}});
        assert_eq!(Object::new(json.clone()).unwrap().into_json(), json);
    }

    #[test]
    fn a_value_without_a_name_is_refused_by_the_field_it_lacks() {
        let error = Object::new(json!({"apiVersion": "v1", "kind": "X", "metadata": {}})).unwrap_err();
        assert_eq!(error.to_string(), "read a Kubernetes object: it has no metadata.name");
    }

    #[test]
    fn labels_replace_what_is_no_mapping() {
        let json = json!({"apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "labels": null}});
        let object = Object::new(json).unwrap().with_label("k", "v");
        assert_eq!(object.labels(), BTreeMap::from([("k", "v")]));
    }

    #[test]
    fn debug_shows_no_content() {
        let json = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"k": "c2VjcmV0"}});
        let shown = format!("{:?}", Object::new(json).unwrap());
        assert_eq!(shown, "Object(v1 Secret a)");
    }
}
