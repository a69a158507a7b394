//! Registers the node and keeps its status and lease.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::storage::v1::CSINode;
use kube::ResourceExt;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::addresses::PodAddresses;
use super::{Kubelet, RETRY, already_exists, node_object};

/// Between two reports, and two renewals of the lease.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long the lease is good for, in seconds.
const LEASE_SECONDS: i32 = 40;

/// Registers the node, or finds it registered; none when the node stops before.
pub(super) async fn register(kubelet: &Kubelet) -> Option<Node> {
    let nodes: Api<Node> = Api::all(kubelet.client.clone());
    loop {
        match try_register(kubelet, &nodes).await {
            Ok(node) => return Some(node),
            Err(reason) => tracing::debug!(node = kubelet.node_name(), %reason, "register the node"),
        }
        if !kubelet.context.pause(RETRY).await {
            return None;
        }
    }
}

async fn try_register(kubelet: &Kubelet, nodes: &Api<Node>) -> Result<Node, String> {
    let wanted = node_object::registration(&kubelet.context.specification);
    let object: Node = serde_json::from_value(wanted).map_err(|error| error.to_string())?;
    match kubelet.ask(nodes.create(&PostParams::default(), &object)).await {
        Ok(node) => Ok(node),
        Err(error) if already_exists(&error) => {
            kubelet.ask(nodes.get(kubelet.node_name())).await.map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Reports the node's status at every heartbeat, and at once when its network becomes ready.
pub(super) async fn heartbeat(kubelet: &Kubelet) {
    let nodes: Api<Node> = Api::all(kubelet.client.clone());
    let mut network = kubelet.network_ready.subscribe();
    let mut announced = false;
    loop {
        let ready = *network.borrow_and_update();
        let pause = match report(kubelet, &nodes, ready).await {
            Ok(node) => {
                learn_pod_subnet(kubelet, &node);
                // The pod subnet is given soon after registration; nothing wakes us for it but the next look.
                let waiting = kubelet.pod_addresses.lock().is_ok_and(|addresses| addresses.is_none());
                if waiting { Duration::from_millis(200) } else { HEARTBEAT }
            }
            Err(reason) => {
                tracing::debug!(node = kubelet.node_name(), %reason, "report the node's status");
                RETRY
            }
        };
        if !announced {
            announced = true;
            announce_storage(kubelet).await;
        }
        tokio::select! {
            _ = network.changed() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn report(kubelet: &Kubelet, nodes: &Api<Node>, network_ready: bool) -> Result<Node, String> {
    let current = kubelet.ask(nodes.get(kubelet.node_name())).await.map_err(|error| error.to_string())?;
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let status = node_object::status(&kubelet.context.specification, &current, network_ready, &now);
    let patch = Patch::Strategic(status);
    kubelet
        .ask(nodes.patch_status(kubelet.node_name(), &PatchParams::default(), &patch))
        .await
        .map_err(|error| error.to_string())
}

fn learn_pod_subnet(kubelet: &Kubelet, node: &Node) {
    let subnet =
        node.spec.as_ref().and_then(|spec| spec.pod_cidr.as_deref()).and_then(|cidr| cidr.parse().ok());
    if let (Some(subnet), Ok(mut addresses)) = (subnet, kubelet.pod_addresses.lock()) {
        addresses.get_or_insert_with(|| PodAddresses::new(subnet));
    }
}

/// Creates the object in which storage drivers would be listed.
async fn announce_storage(kubelet: &Kubelet) {
    let objects: Api<CSINode> = Api::all(kubelet.client.clone());
    let object = json!({ "metadata": { "name": kubelet.node_name() }, "spec": { "drivers": [] } });
    let Ok(object) = serde_json::from_value::<CSINode>(object) else {
        return;
    };
    match kubelet.ask(objects.create(&PostParams::default(), &object)).await {
        Ok(_) => {}
        Err(error) if already_exists(&error) => {}
        Err(error) => tracing::debug!(node = kubelet.node_name(), %error, "create the CSINode"),
    }
}

/// Renews the node's lease at every heartbeat: without it the node would soon be held for dead.
pub(super) async fn renew_lease(kubelet: &Kubelet, node: &Node) {
    let leases: Api<Lease> = Api::namespaced(kubelet.client.clone(), "kube-node-lease");
    loop {
        let pause = match renew(kubelet, &leases, node).await {
            Ok(()) => HEARTBEAT,
            Err(error) => {
                tracing::debug!(node = kubelet.node_name(), %error, "renew the lease");
                RETRY
            }
        };
        tokio::time::sleep(pause).await;
    }
}

async fn renew(kubelet: &Kubelet, leases: &Api<Lease>, node: &Node) -> Result<(), kube::Error> {
    let name = kubelet.node_name();
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
    let spec = json!({ "holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": now });
    let patch = Patch::Merge(json!({ "spec": spec }));
    match kubelet.ask(leases.patch(name, &PatchParams::default(), &patch)).await {
        Ok(_) => return Ok(()),
        Err(error) if super::is_not_found(&error) => {}
        Err(error) => return Err(error),
    }
    let lease: Value = json!({
        "metadata": {
            "name": name,
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Node", "name": name, "uid": node.uid() }],
        },
        "spec": spec,
    });
    let lease: Lease = serde_json::from_value(lease).map_err(kube::Error::SerdeError)?;
    kubelet.ask(leases.create(&PostParams::default(), &lease)).await.map(drop)
}
