//! The files that Talos renders for etcd and the control plane, with Talos' names.
//!
//! YAML files are written as JSON, which YAML includes.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::certificates::{
    CertificateAuthority, CertificateError, Issued, ONE_YEAR, Subject, TEN_YEARS, load_key,
};
use crate::configuration::{Authority, MachineConfiguration, Secret};

/// What files are made from.
pub(super) struct Facts<'a> {
    pub(super) configuration: &'a MachineConfiguration,
    pub(super) hostname: &'a str,
    pub(super) addresses: &'a [IpAddr],
    /// The address that everything listens on.
    pub(super) address: IpAddr,
    /// Where the files will stand.
    pub(super) secrets: &'a Path,
    /// The socket of the pod network.
    pub(super) egress: &'a Path,
}

/// A file to write.
pub(super) struct File {
    /// Below the folder of secrets.
    pub(super) path: PathBuf,
    pub(super) content: Secret,
}

/// Files of one component.
struct Folder {
    name: &'static str,
    files: Vec<File>,
}

impl Folder {
    fn new(name: &'static str) -> Self {
        Self { name, files: Vec::new() }
    }

    fn add(&mut self, name: &str, content: impl Into<String>) {
        self.files.push(File { path: Path::new(self.name).join(name), content: Secret::new(content) });
    }

    fn add_pair(&mut self, name: &str, pair: &Issued) {
        self.add(&format!("{name}.crt"), pair.certificate.as_str());
        self.add(&format!("{name}.key"), pair.key.expose());
    }
}

/// etcd's certificates.
pub(super) fn etcd(facts: &Facts<'_>) -> Result<Vec<File>, CertificateError> {
    let authority = facts.configuration.cluster.etcd.ca.as_ref();
    let signer = CertificateAuthority::load("etcd", authority)?;
    let subject = |dns_names: Vec<String>, addresses: Vec<IpAddr>| Subject {
        common_name: facts.hostname.to_owned(),
        organization: None,
        dns_names,
        addresses,
        // etcd's JSON gateway calls its own gRPC port with the server's certificate.
        server: true,
        client: true,
    };
    let hostname = facts.hostname.to_owned();
    let mut own = facts.addresses.to_vec();
    let mut folder = Folder::new("etcd");
    folder.add("ca.crt", certificate(authority));
    folder.add_pair("peer", &signer.issue(&subject(vec![hostname.clone()], own.clone()), TEN_YEARS)?);
    own.extend([IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])]);
    folder
        .add_pair("server", &signer.issue(&subject(vec![hostname, "localhost".to_owned()], own), TEN_YEARS)?);
    folder.add_pair("admin", &signer.issue(&client("talos", None), TEN_YEARS)?);
    Ok(folder.files)
}

/// The API server's certificates and configuration.
pub(super) fn api_server(facts: &Facts<'_>) -> Result<Vec<File>, CertificateError> {
    let cluster = &facts.configuration.cluster;
    let kubernetes = CertificateAuthority::load("Kubernetes", cluster.ca.as_ref())?;
    let aggregator = CertificateAuthority::load("aggregator", cluster.aggregator_ca.as_ref())?;
    let etcd = CertificateAuthority::load("etcd", cluster.etcd.ca.as_ref())?;
    let mut folder = Folder::new("kube-apiserver");
    folder.add("ca.crt", accepted(cluster.ca.as_ref(), &cluster.accepted_cas));
    folder.add("etcd-client-ca.crt", certificate(cluster.etcd.ca.as_ref()));
    folder.add("aggregator-ca.crt", certificate(cluster.aggregator_ca.as_ref()));
    folder.add_pair("etcd-client", &etcd.issue(&client("kube-apiserver", None), TEN_YEARS)?);
    folder.add_pair("apiserver", &kubernetes.issue(&api_server_subject(facts), ONE_YEAR)?);
    let kubelet_client = client("apiserver-kubelet-client", Some("system:masters"));
    folder.add_pair("apiserver-kubelet-client", &kubernetes.issue(&kubelet_client, ONE_YEAR)?);
    folder.add_pair("front-proxy-client", &aggregator.issue(&client("front-proxy-client", None), ONE_YEAR)?);
    let account = service_account_key(facts.configuration)?;
    folder.add("service-account.key", account.private.expose());
    folder.add("service-account.pub", account.public);
    folder.add("encryptionconfig.yaml", encryption(facts.configuration).to_string());
    folder.add("admission-control-config.yaml", admission(facts.configuration).to_string());
    folder.add("authorization-config.yaml", authorization(facts.configuration).to_string());
    folder.add("auditpolicy.yaml", cluster.api_server.audit_policy.to_string());
    folder.add("egress-selector.yaml", egress_selector(facts.egress).to_string());
    Ok(folder.files)
}

/// The controller manager's files.
pub(super) fn controller_manager(facts: &Facts<'_>) -> Result<Vec<File>, CertificateError> {
    let cluster = &facts.configuration.cluster;
    let kubernetes = CertificateAuthority::load("Kubernetes", cluster.ca.as_ref())?;
    let name = "system:kube-controller-manager";
    let pair = kubernetes.issue(&client(name, Some(name)), ONE_YEAR)?;
    let mut folder = Folder::new("kube-controller-manager");
    folder.add("ca.crt", accepted(cluster.ca.as_ref(), &cluster.accepted_cas));
    folder.add("ca.key", cluster.ca.as_ref().map_or("", |ca| ca.key.expose()));
    folder.add("service-account.key", service_account_key(facts.configuration)?.private.expose());
    folder.add("kubeconfig", local_kubeconfig(facts, &pair).to_string());
    Ok(folder.files)
}

/// The scheduler's files.
pub(super) fn scheduler(facts: &Facts<'_>) -> Result<Vec<File>, CertificateError> {
    let kubernetes = CertificateAuthority::load("Kubernetes", facts.configuration.cluster.ca.as_ref())?;
    let name = "system:kube-scheduler";
    let pair = kubernetes.issue(&client(name, Some(name)), ONE_YEAR)?;
    let mut folder = Folder::new("kube-scheduler");
    let kubeconfig = facts.secrets.join("kube-scheduler/kubeconfig").display().to_string();
    let mut configuration = facts.configuration.cluster.scheduler.configuration.clone();
    if !configuration.is_object() {
        configuration = json!({});
    }
    configuration["apiVersion"] = json!("kubescheduler.config.k8s.io/v1");
    configuration["kind"] = json!("KubeSchedulerConfiguration");
    configuration["clientConnection"]["kubeconfig"] = json!(kubeconfig);
    folder.add("scheduler-config.yaml", configuration.to_string());
    folder.add("kubeconfig", local_kubeconfig(facts, &pair).to_string());
    Ok(folder.files)
}

/// The certificate with which Talos itself manages the cluster.
pub(super) fn talos_admin(configuration: &MachineConfiguration) -> Result<Issued, CertificateError> {
    let kubernetes = CertificateAuthority::load("Kubernetes", configuration.cluster.ca.as_ref())?;
    kubernetes.issue(&client("talos:admin", Some("system:masters")), ONE_YEAR)
}

/// A kubeconfig of an administrator, as Talos' Kubeconfig call gives it.
pub(super) fn admin_kubeconfig(configuration: &MachineConfiguration) -> Result<Secret, CertificateError> {
    let cluster = &configuration.cluster;
    let kubernetes = CertificateAuthority::load("Kubernetes", cluster.ca.as_ref())?;
    let lifetime = std::time::Duration::from_secs(cluster.admin_certificate_seconds);
    let pair = kubernetes.issue(&client("admin", Some("system:masters")), lifetime)?;
    let ca = accepted(cluster.ca.as_ref(), &cluster.accepted_cas);
    let user = format!("admin@{}", cluster.name);
    // Laid out as Talos does: keys sorted, no document marker.
    let encode = |text: &str| STANDARD.encode(text);
    let (name, server) = (&cluster.name, &cluster.endpoint);
    Ok(Secret::new(format!(
        "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: {}\n    server: {server}\n  \
         name: {name}\ncontexts:\n- context:\n    cluster: {name}\n    namespace: default\n    user: {user}\n  \
         name: {user}\ncurrent-context: {user}\nkind: Config\nusers:\n- name: {user}\n  user:\n    \
         client-certificate-data: {}\n    client-key-data: {}\n",
        encode(&ca),
        encode(&pair.certificate),
        encode(pair.key.expose()),
    )))
}

/// The certificates by which clients know the API server: accepted CAs and the one that issues.
pub(super) fn accepted(issuing: Option<&Authority>, accepted: &[String]) -> String {
    accepted.concat() + &certificate(issuing)
}

/// Where the node's own components reach an API server: through KubePrism, or directly where it is off. Both speak
/// for `localhost`, the name by which Talos' components know them.
pub(super) fn local_server(configuration: &MachineConfiguration, address: IpAddr) -> String {
    let port = configuration.machine.kube_prism_port.unwrap_or(configuration.cluster.local_api_server_port);
    format!("https://{}", super::arguments::socket(address, port))
}

fn local_kubeconfig(facts: &Facts<'_>, pair: &Issued) -> Value {
    let cluster = &facts.configuration.cluster;
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "local", "cluster": {
            "server": local_server(facts.configuration, facts.address),
            "tls-server-name": "localhost",
            "certificate-authority-data": STANDARD.encode(accepted(cluster.ca.as_ref(), &cluster.accepted_cas)),
        }}],
        "users": [{ "name": "node", "user": {
            "client-certificate-data": STANDARD.encode(&pair.certificate),
            "client-key-data": STANDARD.encode(pair.key.expose()),
        }}],
        "contexts": [{ "name": "default", "context": { "cluster": "local", "user": "node" } }],
        "current-context": "default",
    })
}

fn client(common_name: &str, organization: Option<&str>) -> Subject {
    Subject {
        common_name: common_name.to_owned(),
        organization: organization.map(str::to_owned),
        client: true,
        ..Subject::default()
    }
}

fn api_server_subject(facts: &Facts<'_>) -> Subject {
    let cluster = &facts.configuration.cluster;
    let mut names: Vec<String> = endpoint_host(&cluster.endpoint).into_iter().map(str::to_owned).collect();
    names.extend(cluster.cert_sans.iter().cloned());
    names.extend(["kubernetes", "kubernetes.default", "kubernetes.default.svc"].map(str::to_owned));
    names.push(format!("kubernetes.default.svc.{}", cluster.network.dns_domain));
    names.extend(["localhost".to_owned(), facts.hostname.to_owned()]);
    names.extend(cluster.network.api_server_ips.iter().cloned());
    let mut subject = Subject {
        common_name: "kube-apiserver".to_owned(),
        organization: Some("kube-master".to_owned()),
        server: true,
        ..Subject::default()
    };
    subject.addresses = facts.addresses.to_vec();
    subject.addresses.push(IpAddr::from([127, 0, 0, 1]));
    for name in names {
        match name.parse::<IpAddr>() {
            Ok(address) if !subject.addresses.contains(&address) => subject.addresses.push(address),
            Err(_) if !subject.dns_names.contains(&name) => subject.dns_names.push(name),
            Ok(_) | Err(_) => {}
        }
    }
    subject
}

/// The host of an `https://host:port` address, without brackets.
pub(super) fn endpoint_host(endpoint: &str) -> Option<&str> {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next()?,
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    (!host.is_empty()).then_some(host)
}

/// The port of an `https://host:port` address; 443 where there is none.
pub(super) fn endpoint_port(endpoint: &str) -> u16 {
    let rest = endpoint.split_once("://").map_or(endpoint, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after_host = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
    after_host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(443)
}

fn certificate(authority: Option<&Authority>) -> String {
    authority.map(|authority| authority.certificate.clone()).unwrap_or_default()
}

struct ServiceAccount {
    private: Secret,
    public: String,
}

fn service_account_key(configuration: &MachineConfiguration) -> Result<ServiceAccount, CertificateError> {
    let name = "service account";
    let key = configuration.cluster.service_account.as_ref();
    let key = key.ok_or(CertificateError::Missing { authority: name })?;
    let public = load_key(name, &key.key)?.public_key_pem();
    Ok(ServiceAccount { private: key.key.clone(), public })
}

fn encryption(configuration: &MachineConfiguration) -> Value {
    let cluster = &configuration.cluster;
    let mut providers = Vec::new();
    if !cluster.secretbox_encryption_secret.is_empty() {
        let secret = cluster.secretbox_encryption_secret.expose();
        providers.push(json!({ "secretbox": { "keys": [{ "name": "key2", "secret": secret }] } }));
    }
    if !cluster.aescbc_encryption_secret.is_empty() {
        let secret = cluster.aescbc_encryption_secret.expose();
        providers.push(json!({ "aescbc": { "keys": [{ "name": "key1", "secret": secret }] } }));
    }
    providers.push(json!({ "identity": {} }));
    json!({
        "apiVersion": "v1",
        "kind": "EncryptionConfig",
        "resources": [{ "resources": ["secrets"], "providers": providers }],
    })
}

fn admission(configuration: &MachineConfiguration) -> Value {
    let plugins: Vec<Value> = configuration
        .cluster
        .api_server
        .admission_control
        .iter()
        .map(|plugin| json!({ "name": plugin.name, "configuration": plugin.configuration }))
        .collect();
    json!({ "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins })
}

fn authorization(configuration: &MachineConfiguration) -> Value {
    let given = &configuration.cluster.api_server.authorization;
    let authorizers = if given.is_empty() {
        json!([{ "type": "Node", "name": "node" }, { "type": "RBAC", "name": "rbac" }])
    } else {
        json!(given)
    };
    json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": authorizers,
    })
}

fn egress_selector(socket: &Path) -> Value {
    json!({
        "apiVersion": "apiserver.k8s.io/v1beta1",
        "kind": "EgressSelectorConfiguration",
        "egressSelections": [{ "name": "cluster", "connection": {
            "proxyProtocol": "HTTPConnect",
            "transport": { "uds": { "udsName": socket.display().to_string() } },
        }}],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_s_host_and_port_are_found_in_every_form() {
        for (endpoint, host, port) in [
            ("https://10.0.0.10:6443", "10.0.0.10", 6443),
            ("https://api.example.org", "api.example.org", 443),
            ("https://[fd00::1]:6443/x", "fd00::1", 6443),
            ("https://[fd00::1]", "fd00::1", 443),
        ] {
            assert_eq!((endpoint_host(endpoint), endpoint_port(endpoint)), (Some(host), port), "{endpoint}");
        }
    }
}
