//! Facts for Talos' HealthCheck, asked of the real cluster.

use std::time::Duration;

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Client;
use kube::api::{Api, ListParams};

use super::client;
use super::context::Context;
use super::etcd;

/// How long one look may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// What a control plane sees of its cluster. Each part that can't be looked at is an error of its own, never an
/// empty answer.
#[derive(Debug)]
pub struct Health {
    /// Whether this node's etcd answers and sees no alarm.
    pub etcd: Result<(), HealthError>,
    /// The nodes that the API server lists.
    pub nodes: Result<Vec<NodeReport>, HealthError>,
    /// The control plane's static pods on all nodes.
    pub static_pods: Result<Vec<StaticPodReport>, HealthError>,
    /// CoreDNS' Deployment; none when there is no such Deployment.
    pub core_dns: Result<Option<Readiness>, HealthError>,
    /// kube-proxy's DaemonSet; none when there is no such DaemonSet.
    pub kube_proxy: Result<Option<Readiness>, HealthError>,
}

/// Why a fact isn't known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HealthError {
    /// What the API server or etcd said.
    pub message: String,
}

/// A Kubernetes node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeReport {
    /// Its name.
    pub name: String,
    /// Its InternalIP and ExternalIP addresses.
    pub addresses: Vec<String>,
    /// Whether it has the control plane's role label.
    pub control_plane: bool,
    /// Whether its Ready condition is True; else the condition's message.
    pub ready: Result<(), String>,
    /// Whether pods may be scheduled on it.
    pub schedulable: bool,
}

/// A static pod of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticPodReport {
    /// `kube-apiserver`, `kube-controller-manager` or `kube-scheduler`.
    pub component: String,
    /// The node it runs on.
    pub node: String,
    /// Whether it is ready.
    pub ready: bool,
}

/// A workload's desired and ready pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Pods wanted.
    pub desired: i32,
    /// Pods ready.
    pub ready: i32,
}

pub(super) async fn look(context: &Context) -> Health {
    let client = client::talos_admin(context).map_err(|message| HealthError { message });
    let (etcd, nodes, static_pods, core_dns, kube_proxy) = tokio::join!(
        look_at_etcd(context),
        within(client.clone(), nodes),
        within(client.clone(), static_pods),
        within(client.clone(), core_dns),
        within(client, kube_proxy),
    );
    Health { etcd, nodes, static_pods, core_dns, kube_proxy }
}

async fn within<T, F: Future<Output = Result<T, kube::Error>>>(
    client: Result<Client, HealthError>,
    look: impl FnOnce(Client) -> F,
) -> Result<T, HealthError> {
    match tokio::time::timeout(DEADLINE, look(client?)).await {
        Ok(Ok(seen)) => Ok(seen),
        Ok(Err(error)) => Err(HealthError { message: error.to_string() }),
        Err(_) => Err(HealthError { message: format!("no answer within {} s", DEADLINE.as_secs()) }),
    }
}

async fn look_at_etcd(context: &Context) -> Result<(), HealthError> {
    let gateway = etcd::gateway(context, context.address).map_err(|message| HealthError { message })?;
    let status = gateway.status().await.map_err(|error| HealthError { message: error.to_string() })?;
    match status.errors.first() {
        Some(error) => Err(HealthError { message: error.clone() }),
        None if status.leader == 0 => Err(HealthError { message: "etcdserver: no leader".to_owned() }),
        None => Ok(()),
    }
}

async fn nodes(client: Client) -> Result<Vec<NodeReport>, kube::Error> {
    let listed = Api::<Node>::all(client).list(&ListParams::default()).await?;
    Ok(listed.items.into_iter().map(node_report).collect())
}

fn node_report(node: Node) -> NodeReport {
    let status = node.status.unwrap_or_default();
    let ready = status.conditions.iter().flatten().find(|condition| condition.type_ == "Ready");
    let ready = match ready {
        Some(condition) if condition.status == "True" => Ok(()),
        Some(condition) => Err(condition.message.clone().unwrap_or_default()),
        None => Err("the node reported no Ready condition yet".to_owned()),
    };
    let addresses = status.addresses.unwrap_or_default();
    let addresses = addresses
        .into_iter()
        .filter(|address| address.type_ == "InternalIP" || address.type_ == "ExternalIP");
    let labels = node.metadata.labels.unwrap_or_default();
    NodeReport {
        name: node.metadata.name.unwrap_or_default(),
        addresses: addresses.map(|address| address.address).collect(),
        control_plane: labels.contains_key("node-role.kubernetes.io/control-plane"),
        ready,
        schedulable: !node.spec.and_then(|spec| spec.unschedulable).unwrap_or_default(),
    }
}

async fn static_pods(client: Client) -> Result<Vec<StaticPodReport>, kube::Error> {
    let selector = ListParams::default().labels("tier=control-plane,k8s-app");
    let listed = Api::<Pod>::namespaced(client, "kube-system").list(&selector).await?;
    Ok(listed.items.into_iter().map(static_pod_report).collect())
}

fn static_pod_report(pod: Pod) -> StaticPodReport {
    let conditions = pod.status.and_then(|status| status.conditions).unwrap_or_default();
    let labels = pod.metadata.labels.unwrap_or_default();
    StaticPodReport {
        component: labels.get("k8s-app").cloned().unwrap_or_default(),
        node: pod.spec.and_then(|spec| spec.node_name).unwrap_or_default(),
        ready: conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True"),
    }
}

async fn core_dns(client: Client) -> Result<Option<Readiness>, kube::Error> {
    let found = Api::<Deployment>::namespaced(client, "kube-system").get_opt("coredns").await?;
    Ok(found.map(|deployment| Readiness {
        desired: deployment.spec.and_then(|spec| spec.replicas).unwrap_or(1),
        ready: deployment.status.and_then(|status| status.ready_replicas).unwrap_or_default(),
    }))
}

async fn kube_proxy(client: Client) -> Result<Option<Readiness>, kube::Error> {
    let found = Api::<DaemonSet>::namespaced(client, "kube-system").get_opt("kube-proxy").await?;
    Ok(found.map(|daemon_set| {
        let status = daemon_set.status.unwrap_or_default();
        Readiness { desired: status.desired_number_scheduled, ready: status.number_ready }
    }))
}
