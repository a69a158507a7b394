//! What Talos itself, not the kubelet, sets on its Node: labels, annotations and taints of the configuration. On
//! control planes it does so as an administrator, on workers with the kubelet's credentials, which the API server
//! lets do less.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Taint};
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::json;

use super::Kubelet;
use crate::configuration::MachineConfiguration;
use crate::kubernetes::client;

/// Between two tries.
const RETRY: Duration = Duration::from_millis(500);

const OWNED_LABELS: &str = "talos.dev/owned-labels";
const OWNED_ANNOTATIONS: &str = "talos.dev/owned-annotations";
const OWNED_TAINTS: &str = "talos.dev/owned-taints";

/// Applies them until it was done once.
pub(super) async fn apply(kubelet: &Kubelet) {
    let mut last = String::new();
    loop {
        match try_apply(kubelet).await {
            Ok(()) => return,
            Err(reason) if reason == last => {}
            Err(reason) => {
                tracing::info!(node = kubelet.node_name(), %reason, "apply Talos' labels and taints");
                last = reason;
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn try_apply(kubelet: &Kubelet) -> Result<(), String> {
    let client: Client = if kubelet.context.is_control_plane() {
        client::talos_admin(&kubelet.context)?
    } else {
        kubelet.client.clone()
    };
    let nodes: Api<Node> = Api::all(client);
    let mut node = kubelet.ask(nodes.get(kubelet.node_name())).await.map_err(|error| error.to_string())?;
    amend(&mut node, kubelet.context.configuration());
    let parameters = PostParams::default();
    let replaced = kubelet.ask(nodes.replace(kubelet.node_name(), &parameters, &node)).await;
    replaced.map(drop).map_err(|error| error.to_string())
}

/// Sets what the configuration wants and isn't there by somebody else's hand.
fn amend(node: &mut Node, configuration: &MachineConfiguration) {
    let machine = &configuration.machine;
    let mut labels = machine.node_labels.clone();
    let mut taints: Vec<Taint> = machine.node_taints.iter().map(|(key, text)| taint(key, text)).collect();
    if machine.kind.is_control_plane() {
        labels.insert("node-role.kubernetes.io/control-plane".to_owned(), String::new());
        if !configuration.cluster.schedule_on_control_planes {
            taints.push(taint("node-role.kubernetes.io/control-plane", "NoSchedule"));
        }
    }
    let owned_labels = amend_table(node.metadata.labels.get_or_insert_default(), &labels);
    let annotations = node.metadata.annotations.get_or_insert_default();
    let owned_annotations = amend_table(annotations, &machine.node_annotations);
    let owned_taints =
        amend_taints(node.spec.get_or_insert_default().taints.get_or_insert_default(), &taints);
    let annotations = node.metadata.annotations.get_or_insert_default();
    for (name, owned) in
        [(OWNED_LABELS, owned_labels), (OWNED_ANNOTATIONS, owned_annotations), (OWNED_TAINTS, owned_taints)]
    {
        if !owned.is_empty() {
            annotations.insert(name.to_owned(), json!(owned).to_string());
        }
    }
}

fn amend_table(present: &mut BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> Vec<String> {
    let mut owned = Vec::new();
    for (key, value) in wanted {
        if present.entry(key.clone()).or_insert_with(|| value.clone()) == value {
            owned.push(key.clone());
        }
    }
    owned
}

fn amend_taints(present: &mut Vec<Taint>, wanted: &[Taint]) -> Vec<String> {
    let mut owned = Vec::new();
    for taint in wanted {
        match present.iter().find(|other| other.key == taint.key) {
            Some(other) if other.effect != taint.effect || other.value != taint.value => {}
            Some(_) => owned.push(taint.key.clone()),
            None => {
                present.push(taint.clone());
                owned.push(taint.key.clone());
            }
        }
    }
    owned
}

/// `value:Effect` or `Effect`.
fn taint(key: &str, text: &str) -> Taint {
    let (value, effect) = text.split_once(':').unwrap_or(("", text));
    let value = (!value.is_empty()).then(|| value.to_owned());
    Taint { key: key.to_owned(), value, effect: effect.to_owned(), ..Taint::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_somebody_else_set_is_left_alone() {
        let mut present = BTreeMap::from([("tier".to_owned(), "theirs".to_owned())]);
        let wanted =
            BTreeMap::from([("tier".to_owned(), "ours".to_owned()), ("zone".to_owned(), "a".to_owned())]);
        assert_eq!(amend_table(&mut present, &wanted), ["zone"]);
        assert_eq!(present["tier"], "theirs");
    }

    #[test]
    fn a_taint_that_the_kubelet_registered_is_taken_over() {
        let mut present = vec![taint("role", "NoSchedule")];
        assert_eq!(
            amend_taints(&mut present, &[taint("role", "NoSchedule"), taint("x", "y:NoExecute")]),
            ["role", "x"]
        );
        assert_eq!(present.len(), 2);
        assert_eq!(present[1].value.as_deref(), Some("y"));
    }
}
