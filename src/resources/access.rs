//! What an administrator of a cluster holds, made from its secrets: once for this process, once for the user.

use jiff::Timestamp;

use super::report::chain;
use crate::clients::talos::Credentials;
use crate::clients::talos::pki::{
    SystemRandom, administrator, kubeconfig, kubernetes_administrator, talosconfig,
};
use crate::domain::machine_configuration::{Secret, SecretsBundle};
use crate::domain::names::Endpoint;
use crate::plugin::Diagnostics;

/// The credentials with which this process works; they die with it.
#[derive(Debug, Clone)]
pub(super) struct Access {
    /// For the machines.
    pub(super) talos: Credentials,
    /// For the API servers; names the endpoint, and is used with each member's own address.
    pub(super) kubeconfig: Secret,
    /// The secrets themselves.
    pub(super) bundle: SecretsBundle,
}

impl Access {
    /// Makes credentials from a cluster's secrets.
    ///
    /// # Errors
    /// When the secrets can't sign.
    pub(super) fn new(
        what: &str,
        name: &str,
        endpoint: &Endpoint,
        bundle: SecretsBundle,
    ) -> Result<Self, Diagnostics> {
        let now = Timestamp::now();
        let mut random = SystemRandom::default();
        let talos = administrator(&bundle, now, &mut random)
            .map_err(|error| unusable(what, &error))?
            .credentials()
            .map_err(|error| unusable(what, &error))?;
        let client =
            kubernetes_administrator(&bundle, now, &mut random).map_err(|error| unusable(what, &error))?;
        let kubeconfig =
            kubeconfig(name, &endpoint.to_string(), &client).map_err(|error| unusable(what, &error))?;
        Ok(Self { talos, kubeconfig, bundle })
    }

    /// The files for the user: kubeconfig and talosconfig, each with a certificate of its own for a year.
    ///
    /// # Errors
    /// When the secrets can't sign.
    pub(super) fn files(
        &self,
        what: &str,
        name: &str,
        endpoint: &Endpoint,
        control_planes: &[String],
    ) -> Result<(Secret, Secret), Diagnostics> {
        let now = Timestamp::now();
        let mut random = SystemRandom::default();
        let talos = administrator(&self.bundle, now, &mut random).map_err(|error| unusable(what, &error))?;
        let client = kubernetes_administrator(&self.bundle, now, &mut random)
            .map_err(|error| unusable(what, &error))?;
        let kubernetes =
            kubeconfig(name, &endpoint.to_string(), &client).map_err(|error| unusable(what, &error))?;
        Ok((kubernetes, talosconfig(name, control_planes, &[], &talos)))
    }
}

fn unusable(what: &str, error: &dyn std::error::Error) -> Diagnostics {
    Diagnostics::error(
        format!("{what}: the cluster's secrets can't be used: failed to {}", chain(error)),
        "Where `machine_secrets` is given, compare it with what `talosctl gen secrets` wrote. Nothing was changed.",
    )
}
