//! What the provider decides itself and no patch may change.

use yaml::Value;

use super::patch::{Patch, PatchError, Patched, patch};
use super::problem::Problem;
use super::{MachineConfiguration, ParseError};

/// What the provider decides for a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Managed {
    /// The provider installs the network plugin, which does kube-proxy's work and dials KubePrism.
    pub network_plugin: bool,
    /// The provider gives the machine its name.
    pub hostname: bool,
}

/// A managed key and where the user sets it instead.
type Key = (&'static [&'static str], &'static str);

/// What is managed in every cluster.
const ALWAYS: [Key; 17] = [
    (&["machine", "type"], "the pool that the machine is in"),
    (&["machine", "token"], "machine_secrets"),
    (&["machine", "ca"], "machine_secrets"),
    (&["machine", "kubelet", "extraArgs", "provider-id"], "nothing: it ties the node to its machine"),
    (
        &["machine", "kubelet", "extraArgs", "rotate-server-certificates"],
        "approve_kubelet_serving_certificates, since without approval kubelets would have no certificate",
    ),
    (
        &["machine", "kubelet", "extraConfig", "serverTLSBootstrap"],
        "approve_kubelet_serving_certificates, since without approval kubelets would have no certificate",
    ),
    (&["cluster", "id"], "machine_secrets"),
    (&["cluster", "secret"], "machine_secrets"),
    (&["cluster", "token"], "machine_secrets"),
    (&["cluster", "ca"], "machine_secrets"),
    (&["cluster", "aggregatorCA"], "machine_secrets"),
    (&["cluster", "serviceAccount"], "machine_secrets"),
    (&["cluster", "etcd", "ca"], "machine_secrets"),
    (&["cluster", "secretboxEncryptionSecret"], "machine_secrets"),
    (&["cluster", "aescbcEncryptionSecret"], "machine_secrets"),
    (&["cluster", "controlPlane", "endpoint"], "endpoint or vip"),
    (&["cluster", "clusterName"], "name"),
];

/// What is managed while the provider installs the network plugin.
const WITH_NETWORK_PLUGIN: [Key; 3] = [
    (&["cluster", "network", "cni"], "cilium.enabled"),
    (&["cluster", "proxy", "disabled"], "cilium.enabled"),
    (&["machine", "features", "kubePrism"], "cilium.enabled"),
];

impl Managed {
    /// Applies patches as [`patch`] does, and refuses those that change what is managed.
    ///
    /// # Errors
    /// The first patch that cannot be applied or changes what is managed.
    pub fn patch(
        &self,
        configuration: &MachineConfiguration,
        patches: &[Patch],
    ) -> Result<Patched, PatchError> {
        let mut patched = Patched { configuration: configuration.clone(), warnings: Vec::new() };
        for (index, single) in patches.iter().enumerate() {
            let next = patch(&patched.configuration, std::slice::from_ref(single))
                .map_err(|error| PatchError { index, source: error.source })?;
            let problems = self.changes(&patched.configuration, &next.configuration);
            if !problems.is_empty() {
                return Err(PatchError { index, source: ParseError::Problems(problems) });
            }
            patched.configuration = next.configuration;
            patched.warnings.extend(next.warnings);
        }
        Ok(patched)
    }

    fn changes(&self, before: &MachineConfiguration, after: &MachineConfiguration) -> Vec<Problem> {
        let plugin: &[Key] = if self.network_plugin { &WITH_NETWORK_PLUGIN } else { &[] };
        let mut problems: Vec<Problem> = ALWAYS
            .iter()
            .chain(plugin)
            .filter(|(path, _)| setting(before, path) != setting(after, path))
            .map(|(path, instead)| {
                Problem::invalid(path.join("."), format!("is managed by the provider: use {instead}"))
            })
            .collect();
        if self.hostname && renames(before, after) {
            let words = "the machine's name is managed by the provider: use the instance's hostname";
            problems.push(Problem::invalid("hostname", words));
        }
        problems
    }
}

/// Whether a machine would have another name after patches than before them.
#[must_use]
pub fn renames(before: &MachineConfiguration, after: &MachineConfiguration) -> bool {
    hostname(before) != hostname(after)
}

fn setting<'value>(configuration: &'value MachineConfiguration, path: &[&str]) -> Option<&'value Value> {
    configuration.main().and_then(|main| main.at(path))
}

/// Both places that a host name can stand in.
fn hostname(configuration: &MachineConfiguration) -> (Option<&Value>, Vec<&Value>) {
    let document = configuration.of_kind("HostnameConfig").collect();
    (setting(configuration, &["machine", "network", "hostname"]), document)
}
