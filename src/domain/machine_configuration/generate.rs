//! A machine's configuration, byte for byte as Talos' generator writes it.

mod registries;

use std::collections::BTreeMap;

use yaml::Value;

use super::document::Document;
use super::inputs::{DiskSelector, Inputs, InstallTarget, NetworkPlugin, Role, VirtualAddress};
use super::schema::{DocumentKind, MAIN, document_kind};
use super::secrets::{CertificateAndKey, SecretsBundle, encode};
use super::{Contract, MachineConfiguration};

/// Why no configuration can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// The endpoint is no https URL.
    #[error("endpoint {0:?}: expected https://HOST or https://HOST:PORT")]
    Endpoint(String),
    /// A shared address belongs to control planes.
    #[error("a worker cannot hold the virtual address {0}: only control planes can")]
    VirtualAddressOnWorker(std::net::IpAddr),
    /// Kubernetes takes taints by their effect.
    #[error("taint {key:?}: expected VALUE:EFFECT or EFFECT, with NoSchedule, PreferNoSchedule or NoExecute")]
    Taint {
        /// The taint's key.
        key: String,
    },
    /// Control planes are tainted by Talos itself.
    #[error("taints of control planes are not set at registration: expected none, got {0:?}")]
    TaintOnControlPlane(String),
}

/// Makes a machine's configuration in one form.
///
/// # Errors
/// Inputs that contradict each other or that no machine would take.
pub fn generate(
    inputs: &Inputs,
    secrets: &SecretsBundle,
    contract: Contract,
) -> Result<MachineConfiguration, GenerateError> {
    check(inputs)?;
    let taints = taints(inputs)?;
    let main = section([
        ("version", text("v1alpha1")),
        ("debug", switch(false)),
        ("persist", switch(true)),
        ("machine", Some(machine(inputs, secrets, contract, taints))),
        ("cluster", Some(cluster(inputs, secrets, contract))),
    ]);
    let mut documents = vec![Document::new(&MAIN, main)];
    if contract.has_network_documents() {
        documents.extend(registries::mirror_documents(inputs));
        documents.extend(network_documents(inputs));
        documents.extend(registries::credential_documents(inputs));
    }
    Ok(MachineConfiguration { documents })
}

fn check(inputs: &Inputs) -> Result<(), GenerateError> {
    let host = inputs.endpoint.strip_prefix("https://").unwrap_or_default();
    let is_text = !host.chars().any(|character| character.is_whitespace() || character.is_control());
    if host.is_empty() || host.starts_with([':', '/']) || !is_text {
        return Err(GenerateError::Endpoint(inputs.endpoint.clone()));
    }
    match (inputs.role, &inputs.virtual_address, inputs.node_taints.keys().next()) {
        (Role::Worker, Some(shared), _) => Err(GenerateError::VirtualAddressOnWorker(shared.address)),
        (Role::ControlPlane, _, Some(key)) => Err(GenerateError::TaintOnControlPlane(key.clone())),
        _ => Ok(()),
    }
}

fn machine(inputs: &Inputs, secrets: &SecretsBundle, contract: Contract, taints: Vec<Value>) -> Value {
    let is_control_plane = inputs.role == Role::ControlPlane;
    let excluded = is_control_plane
        .then(|| ("node.kubernetes.io/exclude-from-external-load-balancers".to_owned(), Value::string("")));
    section([
        ("type", text(if is_control_plane { "controlplane" } else { "worker" })),
        ("token", text(secrets.trustd_token.expose())),
        ("ca", Some(authority(&secrets.os, is_control_plane))),
        ("certSANs", Some(texts(&inputs.subject_alternative_names))),
        ("kubelet", Some(kubelet(inputs, taints))),
        ("network", network(inputs, contract)),
        ("install", Some(install(inputs, contract))),
        ("time", time(inputs, contract)),
        ("sysctls", filled(named(&inputs.sysctls))),
        ("registries", registries::section_of(inputs, contract)),
        ("features", Some(features(inputs, contract))),
        ("nodeLabels", filled(named(&inputs.node_labels).into_iter().chain(excluded).collect())),
        ("nodeAnnotations", filled(named(&inputs.node_annotations))),
    ])
}

/// The older form of the time servers.
fn time(inputs: &Inputs, contract: Contract) -> Option<Value> {
    let is_set = !contract.has_network_documents() && !inputs.time_servers.is_empty();
    is_set.then(|| section([("servers", Some(texts(&inputs.time_servers)))]))
}

fn kubelet(inputs: &Inputs, taints: Vec<Value>) -> Value {
    let provider = inputs.provider_id.as_ref().map(|id| ("provider-id".to_owned(), Value::string(id)));
    let rotation = ("rotate-server-certificates".to_owned(), Value::string("true"));
    let arguments = provider.into_iter().chain(inputs.serving_certificates.then_some(rotation));
    let register = (!taints.is_empty()).then(|| ("registerWithTaints".to_owned(), Value::Sequence(taints)));
    section([
        ("image", image("ghcr.io/siderolabs/kubelet", inputs)),
        ("extraArgs", filled(arguments.collect())),
        ("extraConfig", filled(register.into_iter().collect())),
        ("defaultRuntimeSeccompProfileEnabled", switch(true)),
        ("disableManifestsDirectory", switch(true)),
    ])
}

/// The older form of the machine's network, which 1.12 still writes empty.
fn network(inputs: &Inputs, contract: Contract) -> Option<Value> {
    if contract.has_network_documents() {
        return (contract == Contract::V1_12).then(|| section([]));
    }
    // Naming a link turns its DHCP off, so that it is asked for again.
    let interface = |shared: &VirtualAddress| {
        section([
            ("interface", text(&shared.link)),
            ("dhcp", switch(true)),
            ("vip", Some(section([("ip", text(&shared.address.to_string()))]))),
        ])
    };
    let interfaces = inputs.virtual_address.as_ref().map(|shared| Value::Sequence(vec![interface(shared)]));
    Some(section([("hostname", inputs.hostname.as_deref().and_then(text)), ("interfaces", interfaces)]))
}

fn install(inputs: &Inputs, contract: Contract) -> Value {
    let (disk, selector) = match &inputs.install_disk {
        Some(InstallTarget::Path(path)) => (text(path), None),
        Some(InstallTarget::Selector(selector)) => (None, Some(disk_selector(selector))),
        None => (None, None),
    };
    section([
        ("disk", disk),
        ("diskSelector", selector),
        ("image", text(&inputs.installer_image)),
        ("wipe", switch(false)),
        ("grubUseUKICmdline", contract.has_network_documents().then_some(Value::Bool(true))),
    ])
}

fn disk_selector(selector: &DiskSelector) -> Value {
    let set = |value: &Option<String>| value.as_deref().and_then(text);
    section([
        ("size", set(&selector.size)),
        ("model", set(&selector.model)),
        ("serial", set(&selector.serial)),
        ("wwid", set(&selector.wwid)),
        ("type", set(&selector.kind)),
        ("busPath", set(&selector.bus_path)),
    ])
}

fn features(inputs: &Inputs, contract: Contract) -> Value {
    let older = (!contract.has_network_documents()).then_some(Value::Bool(true));
    section([
        // Absent means off to machines of 1.11 and older, always on to newer ones.
        ("rbac", older.clone()),
        ("stableHostname", older.clone()),
        ("apidCheckExtKeyUsage", older),
        ("diskQuotaSupport", switch(true)),
        ("kubePrism", kube_prism(inputs.kube_prism_port)),
        ("hostDNS", Some(section([("enabled", switch(true)), ("forwardKubeDNSToHost", switch(true))]))),
    ])
}

fn kube_prism(port: u16) -> Option<Value> {
    (port > 0).then(|| section([("enabled", switch(true)), ("port", Some(Value::Int(i64::from(port))))]))
}

fn cluster(inputs: &Inputs, secrets: &SecretsBundle, contract: Contract) -> Value {
    let is_control_plane = inputs.role == Role::ControlPlane;
    let own = |value: Value| is_control_plane.then_some(value);
    let plugin = match inputs.network_plugin {
        NetworkPlugin::Default => None,
        NetworkPlugin::None => Some(section([("name", text("none"))])),
    };
    let scheduled = is_control_plane && inputs.schedule_on_control_planes;
    section([
        ("id", text(secrets.cluster_id.expose())),
        ("secret", text(secrets.cluster_secret.expose())),
        ("controlPlane", Some(section([("endpoint", text(&inputs.endpoint))]))),
        ("clusterName", text(&inputs.cluster_name)),
        (
            "network",
            Some(section([
                ("cni", plugin),
                ("dnsDomain", text(&inputs.dns_domain)),
                ("podSubnets", Some(texts(&inputs.pod_subnets))),
                ("serviceSubnets", Some(texts(&inputs.service_subnets))),
            ])),
        ),
        ("token", text(secrets.bootstrap_token.expose())),
        ("secretboxEncryptionSecret", own(Value::string(secrets.secretbox_encryption_secret.expose()))),
        ("ca", Some(authority(&secrets.kubernetes, is_control_plane))),
        ("aggregatorCA", own(authority(&secrets.kubernetes_aggregator, true))),
        (
            "serviceAccount",
            own(section([("key", Some(Value::String(encode(secrets.service_account_key.expose()))))])),
        ),
        ("apiServer", own(api_server(inputs, contract))),
        ("controllerManager", own(component("registry.k8s.io/kube-controller-manager", inputs))),
        ("proxy", own(proxy(inputs))),
        ("scheduler", own(component("registry.k8s.io/kube-scheduler", inputs))),
        ("discovery", Some(discovery(inputs.discovery))),
        ("etcd", own(section([("ca", Some(authority(&secrets.etcd, true)))]))),
        ("allowSchedulingOnControlPlanes", scheduled.then_some(Value::Bool(true))),
    ])
}

fn api_server(inputs: &Inputs, contract: Contract) -> Value {
    let older = !contract.has_network_documents();
    // Newer machines add the endpoint's host to the certificate themselves.
    let host = older.then(|| host(&inputs.endpoint).to_owned());
    let names: Vec<String> =
        host.into_iter().chain(inputs.subject_alternative_names.iter().cloned()).collect();
    section([
        ("image", image("registry.k8s.io/kube-apiserver", inputs)),
        ("certSANs", Some(texts(&names))),
        ("disablePodSecurityPolicy", older.then_some(Value::Bool(true))),
        ("admissionControl", Some(Value::Sequence(vec![pod_security()]))),
        ("auditPolicy", Some(audit_policy())),
    ])
}

fn proxy(inputs: &Inputs) -> Value {
    section([
        ("disabled", (!inputs.kube_proxy).then_some(Value::Bool(true))),
        ("image", image("registry.k8s.io/kube-proxy", inputs)),
    ])
}

fn component(repository: &str, inputs: &Inputs) -> Value {
    section([("image", image(repository, inputs))])
}

fn discovery(enabled: bool) -> Value {
    let off = section([("disabled", switch(true))]);
    section([("enabled", switch(enabled)), ("registries", Some(section([("kubernetes", Some(off))])))])
}

/// Talos' default: baseline enforced, restricted warned of, the system's own namespace exempt.
fn pod_security() -> Value {
    let levels = [("enforce", "baseline"), ("audit", "restricted"), ("warn", "restricted")]
        .into_iter()
        .flat_map(|(mode, level)| {
            [(mode.to_owned(), Value::string(level)), (format!("{mode}-version"), Value::string("latest"))]
        });
    let exemptions = [
        ("usernames", Value::Sequence(Vec::new())),
        ("runtimeClasses", Value::Sequence(Vec::new())),
        ("namespaces", Value::Sequence(vec![Value::string("kube-system")])),
    ];
    let configuration = Value::mapping([
        ("apiVersion", Value::string("pod-security.admission.config.k8s.io/v1alpha1")),
        ("kind", Value::string("PodSecurityConfiguration")),
        ("defaults", Value::mapping(levels)),
        ("exemptions", Value::mapping(exemptions)),
    ]);
    section([("name", text("PodSecurity")), ("configuration", Some(configuration))])
}

/// Talos' default: who did what, without the contents.
fn audit_policy() -> Value {
    let metadata = Value::mapping([("level", Value::string("Metadata"))]);
    Value::mapping([
        ("apiVersion", Value::string("audit.k8s.io/v1")),
        ("kind", Value::string("Policy")),
        ("rules", Value::Sequence(vec![metadata])),
    ])
}

fn network_documents(inputs: &Inputs) -> Vec<Document> {
    let hostname = match &inputs.hostname {
        Some(hostname) => section([("auto", text("off")), ("hostname", text(hostname))]),
        None => section([("auto", text("stable"))]),
    };
    let shared = inputs
        .virtual_address
        .as_ref()
        .map(|shared| section([("name", text(&shared.address.to_string())), ("link", text(&shared.link))]));
    let servers = (!inputs.time_servers.is_empty())
        .then(|| section([("ntp", Some(section([("servers", Some(texts(&inputs.time_servers)))])))]));
    of_kind("HostnameConfig", hostname)
        .into_iter()
        .chain(shared.and_then(|shared| of_kind("Layer2VIPConfig", shared)))
        .chain(servers.and_then(|servers| of_kind("TimeSyncConfig", servers)))
        .collect()
}

fn of_kind(kind: &str, value: Value) -> Option<Document> {
    document_kind(kind).map(|kind: &'static DocumentKind| Document::new(kind, value))
}

fn taints(inputs: &Inputs) -> Result<Vec<Value>, GenerateError> {
    inputs
        .node_taints
        .iter()
        .map(|(key, taint)| {
            let (value, effect) = taint.rsplit_once(':').unwrap_or(("", taint));
            if !matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute") {
                return Err(GenerateError::Taint { key: key.clone() });
            }
            Ok(section([("key", text(key)), ("value", text(value)), ("effect", text(effect))]))
        })
        .collect()
}

/// An authority as the configuration carries it; workers are not given its key.
fn authority(authority: &CertificateAndKey, with_key: bool) -> Value {
    let key = if with_key { encode(authority.key.expose()) } else { String::new() };
    section([("crt", Some(Value::String(encode(&authority.certificate)))), ("key", text(&key))])
}

fn image(repository: &str, inputs: &Inputs) -> Option<Value> {
    let version = &inputs.kubernetes_version;
    (!version.is_empty()).then(|| Value::String(format!("{repository}:v{version}")))
}

/// The host of a URL, without the brackets of an IPv6 address.
fn host(endpoint: &str) -> &str {
    let authority = endpoint.strip_prefix("https://").unwrap_or(endpoint);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// A section of the keys that are set.
fn section<const LENGTH: usize>(pairs: [(&str, Option<Value>); LENGTH]) -> Value {
    Value::mapping(pairs.into_iter().filter_map(|(key, value)| Some((key, value?))))
}

/// A text that counts as not set when it is empty.
fn text(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| Value::string(text))
}

fn texts(texts: &[String]) -> Value {
    Value::Sequence(texts.iter().map(Value::string).collect())
}

const fn switch(value: bool) -> Option<Value> {
    Some(Value::Bool(value))
}

fn named(pairs: &BTreeMap<String, String>) -> Vec<(String, Value)> {
    pairs.iter().map(|(key, value)| (key.clone(), Value::string(value))).collect()
}

/// A mapping that counts as not set when it is empty.
fn filled(pairs: Vec<(String, Value)>) -> Option<Value> {
    (!pairs.is_empty()).then(|| Value::mapping(pairs))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::domain::machine_configuration::{secrets, validate};

    fn inputs(role: Role) -> Inputs {
        let mut inputs = Inputs::new(role, "prod", "https://10.0.0.10:6443", "v1.36.3");
        inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
        inputs
    }

    #[test]
    fn workers_are_given_no_key_of_the_cluster() {
        let bundle = secrets::tests::bundle();
        let text = generate(&inputs(Role::Worker), &bundle, Contract::V1_13).unwrap().to_yaml();
        let keys = [&bundle.os, &bundle.kubernetes, &bundle.kubernetes_aggregator, &bundle.etcd];
        for key in keys.map(|authority| encode(authority.key.expose())) {
            assert!(!text.expose().contains(&key));
        }
        assert!(!text.expose().contains(&encode(bundle.service_account_key.expose())));
        assert!(!text.expose().contains(bundle.secretbox_encryption_secret.expose()));
    }

    #[test]
    fn what_is_generated_is_read_again_and_acceptable() {
        let bundle = secrets::tests::bundle();
        for role in [Role::ControlPlane, Role::Worker] {
            for contract in [Contract::V1_10, Contract::V1_11, Contract::V1_12, Contract::V1_13] {
                let configuration = generate(&inputs(role), &bundle, contract).unwrap();
                let read = MachineConfiguration::parse(configuration.to_yaml().expose()).unwrap();
                assert_eq!(read, configuration);
                assert_eq!(validate(&read, false), validate::Verdict::default());
                assert_eq!(read.newer_than(contract), []);
            }
            let newest = generate(&inputs(role), &bundle, Contract::V1_13).unwrap();
            let problems = newest.newer_than(Contract::V1_11);
            let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
            assert_eq!(
                found,
                [
                    "machine.install.grubUseUKICmdline: needs Talos 1.12, this cluster's machines are configured for 1.11",
                    "HostnameConfig: needs Talos 1.12, this cluster's machines are configured for 1.11",
                ]
            );
        }
    }

    #[test]
    fn inputs_that_no_machine_would_take_are_refused() {
        let bundle = secrets::tests::bundle();
        let refused = |inputs: &Inputs| generate(inputs, &bundle, Contract::V1_13).unwrap_err();
        for endpoint in
            ["http://10.0.0.10:6443", "10.0.0.10:6443", "https://", "https://:6443", "https://a b"]
        {
            let mut inputs = inputs(Role::ControlPlane);
            inputs.endpoint = endpoint.to_owned();
            assert_eq!(refused(&inputs), GenerateError::Endpoint(endpoint.to_owned()));
        }
        let mut worker = inputs(Role::Worker);
        worker.node_taints = [("gpu".to_owned(), "yes:Sometimes".to_owned())].into();
        assert_eq!(refused(&worker), GenerateError::Taint { key: "gpu".to_owned() });
        worker.virtual_address =
            Some(VirtualAddress { address: "10.0.0.10".parse().unwrap(), link: "eth0".to_owned() });
        assert!(matches!(refused(&worker), GenerateError::VirtualAddressOnWorker(_)));
        let mut control_plane = inputs(Role::ControlPlane);
        control_plane.node_taints = [("gpu".to_owned(), "NoExecute".to_owned())].into();
        assert_eq!(refused(&control_plane), GenerateError::TaintOnControlPlane("gpu".to_owned()));
    }

    #[test]
    fn hosts_are_found_in_every_form_of_endpoint() {
        for (endpoint, expected) in [
            ("https://10.0.0.10:6443", "10.0.0.10"),
            ("https://[fd00::1]:6443", "fd00::1"),
            ("https://api.example/path", "api.example"),
        ] {
            assert_eq!(host(endpoint), expected);
        }
    }

    #[test]
    fn prints_nothing_of_itself() {
        let configuration =
            generate(&inputs(Role::ControlPlane), &secrets::tests::bundle(), Contract::V1_13).unwrap();
        assert_eq!(format!("{configuration:?}"), r#"MachineConfiguration(["v1alpha1", "HostnameConfig"])"#);
    }
}
