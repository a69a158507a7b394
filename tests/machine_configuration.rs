//! Our machine configurations against Talos' own library: the same text, byte for byte, and accepted.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "machine_configuration/cases.rs"]
mod cases;
#[path = "machine_configuration/complaints.rs"]
mod complaints;
#[path = "machine_configuration/corpus.rs"]
mod corpus;
#[path = "machine_configuration/deviations.rs"]
mod deviations;
#[path = "machine_configuration/differential.rs"]
mod differential;
#[path = "machine_configuration/judge.rs"]
mod judge;
#[path = "machine_configuration/patches.rs"]
mod patches;
#[path = "machine_configuration/random.rs"]
mod random;
#[path = "machine_configuration/schematics.rs"]
mod schematics;

use std::sync::OnceLock;

use judge::Judge;
use kontinuum::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, MachineConfiguration, Managed, NetworkPlugin, Patch, Registry, Role,
    SecretsBundle, VirtualAddress, generate, installer_image, patch, validate,
};
use proptest::prelude::*;
use serde_json::json;

const ROLES: [Role; 2] = [Role::ControlPlane, Role::Worker];
const CONTRACTS: [Contract; 4] = [Contract::V1_10, Contract::V1_11, Contract::V1_12, Contract::V1_13];

/// Options of Talos' generator and ours that mean the same.
fn plain(inputs: &Inputs, contract: Contract, secrets: &str) -> serde_json::Value {
    let disk = match &inputs.install_disk {
        Some(InstallTarget::Path(path)) => path.as_str(),
        Some(InstallTarget::Selector(_)) | None => "",
    };
    json!({
        "cluster_name": inputs.cluster_name,
        "endpoint": inputs.endpoint,
        "secrets": secrets,
        "talos_version": contract.as_str(),
        "kubernetes_version": inputs.kubernetes_version,
        "subject_alternative_names": inputs.subject_alternative_names,
        "install_disk": disk,
        "install_image": inputs.installer_image,
        "cni": if inputs.network_plugin == NetworkPlugin::None { "none" } else { "" },
        "dns_domain": inputs.dns_domain,
        "discovery": inputs.discovery,
        "pod_subnets": inputs.pod_subnets,
        "service_subnets": inputs.service_subnets,
        "sysctls": inputs.sysctls,
        "registry_mirrors": inputs
            .registries
            .iter()
            .map(|(host, registry)| json!({ "host": host, "endpoints": registry.endpoints }))
            .collect::<Vec<_>>(),
        "schedule_on_control_planes": inputs.schedule_on_control_planes,
        "kube_prism_port": inputs.kube_prism_port,
    })
}

fn inputs(role: Role) -> Inputs {
    let mut inputs = Inputs::new(role, "prod", "https://10.0.0.10:6443", "1.36.3");
    inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
    inputs.installer_image = installer_image("", false, "v1.13.9");
    inputs
}

/// What Talos generates for a role, after patches.
fn generated(judge: &mut Judge, options: &serde_json::Value, role: Role, patches: &[String]) -> String {
    let mut options = options.clone();
    let (result, own) = match role {
        Role::ControlPlane => ("control_plane", "control_plane_patches"),
        Role::Worker => ("worker", "worker_patches"),
    };
    options[own] = json!(patches);
    judge.ask("generate", &options).unwrap()[result].as_str().unwrap().to_owned()
}

/// One bundle for all tests: its RSA key takes seconds.
fn secrets(judge: &mut Judge) -> String {
    static BUNDLE: OnceLock<String> = OnceLock::new();
    BUNDLE.get_or_init(|| new_secrets(judge)).clone()
}

fn new_secrets(judge: &mut Judge) -> String {
    judge.ask("secrets", &json!({ "talos_version": "1.13" })).unwrap()["secrets"].as_str().unwrap().to_owned()
}

#[test]
fn reads_and_writes_the_bundle_that_talos_makes() {
    let mut judge = Judge::start();
    let text = secrets(&mut judge);
    let bundle = SecretsBundle::from_yaml(&text).unwrap();
    assert_eq!(bundle.to_yaml().expose(), text);
}

#[test]
fn generates_what_talos_generates() {
    let mut judge = Judge::start();
    let secrets = secrets(&mut judge);
    let bundle = SecretsBundle::from_yaml(&secrets).unwrap();
    for contract in CONTRACTS {
        for role in ROLES {
            for variant in 0..32_u32 {
                let mut inputs = inputs(role);
                let has = |bit: u32| variant & 1 << bit != 0;
                if has(0) {
                    inputs.network_plugin = NetworkPlugin::None;
                }
                if has(1) {
                    inputs.schedule_on_control_planes = true;
                    inputs.kube_prism_port = 7446;
                }
                if has(2) {
                    inputs.subject_alternative_names = vec!["api.example".to_owned(), "1.2.3.4".to_owned()];
                }
                if has(3) {
                    inputs.install_disk = None;
                    inputs.endpoint = "https://[fd00::1]:6443".to_owned();
                }
                if has(4) {
                    inputs.dns_domain = "my.domain".to_owned();
                    inputs.endpoint = "https://api.prod.example".to_owned();
                }
                let theirs = generated(&mut judge, &plain(&inputs, contract, &secrets), role, &[]);
                let ours = generate(&inputs, &bundle, contract).unwrap();
                assert_eq!(ours.to_yaml().expose(), theirs, "{contract} {role:?} {inputs:?}");
            }
        }
    }
}

#[test]
fn adds_what_talos_has_patches_for() {
    let mut judge = Judge::start();
    let secrets = secrets(&mut judge);
    let bundle = SecretsBundle::from_yaml(&secrets).unwrap();
    for contract in CONTRACTS {
        for role in ROLES {
            let mut inputs = inputs(role);
            inputs.network_plugin = NetworkPlugin::None;
            inputs.kube_proxy = false;
            let options = plain(&inputs, contract, &secrets);
            inputs.hostname = Some("node-1".to_owned());
            inputs.provider_id = Some("kontinuum://0b5c".to_owned());
            inputs.node_labels =
                [("tier".to_owned(), "general".to_owned()), ("a10".to_owned(), "1".to_owned())].into();
            let mut patches = vec![
                "machine: {kubelet: {extraArgs: {provider-id: \"kontinuum://0b5c\"}}, nodeLabels: {tier: general, a10: \"1\"}}"
                    .to_owned(),
            ];
            patches.push(if contract >= Contract::V1_12 {
                "{apiVersion: v1alpha1, kind: HostnameConfig, auto: off, hostname: node-1}".to_owned()
            } else {
                "machine: {network: {hostname: node-1}}".to_owned()
            });
            match role {
                Role::ControlPlane => {
                    inputs.virtual_address = Some(VirtualAddress {
                        address: "10.0.0.10".parse().unwrap(),
                        link: "eth0".to_owned(),
                    });
                    patches.push("cluster: {proxy: {disabled: true}}".to_owned());
                    patches.push(if contract >= Contract::V1_12 {
                        "{apiVersion: v1alpha1, kind: Layer2VIPConfig, name: 10.0.0.10, link: eth0}".to_owned()
                    } else {
                        "machine: {network: {interfaces: [{interface: eth0, dhcp: true, vip: {ip: 10.0.0.10}}]}}"
                            .to_owned()
                    });
                }
                Role::Worker => {
                    inputs.node_taints = [
                        ("gpu".to_owned(), "yes:NoSchedule".to_owned()),
                        ("b".to_owned(), "NoExecute".to_owned()),
                    ]
                    .into();
                    patches.push(
                        "machine: {kubelet: {extraConfig: {registerWithTaints: [{key: b, effect: NoExecute}, {key: gpu, value: \"yes\", effect: NoSchedule}]}}}"
                            .to_owned(),
                    );
                }
            }
            let theirs = generated(&mut judge, &options, role, &patches);
            let ours = generate(&inputs, &bundle, contract).unwrap();
            assert_eq!(ours.to_yaml().expose(), theirs, "{contract} {role:?}");
            assert_eq!(judge.refusal(ours.to_yaml().expose()), None, "{contract} {role:?}");
        }
    }
}

#[test]
fn registries_in_both_forms_are_taken_by_talos_as_they_are_written() {
    let mut judge = Judge::start();
    let bundle = SecretsBundle::from_yaml(&secrets(&mut judge)).unwrap();
    for contract in CONTRACTS {
        let mut inputs = inputs(Role::Worker);
        let registry = Registry {
            endpoints: vec!["https://mirror.example/v2/hub".to_owned()],
            override_path: true,
            skip_fallback: true,
            credentials: None,
        };
        inputs.registries.insert("docker.io".to_owned(), registry);
        let ours = generate(&inputs, &bundle, contract).unwrap().to_yaml().expose().to_owned();
        assert_eq!(ours.matches("overridePath: true").count(), 1, "{contract} {ours}");
        assert_eq!(judge.refusal(&ours), None, "{contract}");
        // Read by Talos and written anew it is the same text.
        assert_eq!(judge.patched(&ours, &["machine: {}"]).as_ref(), Ok(&ours), "{contract}");
    }
}

/// A configuration after patches, or why it cannot be had.
fn patched(configuration: &str, patches: &[&str]) -> Result<String, String> {
    let configuration = MachineConfiguration::parse(configuration).map_err(|error| error.to_string())?;
    let patches = Patch::parse_all(patches).map_err(|error| error.to_string())?;
    let patched = patch(&configuration, &patches).map_err(|error| error.to_string())?;
    Ok(patched.configuration.to_yaml().expose().to_owned())
}

/// A generated control plane of a form.
fn configuration(judge: &mut Judge, contract: Contract) -> String {
    let bundle = SecretsBundle::from_yaml(&secrets(judge)).unwrap();
    generate(&inputs(Role::ControlPlane), &bundle, contract).unwrap().to_yaml().expose().to_owned()
}

#[test]
fn patches_as_talos_patches() {
    let mut judge = Judge::start();
    for contract in [Contract::V1_11, Contract::V1_13] {
        let configuration = configuration(&mut judge, contract);
        for patches in patches::APPLIED {
            let theirs = judge.patched(&configuration, patches);
            let ours = patched(&configuration, patches);
            if contract == Contract::V1_11
                && patches.iter().any(|patch| patch.contains("kind: HostnameConfig"))
            {
                // Talos 1.13 writes a broken document where one to delete from is absent.
                continue;
            }
            assert_eq!(ours, theirs, "{contract} {patches:#?}");
        }
    }
}

#[test]
fn reads_and_writes_every_kind_of_document() {
    let mut judge = Judge::start();
    let configuration = configuration(&mut judge, Contract::V1_11);
    for document in patches::DOCUMENTS {
        let patches = [document.replacen('{', "{apiVersion: v1alpha1, ", 1)];
        let patches = [patches[0].as_str()];
        let theirs = judge.patched(&configuration, &patches);
        assert!(theirs.is_ok(), "{document}: {theirs:?}");
        assert_eq!(patched(&configuration, &patches), theirs, "{document}");
    }
}

#[test]
fn refuses_what_talos_refuses() {
    let mut judge = Judge::start();
    let configuration = configuration(&mut judge, Contract::V1_13);
    for patches in patches::REFUSED {
        let theirs = judge.patched(&configuration, patches);
        assert!(theirs.is_err(), "Talos takes {patches:#?}");
        let ours = patched(&configuration, patches);
        assert!(ours.is_err(), "{patches:#?}: {theirs:?}");
    }
}

/// Whether we would refuse a configuration, leaving out what only we ask for.
fn refused(configuration: &str) -> Option<Vec<String>> {
    let Ok(configuration) = MachineConfiguration::parse(configuration) else {
        return Some(vec!["not read".to_owned()]);
    };
    let errors: Vec<String> = validate(&configuration, false)
        .errors
        .iter()
        .map(ToString::to_string)
        .filter(|error| !error.contains("kontinuum"))
        .collect();
    (!errors.is_empty()).then_some(errors)
}

#[test]
fn judges_as_talos_judges() {
    let mut judge = Judge::start();
    let bundle = SecretsBundle::from_yaml(&secrets(&mut judge)).unwrap();
    for role in ROLES {
        let configuration = generate(&inputs(role), &bundle, Contract::V1_13).unwrap();
        let configuration = configuration.to_yaml().expose().to_owned();
        for patch in patches::JUDGED {
            let Ok(patched) = judge.patched(&configuration, &[patch]) else { continue };
            let (theirs, ours) = (judge.refusal(&patched), refused(&patched));
            assert_eq!(
                ours.is_some(),
                theirs.is_some(),
                "{role:?} {patch}\nours {ours:?}\ntheirs {theirs:?}"
            );
        }
    }
}

#[test]
fn refuses_patches_of_what_is_managed() {
    let mut judge = Judge::start();
    let configuration = MachineConfiguration::parse(&configuration(&mut judge, Contract::V1_13)).unwrap();
    let managed = Managed { network_plugin: true, hostname: true };
    for (text, path) in [
        ("cluster: {network: {cni: {name: flannel}}}", "cluster.network.cni"),
        ("cluster: {proxy: {disabled: false}}", "cluster.proxy.disabled"),
        ("cluster: {controlPlane: {endpoint: 'https://other:6443'}}", "cluster.controlPlane.endpoint"),
        ("machine: {features: {kubePrism: {enabled: false}}}", "machine.features.kubePrism"),
        ("machine: {ca: {$patch: delete}}", "machine.ca"),
        ("machine: {type: worker}", "machine.type"),
        ("machine: {network: {hostname: x}}", "hostname"),
        ("{apiVersion: v1alpha1, kind: HostnameConfig, auto: off, hostname: x}", "hostname"),
    ] {
        let patches = Patch::parse_all(&["machine: {sysctls: {a: b}}", text]).unwrap();
        let error = managed.patch(&configuration, &patches).unwrap_err();
        assert_eq!(error.index, 1, "{error}");
        assert_eq!(error.to_string(), "apply patch 2");
        assert!(error.source.to_string().starts_with(&format!("{path}: ")), "{error:?}");
    }
    let free = Managed { network_plugin: false, hostname: false };
    let patches = Patch::parse_all(&["cluster: {network: {cni: {name: none}}}"]).unwrap();
    assert!(free.patch(&configuration, &patches).is_ok());
}

#[test]
fn writes_texts_so_that_talos_reads_them_back() {
    let mut judge = Judge::start();
    let configuration = configuration(&mut judge, Contract::V1_13);
    // Talos' own output of these is unreadable or loses the leading spaces.
    for content in [" x\\ny\\n", "  a\\n b\\n", " \\n  x\\n"] {
        let file = format!("{{path: /a, permissions: 0o644, op: create, content: \"{content}\"}}");
        let ours = patched(&configuration, &[&format!("machine: {{files: [{file}]}}")]).unwrap();
        let quoted =
            configuration.replacen("    features:", &format!("    files: [{file}]\n    features:"), 1);
        assert!(judge.is_same(&ours, &quoted), "{content}");
        assert!(!judge.is_same(&ours, &configuration), "{content}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_patcher_panic(
        text in "(machine: |cluster: |network: |interfaces: |apiServer: |install: |kind: |LinkConfig|apiVersion: v1alpha1|name: |a|\\{|\\}|\\[|\\]|, |: |- |\n|\n  |\n    |\\$patch: delete|\\$patch|~|null|5|''|'x'|&a |\\*a|---\n){0,30}"
    ) {
        let base = MachineConfiguration::parse("machine: {type: worker, certSANs: [a]}\ncluster: {apiServer: {}}").unwrap();
        let patched = Patch::parse(&text).ok().and_then(|read| patch(&base, &[read]).ok());
        if let Some(patched) = patched {
            let written = patched.configuration.to_yaml();
            let _ = validate(&patched.configuration, false);
            prop_assert!(MachineConfiguration::parse(written.expose()).is_ok(), "{}", written.expose());
        }
    }
}
