//! cert-manager's injector, played with the pod's own token: writes the CA of a Secret into the webhook
//! configurations that ask for it.

use std::pin::Pin;
use std::time::Duration;

use futures::{Stream, StreamExt};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, ListParams, PostParams, WatchParams};
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::play::Stage;

const FROM_SECRET: &str = "cert-manager.io/inject-ca-from-secret";
const ALLOWED: &str = "cert-manager.io/allow-direct-injection";
/// Pause before a Secret that isn't there yet is looked for again: it has no watch of its own.
const MISSING: Duration = Duration::from_millis(500);

type Changes = Pin<Box<dyn Stream<Item = ()> + Send>>;

pub(super) async fn perform(stage: &Stage<'_>, ready: &watch::Sender<bool>) -> Result<(), String> {
    let client = stage.pod_client().await?;
    ready.send_replace(true);
    loop {
        let (validating, mut whole) = inject_all::<ValidatingWebhookConfiguration>(&client).await?;
        let (mutating, whole_too) = inject_all::<MutatingWebhookConfiguration>(&client).await?;
        whole &= whole_too;
        let mut changes = futures::stream::select(validating, mutating);
        tokio::select! {
            _ = changes.next() => {}
            () = tokio::time::sleep(MISSING), if !whole => {}
        }
    }
}

/// A kind of configuration that names webhooks.
trait Configuration:
    Resource<DynamicType = (), Scope = k8s_openapi::ClusterResourceScope>
    + Clone
    + std::fmt::Debug
    + Serialize
    + DeserializeOwned
    + Send
    + 'static
{
    fn clients(&mut self) -> Vec<&mut WebhookClientConfig>;
}

impl Configuration for ValidatingWebhookConfiguration {
    fn clients(&mut self) -> Vec<&mut WebhookClientConfig> {
        self.webhooks.iter_mut().flatten().map(|webhook| &mut webhook.client_config).collect()
    }
}

impl Configuration for MutatingWebhookConfiguration {
    fn clients(&mut self) -> Vec<&mut WebhookClientConfig> {
        self.webhooks.iter_mut().flatten().map(|webhook| &mut webhook.client_config).collect()
    }
}

/// Injects into all configurations of a kind; answers what changes from then on, and whether nothing is missing.
async fn inject_all<K: Configuration>(client: &Client) -> Result<(Changes, bool), String> {
    let api: Api<K> = Api::all(client.clone());
    let listed = api.list(&ListParams::default()).await.map_err(|error| error.to_string())?;
    let mut whole = true;
    let version = listed.metadata.resource_version.clone().unwrap_or_default();
    for mut configuration in listed.items {
        let Some(source) = configuration.annotations().get(FROM_SECRET).cloned() else {
            continue;
        };
        let Some(ca) = authority(client, &source).await? else {
            whole = false;
            continue;
        };
        if set(&mut configuration, &ca) {
            let name = configuration.name_any();
            api.replace(&name, &PostParams::default(), &configuration)
                .await
                .map_err(|error| error.to_string())?;
        }
    }
    let events = api.watch(&WatchParams::default(), &version).await.map_err(|error| error.to_string())?;
    Ok((Box::pin(events.map(drop)), whole))
}

/// The CA in the Secret that an annotation names; none while it isn't there or may not be injected.
async fn authority(client: &Client, source: &str) -> Result<Option<ByteString>, String> {
    let Some((namespace, name)) = source.split_once('/') else {
        return Ok(None);
    };
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = secrets.get_opt(name).await.map_err(|error| error.to_string())?;
    let allowed =
        secret.filter(|secret| secret.annotations().get(ALLOWED).is_some_and(|value| value == "true"));
    Ok(allowed.and_then(|secret| secret.data?.remove("ca.crt")))
}

/// Sets the CA of every webhook; false when it stood there already.
fn set<K: Configuration>(configuration: &mut K, ca: &ByteString) -> bool {
    let mut changed = false;
    for client in configuration.clients() {
        if client.ca_bundle.as_ref() != Some(ca) {
            client.ca_bundle = Some(ca.clone());
            changed = true;
        }
    }
    changed
}
