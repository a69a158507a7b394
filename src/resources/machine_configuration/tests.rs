#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;
use crate::domain::machine_configuration::{CertificateAndKey, Secret as Hidden, SecretsBundle};
use crate::plugin::{Attr, List};

fn secrets() -> SecretsBundle {
    let pem = |label: &str, text: &str| format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
    let authority = || CertificateAndKey {
        certificate: pem("CERTIFICATE", "AAAA"),
        key: Hidden::new(pem("EC PRIVATE KEY", "BBBB")),
    };
    SecretsBundle {
        cluster_id: Hidden::new("aWQ="),
        cluster_secret: Hidden::new("c2VjcmV0"),
        bootstrap_token: Hidden::new("abcdef.0123456789abcdef"),
        secretbox_encryption_secret: Hidden::new("c2VjcmV0Ym94"),
        trustd_token: Hidden::new("ghijkl.0123456789abcdef"),
        etcd: authority(),
        kubernetes: authority(),
        kubernetes_aggregator: authority(),
        service_account_key: Hidden::new(pem("RSA PRIVATE KEY", "CCCC")),
        os: authority(),
    }
}

fn config(machine_type: &str, talos_version: &str) -> Configuration {
    Configuration {
        cluster_name: "prod".into(),
        cluster_endpoint: "https://10.0.0.10:6443".into(),
        machine_type: machine_type.into(),
        talos_version: talos_version.into(),
        kubernetes_version: "1.33.3".into(),
        machine_secrets: Secret::new(secrets().to_yaml().expose()).into(),
        ..Configuration::default()
    }
}

fn patches(texts: &[&str]) -> Attr<List<String>> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// What is wrong: where, and in which words.
fn wrong(config: &Configuration) -> Vec<(String, String)> {
    let judged = config.parse().and_then(|parsed| made(&parsed.unwrap()).map(drop));
    let Err(found) = judged else { return Vec::new() };
    found
        .iter()
        .map(|it| {
            let path = it.path.as_ref().map(ToString::to_string).unwrap_or_default();
            (path, format!("{}: {}", it.summary, it.detail))
        })
        .collect()
}

#[track_caller]
fn is_refused(config: &Configuration, path: &str, words: &str) {
    let found = wrong(config);
    assert!(found.iter().any(|(at, text)| at == path && text.contains(words)), "{path}: {words}: {found:#?}");
}

fn text(config: &Configuration) -> String {
    let parsed = config.parse().unwrap().unwrap();
    made(&parsed).unwrap_or_else(|wrong| panic!("{wrong:?}")).configuration.to_yaml().expose().to_owned()
}

#[test]
fn the_defaults_are_those_of_talosctl() {
    let text = text(&config("controlplane", "v1.13.9"));
    for part in [
        "disk: /dev/sda\n",
        "podSubnets:\n            - 10.244.0.0/16\n",
        "kube-proxy:v1.33.3\n",
        "port: 7445\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in ["cni:", "disabled: true\n    scheduler", "allowSchedulingOnControlPlanes"] {
        assert!(!text.contains(part), "{part}: {text}");
    }
    let image = format!(
        "image: factory.talos.dev/metal-installer/{}:v1.13.9\n",
        crate::domain::machine_configuration::DEFAULT_SCHEMATIC
    );
    assert!(text.contains(&image), "{text}");
}

#[test]
fn the_image_is_made_of_its_schematic_or_given_but_not_both() {
    let made_of = Configuration {
        system_extensions: patches(&["siderolabs/qemu-guest-agent"]),
        secure_boot: true.into(),
        ..config("worker", "v1.12.1")
    };
    let id = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515";
    assert!(text(&made_of).contains(&format!("factory.talos.dev/metal-installer-secureboot/{id}:v1.12.1\n")));
    let both = Configuration { install_image: "a:v1.2.3".into(), ..made_of.clone() };
    is_refused(&both, "install_image", "or what it is made of");
    let twice = Configuration { schematic: id.into(), ..made_of };
    is_refused(&twice, "schematic", "or what it is made of");
    let minor = config("worker", "v1.12");
    is_refused(&minor, "talos_version", "MAJOR.MINOR.PATCH");
    assert_eq!(wrong(&Configuration { install_image: "a:v1.2.3".into(), ..minor }), []);
    let unnamed = Configuration { system_extensions: patches(&["qemu"]), ..config("worker", "v1.12.1") };
    is_refused(&unnamed, "system_extensions", "OWNER/NAME");
}

#[test]
fn attributes_that_cannot_be_are_refused_where_they_stand() {
    let good = || config("worker", "v1.13.9");
    let map = |key: &str, value: &str| [(key.to_owned(), value.to_owned())].into_iter().collect();
    is_refused(
        &Configuration { machine_type: "master".into(), ..good() },
        "machine_type",
        "controlplane or worker",
    );
    is_refused(
        &Configuration { cluster_endpoint: "10.0.0.1:6443".into(), ..good() },
        "cluster_endpoint",
        "https://",
    );
    is_refused(
        &Configuration { talos_version: "v1.9.0".into(), ..good() },
        "talos_version",
        "older than 1.10",
    );
    is_refused(
        &Configuration { kubernetes_version: "1.30.0".into(), ..good() },
        "kubernetes_version",
        "1.31 to 1.36",
    );
    is_refused(
        &Configuration { machine_secrets: Secret::new("{}").into(), ..good() },
        "machine_secrets",
        "is required",
    );
    is_refused(&Configuration { kube_prism_port: 70_000.into(), ..good() }, "kube_prism_port", "a port");
    is_refused(
        &Configuration { network_plugin: "cilium".into(), ..good() },
        "network_plugin",
        "flannel or none",
    );
    is_refused(
        &Configuration { node_taints: map("a", "b:Never"), ..good() },
        "node_taints[\"a\"]",
        "not a taint",
    );
    is_refused(
        &Configuration { node_taints: map("a", "NoExecute"), ..config("controlplane", "v1.13.9") },
        "node_taints",
        "tainted by Talos itself",
    );
    is_refused(
        &Configuration { node_labels: map("node-role.kubernetes.io/worker", ""), ..good() },
        "node_labels[\"node-role.kubernetes.io/worker\"]",
        "lets no node give itself",
    );
    let vip = model::VipModel { address: "10.0.0.9".into(), link: "eth0".into() };
    is_refused(&Configuration { vip: vip.into(), ..good() }, "vip", "a worker holds no address");
    let selector = model::DiskSelectorModel { serial: "1".into(), ..model::DiskSelectorModel::default() };
    is_refused(
        &Configuration { install_disk: "/dev/vda".into(), install_disk_selector: selector.into(), ..good() },
        "install_disk",
        "either install_disk or install_disk_selector",
    );
    is_refused(
        &Configuration {
            pod_subnets: patches(&["10.0.0.0/8"]),
            service_subnets: patches(&["10.1.0.0/16"]),
            ..good()
        },
        "",
        "within the pods' networks",
    );
}

#[test]
fn a_fault_is_blamed_on_the_patch_that_brought_it_with_its_line() {
    let with =
        |texts: &[&str]| Configuration { config_patches: patches(texts), ..config("worker", "v1.13.9") };
    let fine = "machine: {env: {A: b}}";
    is_refused(
        &with(&[fine, "machine:\n  sysctl: {}\n"]),
        "config_patches[1]",
        "line 2: machine.sysctl: unknown key",
    );
    is_refused(
        &with(&[fine, fine, "machine: {install: {disk: {$patch: delete}}}"]),
        "config_patches[2]",
        "diskSelector",
    );
    is_refused(
        &with(&["[{op: add, path: /machine/sysctls, value: {a: b}}]"]),
        "config_patches[0]",
        "{machine: {sysctls: …}}",
    );
    let older = Configuration {
        config_patches: patches(&["machine: {install: {grubUseUKICmdline: true}}"]),
        ..config("worker", "v1.11.2")
    };
    is_refused(&older, "config_patches[0]", "needs Talos 1.12");
    let named = Configuration {
        hostname: "node-1".into(),
        ..with(&[fine, "{apiVersion: v1alpha1, kind: HostnameConfig, auto: off, hostname: x}"])
    };
    is_refused(&named, "config_patches[1]", "given by `hostname` already");
}

#[test]
fn json_patches_count_where_talos_takes_them() {
    let older = Configuration {
        config_patches: patches(&[
            "[{\"op\": \"replace\", \"path\": \"/machine/install/disk\", \"value\": \"/dev/vdb\"}]",
        ]),
        ..config("worker", "v1.11.2")
    };
    assert!(text(&older).contains("disk: /dev/vdb\n"));
}

#[test]
fn values_that_are_not_known_yet_make_nothing_fail() {
    let unknown = Configuration {
        machine_secrets: Attr::Unknown,
        talos_version: Attr::Unknown,
        config_patches: Attr::Known(vec![Attr::Unknown]),
        node_labels: Attr::Unknown,
        ..config("worker", "v1.13.9")
    };
    assert!(unknown.parse().unwrap().is_none());
    // What is known is judged all the same.
    is_refused(
        &Configuration { machine_type: "x".into(), ..unknown },
        "machine_type",
        "controlplane or worker",
    );
}

#[test]
fn a_talos_newer_than_this_provider_gets_the_newest_form_and_a_note() {
    let newer = Configuration { kubernetes_version: "1.37.0".into(), ..config("worker", "v1.14.0") };
    let parsed = newer.parse().unwrap().unwrap();
    assert_eq!(parsed.notes.len(), 1);
    assert!(parsed.notes[0].detail.contains("the form of Talos 1.13"), "{:?}", parsed.notes);
    assert!(text(&newer).contains("kind: HostnameConfig"));
}
