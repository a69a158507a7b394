//! What a machine's configuration is made from, beside the cluster's secrets.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::Secret;

/// What one machine of a cluster is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// The machine's part in the cluster.
    pub role: Role,
    /// The cluster's name.
    pub cluster_name: String,
    /// Where clients and machines reach the API server: `https://HOST:PORT`.
    pub endpoint: String,
    /// Kubernetes' version without a leading `v`.
    pub kubernetes_version: String,
    /// The disk that Talos is installed to; `None` only for machines that are installed already.
    pub install_disk: Option<InstallTarget>,
    /// The image that installs Talos; see [`installer_image`](super::installer_image).
    pub installer_image: String,
    /// Further names and addresses that the API server and Talos' API are reached at.
    pub subject_alternative_names: Vec<String>,
    /// Who connects the pods.
    pub network_plugin: NetworkPlugin,
    /// Whether kube-proxy runs; not with a network plugin that does its work.
    pub kube_proxy: bool,
    /// Whether pods may be scheduled on control planes.
    pub schedule_on_control_planes: bool,
    /// The port of the API server's load balancer on each machine; 0 turns it off.
    pub kube_prism_port: u16,
    /// Whether the machines find each other over Talos' discovery service.
    pub discovery: bool,
    /// The domain of the cluster's services.
    pub dns_domain: String,
    /// Where the pods' addresses are from.
    pub pod_subnets: Vec<String>,
    /// Where the services' addresses are from.
    pub service_subnets: Vec<String>,
    /// The machine's name; without one Talos makes one up that stays.
    pub hostname: Option<String>,
    /// What the kubelet registers its node with as `providerID`; it cannot be changed later.
    pub provider_id: Option<String>,
    /// Whether the kubelet asks the cluster for the certificate that it serves with; someone has to approve it.
    pub serving_certificates: bool,
    /// The address that the control planes share, and the link that holds it.
    pub virtual_address: Option<VirtualAddress>,
    /// The node's labels.
    pub node_labels: BTreeMap<String, String>,
    /// The node's annotations.
    pub node_annotations: BTreeMap<String, String>,
    /// The taints that a worker registers with, by key: `value:Effect`, or `Effect` alone.
    pub node_taints: BTreeMap<String, String>,
    /// Kernel parameters by name.
    pub sysctls: BTreeMap<String, String>,
    /// Whom the machine asks for the time; Talos' own default when there is none.
    pub time_servers: Vec<String>,
    /// Where images of a registry are pulled from, by the registry's host; `*` is every registry.
    pub registries: BTreeMap<String, Registry>,
}

/// Where and how images of a registry are pulled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    /// The mirrors, tried in this order before the registry itself.
    pub endpoints: Vec<String>,
    /// The endpoints' paths are complete: `/v2` is not added.
    pub override_path: bool,
    /// The registry itself is not asked when no mirror has an image.
    pub skip_fallback: bool,
    /// Who the machine is to the registry.
    pub credentials: Option<Credentials>,
}

/// Who a machine is to a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The name.
    pub username: String,
    /// The password or token.
    pub password: Secret,
}

/// Whether Kubernetes' NodeRestriction lets no node give itself a label: Talos would lose all labels over one of them.
#[must_use]
pub fn is_restricted_label(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| {
        matches!(domain, "node-role.kubernetes.io" | "node-restriction.kubernetes.io")
            || domain.ends_with(".node-restriction.kubernetes.io")
    })
}

/// A machine's part in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Runs etcd and Kubernetes' control plane.
    ControlPlane,
    /// Runs pods.
    Worker,
}

/// The disk that Talos is installed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallTarget {
    /// By its path, `/dev/sda`, which may change between boots.
    Path(String),
    /// By what the disk says of itself.
    Selector(DiskSelector),
}

/// What a disk says of itself; all that is set must match. Texts may hold `*`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskSelector {
    /// `>= 100GB`, `== 1TB`.
    pub size: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The World Wide Identifier.
    pub wwid: Option<String>,
    /// `ssd`, `hdd`, `nvme` or `sd`.
    pub kind: Option<String>,
    /// The place on the bus.
    pub bus_path: Option<String>,
}

/// Who connects the pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkPlugin {
    /// Talos' own default, flannel.
    Default,
    /// Nobody: something is installed into the running cluster.
    None,
}

/// An address that control planes share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualAddress {
    /// The address.
    pub address: IpAddr,
    /// The link that holds it, `eth0`.
    pub link: String,
}

impl Inputs {
    /// A machine with Talos' defaults: KubePrism on 7445, `cluster.local`, 10.244.0.0/16 and 10.96.0.0/12, flannel and
    /// kube-proxy, no pods on control planes, no disk.
    #[must_use]
    pub fn new(role: Role, cluster_name: &str, endpoint: &str, kubernetes_version: &str) -> Self {
        Self {
            role,
            cluster_name: cluster_name.to_owned(),
            endpoint: endpoint.to_owned(),
            kubernetes_version: kubernetes_version.strip_prefix('v').unwrap_or(kubernetes_version).to_owned(),
            install_disk: None,
            installer_image: String::new(),
            subject_alternative_names: Vec::new(),
            network_plugin: NetworkPlugin::Default,
            kube_proxy: true,
            schedule_on_control_planes: false,
            kube_prism_port: 7445,
            discovery: true,
            dns_domain: "cluster.local".to_owned(),
            pod_subnets: vec!["10.244.0.0/16".to_owned()],
            service_subnets: vec!["10.96.0.0/12".to_owned()],
            hostname: None,
            provider_id: None,
            serving_certificates: false,
            virtual_address: None,
            node_labels: BTreeMap::new(),
            node_annotations: BTreeMap::new(),
            node_taints: BTreeMap::new(),
            sysctls: BTreeMap::new(),
            time_servers: Vec::new(),
            registries: BTreeMap::new(),
        }
    }
}
