//! Draining: moving pods off a node the way that their owners asked for.
//!
//! One call of [`Client::drain`] evicts what may be evicted now and tells what is left; the loop calls again. The
//! eviction API, not deletion, so that disruption budgets hold.

use kube::api::EvictParams;
use serde_json::Value;

use super::client::Client;
use super::error::{Cause, Result};
use super::object::Object;
use super::resources::Filter;

/// What is left on a node after one pass.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Drained {
    /// Pods that are on their way out, as `namespace/name`.
    pub leaving: Vec<String>,
    /// Pods that may not leave now, as `namespace/name`, and why in the server's words (a disruption budget).
    pub held: Vec<(String, String)>,
}

impl Drained {
    /// Whether nothing that has to leave is on the node any more.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.leaving.is_empty() && self.held.is_empty()
    }
}

impl Client {
    /// Cordons a node and evicts its pods: all but those of DaemonSets, static pods and pods that have ended.
    ///
    /// # Errors
    /// When the server does not answer or does not let us. A pod that a disruption budget holds is no error.
    pub async fn drain(&self, node: &str) -> Result<Drained> {
        self.cordon(node).await?;
        let on_node = Filter { fields: Some(format!("spec.nodeName={node}")), ..Filter::default() };
        let mut drained = Drained::default();
        for pod in self.list("v1", "Pod", &on_node).await? {
            let name = format!(
                "{}/{}",
                pod.reference().namespace.as_deref().unwrap_or_default(),
                pod.reference().name
            );
            match disposition(&pod) {
                Disposition::Stays => {}
                Disposition::Leaving => drained.leaving.push(name),
                Disposition::Evict => match self.evict(&pod).await? {
                    Eviction::Granted => drained.leaving.push(name),
                    Eviction::Held(why) => drained.held.push((name, why)),
                },
            }
        }
        Ok(drained)
    }

    async fn evict(&self, pod: &Object) -> Result<Eviction> {
        let doing = format!("evict {}", pod.reference());
        let request = self.request_for(&doing, pod.reference()).await?;
        let parameters = EvictParams::default();
        let Err(error) = self.json(&doing, request.evict(&pod.reference().name, &parameters)).await else {
            return Ok(Eviction::Granted);
        };
        if error.is_not_found() {
            return Ok(Eviction::Granted);
        }
        // A budget's refusal comes as "too many requests".
        if let Cause::Busy { status: 429, message } = error.cause() {
            return Ok(Eviction::Held(message.clone()));
        }
        Err(error)
    }
}

enum Eviction {
    Granted,
    /// In the server's words.
    Held(String),
}

#[derive(Debug, PartialEq, Eq)]
enum Disposition {
    /// It belongs to the node, or has ended.
    Stays,
    Leaving,
    Evict,
}

fn disposition(pod: &Object) -> Disposition {
    let owners = pod.at(&["metadata", "ownerReferences"]).and_then(Value::as_array);
    let kinds = owners.into_iter().flatten().filter_map(|owner| owner.get("kind").and_then(Value::as_str));
    let of_node = kinds.into_iter().any(|kind| kind == "DaemonSet" || kind == "Node");
    let mirror = pod.annotations().contains_key("kubernetes.io/config.mirror");
    let ended = matches!(pod.text_at(&["status", "phase"]), Some("Succeeded" | "Failed"));
    if of_node || mirror || ended {
        Disposition::Stays
    } else if pod.at(&["metadata", "deletionTimestamp"]).is_some() {
        Disposition::Leaving
    } else {
        Disposition::Evict
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    fn pod(metadata: Value, phase: &str) -> Object {
        let mut metadata = metadata;
        metadata["name"] = json!("a");
        Object::new(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": {"phase": phase}}),
        )
        .unwrap()
    }

    #[test]
    fn what_belongs_to_the_node_or_has_ended_is_left_alone() {
        let daemon = pod(json!({"ownerReferences": [{"kind": "DaemonSet"}]}), "Running");
        let mirror = pod(json!({"annotations": {"kubernetes.io/config.mirror": "x"}}), "Running");
        assert_eq!(disposition(&daemon), Disposition::Stays);
        assert_eq!(disposition(&mirror), Disposition::Stays);
        assert_eq!(disposition(&pod(json!({}), "Succeeded")), Disposition::Stays);
    }

    #[test]
    fn a_bare_pod_is_evicted_and_a_leaving_one_is_not_asked_twice() {
        assert_eq!(disposition(&pod(json!({}), "Running")), Disposition::Evict);
        let leaving = pod(json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}), "Running");
        assert_eq!(disposition(&leaving), Disposition::Leaving);
    }
}
