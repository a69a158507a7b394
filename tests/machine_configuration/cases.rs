//! Options of a machine, made up, for our generator and for Talos'.

use std::collections::BTreeMap;

use kontinuum::domain::machine_configuration::{
    Contract, Credentials, DiskSelector, Inputs, InstallTarget, NetworkPlugin, Registry, Role, Secret,
    VirtualAddress, installer_image,
};
use serde_json::{Value, json};

use super::random::Random;
use super::{CONTRACTS, ROLES, plain};

/// A machine of a form.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) inputs: Inputs,
    pub(crate) contract: Contract,
    /// The user's patches.
    pub(crate) patches: Vec<String>,
}

const ENDPOINTS: [&str; 6] = [
    "https://10.0.0.10:6443",
    "https://[fd00::1]:6443",
    "https://api.prod.example",
    "https://a:443/path",
    "https://API.example:6443/",
    "https://10.0.0.1",
];
const TEXTS: [&str; 12] =
    ["1", "0x10", "yes", "a b", "1e3", "0o17", ": x", "# y", "it's", "two\nlines\n", "", "1.10"];
const NAMES: [&str; 8] = ["a", "a10", "a9", "net.core.somaxconn", "kernel.x", "b-c", "B", "z/y"];

impl Case {
    pub(crate) fn new(random: &mut Random) -> Self {
        let role = *random.pick(&ROLES);
        let contract = *random.pick(&CONTRACTS);
        let name = random.word(&["prod", "c-1", "true", "x1"]);
        let mut inputs = Inputs::new(
            role,
            name,
            random.word(&ENDPOINTS),
            random.word(&["1.36.3", "v1.33.0", "1.35.1", ""]),
        );
        inputs.install_disk = disk(random);
        let versions = ["v1.13.9", "1.10.0"];
        inputs.installer_image = match random.below(3) {
            0 => String::new(),
            1 => installer_image("", true, random.word(&versions)),
            _ => installer_image("abc", false, random.word(&versions)),
        };
        inputs.subject_alternative_names =
            random.some(3, &["a.b", "10.0.0.5", "fd00::7", "10.0.0.10"].map(str::to_owned));
        inputs.network_plugin = *random.pick(&[NetworkPlugin::Default, NetworkPlugin::None]);
        inputs.schedule_on_control_planes = random.chance(50);
        inputs.kube_prism_port = *random.pick(&[7445, 7445, 7446, 0]);
        inputs.discovery = random.chance(70);
        inputs.dns_domain = random.word(&["cluster.local", "my.domain"]).to_owned();
        if random.chance(30) {
            inputs.pod_subnets = vec!["10.1.0.0/16".to_owned(), "fd00:1::/56".to_owned()];
            inputs.service_subnets = vec!["10.2.0.0/16".to_owned(), "fd00:2::/112".to_owned()];
        }
        inputs.sysctls = pairs(random);
        unofficial(&mut inputs, random);
        registries(&mut inputs, random);
        Self { inputs, contract, patches: Vec::new() }
    }

    /// The same for Talos' generator. What it has no option for comes as patches before the user's; how many those are
    /// is the second part.
    pub(crate) fn question(&self, secrets: &str) -> (Value, usize) {
        let mut question = plain(&self.inputs, self.contract, secrets);
        let own = own_patches(&self.inputs, self.contract);
        let patches: Vec<&String> = own.iter().chain(&self.patches).collect();
        question["role"] = json!(if self.inputs.role == Role::Worker { "worker" } else { "controlplane" });
        question["patches"] = json!(patches);
        (question, own.len())
    }
}

fn disk(random: &mut Random) -> Option<InstallTarget> {
    match random.below(4) {
        0 => None,
        1 => Some(InstallTarget::Selector(DiskSelector {
            size: Some(">= 100GB".to_owned()),
            model: random.chance(50).then(|| "WD*".to_owned()),
            serial: Some("123".to_owned()),
            kind: random.chance(50).then(|| "nvme".to_owned()),
            ..DiskSelector::default()
        })),
        _ => Some(InstallTarget::Path(random.word(&["/dev/sda", "/dev/vda"]).to_owned())),
    }
}

fn pairs(random: &mut Random) -> BTreeMap<String, String> {
    let names = random.some(3, &NAMES);
    names.into_iter().map(|name| (name.to_owned(), random.word(&TEXTS).to_owned())).collect()
}

/// What Talos' generator has no option for.
fn unofficial(inputs: &mut Inputs, random: &mut Random) {
    inputs.hostname = random.chance(50).then(|| "node-1".to_owned());
    inputs.provider_id = random.chance(50).then(|| "kontinuum://0b5c".to_owned());
    inputs.serving_certificates = random.chance(30);
    inputs.node_labels = pairs(random);
    inputs.node_annotations = pairs(random);
    inputs.time_servers = random.some(2, &["pool.example".to_owned(), "10.0.0.123".to_owned()]);
    match inputs.role {
        Role::ControlPlane => {
            inputs.kube_proxy = random.chance(50);
            inputs.virtual_address = random
                .chance(50)
                .then(|| VirtualAddress { address: "10.0.0.99".parse().unwrap(), link: "eth0".to_owned() });
        }
        Role::Worker if random.chance(50) => {
            inputs.node_taints = [("gpu", "yes:NoSchedule"), ("b", "NoExecute"), ("c", "1:PreferNoSchedule")]
                .map(|(key, taint)| (key.to_owned(), taint.to_owned()))
                .into();
        }
        Role::Worker => {}
    }
}

fn registries(inputs: &mut Inputs, random: &mut Random) {
    let endpoints = ["https://mirror.example", "http://10.0.0.3:5000", "https://m/v2/"].map(str::to_owned);
    for host in random.some(2, &["docker.io", "ghcr.io", "*"]) {
        let registry = Registry {
            endpoints: vec![random.pick(&endpoints).clone(), random.pick(&endpoints).clone()],
            override_path: false,
            skip_fallback: random.chance(30),
            credentials: random.chance(30).then(|| Credentials {
                username: "robot".to_owned(),
                password: Secret::new(random.word(&["secret", "0123"])),
            }),
        };
        inputs.registries.insert(host.to_owned(), registry);
    }
}

fn own_patches(inputs: &Inputs, contract: Contract) -> Vec<String> {
    let has_documents = contract >= Contract::V1_12;
    let mut patches = Vec::new();
    let mut patch = |value: Value| patches.push(value.to_string());
    if !inputs.node_labels.is_empty() {
        patch(json!({"machine": {"nodeLabels": inputs.node_labels}}));
    }
    if !inputs.node_annotations.is_empty() {
        patch(json!({"machine": {"nodeAnnotations": inputs.node_annotations}}));
    }
    if let Some(id) = &inputs.provider_id {
        patch(json!({"machine": {"kubelet": {"extraArgs": {"provider-id": id}}}}));
    }
    if inputs.serving_certificates {
        patch(json!({"machine": {"kubelet": {"extraArgs": {"rotate-server-certificates": "true"}}}}));
    }
    if let Some(InstallTarget::Selector(selector)) = &inputs.install_disk {
        let mut facts = json!({"size": selector.size, "serial": selector.serial});
        for (key, value) in [("model", &selector.model), ("type", &selector.kind)] {
            if let Some(value) = value {
                facts[key] = json!(value);
            }
        }
        patch(json!({"machine": {"install": {"diskSelector": facts}}}));
    }
    if !inputs.kube_proxy {
        patch(json!({"cluster": {"proxy": {"disabled": true}}}));
    }
    let taints: Vec<Value> = inputs
        .node_taints
        .iter()
        .map(|(key, taint)| match taint.split_once(':') {
            Some((value, effect)) => json!({"key": key, "value": value, "effect": effect}),
            None => json!({"key": key, "effect": taint}),
        })
        .collect();
    if !taints.is_empty() {
        patch(json!({"machine": {"kubelet": {"extraConfig": {"registerWithTaints": taints}}}}));
    }
    if let Some(hostname) = &inputs.hostname {
        patch(if has_documents {
            document(json!({"kind": "HostnameConfig", "auto": "off", "hostname": hostname}))
        } else {
            json!({"machine": {"network": {"hostname": hostname}}})
        });
    }
    if let Some(shared) = &inputs.virtual_address {
        let address = shared.address.to_string();
        patch(if has_documents {
            document(json!({"kind": "Layer2VIPConfig", "name": address, "link": shared.link}))
        } else {
            let interface = json!({"interface": shared.link, "dhcp": true, "vip": {"ip": address}});
            json!({"machine": {"network": {"interfaces": [interface]}}})
        });
    }
    if !inputs.time_servers.is_empty() {
        patch(if has_documents {
            document(json!({"kind": "TimeSyncConfig", "ntp": {"servers": inputs.time_servers}}))
        } else {
            json!({"machine": {"time": {"servers": inputs.time_servers}}})
        });
    }
    for (host, registry) in &inputs.registries {
        if registry.skip_fallback {
            patch(if has_documents {
                document(json!({"kind": "RegistryMirrorConfig", "name": host, "skipFallback": true}))
            } else {
                json!({"machine": {"registries": {"mirrors": {host.as_str(): {"skipFallback": true}}}}})
            });
        }
        if let Some(credentials) = &registry.credentials {
            let account =
                json!({"username": credentials.username, "password": credentials.password.expose()});
            patch(if has_documents {
                let mut whole = document(json!({"kind": "RegistryAuthConfig", "name": host}));
                whole["username"] = account["username"].clone();
                whole["password"] = account["password"].clone();
                whole
            } else {
                json!({"machine": {"registries": {"config": {host.as_str(): {"auth": account}}}}})
            });
        }
    }
    patches
}

fn document(mut value: Value) -> Value {
    value["apiVersion"] = json!("v1alpha1");
    value
}
