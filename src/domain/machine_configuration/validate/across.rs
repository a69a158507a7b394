//! What contradicts between the main document and the others.

use yaml::Value;

use super::{Verdict, flag, list, text};
use crate::domain::machine_configuration::MachineConfiguration;

pub(super) fn judge(configuration: &MachineConfiguration, main: &Value, verdict: &mut Verdict) {
    let machine = main.field("machine").cloned().unwrap_or_default();
    let has = |kind: &str| configuration.of_kind(kind).next().is_some();
    if has("HostnameConfig") {
        let is_named = !text(&machine, &["network", "hostname"]).is_empty();
        verdict.error_if(is_named, "machine.network.hostname", "the host name is set in HostnameConfig too");
        let is_stable = flag(&machine, &["features", "stableHostname"]) == Some(true);
        verdict.error_if(
            is_stable,
            "machine.features.stableHostname",
            "the host name is set in HostnameConfig too",
        );
    }
    if has("ResolverConfig") {
        for key in ["nameservers", "searchDomains"] {
            let is_set = !list(&machine, &["network", key]).is_empty();
            verdict.error_if(is_set, &format!("machine.network.{key}"), "ResolverConfig sets it too");
        }
        let is_off = flag(&machine, &["network", "disableSearchDomain"]) == Some(true);
        verdict.error_if(is_off, "machine.network.disableSearchDomain", "ResolverConfig sets it too");
    }
    if has("TimeSyncConfig") {
        let is_set = flag(&machine, &["time", "disabled"]) == Some(true)
            || !list(&machine, &["time", "servers"]).is_empty()
            || machine.at(&["time", "bootTimeout"]).is_some();
        verdict.error_if(is_set, "machine.time", "TimeSyncConfig sets it too");
    }
    if has("KubeSpanConfig") {
        let is_set = machine.at(&["network", "kubespan"]).is_some();
        verdict.error_if(is_set, "machine.network.kubespan", "KubeSpanConfig sets it too");
        // Talos judges this for the older form only.
        let is_on =
            configuration.of_kind("KubeSpanConfig").any(|mesh| flag(mesh, &["enabled"]) == Some(true));
        let discovers = flag(main, &["cluster", "discovery", "enabled"]) == Some(true);
        verdict.error_if(
            is_on && !discovers,
            "KubeSpanConfig",
            "kontinuum refuses it without cluster.discovery",
        );
    }
    for volume in configuration.of_kind("VolumeConfig") {
        let section = match text(volume, &["name"]) {
            "STATE" => "state",
            "EPHEMERAL" => "ephemeral",
            _ => continue,
        };
        let is_set = machine.at(&["systemDiskEncryption", section]).is_some();
        verdict.error_if(
            is_set && volume.field("encryption").is_some(),
            "machine.systemDiskEncryption",
            "VolumeConfig encrypts the volume too",
        );
    }
}
