//! The Node object as the kubelet registers it and keeps its status; pure.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Node, NodeCondition};
use serde_json::{Map, Value, json};

use super::addresses::node_addresses;
use crate::configuration::{Arguments, MachineConfiguration};
use crate::kubernetes::node::NodeSpecification;

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// The Node to register.
pub(super) fn registration(specification: &NodeSpecification) -> Value {
    let configuration = &specification.configuration;
    let kubelet = &configuration.machine.kubelet;
    let mut labels = Map::new();
    labels.insert("kubernetes.io/hostname".to_owned(), json!(specification.hostname));
    for (key, value) in [("os", "linux"), ("arch", "amd64")] {
        labels.insert(format!("kubernetes.io/{key}"), json!(value));
        labels.insert(format!("beta.kubernetes.io/{key}"), json!(value));
    }
    for pair in flag(&kubelet.extra_arguments, "node-labels").iter().flat_map(|list| list.split(',')) {
        if let Some((key, value)) = pair.split_once('=') {
            labels.insert(key.trim().to_owned(), json!(value.trim()));
        }
    }
    let mut spec = Map::new();
    let provider = flag(&kubelet.extra_arguments, "provider-id").first().cloned();
    let provider = provider
        .or_else(|| kubelet.extra_configuration.get("providerID").and_then(Value::as_str).map(str::to_owned));
    if let Some(provider) = provider.filter(|provider| !provider.is_empty()) {
        spec.insert("providerID".to_owned(), json!(provider));
    }
    spec.insert("taints".to_owned(), json!(taints(configuration)));
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": specification.hostname,
            "labels": labels,
            "annotations": { "volumes.kubernetes.io/controller-managed-attach-detach": "true" },
        },
        "spec": spec,
    })
}

/// The taints that the node registers with: allowed to a node at its creation only.
fn taints(configuration: &MachineConfiguration) -> Vec<Value> {
    let kubelet = &configuration.machine.kubelet;
    let mut taints: Vec<Value> = kubelet
        .extra_configuration
        .get("registerWithTaints")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let given = flag(&kubelet.extra_arguments, "register-with-taints");
    taints.extend(given.iter().flat_map(|list| list.split(',')).filter_map(taint_of_flag));
    let role = taints.iter().any(|taint| taint["key"] == CONTROL_PLANE);
    let reserved =
        configuration.machine.kind.is_control_plane() && !configuration.cluster.schedule_on_control_planes;
    if reserved && !role && given.is_empty() {
        taints.push(json!({ "key": CONTROL_PLANE, "effect": "NoSchedule" }));
    }
    let external = configuration.cluster.external_cloud_provider
        || flag(&kubelet.extra_arguments, "cloud-provider").iter().any(|provider| provider == "external");
    if external {
        let key = "node.cloudprovider.kubernetes.io/uninitialized";
        taints.push(json!({ "key": key, "value": "true", "effect": "NoSchedule" }));
    }
    taints
}

/// `key=value:Effect` or `key:Effect`.
fn taint_of_flag(text: &str) -> Option<Value> {
    let (left, effect) = text.trim().rsplit_once(':')?;
    let (key, value) = left.split_once('=').unwrap_or((left, ""));
    Some(json!({ "key": key, "value": value, "effect": effect }))
}

/// The status to report: capacity, addresses, conditions. Times of conditions that didn't change are kept.
pub(super) fn status(
    specification: &NodeSpecification,
    current: &Node,
    network_ready: bool,
    now: &str,
) -> Value {
    let hardware = &specification.hardware;
    let configuration = &specification.configuration;
    let memory = hardware.memory_bytes / 1024;
    let resources = json!({
        "cpu": hardware.processors.to_string(),
        "memory": format!("{memory}Ki"),
        "pods": "110",
        "ephemeral-storage": "20Gi",
    });
    let known = current.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let mut conditions: Vec<Value> = [
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ]
    .iter()
    .map(|(kind, reason, message)| condition(known, kind, "False", reason, message, now))
    .collect();
    conditions.push(if network_ready {
        condition(known, "Ready", "True", "KubeletReady", "kubelet is posting ready status", now)
    } else {
        let message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady \
                       message:Network plugin returns error: cni plugin not initialized";
        condition(known, "Ready", "False", "KubeletNotReady", message, now)
    });
    json!({
        "metadata": { "name": specification.hostname },
        "status": {
            "addresses": addresses(specification),
            "capacity": resources,
            "allocatable": resources,
            "conditions": conditions,
            "daemonEndpoints": { "kubeletEndpoint": { "Port": 10250 } },
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": "",
                "containerRuntimeVersion": "containerd://2.2.0",
                "kernelVersion": "6.18.0-talos",
                "kubeProxyVersion": "",
                "kubeletVersion": image_version(&configuration.machine.kubelet.image),
                "machineID": hardware.uuid.replace('-', ""),
                "operatingSystem": "linux",
                "osImage": format!("Talos ({})", specification.talos_version),
                "systemUUID": hardware.uuid,
            },
        },
    })
}

pub(super) fn addresses(specification: &NodeSpecification) -> Vec<Value> {
    let configuration = &specification.configuration;
    let given = flag(&configuration.machine.kubelet.extra_arguments, "node-ip");
    let chosen: Vec<IpAddr> = if given.is_empty() {
        node_addresses(configuration, &specification.addresses)
    } else {
        given
            .iter()
            .flat_map(|list| list.split(','))
            .filter_map(|address| address.trim().parse().ok())
            .collect()
    };
    let mut addresses: Vec<Value> =
        chosen.iter().map(|address| json!({ "type": "InternalIP", "address": address })).collect();
    addresses.push(json!({ "type": "Hostname", "address": specification.hostname }));
    addresses
}

fn condition(
    known: &[NodeCondition],
    kind: &str,
    status: &str,
    reason: &str,
    message: &str,
    now: &str,
) -> Value {
    let kept = known.iter().find(|condition| condition.type_ == kind && condition.status == status);
    let since = kept.and_then(|condition| condition.last_transition_time.as_ref());
    let since = since.map_or_else(|| json!(now), |time| json!(time));
    json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastHeartbeatTime": now, "lastTransitionTime": since,
    })
}

/// The tag of an image, without a digest; empty where there is none.
pub(super) fn image_version(image: &str) -> &str {
    let without_digest = image.split('@').next().unwrap_or_default();
    let name = without_digest.rsplit('/').next().unwrap_or_default();
    name.split_once(':').map_or("", |(_, tag)| tag)
}

fn flag<'a>(arguments: &'a Arguments, name: &str) -> &'a [String] {
    arguments.get(name).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_s_version_is_its_tag() {
        assert_eq!(image_version("ghcr.io/siderolabs/kubelet:v1.36.3"), "v1.36.3");
        assert_eq!(image_version("localhost:5000/kubelet:v1.36.3@sha256:00"), "v1.36.3");
        assert_eq!(image_version("localhost:5000/kubelet"), "");
    }

    #[test]
    fn a_flag_s_taint_has_a_value_or_none() {
        assert_eq!(
            taint_of_flag("a=b:NoExecute"),
            Some(json!({"key": "a", "value": "b", "effect": "NoExecute"}))
        );
        assert_eq!(
            taint_of_flag("a:NoSchedule"),
            Some(json!({"key": "a", "value": "", "effect": "NoSchedule"}))
        );
        assert_eq!(taint_of_flag("a"), None);
    }
}
