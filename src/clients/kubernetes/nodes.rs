//! Nodes: what they report, and the few things that we set on them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use serde_json::{Map, Value, json};

use super::client::Client;
use super::error::{Cause, Error, Result};
use super::object::{Object, Reference};
use super::resources::Filter;

/// A node as its kubelet and the control plane report it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The object's identity: a machine that was wiped and came back is another node of the same name.
    pub uid: String,
    /// `spec.providerID`, such as `kontinuum://<uid>`.
    pub provider_id: Option<String>,
    /// Addresses of type `InternalIP`, in the node's order.
    pub internal_addresses: Vec<String>,
    /// Whether it is ready; the text says why not.
    pub readiness: Readiness,
    /// Whether new pods are kept away from it.
    pub cordoned: bool,
    /// The kubelet's version, such as `v1.36.3`.
    pub kubelet_version: String,
    /// The operating system, such as `Talos (v1.13.9)`.
    pub operating_system: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its taints, as `key=value:Effect` (`key:Effect` without a value).
    pub taints: Vec<String>,
}

/// What a node says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Readiness {
    /// Its condition `Ready` is true.
    Ready,
    /// It is false: the kubelet is there and says why.
    NotReady(String),
    /// It is unknown, or was never reported: the kubelet is silent.
    #[default]
    Silent,
}

impl Client {
    /// All nodes, by name.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn nodes(&self) -> Result<Vec<Node>> {
        let objects = self.list("v1", "Node", &Filter::default()).await?;
        let mut nodes: Vec<_> = objects.into_iter().map(node).collect::<Result<_>>()?;
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(nodes)
    }

    /// One node, or `None` when there is none of that name.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn node(&self, name: &str) -> Result<Option<Node>> {
        self.get(&reference(name)).await?.map(node).transpose()
    }

    /// Keeps new pods away from a node.
    ///
    /// # Errors
    /// [`Cause::NotFound`] when there is no such node, …
    pub async fn cordon(&self, name: &str) -> Result<()> {
        self.merge(&reference(name), &json!({"spec": {"unschedulable": true}})).await.map(drop)
    }

    /// Lets new pods onto a node again.
    ///
    /// # Errors
    /// [`Cause::NotFound`] when there is no such node, …
    pub async fn uncordon(&self, name: &str) -> Result<()> {
        self.merge(&reference(name), &json!({"spec": {"unschedulable": null}})).await.map(drop)
    }

    /// Sets labels of a node, also those under `node-role.kubernetes.io/`, which a kubelet may not set on itself.
    /// `None` removes a label.
    ///
    /// # Errors
    /// [`Cause::NotFound`] when there is no such node, [`Cause::Invalid`] for a label that is none, …
    pub async fn set_node_labels(&self, name: &str, labels: &BTreeMap<String, Option<String>>) -> Result<()> {
        let labels: Map<String, Value> = labels
            .iter()
            .map(|(key, value)| (key.clone(), value.clone().map_or(Value::Null, Value::from)))
            .collect();
        self.merge(&reference(name), &json!({"metadata": {"labels": labels}})).await.map(drop)
    }

    /// Removes a node's object; with `uid`, only if the node still is that one. A node that is gone is success.
    ///
    /// # Errors
    /// [`Cause::Stale`] when another node took its name, …
    pub async fn delete_node(&self, name: &str, uid: Option<&str>) -> Result<()> {
        self.delete(&reference(name), uid).await
    }
}

pub(super) fn reference(name: &str) -> Reference {
    Reference::cluster_wide("v1", "Node", name)
}

/// The object as one of Kubernetes' own types.
pub(super) fn typed<T: serde::de::DeserializeOwned>(object: Object) -> Result<T> {
    let attempt = format!("read {}", object.reference());
    serde_json::from_value(object.into_json())
        .map_err(|error| Error::new(attempt, Cause::Unreadable(error.to_string())))
}

fn node(object: Object) -> Result<Node> {
    let node: core::Node = typed(object)?;
    let spec = node.spec.unwrap_or_default();
    let status = node.status.unwrap_or_default();
    let addresses = status.addresses.unwrap_or_default().into_iter();
    let information = status.node_info;
    Ok(Node {
        name: node.metadata.name.unwrap_or_default(),
        uid: node.metadata.uid.unwrap_or_default(),
        provider_id: spec.provider_id.filter(|id| !id.is_empty()),
        internal_addresses: addresses
            .filter(|address| address.type_ == "InternalIP")
            .map(|address| address.address)
            .collect(),
        readiness: readiness(status.conditions.unwrap_or_default()),
        cordoned: spec.unschedulable.unwrap_or_default(),
        kubelet_version: information.as_ref().map(|about| about.kubelet_version.clone()).unwrap_or_default(),
        operating_system: information.map(|about| about.os_image).unwrap_or_default(),
        labels: node.metadata.labels.unwrap_or_default(),
        taints: spec.taints.unwrap_or_default().into_iter().map(taint).collect(),
    })
}

fn readiness(conditions: Vec<core::NodeCondition>) -> Readiness {
    let Some(ready) = conditions.into_iter().find(|condition| condition.type_ == "Ready") else {
        return Readiness::Silent;
    };
    match ready.status.as_str() {
        "True" => Readiness::Ready,
        "False" => {
            let parts = [ready.reason, ready.message].into_iter().flatten().filter(|part| !part.is_empty());
            Readiness::NotReady(parts.collect::<Vec<_>>().join(": "))
        }
        _ => Readiness::Silent,
    }
}

fn taint(taint: core::Taint) -> String {
    match taint.value.filter(|value| !value.is_empty()) {
        Some(value) => format!("{}={value}:{}", taint.key, taint.effect),
        None => format!("{}:{}", taint.key, taint.effect),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn read(status: Value) -> Node {
        let json = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "uid": "u"},
            "spec": {"providerID": "", "taints": [{"key": "k", "effect": "NoSchedule"}]}, "status": status});
        node(Object::new(json).unwrap()).unwrap()
    }

    #[test]
    fn a_silent_kubelet_is_not_a_kubelet_that_says_no() {
        assert_eq!(read(json!({})).readiness, Readiness::Silent);
        let unknown = json!({"conditions": [{"type": "Ready", "status": "Unknown"}]});
        assert_eq!(read(unknown).readiness, Readiness::Silent);
        let no = json!({"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "cni"}]});
        assert_eq!(read(no).readiness, Readiness::NotReady("KubeletNotReady: cni".to_owned()));
    }

    #[test]
    fn an_empty_provider_id_is_none() {
        let node = read(
            json!({"addresses": [{"type": "Hostname", "address": "a"}, {"type": "InternalIP", "address": "10.0.0.1"}]}),
        );
        assert_eq!(node.provider_id, None);
        assert_eq!(node.internal_addresses, ["10.0.0.1"]);
        assert_eq!(node.taints, ["k:NoSchedule"]);
    }
}
