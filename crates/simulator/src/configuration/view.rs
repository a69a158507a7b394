//! What a node needs to know of its configuration, as `talos-configuration` prints it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Secret;

/// Arguments of a component: each flag (without dashes) with its values.
pub type Arguments = BTreeMap<String, Vec<String>>;

/// A configuration that Talos' decoder accepted.
#[derive(Clone, Debug, Deserialize)]
pub struct Decoded {
    /// Whether it is enough to boot with: it has `machine` and `cluster` sections. Talos accepts extra
    /// documents alone too.
    pub complete_for_boot: bool,
    /// All documents, in their order.
    pub documents: Vec<Document>,
    /// The view of a configuration that is complete for boot.
    pub configuration: Option<MachineConfiguration>,
}

/// One document of the YAML stream.
#[derive(Clone, Debug, Deserialize)]
pub struct Document {
    /// `v1alpha1`.
    pub api_version: String,
    /// Empty for the main document.
    pub kind: String,
    /// Empty where the kind has no name.
    pub name: String,
}

/// A configuration that a machine can boot with.
#[derive(Clone, Debug, Deserialize)]
pub struct MachineConfiguration {
    /// The `machine` section with what other documents add to it.
    pub machine: Machine,
    /// The `cluster` section.
    pub cluster: Cluster,
    /// All documents, in their order.
    pub documents: Vec<Document>,
}

/// A machine's role.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MachineType {
    /// The old role that bootstraps by itself.
    Init,
    /// `controlplane`.
    ControlPlane,
    /// `worker`.
    Worker,
}

impl MachineType {
    /// Whether etcd and the control plane run on such a machine.
    #[must_use]
    pub fn is_control_plane(self) -> bool {
        match self {
            Self::Init | Self::ControlPlane => true,
            Self::Worker => false,
        }
    }
}

/// The `machine` section.
#[derive(Clone, Debug, Deserialize)]
pub struct Machine {
    /// The role.
    #[serde(rename = "type")]
    pub kind: MachineType,
    /// The token by which workers get their API certificate from a control plane (trustd).
    pub token: Secret,
    /// The CA of the Talos API; a worker has the certificate only.
    pub ca: Option<Authority>,
    /// Further accepted CAs of the Talos API, PEM.
    pub accepted_cas: Vec<String>,
    /// Extra names and addresses of the Talos API's certificate.
    pub cert_sans: Vec<String>,
    /// How the machine is to be named.
    pub hostname: Hostname,
    /// Where to install.
    pub install: Option<Install>,
    /// The kubelet.
    pub kubelet: Kubelet,
    /// `machine.nodeLabels`.
    pub node_labels: BTreeMap<String, String>,
    /// `machine.nodeAnnotations`.
    pub node_annotations: BTreeMap<String, String>,
    /// `machine.nodeTaints`: key to `value:Effect` or `Effect`.
    pub node_taints: BTreeMap<String, String>,
    /// Addresses (with or without a prefix length) given to links, in the main document or in others.
    pub addresses: Vec<String>,
    /// Virtual addresses shared by control planes.
    pub virtual_addresses: Vec<String>,
    /// The port of the local load balancer for the API server; none when it is off.
    pub kube_prism_port: Option<u16>,
    /// `machine.time.disabled` or its document.
    pub time_sync_disabled: bool,
    /// Time servers, empty for Talos' default.
    pub time_servers: Vec<String>,
}

/// How the machine is to be named.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Hostname {
    /// A name given in the configuration.
    pub fixed: Option<String>,
    /// Whether Talos derives a stable name from the machine's identity where none is given.
    pub stable: bool,
}

/// Where and what to install.
#[derive(Clone, Debug, Deserialize)]
pub struct Install {
    /// A device path; empty when a selector is used.
    pub disk: String,
    /// The selector as a CEL expression over `disk`, as Talos derives it.
    pub disk_match: Option<String>,
    /// The selector as written.
    pub disk_selector: Option<BTreeMap<String, Value>>,
    /// The installer's image.
    pub image: String,
    /// Whether the disk is zeroed completely.
    pub wipe: bool,
    /// Extra kernel arguments.
    pub extra_kernel_args: Vec<String>,
}

/// The kubelet's part of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct Kubelet {
    /// The image, whose tag is the version.
    pub image: String,
    /// Extra flags.
    pub extra_arguments: Arguments,
    /// Extra keys of its configuration file.
    pub extra_configuration: BTreeMap<String, Value>,
    /// The subnets that its node address is chosen from.
    pub node_ip_valid_subnets: Vec<String>,
    /// Whether it registers with the fully qualified name.
    pub register_with_fqdn: bool,
    /// Whether it doesn't register at all.
    pub skip_node_registration: bool,
    /// The addresses of the cluster's DNS service.
    pub cluster_dns: Vec<String>,
}

/// A certificate authority, or only its certificate.
#[derive(Clone, Debug, Deserialize)]
pub struct Authority {
    /// The certificate, PEM.
    pub certificate: String,
    /// The private key, PEM; empty where the machine has the certificate only.
    pub key: Secret,
}

/// A private key without a certificate.
#[derive(Clone, Debug, Deserialize)]
pub struct Key {
    /// PEM.
    pub key: Secret,
}

/// A bootstrap token.
#[derive(Clone, Debug, Deserialize)]
pub struct Token {
    /// The six public characters.
    pub id: String,
    /// The sixteen secret ones.
    pub secret: Secret,
}

/// The `cluster` section.
#[derive(Clone, Debug, Deserialize)]
pub struct Cluster {
    /// The id under which members find one another.
    pub id: String,
    /// The secret that their discovery data is encrypted with.
    pub secret: Secret,
    /// The name.
    pub name: String,
    /// The canonical address of the control plane, as typed.
    pub endpoint: String,
    /// The port that API servers listen on.
    pub local_api_server_port: u16,
    /// The Kubernetes bootstrap token.
    pub token: Option<Token>,
    /// The Kubernetes CA; a worker has the certificate only.
    pub ca: Option<Authority>,
    /// Further accepted Kubernetes CAs, PEM.
    pub accepted_cas: Vec<String>,
    /// The aggregator's CA.
    pub aggregator_ca: Option<Authority>,
    /// The key that service account tokens are signed with.
    pub service_account: Option<Key>,
    /// The old encryption secret of etcd's Secrets, base64.
    pub aescbc_encryption_secret: Secret,
    /// The encryption secret of etcd's Secrets, base64.
    pub secretbox_encryption_secret: Secret,
    /// Extra names and addresses of the API server's certificate.
    pub cert_sans: Vec<String>,
    /// The API server.
    pub api_server: ApiServer,
    /// The controller manager.
    pub controller_manager: ComponentConfiguration,
    /// The scheduler.
    pub scheduler: ComponentConfiguration,
    /// kube-proxy.
    pub proxy: Proxy,
    /// etcd.
    pub etcd: Etcd,
    /// The cluster's network.
    pub network: Network,
    /// Whether CoreDNS is wanted.
    pub core_dns_enabled: bool,
    /// CoreDNS' image.
    pub core_dns_image: String,
    /// Manifests to create at bootstrap.
    pub inline_manifests: Vec<InlineManifest>,
    /// Addresses of further manifests.
    pub extra_manifest_urls: Vec<String>,
    /// Lifetime of the admin certificate in seconds.
    pub admin_certificate_seconds: u64,
    /// Whether ordinary pods may run on control planes.
    pub schedule_on_control_planes: bool,
    /// Whether an external cloud provider initialises nodes.
    pub external_cloud_provider: bool,
    /// How members find one another.
    pub discovery: Discovery,
}

/// The API server's part of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct ApiServer {
    /// The image, whose tag is the version.
    pub image: String,
    /// Extra flags.
    pub extra_arguments: Arguments,
    /// Extra environment.
    pub environment: BTreeMap<String, String>,
    /// Admission plugins with their configuration.
    pub admission_control: Vec<AdmissionPlugin>,
    /// The audit policy.
    pub audit_policy: Value,
    /// Authorizers as typed; empty for Talos' own (Node, RBAC).
    pub authorization: Vec<Value>,
}

/// An admission plugin of the API server.
#[derive(Clone, Debug, Deserialize)]
pub struct AdmissionPlugin {
    /// The plugin's name.
    pub name: String,
    /// Its configuration.
    pub configuration: Value,
}

/// The controller manager's or the scheduler's part of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct ComponentConfiguration {
    /// The image, whose tag is the version.
    pub image: String,
    /// Extra flags.
    pub extra_arguments: Arguments,
    /// Extra environment.
    pub environment: BTreeMap<String, String>,
    /// Extra keys of its configuration file (scheduler only).
    pub configuration: Value,
    /// Whether it is switched off on this machine.
    pub disabled: bool,
}

/// kube-proxy's part of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct Proxy {
    /// Whether it is installed at bootstrap.
    pub enabled: bool,
    /// The image.
    pub image: String,
    /// The mode.
    pub mode: String,
}

/// etcd's part of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct Etcd {
    /// The CA of peers and clients; absent on workers.
    pub ca: Option<Authority>,
    /// The image.
    pub image: String,
    /// Extra flags.
    pub extra_arguments: Arguments,
    /// The subnets that the advertised address is chosen from.
    pub advertised_subnets: Vec<String>,
}

/// The cluster's network.
#[derive(Clone, Debug, Deserialize)]
pub struct Network {
    /// `flannel`, `custom` or `none`.
    pub cni: String,
    /// Pod subnets.
    pub pod_subnets: Vec<String>,
    /// Service subnets.
    pub service_subnets: Vec<String>,
    /// The DNS domain.
    pub dns_domain: String,
    /// The first address of each service subnet: the Service `kubernetes`.
    pub api_server_ips: Vec<String>,
    /// The addresses of the Service `kube-dns`.
    pub dns_service_ips: Vec<String>,
}

/// A manifest of the configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct InlineManifest {
    /// Its name.
    pub name: String,
    /// YAML documents.
    pub contents: Secret,
}

/// How members find one another.
#[derive(Clone, Debug, Deserialize)]
pub struct Discovery {
    /// Whether discovery is on.
    pub enabled: bool,
    /// Whether the discovery service is used.
    pub service_enabled: bool,
    /// The address of the discovery service.
    pub service_endpoint: String,
}
