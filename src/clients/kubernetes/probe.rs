//! Asking an admission webhook through the API server, without leaving anything behind.

use serde_json::json;

use super::client::Client;
use super::error::{Cause, Result};
use super::resources::{Write, read};

impl Client {
    /// Has the API server judge a cert-manager Issuer without storing it, which takes cert-manager's webhook: its
    /// Service, its certificate and the CA that its injector writes all have to be right.
    ///
    /// # Errors
    /// [`Cause::Webhook`](super::Cause::Webhook) while the webhook does not answer,
    /// [`Cause::NoSuchKind`](super::Cause::NoSuchKind) without cert-manager's definitions, …
    pub async fn probe_cert_manager(&self, namespace: &str) -> Result<()> {
        let issuer = json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": "kontinuum-probe", "namespace": namespace},
            "spec": {"selfSigned": {}},
        });
        let issuer = read("make a probe", issuer)?;
        match self.create(&issuer, Write::DryRun).await {
            // Storage is asked last: admission has passed.
            Err(error) if matches!(error.cause(), Cause::AlreadyExists) => Ok(()),
            answer => answer.map(drop),
        }
    }
}
