//! Facts for Talos' HealthCheck, asked of the real cluster.

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
