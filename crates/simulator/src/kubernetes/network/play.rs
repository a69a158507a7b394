//! Parts that the simulator plays in place of a container, with the pod's own rights.

use std::net::IpAddr;
use std::time::Duration;

use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use kube::api::{Api, PostParams};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::sync::watch;

use super::{injector, webhook};
use crate::kubernetes::client::{Credentials, local};
use crate::kubernetes::context::Context;

/// Pause between two tries.
const RETRY: Duration = Duration::from_millis(500);

/// A part that the simulator knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::kubernetes) enum Play {
    /// cert-manager's webhook.
    Webhook,
    /// cert-manager's injector of CA certificates.
    CertificateInjector,
}

/// Where a part is played.
pub(in crate::kubernetes) struct Stage<'a> {
    pub(in crate::kubernetes) context: &'a Context,
    /// The kubelet's client, which may ask for tokens of its pods.
    pub(in crate::kubernetes) node: &'a Client,
    pub(in crate::kubernetes) pod: &'a Pod,
    pub(in crate::kubernetes) address: Option<IpAddr>,
}

impl Play {
    /// The part of a pod, by the images of its containers.
    pub(in crate::kubernetes) fn of(pod: &Pod) -> Option<Self> {
        let containers = pod.spec.iter().flat_map(|spec| &spec.containers);
        let mut images = containers.filter_map(|container| container.image.as_deref());
        images.find_map(|image| {
            let without_digest = image.split('@').next().unwrap_or_default();
            let name = without_digest.rsplit('/').next().unwrap_or_default();
            match name.split(':').next().unwrap_or_default() {
                "cert-manager-webhook" => Some(Self::Webhook),
                "cert-manager-cainjector" => Some(Self::CertificateInjector),
                _ => None,
            }
        })
    }

    /// Plays it until dropped; says when it is ready.
    pub(in crate::kubernetes) async fn perform(self, stage: &Stage<'_>, ready: &watch::Sender<bool>) {
        loop {
            let tried = match self {
                Self::Webhook => webhook::perform(stage, ready).await,
                Self::CertificateInjector => injector::perform(stage, ready).await,
            };
            if let Err(reason) = tried {
                tracing::debug!(pod = stage.pod.name_any(), %reason, "play a pod's part");
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

impl Stage<'_> {
    /// A client with the pod's own token, bound to the pod: it may do what the chart's roles allow, no more.
    pub(super) async fn pod_client(&self) -> Result<Client, String> {
        let namespace = self.pod.namespace().unwrap_or_default();
        let account = self.pod.spec.as_ref().and_then(|spec| spec.service_account_name.as_deref());
        let request = json!({ "spec": {
            "audiences": [],
            "expirationSeconds": 3600,
            "boundObjectRef": { "apiVersion": "v1", "kind": "Pod", "name": self.pod.name_any(), "uid": self.pod.uid() },
        }});
        let request: TokenRequest = serde_json::from_value(request).map_err(|error| error.to_string())?;
        let accounts: Api<ServiceAccount> = Api::namespaced(self.node.clone(), &namespace);
        let answer = accounts
            .create_token_request(account.unwrap_or("default"), &PostParams::default(), &request)
            .await
            .map_err(|error| error.to_string())?;
        let token =
            answer.status.and_then(|status| status.token).ok_or_else(|| "no token was given".to_owned())?;
        local(self.context.configuration(), self.context.address, &Credentials::Token(&token))
    }

    /// The arguments of the pod's first container, with the pod's own namespace filled in.
    pub(super) fn arguments(&self) -> Vec<String> {
        let namespace = self.pod.namespace().unwrap_or_default();
        let containers = self.pod.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default();
        let arguments =
            containers.first().and_then(|container| container.args.as_deref()).unwrap_or_default();
        arguments.iter().map(|argument| argument.replace("$(POD_NAMESPACE)", &namespace)).collect()
    }
}

/// The values of a flag that may be given several times.
pub(super) fn flag<'a>(arguments: &'a [String], name: &str) -> Vec<&'a str> {
    arguments
        .iter()
        .filter_map(|argument| argument.strip_prefix("--")?.strip_prefix(name)?.strip_prefix('='))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_part_is_known_by_its_image_wherever_it_is_mirrored() {
        let pod = |image: &str| -> Pod {
            serde_json::from_value(json!({ "spec": { "containers": [{ "name": "x", "image": image }] } }))
                .unwrap()
        };
        assert_eq!(Play::of(&pod("quay.io/jetstack/cert-manager-webhook:v1.21.2")), Some(Play::Webhook));
        let mirrored = "localhost:5000/m/cert-manager-cainjector@sha256:00";
        assert_eq!(Play::of(&pod(mirrored)), Some(Play::CertificateInjector));
        assert_eq!(Play::of(&pod("quay.io/jetstack/cert-manager-controller:v1.21.2")), None);
    }

    #[test]
    fn a_flag_may_be_given_several_times() {
        let arguments = ["--names=a", "--names=b", "--names-more=c"].map(str::to_owned);
        assert_eq!(flag(&arguments, "names"), ["a", "b"]);
    }
}
