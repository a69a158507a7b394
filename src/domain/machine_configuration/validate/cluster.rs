//! The `cluster` section.

use std::collections::BTreeSet;

use ipnet::IpNet;
use yaml::Value;

use super::syntax::{is_dns_name, is_filter, url};
use super::{Verdict, flag, list, pairs, text, texts};
use crate::domain::machine_configuration::Role;

pub(super) fn judge(main: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let Some(cluster) = main.field("cluster") else {
        verdict.error("cluster", "cluster instructions are required");
        return;
    };
    endpoint(cluster, verdict);
    network(cluster, role, verdict);
    etcd(cluster, role, verdict);
    manifests(cluster, verdict);
    discovery(cluster, main, verdict);
    authorizers(cluster, verdict);
    resources(cluster, verdict);
    let has_key = !text(cluster, &["ca", "key"]).is_empty();
    verdict.error_if(
        role == Some(Role::Worker) && has_key,
        "cluster.ca",
        "workers are not given the authority's key",
    );
    if role == Some(Role::ControlPlane) {
        required(cluster, verdict);
    }
}

fn endpoint(cluster: &Value, verdict: &mut Verdict) {
    let place = "cluster.controlPlane.endpoint";
    let written = text(cluster, &["controlPlane", "endpoint"]);
    if written.is_empty() {
        verdict.error(place, "cluster controlplane endpoint is required");
        return;
    }
    verdict.error_if(url(written).is_none_or(|url| url.host.is_empty()), place, "the host must not be blank");
}

fn network(cluster: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let domain = text(cluster, &["network", "dnsDomain"]);
    verdict.error_if(!domain.is_empty() && !is_dns_name(domain), "cluster.network.dnsDomain", "no DNS name");
    if let (Some(Role::ControlPlane), Some(plugin)) = (role, cluster.at(&["network", "cni"])) {
        network_plugin(plugin, verdict);
    }
    subnets(cluster, verdict);
}

fn network_plugin(plugin: &Value, verdict: &mut Verdict) {
    let place = "cluster.network.cni";
    let (name, addresses) = (text(plugin, &["name"]), list(plugin, &["urls"]));
    let tunes_flannel = !list(plugin, &["flannel", "extraArgs"]).is_empty()
        || flag(plugin, &["flannel", "kubeNetworkPoliciesEnabled"]) == Some(true);
    match name {
        "flannel" => verdict.error_if(!addresses.is_empty(), place, "urls only go with custom"),
        "none" => {
            verdict.error_if(!addresses.is_empty(), place, "urls only go with custom");
            verdict.error_if(tunes_flannel, place, "flannel only goes with flannel");
        }
        "custom" => {
            verdict.error_if(tunes_flannel, place, "flannel only goes with flannel");
            let is_url = |text: &str| url(text).is_some_and(|url| !url.host.is_empty());
            verdict.error_if(!texts(plugin, &["urls"]).all(is_url), place, "urls: expected URLs");
            if addresses.is_empty() {
                verdict.warning(place, "urls should not be empty for custom");
            }
        }
        _ => verdict.error(place, "name: expected flannel, custom or none"),
    }
}

/// Talos takes any text; Kubernetes then does not come up.
fn subnets(cluster: &Value, verdict: &mut Verdict) {
    let parse = |key: &str| -> Vec<Option<IpNet>> {
        texts(cluster, &["network", key]).map(|subnet| subnet.parse().ok()).collect()
    };
    let (pods, services) = (parse("podSubnets"), parse("serviceSubnets"));
    for (key, networks) in [("podSubnets", &pods), ("serviceSubnets", &services)] {
        let place = format!("cluster.network.{key}");
        verdict.error_if(
            networks.iter().any(Option::is_none),
            &place,
            "kontinuum expects networks such as 10.244.0.0/16",
        );
    }
    let overlap =
        |left: &IpNet, right: &IpNet| left.contains(&right.network()) || right.contains(&left.network());
    let overlaps =
        pods.iter().flatten().any(|pods| services.iter().flatten().any(|services| overlap(pods, services)));
    verdict.error_if(
        overlaps,
        "cluster.network.serviceSubnets",
        "kontinuum refuses services within the pods' networks",
    );
}

fn etcd(cluster: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let Some(etcd) = cluster.field("etcd") else { return };
    let place = "cluster.etcd";
    if role != Some(Role::ControlPlane) {
        verdict.error(place, "only control planes run etcd");
        return;
    }
    verdict.error_if(etcd.field("ca").is_none(), place, "an authority is required");
    let advertised = list(etcd, &["advertisedSubnets"]);
    verdict.error_if(
        !text(etcd, &["subnet"]).is_empty() && !advertised.is_empty(),
        place,
        "either subnet or advertisedSubnets",
    );
    let subnet = text(etcd, &["subnet"]);
    verdict.error_if(!subnet.is_empty() && !is_filter(subnet), place, "subnet: expected a network");
    for key in ["advertisedSubnets", "listenSubnets"] {
        verdict.error_if(!texts(etcd, &[key]).all(is_filter), place, &format!("{key}: expected networks"));
    }
}

fn manifests(cluster: &Value, verdict: &mut Verdict) {
    let mut names = BTreeSet::new();
    for manifest in list(cluster, &["inlineManifests"]) {
        let name = text(manifest, &["name"]);
        let place = "cluster.inlineManifests";
        verdict.error_if(name.trim().is_empty(), place, "a manifest needs a name");
        verdict.error_if(!names.insert(name), place, "a manifest's name stands twice");
    }
    if let Some(provider) = cluster.field("externalCloudProvider") {
        let place = "cluster.externalCloudProvider";
        let manifests = list(provider, &["manifests"]);
        let is_on = flag(provider, &["enabled"]) == Some(true);
        verdict.error_if(!is_on && !manifests.is_empty(), place, "it is disabled, but has manifests");
        let is_url = |text: &str| url(text).is_some_and(|url| !url.host.is_empty());
        verdict.error_if(!texts(provider, &["manifests"]).all(is_url), place, "manifests: expected URLs");
    }
}

fn discovery(cluster: &Value, main: &Value, verdict: &mut Verdict) {
    let is_on = flag(cluster, &["discovery", "enabled"]) == Some(true);
    let has_identity = !text(cluster, &["id"]).is_empty() && !text(cluster, &["secret"]).is_empty();
    let service = ["discovery", "registries", "service"];
    let service_is_on = flag(cluster, &[service[0], service[1], service[2], "disabled"]) != Some(true);
    if is_on && service_is_on {
        let place = "cluster.discovery.registries.service";
        let endpoint = text(cluster, &[service[0], service[1], service[2], "endpoint"]);
        let is_fine = endpoint.is_empty() || url(endpoint).is_some_and(|url| matches!(url.path, "" | "/"));
        verdict.error_if(!is_fine, place, "endpoint: expected a URL without a path");
        verdict.error_if(!has_identity, place, "needs cluster.id and cluster.secret");
    }
    if flag(main, &["machine", "network", "kubespan", "enabled"]) == Some(true) {
        let place = "machine.network.kubespan";
        verdict.error_if(!is_on, place, "needs cluster.discovery");
        verdict.error_if(!has_identity, place, "needs cluster.id and cluster.secret");
    }
}

fn authorizers(cluster: &Value, verdict: &mut Verdict) {
    for authorizer in list(cluster, &["apiServer", "authorizationConfig"]) {
        let place = "cluster.apiServer.authorizationConfig";
        verdict.error_if(
            !matches!(text(authorizer, &["type"]), "Node" | "RBAC" | "Webhook"),
            place,
            "type: expected Node, RBAC or Webhook",
        );
        verdict.error_if(text(authorizer, &["name"]).is_empty(), place, "an authorizer needs a name");
    }
}

fn resources(cluster: &Value, verdict: &mut Verdict) {
    for component in ["apiServer", "controllerManager", "scheduler"] {
        for amount in ["requests", "limits"] {
            for (key, _) in pairs(cluster, &[component, "resources", amount]) {
                let place = format!("cluster.{component}.resources.{amount}.{key}");
                verdict.error_if(!matches!(key, "cpu" | "memory"), &place, "expected cpu or memory");
            }
        }
    }
}

/// What Talos does not ask for, but no control plane comes up without.
fn required(cluster: &Value, verdict: &mut Verdict) {
    let parts: [&[&str]; 5] = [
        &["token"],
        &["ca", "key"],
        &["aggregatorCA", "key"],
        &["serviceAccount", "key"],
        &["etcd", "ca", "key"],
    ];
    for path in parts {
        let place = format!("cluster.{}", path.join("."));
        verdict.error_if(
            text(cluster, path).is_empty(),
            &place,
            "kontinuum needs it: no control plane comes up without",
        );
    }
    let is_encrypted = ["secretboxEncryptionSecret", "aescbcEncryptionSecret"]
        .iter()
        .any(|key| !text(cluster, &[key]).is_empty());
    verdict.error_if(
        !is_encrypted,
        "cluster.secretboxEncryptionSecret",
        "kontinuum needs it: secrets would be stored in clear",
    );
}
