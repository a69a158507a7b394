//! What a test or a rehearsal lets happen to a workload's pods.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use tokio::sync::watch;

/// What happens to a workload's pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// They run and become ready.
    #[default]
    Healthy,
    /// The image of their first application container can't be pulled.
    ImagePullError,
    /// Their first application container ends again and again.
    CrashLoop {
        /// Its exit code.
        exit_code: i32,
    },
    /// They run and never become ready.
    NeverReady,
}

/// A workload: the controller that owns the pods (a Deployment, DaemonSet, StatefulSet or Job by its name), or
/// a pod without one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The fates of all workloads; changes reach running pods.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    fates: watch::Sender<BTreeMap<Workload, Fate>>,
}

impl Fates {
    pub(super) fn new() -> Self {
        Self { fates: watch::Sender::new(BTreeMap::new()) }
    }

    pub(super) fn set(&self, workload: Workload, fate: Fate) {
        self.fates.send_modify(|fates| {
            fates.insert(workload, fate);
        });
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<BTreeMap<Workload, Fate>> {
        self.fates.subscribe()
    }
}

/// The workload that a pod belongs to.
pub(super) fn workload(pod: &Pod) -> Workload {
    let owner = pod.owner_references().iter().find(|owner| owner.controller == Some(true));
    let name = match owner {
        // A Deployment's ReplicaSet is named after it and the hash of its template.
        Some(owner) if owner.kind == "ReplicaSet" => {
            let hash = pod.labels().get("pod-template-hash").map(|hash| format!("-{hash}"));
            let deployment = hash.and_then(|hash| owner.name.strip_suffix(&hash).map(str::to_owned));
            deployment.unwrap_or_else(|| owner.name.clone())
        }
        Some(owner) => owner.name.clone(),
        None => pod.name_any(),
    };
    Workload { namespace: pod.namespace().unwrap_or_default(), name }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_s_pod_is_known_by_the_deployment() {
        let pod = |kind: &str, owner: &str| -> Pod {
            serde_json::from_value(json!({ "metadata": {
                "name": "x", "namespace": "n", "labels": { "pod-template-hash": "5d4" },
                "ownerReferences": [{ "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": "u", "controller": true }],
            }}))
            .unwrap()
        };
        assert_eq!(workload(&pod("ReplicaSet", "web-5d4")).name, "web");
        assert_eq!(workload(&pod("DaemonSet", "cilium")).name, "cilium");
        assert_eq!(workload(&Pod::default()).name, "");
    }
}
