//! The objects that Talos creates in a new cluster: what lets nodes join, CoreDNS, and what the configuration adds.
//! Those that exist already are left as they are.

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::client;
use super::context::Context;
use crate::configuration::{Cluster, MachineConfiguration};

const NODE_ACCESS: &str = include_str!("manifests/node-access.yaml");
const CORE_DNS: &str = include_str!("manifests/core-dns.yaml");
const KUBE_PROXY: &str = include_str!("manifests/kube-proxy.yaml");
const FLANNEL: &str = include_str!("manifests/flannel.yaml");

/// Creates what is missing.
pub(super) async fn create_missing(context: &Context) -> Result<(), String> {
    let client = client::talos_admin(context)?;
    for manifest in rendered(context.configuration())? {
        create(&client, &manifest).await?;
    }
    if !context.configuration().cluster.extra_manifest_urls.is_empty() {
        tracing::warn!(
            node = context.hostname(),
            "extra manifests are not fetched: a simulated machine has no network"
        );
    }
    Ok(())
}

/// All objects that a configuration brings, in the order of their creation.
fn rendered(configuration: &MachineConfiguration) -> Result<Vec<Value>, String> {
    let cluster = &configuration.cluster;
    let mut objects = Vec::new();
    objects.extend(bootstrap_token(cluster));
    objects.extend(documents("node-access", NODE_ACCESS)?);
    objects.push(kubeconfig_in_cluster(cluster));
    if cluster.core_dns_enabled {
        objects.extend(documents("core-dns", &core_dns(cluster))?);
    }
    if cluster.proxy.enabled {
        objects.extend(documents("kube-proxy", &kube_proxy(cluster))?);
    }
    if cluster.network.cni == "flannel" {
        let subnet = cluster.network.pod_subnets.first().map_or("", String::as_str);
        objects.extend(documents("flannel", &FLANNEL.replace("$POD_SUBNET", subnet))?);
    }
    for manifest in &cluster.inline_manifests {
        objects.extend(documents(&manifest.name, manifest.contents.expose())?);
    }
    Ok(objects)
}

async fn create(client: &Client, manifest: &Value) -> Result<(), String> {
    let object: DynamicObject =
        serde_json::from_value(manifest.clone()).map_err(|error| format!("a manifest: {error}"))?;
    let types = object.types.clone().ok_or_else(|| "a manifest has no apiVersion and kind".to_owned())?;
    let name = object.metadata.name.clone().unwrap_or_default();
    let described = format!("{} {name}", types.kind);
    let kind = GroupVersionKind::try_from(&types).map_err(|error| format!("{described}: {error}"))?;
    let (resource, capabilities) =
        kube::discovery::pinned_kind(client, &kind).await.map_err(|error| format!("{described}: {error}"))?;
    let namespaced = matches!(capabilities.scope, kube::discovery::Scope::Namespaced);
    let api =
        api(client, &resource, namespaced.then(|| object.metadata.namespace.as_deref().unwrap_or("default")));
    match api.create(&PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
        // A Service's address may be taken by its former self of another boot.
        Err(error) => Err(format!("{described}: {error}")),
    }
}

fn api(client: &Client, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, resource),
        None => Api::all_with(client.clone(), resource),
    }
}

/// The objects of a YAML stream.
fn documents(name: &str, text: &str) -> Result<Vec<Value>, String> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(text).map_err(|error| format!("manifest {name}: {error}"))?;
    Ok(documents.into_iter().filter(Value::is_object).collect())
}

fn bootstrap_token(cluster: &Cluster) -> Option<Value> {
    let token = cluster.token.as_ref()?;
    Some(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": { "name": format!("bootstrap-token-{}", token.id), "namespace": "kube-system" },
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": token.id,
            "token-secret": token.secret.expose(),
            "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:nodes",
        },
    }))
}

fn kubeconfig_in_cluster(cluster: &Cluster) -> Value {
    let account = "/var/run/secrets/kubernetes.io/serviceaccount";
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "local", "cluster": {
            "server": cluster.endpoint, "certificate-authority": format!("{account}/ca.crt"),
        }}],
        "users": [{ "name": "service-account", "user": { "tokenFile": format!("{account}/token") } }],
        "contexts": [{ "name": "local", "context": { "cluster": "local", "user": "service-account" } }],
        "current-context": "local",
    });
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": "kubeconfig-in-cluster", "namespace": "kube-system" },
        "data": { "kubeconfig": kubeconfig.to_string() },
    })
}

fn core_dns(cluster: &Cluster) -> String {
    let address = cluster.network.dns_service_ips.first().map_or("", String::as_str);
    CORE_DNS
        .replace("$DNS_DOMAIN", &cluster.network.dns_domain)
        .replace("$DNS_ADDRESS", address)
        .replace("$IMAGE", &cluster.core_dns_image)
}

fn kube_proxy(cluster: &Cluster) -> String {
    KUBE_PROXY
        .replace("$IMAGE", &cluster.proxy.image)
        .replace("$POD_SUBNETS", &cluster.network.pod_subnets.join(","))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn every_manifest_of_ours_has_a_kind_and_a_name() {
        let all = [NODE_ACCESS, CORE_DNS, KUBE_PROXY, FLANNEL].map(|text| documents("x", text).unwrap());
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [5, 6, 3, 5]);
        for object in all.iter().flatten() {
            assert!(object["kind"].is_string() && object["metadata"]["name"].is_string(), "{object}");
        }
    }
}
