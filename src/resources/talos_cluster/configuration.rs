//! The configuration of one machine: from what the user says, what the machine said of itself, and the secrets.

use std::collections::BTreeMap;

use ipnet::IpNet;

use super::super::report::chain;
use super::members::Machine;
use super::parse::Parsed;
use crate::domain::cluster::disk;
use crate::domain::cluster::spec::Role;
use crate::domain::machine::{Disk, Facts};
use crate::domain::machine_configuration::{
    Contract, DiskSelector, Inputs, InstallTarget, Managed, NetworkPlugin, Patch, Role as MachineRole,
    Secret, SecretsBundle, VirtualAddress, generate, installer_image, is_restricted_label, validate,
};
use crate::domain::names::Endpoint;

/// A machine's configuration.
#[derive(Debug, Clone)]
pub(super) struct Configuration {
    /// What is sent.
    pub(super) text: Secret,
    /// Its SHA-256 digest in hexadecimal.
    pub(super) digest: String,
}

/// Makes a machine's configuration.
///
/// # Errors
/// A text that completes "failed to …".
pub(super) fn configuration(
    parsed: &Parsed,
    machine: &Machine,
    endpoint: &Endpoint,
    contract: Contract,
    secrets: &SecretsBundle,
) -> Result<Configuration, String> {
    let facts = machine.record.facts.as_ref().ok_or("configure a machine that never answered")?;
    let disk = disk::resolve(machine.record.install_disk.as_ref(), &facts.disks)
        .map_err(|error| format!("choose the install disk: {error}"))?;
    let inputs = inputs(parsed, machine, facts, disk, endpoint);
    let generated = generate(&inputs, secrets, contract)
        .map_err(|error| format!("generate the configuration: {}", chain(&error)))?;
    let layers = [
        ("the cluster's config_patches", &parsed.patches),
        ("the pool's config_patches", &machine.pool.patches),
        ("the instance's config_patches", &machine.record.config_patches),
    ];
    let managed = Managed { network_plugin: parsed.cilium.is_some(), hostname: true };
    let mut configuration = generated;
    for (whose, patches) in layers {
        let read = Patch::parse_all(patches).map_err(|error| format!("read {whose}: {}", chain(&error)))?;
        let patched = managed
            .patch(&configuration, &read)
            .map_err(|error| format!("apply {whose}: {}", chain(&error)))?;
        for warning in patched.warnings {
            tracing::warn!(machine = %machine.member.name, warning, "A patch does less than it says");
        }
        configuration = patched.configuration;
    }
    if let Some(problem) = validate(&configuration, false).errors.first() {
        return Err(format!("make a configuration that Talos takes: {problem}"));
    }
    if let Some(problem) = configuration.newer_than(contract).first() {
        return Err(format!("use the patches with machines of contract {contract}: {problem}"));
    }
    let text = configuration.to_yaml();
    let digest = super::drift::digest(&text);
    Ok(Configuration { text, digest })
}

fn inputs(parsed: &Parsed, machine: &Machine, facts: &Facts, disk: &Disk, endpoint: &Endpoint) -> Inputs {
    let role = match machine.member.role {
        Role::ControlPlane => MachineRole::ControlPlane,
        Role::Worker => MachineRole::Worker,
    };
    let mut inputs = Inputs::new(
        role,
        parsed.name.as_str(),
        &endpoint.to_string(),
        &parsed.kubernetes_version.to_string(),
    );
    inputs.install_disk = Some(target(disk));
    let schematic = machine.pool.schematic.as_ref().unwrap_or(&facts.schematic);
    inputs.installer_image = installer_image(schematic, facts.secure_boot, &parsed.talos_version.to_string());
    if parsed.cilium.is_some() {
        inputs.network_plugin = NetworkPlugin::None;
        inputs.kube_proxy = false;
    }
    inputs.schedule_on_control_planes = true;
    inputs.hostname = Some(machine.member.hostname.to_string());
    inputs.provider_id = Some(format!("kontinuum://{}", machine.member.uid));
    inputs.serving_certificates = parsed.serving_certificates;
    inputs.subject_alternative_names = names(parsed, machine, endpoint);
    inputs.node_labels = machine
        .pool
        .labels
        .iter()
        .filter(|(key, _)| !is_restricted_label(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    inputs.node_taints = match machine.member.role {
        Role::ControlPlane => BTreeMap::new(),
        Role::Worker => machine.pool.taints.clone(),
    };
    inputs.virtual_address = match (machine.member.role, parsed.vip) {
        (Role::ControlPlane, Some(address)) => Some(VirtualAddress { address, link: link(facts) }),
        (Role::ControlPlane | Role::Worker, _) => None,
    };
    inputs
}

/// The names by which the machine is dialled: every candidate, since its own addresses Talos adds itself.
fn names(parsed: &Parsed, machine: &Machine, endpoint: &Endpoint) -> Vec<String> {
    let mut names: Vec<String> = machine.record.interfaces.iter().map(ToString::to_string).collect();
    if machine.member.role == Role::ControlPlane {
        names.push(endpoint.host().to_string());
        names.extend(parsed.vip.map(|vip| vip.to_string()));
    }
    let mut seen = Vec::new();
    names.retain(|name| {
        let new = !seen.contains(name);
        seen.push(name.clone());
        new
    });
    names
}

/// The disk by what doesn't change between boots, else by its path.
fn target(disk: &Disk) -> InstallTarget {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match (text(&disk.serial), text(&disk.wwid)) {
        (None, None) => InstallTarget::Path(disk.device_path.clone()),
        (serial, wwid) => InstallTarget::Selector(DiskSelector {
            size: Some(format!("== {}", disk.size_bytes)),
            serial,
            wwid,
            ..DiskSelector::default()
        }),
    }
}

/// The link that holds the machine's address, on which it holds the VIP too.
fn link(facts: &Facts) -> String {
    let address: Option<std::net::IpAddr> = facts.address.as_str().parse().ok();
    let holds = |prefix: &String| prefix.parse::<IpNet>().is_ok_and(|prefix| Some(prefix.addr()) == address);
    facts
        .links
        .iter()
        .find(|link| link.addresses.iter().any(holds))
        .or_else(|| facts.links.first())
        .map(|link| link.name.clone())
        .unwrap_or_default()
}
