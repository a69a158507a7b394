//! From a chart's text to objects: read, put into the release's namespace, marked as the release's, in groups that
//! are applied one after the other.

use serde_json::{Map, Value};
use yaml::{Typing, parse_documents};

use super::super::discovery::Kinds;
use super::super::error::{Cause, Error, Result};
use super::super::object::{Object, Reference};
use crate::domain::addon::values;

/// The label and the annotations by which Helm knows the objects of its releases.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "Helm");
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
/// An object with this annotation outlives its release.
const RESOURCE_POLICY: (&str, &str) = ("helm.sh/resource-policy", "keep");

/// A release, as its objects know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) release: String,
    pub(super) namespace: String,
}

impl Owner {
    /// Marks an object as this release's.
    pub(super) fn mark(&self, object: Object) -> Object {
        object
            .with_label(MANAGED_BY.0, MANAGED_BY.1)
            .with_annotation(RELEASE_NAME, &self.release)
            .with_annotation(RELEASE_NAMESPACE, &self.namespace)
    }

    /// Why an object that exists may not be taken over; nothing if it is this release's.
    pub(super) fn objection(&self, existing: &Object) -> Option<String> {
        let annotations = existing.annotations();
        let (release, namespace) = (annotations.get(RELEASE_NAME), annotations.get(RELEASE_NAMESPACE));
        match (release, namespace) {
            (Some(release), Some(namespace)) if *release == self.release && *namespace == self.namespace => {
                let marked = existing.labels().get(MANAGED_BY.0) == Some(&MANAGED_BY.1);
                (!marked).then(|| {
                    format!("{} lacks the label {}={}", existing.reference(), MANAGED_BY.0, MANAGED_BY.1)
                })
            }
            (Some(release), Some(namespace)) => Some(format!(
                "{} belongs to release {release} in namespace {namespace}",
                existing.reference()
            )),
            _ => Some(format!("{} was made by someone else", existing.reference())),
        }
    }
}

/// Whether an object is to stay when it leaves its chart.
pub(super) fn is_kept(existing: &Object) -> bool {
    existing.annotations().get(RESOURCE_POLICY.0) == Some(&RESOURCE_POLICY.1)
}

/// The objects of a text of YAML documents, by their references.
///
/// # Errors
/// What is no YAML, or no object.
pub fn objects(text: &str) -> std::result::Result<Vec<Reference>, String> {
    let objects = read("the text", text).map_err(|error| {
        if let Cause::Invalid(why) = error.cause() { why.clone() } else { error.cause().to_string() }
    })?;
    Ok(objects.iter().map(|object| object.reference().clone()).collect())
}

/// The objects of a text of YAML documents, lists taken apart, empty documents left out.
pub(super) fn read(path: &str, text: &str) -> Result<Vec<Object>> {
    let wrong = |problem: String| Error::new(format!("read what {path} renders to"), Cause::Invalid(problem));
    let mut objects = Vec::new();
    for document in parse_documents(text, Typing::V2).map_err(|error| wrong(error.to_string()))? {
        let json = values::json(document.root.into_value()).map_err(|error| wrong(error.to_string()))?;
        if json.is_null() || json.as_object().is_some_and(Map::is_empty) {
            continue;
        }
        let items = if json.get("kind").and_then(Value::as_str) == Some("List") {
            json.get("items").and_then(Value::as_array).cloned().unwrap_or_default()
        } else {
            vec![json]
        };
        for item in items {
            objects.push(Object::new(item).map_err(|error| wrong(error.to_string()))?);
        }
    }
    Ok(objects)
}

/// Puts an object where it lives: the release's namespace unless it names one, none for cluster-wide kinds. A kind
/// that is not served yet is what its definition among `objects` says, else namespaced.
pub(super) fn placed(objects: Vec<Object>, namespace: &str, kinds: &Kinds) -> Vec<Object> {
    let defined: Vec<_> = objects.iter().filter_map(definition).collect();
    let place = |object: Object| {
        let reference = object.reference();
        let served = kinds.find(&reference.api_version, &reference.kind).map(|kind| kind.namespaced);
        let defined =
            defined.iter().find(|(group, kind, _)| reference.group() == group && reference.kind == *kind);
        let namespaced = served.or_else(|| defined.map(|(_, _, namespaced)| *namespaced)).unwrap_or(true);
        match reference.namespace.clone() {
            _ if !namespaced => object.in_namespace(None),
            Some(_) => object,
            None => object.in_namespace(Some(namespace)),
        }
    };
    objects.into_iter().map(place).collect()
}

/// Neighbours of one kind, in order: a group is applied at once, and before the next.
pub(super) fn groups(objects: Vec<Object>) -> Vec<Vec<Object>> {
    let mut groups: Vec<Vec<Object>> = Vec::new();
    for object in objects {
        match groups.last_mut() {
            Some(group) if group[0].reference().kind == object.reference().kind => group.push(object),
            Some(_) | None => groups.push(vec![object]),
        }
    }
    groups
}

/// Whether an object defines a kind.
pub(super) fn is_definition(reference: &Reference) -> bool {
    reference.kind == "CustomResourceDefinition" && reference.group() == "apiextensions.k8s.io"
}

/// Group, kind and scope that a definition makes known.
fn definition(object: &Object) -> Option<(String, String, bool)> {
    if !is_definition(object.reference()) {
        return None;
    }
    let group = object.text_at(&["spec", "group"])?.to_owned();
    let kind = object.text_at(&["spec", "names", "kind"])?.to_owned();
    Some((group, kind, object.text_at(&["spec", "scope"]) == Some("Namespaced")))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn owner() -> Owner {
        Owner { release: "web".to_owned(), namespace: "apps".to_owned() }
    }

    #[test]
    fn documents_of_comments_and_lists_are_taken_apart() {
        let text = "---\n# Source: a\n---\n# only a comment\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  \
                    kind: ConfigMap\n  metadata: {name: a}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n";
        let names: Vec<_> =
            read("a", text).unwrap().iter().map(|object| object.reference().to_string()).collect();
        assert_eq!(names, ["ConfigMap a", "Secret b"]);
    }

    #[test]
    fn a_foreign_object_is_refused_and_our_own_is_not() {
        let object = read("a", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: apps}")
            .unwrap()
            .remove(0);
        let foreign = owner().objection(&object).unwrap();
        assert_eq!(foreign, "ConfigMap apps/a was made by someone else");
        let marked = owner().mark(object);
        assert_eq!(owner().objection(&marked), None);
        let other = Owner { release: "api".to_owned(), namespace: "apps".to_owned() };
        assert_eq!(
            other.objection(&marked).unwrap(),
            "ConfigMap apps/a belongs to release web in namespace apps"
        );
    }

    #[test]
    fn a_kind_that_the_chart_itself_defines_is_placed_by_its_definition() {
        let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: w.x.y}\n\
                    spec: {group: x.y, scope: Cluster, names: {kind: Widget}}\n---\napiVersion: x.y/v1\nkind: Widget\n\
                    metadata: {name: a}\n---\napiVersion: x.y/v1\nkind: Other\nmetadata: {name: b}\n";
        let placed = placed(read("a", text).unwrap(), "apps", &Kinds::default());
        assert_eq!(placed[1].reference().namespace, None);
        assert_eq!(placed[2].reference().namespace.as_deref(), Some("apps"));
    }

    #[test]
    fn groups_follow_the_order_of_kinds() {
        let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: A\nmetadata: {name: b}\n---\n\
                    apiVersion: v1\nkind: B\nmetadata: {name: c}\n";
        let sizes: Vec<_> = groups(read("a", text).unwrap()).iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 1]);
    }
}
