//! The kinds of resources that Talos 1.13.9 knows, and its namespaces.
//!
//! `kinds.json` holds the definitions as Talos' library has them; `talos-client kinds` prints them, and a test
//! compares.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use prost::Message;
use serde::Deserialize;
use serde_json::json;

use super::{Resource, Spec};

/// Definition of a kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    /// Type, e.g. `Disks.block.talos.dev`.
    #[serde(rename = "type")]
    pub(crate) name: String,
    display: String,
    pub(crate) namespace: String,
    aliases: Vec<String>,
    columns: Vec<(String, String)>,
    #[serde(default)]
    sensitivity: String,
    /// Has no aliases derived from its type.
    #[serde(default)]
    plain: bool,
}

/// Kinds by their lower-case type, which is also their definition's id.
static KINDS: LazyLock<BTreeMap<String, Kind>> = LazyLock::new(|| {
    // A broken table fails the test below; here it would leave no kinds at all.
    let kinds: Vec<Kind> = serde_json::from_str(include_str!("kinds.json")).unwrap_or_default();
    kinds.into_iter().map(|kind| (kind.name.to_lowercase(), kind)).collect()
});

/// Namespaces with their descriptions.
pub(crate) const NAMESPACES: [(&str, &str); 17] = [
    ("cluster", "Cluster configuration and discovery resources."),
    ("cluster-raw", "Cluster unmerged raw resources."),
    ("config", "Talos node configuration."),
    ("controlplane", "Kubernetes control plane resources."),
    ("cri", "CRI Seccomp resources."),
    ("etcd", "etcd resources."),
    ("files", "Files and file-like resources."),
    ("hardware", "Hardware resources."),
    ("k8s", "Kubernetes all node types resources."),
    ("kubespan", "KubeSpan resources."),
    ("meta", "Metadata namespace which contains resource and namespace definitions."),
    ("network", "Networking resources."),
    ("network-config", "Networking configuration resources."),
    ("perf", "Stats resources."),
    ("runtime", "Talos v1alpha1 subsystems glue resources."),
    ("secrets", "Resources with secret material."),
    ("security", "Security resources."),
];

/// The kind of this type; letter case does not matter, as in Talos' own check.
pub(crate) fn find(name: &str) -> Option<&'static Kind> {
    KINDS.get(&name.to_lowercase())
}

/// Whether the namespace is one of Talos'.
pub(crate) fn is_namespace(name: &str) -> bool {
    NAMESPACES.iter().any(|(namespace, _)| *namespace == name)
}

/// The namespace in which resources of the kind are found.
pub(crate) fn default_namespace(name: &str) -> &'static str {
    find(name).map_or("runtime", |kind| kind.namespace.as_str())
}

/// The resources that describe namespaces and kinds themselves: the same for all machines.
pub(super) static DEFINITIONS: LazyLock<Vec<Arc<Resource>>> = LazyLock::new(|| {
    let defined = definitions().map(|mut resource| {
        resource.version = 1;
        Arc::new(resource)
    });
    defined.collect()
});

fn definitions() -> impl Iterator<Item = Resource> {
    let namespaces = NAMESPACES.iter().map(|(name, description)| {
        let message = NamespaceSpec { description: (*description).to_owned() };
        let spec = Spec::new(&message, &json!({"description": description}));
        Resource::new("Namespaces.meta.cosi.dev", *name, "meta", spec)
    });
    let kinds = KINDS.iter().map(|(id, kind)| {
        Resource::new("ResourceDefinitions.meta.cosi.dev", id.as_str(), "meta", kind.spec())
    });
    namespaces.chain(kinds)
}

impl Kind {
    /// Whether only administrators may see it.
    pub(crate) fn is_sensitive(&self) -> bool {
        self.sensitivity == "sensitive"
    }

    /// All aliases: those derived from the type (its first words in lower case), then the definition's own.
    fn all_aliases(&self) -> Vec<String> {
        let lower = self.name.to_lowercase();
        let derived = lower.match_indices('.').map(|(end, _)| lower[..end].to_owned());
        let derived: Vec<_> = if self.plain { Vec::new() } else { derived.collect() };
        derived.into_iter().chain(self.aliases.iter().cloned()).collect()
    }

    fn spec(&self) -> Spec {
        let all_aliases = self.all_aliases();
        let columns: Vec<_> =
            self.columns.iter().map(|(name, path)| json!({"name": name, "jsonPath": path})).collect();
        let value = json!({
            "type": self.name,
            "displayType": self.display,
            "defaultNamespace": self.namespace,
            "aliases": self.aliases,
            "allAliases": all_aliases,
            "printColumns": columns,
            "sensitivity": self.sensitivity,
        });
        let column = |(name, path): &(String, String)| PrintColumn { name: name.clone(), path: path.clone() };
        let message = DefinitionSpec {
            kind: self.name.clone(),
            display: self.display.clone(),
            namespace: self.namespace.clone(),
            aliases: self.aliases.clone(),
            all_aliases,
            columns: self.columns.iter().map(column).collect(),
            sensitivity: i32::from(self.is_sensitive()),
        };
        Spec::new(&message, &value)
    }
}

/// `cosi.resource` definition messages (`meta.proto` of cosi-project/runtime).
#[derive(Clone, PartialEq, Message)]
struct DefinitionSpec {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "2")]
    display: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, repeated, tag = "4")]
    aliases: Vec<String>,
    #[prost(string, repeated, tag = "5")]
    all_aliases: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    columns: Vec<PrintColumn>,
    #[prost(int32, tag = "7")]
    sensitivity: i32,
}

#[derive(Clone, PartialEq, Message)]
struct PrintColumn {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    path: String,
}

#[derive(Clone, PartialEq, Message)]
struct NamespaceSpec {
    #[prost(string, tag = "1")]
    description: String,
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_kind_is_found_in_any_letter_case_but_not_by_alias() {
        assert_eq!(find("disks.block.talos.dev").unwrap().name, "Disks.block.talos.dev");
        assert!(find("disks").is_none());
    }

    #[test]
    fn every_kind_lives_in_a_namespace_of_talos() {
        assert!(KINDS.len() > 150);
        for kind in KINDS.values() {
            assert!(is_namespace(&kind.namespace), "{}", kind.name);
        }
    }

    #[test]
    fn the_definition_of_disks_is_the_recorded_one() {
        let spec = find("Disks.block.talos.dev").unwrap().spec();
        assert_eq!(spec.proto.len(), 252);
        let head = "type: Disks.block.talos.dev\ndisplayType: Disk\ndefaultNamespace: runtime\naliases:\n    - disk\nallAliases:\n    - disks\n";
        assert!(spec.yaml.starts_with(head), "{}", spec.yaml);
    }
}
