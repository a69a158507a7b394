//! The `machine` section.

use std::collections::BTreeSet;

use yaml::Value;

use super::syntax::{is_filter, is_label_key, is_label_value, is_taint, url};
use super::{Verdict, flag, list, number, pairs, text, texts};
use crate::domain::machine_configuration::Role;

pub(super) fn judge(machine: &Value, role: Option<Role>, installed: bool, verdict: &mut Verdict) {
    if !installed {
        install(machine.field("install"), verdict);
    }
    let mut extensions = BTreeSet::new();
    for extension in list(machine, &["install", "extensions"]) {
        let image = text(extension, &["image"]);
        verdict.error_if(
            !extensions.insert(image),
            "machine.install.extensions",
            "an extension stands twice",
        );
    }
    if !extensions.is_empty() {
        verdict.warning("machine.install.extensions", "deprecated: use a schematic of the image factory");
    }
    kernel_arguments(machine, verdict);
    authority(machine, role, verdict);
    features(machine, role, verdict);
    kubelet(machine, verdict);
    disks(machine, verdict);
    names(machine, verdict);
    if role == Some(Role::Worker) && pairs(machine, &["nodeTaints"]).next().is_some() {
        verdict.error(
            "machine.nodeTaints",
            "kontinuum refuses it on workers: Kubernetes lets no worker taint itself, so that Talos would set no label \
             either; use node_taints, or registerWithTaints in the kubelet's extraConfig",
        );
    }
    logging(machine, verdict);
}

fn install(install: Option<&Value>, verdict: &mut Verdict) {
    let Some(install) = install else {
        verdict.error("machine.install", "install instructions are required on metal");
        return;
    };
    let path = text(install, &["disk"]);
    match install.field("diskSelector") {
        None if path.is_empty() => {
            verdict.error("machine.install", "either disk or diskSelector must be set");
        }
        None => {}
        Some(selector) => {
            let place = "machine.install.diskSelector";
            let kind = text(selector, &["type"]);
            verdict.error_if(!text(selector, &["name"]).is_empty(), place, "`name` is not supported");
            verdict.error_if(
                !matches!(kind, "" | "ssd" | "hdd" | "nvme" | "sd"),
                place,
                "type: expected ssd, hdd, nvme or sd",
            );
            // Talos takes both of these: any disk, and the selector before the path.
            verdict.error_if(
                selector.as_mapping().is_some_and(<[_]>::is_empty),
                place,
                "kontinuum refuses an empty selector: it matches any disk",
            );
            verdict.error_if(
                !path.is_empty(),
                place,
                "kontinuum refuses `disk` beside `diskSelector`: the path would not count",
            );
        }
    }
    let has_arguments = !list(install, &["extraKernelArgs"]).is_empty();
    verdict.error_if(
        has_arguments && flag(install, &["grubUseUKICmdline"]) == Some(true),
        "machine.install.extraKernelArgs",
        "cannot be used with grubUseUKICmdline: use a schematic with the arguments",
    );
}

/// Arguments that the machine would boot without: they are part of an image that boots by UEFI.
fn kernel_arguments(machine: &Value, verdict: &mut Verdict) {
    let place = "machine.install.extraKernelArgs";
    if list(machine, &["install", "extraKernelArgs"]).is_empty() {
        return;
    }
    if text(machine, &["install", "image"]).contains("installer-secureboot") {
        verdict.error(
            place,
            "kontinuum refuses what Talos ignores under secure boot: use a schematic with the arguments",
        );
    } else {
        verdict.warning(
            place,
            "kontinuum warns that machines that boot by UEFI ignore it: use a schematic with the arguments",
        );
    }
}

fn authority(machine: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let place = "machine.ca";
    let accepted = list(machine, &["acceptedCAs"]);
    let authority = machine.field("ca");
    verdict.error_if(authority.is_none() && accepted.is_empty(), place, "an authority is required");
    let has_key = !text(machine, &["ca", "key"]).is_empty();
    match role {
        Some(Role::ControlPlane) => {
            verdict.error_if(!has_key, place, "control planes need the authority's key");
        }
        Some(Role::Worker) => {
            verdict.error_if(has_key, place, "workers are not given the authority's key");
            verdict.error_if(
                authority.is_some() && text(machine, &["ca", "crt"]).is_empty() && accepted.is_empty(),
                place,
                "workers need the authority's certificate",
            );
        }
        None => {}
    }
    verdict.error_if(
        text(machine, &["token"]).is_empty(),
        "machine.token",
        "kontinuum needs it: machines join by it",
    );
}

fn features(machine: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let resolver = ["features", "hostDNS"];
    let is_on = |key: &str| flag(machine, &[resolver[0], resolver[1], key]) == Some(true);
    verdict.error_if(
        is_on("forwardKubeDNSToHost") && !is_on("enabled"),
        "machine.features.hostDNS.forwardKubeDNSToHost",
        "needs hostDNS.enabled",
    );
    let access = ["features", "kubernetesTalosAPIAccess"];
    if flag(machine, &[access[0], access[1], "enabled"]) == Some(true) {
        let place = "machine.features.kubernetesTalosAPIAccess";
        verdict.error_if(role == Some(Role::Worker), place, "only control planes can give access");
        let is_role = |role: &str| {
            matches!(role, "os:admin" | "os:reader" | "os:operator" | "os:etcd:backup" | "os:impersonator")
        };
        verdict.error_if(
            !texts(machine, &[access[0], access[1], "allowedRoles"]).all(is_role),
            place,
            "allowedRoles: expected os:admin, os:operator, os:reader or os:etcd:backup",
        );
    }
    verdict.error_if(
        !matches!(text(machine, &["features", "nodeAddressSortAlgorithm"]), "" | "v1" | "v2"),
        "machine.features.nodeAddressSortAlgorithm",
        "expected v1 or v2",
    );
}

/// What Talos sets in the kubelet's configuration itself.
const PROTECTED: [&str; 13] = [
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupRoot",
    "kind",
    "kubeletCgroups",
    "port",
    "protectKernelDefaults",
    "resolvConf",
    "rotateCertificates",
    "systemCgroups",
    "staticPodPath",
    "seccompDefault",
];

fn kubelet(machine: &Value, verdict: &mut Verdict) {
    for (key, _) in pairs(machine, &["kubelet", "extraConfig"]) {
        if PROTECTED.contains(&key) {
            verdict.error(format!("machine.kubelet.extraConfig.{key}"), "is set by Talos");
        }
    }
    if asks_for_serving_certificates(machine) {
        verdict.warning(
            "machine.kubelet.extraArgs.rotate-server-certificates",
            "kontinuum warns that each kubelet then waits for someone to approve its certificate, and has none until then",
        );
    }
    verdict.error_if(
        !texts(machine, &["kubelet", "nodeIP", "validSubnets"]).all(is_filter),
        "machine.kubelet.nodeIP.validSubnets",
        "expected networks or addresses",
    );
}

fn disks(machine: &Value, verdict: &mut Verdict) {
    for disk in list(machine, &["disks"]) {
        let partitions = list(disk, &["partitions"]);
        let all_but_last = partitions.iter().rev().skip(1);
        verdict.error_if(
            all_but_last.clone().any(|partition| partition.field("size").is_none()),
            "machine.disks.partitions",
            "only the last partition can take the rest of the disk",
        );
    }
    for name in ["state", "ephemeral"] {
        let Some(encryption) = machine.at(&["systemDiskEncryption", name]) else { continue };
        let place = format!("machine.systemDiskEncryption.{name}.keys");
        let keys = list(encryption, &["keys"]);
        verdict.error_if(keys.is_empty(), &place, "no encryption keys");
        let mut slots = BTreeSet::new();
        for key in keys {
            verdict.error_if(!slots.insert(number(key, &["slot"])), &place, "a slot is used twice");
            let has_method =
                ["nodeID", "static", "kms", "tpm"].iter().any(|method| key.field(method).is_some());
            verdict.error_if(!has_method, &place, "a key needs static, nodeID, kms or tpm");
        }
    }
}

fn names(machine: &Value, verdict: &mut Verdict) {
    let value = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for (key, label) in pairs(machine, &["nodeLabels"]) {
        let is_fine = is_label_key(key) && is_label_value(&value(label));
        verdict.error_if(!is_fine, &format!("machine.nodeLabels[{key}]"), "no label of Kubernetes");
    }
    for (key, _) in pairs(machine, &["nodeAnnotations"]) {
        verdict.error_if(
            !is_label_key(&key.to_ascii_lowercase()),
            &format!("machine.nodeAnnotations[{key}]"),
            "no annotation of Kubernetes",
        );
    }
    for (key, taint) in pairs(machine, &["nodeTaints"]) {
        let is_fine = is_label_key(key) && is_taint(&value(taint));
        verdict.error_if(!is_fine, &format!("machine.nodeTaints[{key}]"), "expected VALUE:EFFECT or EFFECT");
    }
}

fn logging(machine: &Value, verdict: &mut Verdict) {
    for destination in list(machine, &["logging", "destinations"]) {
        let place = "machine.logging.destinations";
        let endpoint = url(text(destination, &["endpoint"]));
        let is_fine = endpoint.is_some_and(|url| matches!(url.scheme, "tcp" | "udp") && !url.host.is_empty());
        verdict.error_if(!is_fine, place, "endpoint: expected tcp://HOST:PORT or udp://HOST:PORT");
        verdict.error_if(
            text(destination, &["format"]) != "json_lines",
            place,
            "format: expected json_lines",
        );
    }
}

/// Whether kubelets ask the cluster for their serving certificates.
pub(super) fn asks_for_serving_certificates(machine: &Value) -> bool {
    let flag_is_on = match machine.at(&["kubelet", "extraArgs", "rotate-server-certificates"]) {
        Some(value) => value.as_sequence().and_then(<[_]>::last).unwrap_or(value).as_str() == Some("true"),
        None => false,
    };
    flag_is_on || flag(machine, &["kubelet", "extraConfig", "serverTLSBootstrap"]) == Some(true)
}
