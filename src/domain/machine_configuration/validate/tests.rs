#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;
use crate::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, Patch, generate, patch, secrets,
};

fn patched(role: Role, contract: Contract, text: &str) -> Verdict {
    let mut inputs = Inputs::new(role, "prod", "https://10.0.0.10:6443", "1.36.3");
    inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
    let configuration = generate(&inputs, &secrets::tests::bundle(), contract).unwrap();
    assert_eq!(validate(&configuration, false), Verdict::default());
    let read = Patch::parse(text).unwrap();
    validate(&patch(&configuration, &[read]).unwrap().configuration, false)
}

#[track_caller]
fn refused(role: Role, contract: Contract, text: &str, path: &str, words: &str) {
    let verdict = patched(role, contract, text);
    let says = |problem: &Problem| problem.path == path && problem.to_string().contains(words);
    assert!(verdict.errors.iter().any(says), "{text}: {verdict:?}");
}

const NEW: Contract = Contract::V1_13;
const OLD: Contract = Contract::V1_11;

#[test]
fn a_hostname_given_twice_is_refused() {
    let text = "{apiVersion: v1alpha1, kind: HostnameConfig, hostname: x}";
    refused(Role::Worker, NEW, text, "HostnameConfig", "auto");
    refused(
        Role::Worker,
        NEW,
        "machine: {network: {hostname: x}}",
        "machine.network.hostname",
        "HostnameConfig too",
    );
}

#[test]
fn a_virtual_address_on_a_worker_is_refused_in_both_forms() {
    let text = "{apiVersion: v1alpha1, kind: Layer2VIPConfig, name: 10.0.0.9, link: eth0}";
    refused(Role::Worker, NEW, text, "Layer2VIPConfig \"10.0.0.9\"", "on workers");
    let text = "machine: {network: {interfaces: [{interface: eth0, vip: {ip: 10.0.0.9}}]}}";
    assert!(!patched(Role::Worker, OLD, text).is_acceptable());
    assert!(patched(Role::ControlPlane, OLD, text).is_acceptable());
}

#[test]
fn taints_that_a_worker_may_not_set_are_refused() {
    let text = "machine: {nodeTaints: {gpu: 'yes:NoSchedule'}}";
    refused(Role::Worker, NEW, text, "machine.nodeTaints", "node_taints");
    assert!(patched(Role::ControlPlane, NEW, text).is_acceptable());
}

#[test]
fn serving_certificates_that_nobody_approves_are_warned_of() {
    for text in [
        "machine: {kubelet: {extraArgs: {rotate-server-certificates: true}}}",
        "machine: {kubelet: {extraArgs: {rotate-server-certificates: [false, true]}}}",
        "machine: {kubelet: {extraConfig: {serverTLSBootstrap: true}}}",
    ] {
        let verdict = patched(Role::Worker, NEW, text);
        assert!(verdict.is_acceptable() && verdict.warnings.len() == 1, "{text}: {verdict:?}");
    }
    let off = "machine: {kubelet: {extraArgs: {rotate-server-certificates: false}}}";
    assert_eq!(patched(Role::Worker, NEW, off), Verdict::default());
}

#[test]
fn kernel_arguments_that_would_not_count_are_refused_or_warned_of() {
    let arguments = "machine: {install: {extraKernelArgs: [console=ttyS0]}}";
    refused(Role::Worker, NEW, arguments, "machine.install.extraKernelArgs", "use a schematic");
    let verdict = patched(Role::Worker, OLD, arguments);
    assert!(verdict.is_acceptable() && verdict.warnings[0].to_string().contains("UEFI"), "{verdict:?}");
    let secure = "machine: {install: {extraKernelArgs: [a], image: 'factory.talos.dev/metal-installer-secureboot/x:v1.11.2'}}";
    refused(Role::Worker, OLD, secure, "machine.install.extraKernelArgs", "secure boot");
}

#[test]
fn a_machine_without_a_disk_is_refused_unless_it_is_installed() {
    let text = "machine: {install: {disk: {$patch: delete}}}";
    refused(Role::Worker, NEW, text, "machine.install", "either disk or diskSelector");
}
