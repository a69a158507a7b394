//! Cilium on Talos: the values that it needs, the ones that are known to break it, and when the network is there.
//!
//! Source of the values: Talos' guide (<https://www.talos.dev/v1.13/kubernetes-guides/cni/deploying-cilium/>). Talos
//! mounts cgroup2 itself, refuses `SYS_MODULE` to every container, runs no kube-proxy in our clusters, and serves the
//! API servers on every node at KubePrism's port.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::health::AddonHealth;
use super::spec::{Addon, Overrides, Refusal, SpecError};
use super::values;
use super::workload::{Workload, WorkloadKind};

/// The release's and the chart's name.
pub const NAME: &str = "cilium";
/// Cilium's agents need privileges that only this namespace grants on Talos.
pub const NAMESPACE: &str = "kube-system";
/// The project's own chart repository.
pub const REPOSITORY: &str = "https://helm.cilium.io";
/// The version that the tests run.
pub const VERSION: &str = "1.20.2";
/// Where every Talos node serves the API servers to itself (Talos' default for KubePrism).
pub const KUBE_PRISM_PORT: u16 = 7445;

/// The addon for a cluster that wants `control_planes` control-plane nodes.
///
/// # Errors
/// [`SpecError`] when the user's values are no mapping or contradict what Talos allows.
pub fn addon(overrides: &Overrides, control_planes: usize) -> Result<Addon, SpecError> {
    let user = values::parse(overrides.values.as_deref().unwrap_or_default())?;
    let merged = values::merge(default_values(control_planes), user);
    refuse_known_bad(&merged)?;
    Ok(Addon::new(NAME, NAMESPACE, REPOSITORY, VERSION, overrides, merged))
}

/// Whether nodes can get a network: the operator answers, and each agent runs on each of `nodes`.
///
/// All other workloads (Hubble, worker nodes) are judged later by [`AddonHealth::of`].
#[must_use]
pub fn network_health(workloads: &[Workload], nodes: &BTreeSet<String>) -> AddonHealth {
    let agents: Vec<_> =
        workloads.iter().filter(|workload| workload.name.kind == WorkloadKind::DaemonSet).collect();
    if agents.is_empty() {
        return AddonHealth::Waiting(format!("a DaemonSet of {NAME} to exist"));
    }
    let operator = workloads.iter().find(|workload| {
        workload.name.kind == WorkloadKind::Deployment && workload.name.name.ends_with("operator")
    });
    let operator = operator.map(AddonHealth::of_available);
    let agents = agents.into_iter().map(|agent| AddonHealth::of_agents(agent, nodes));
    operator
        .into_iter()
        .chain(agents)
        .find(|health| *health != AddonHealth::Healthy)
        .unwrap_or(AddonHealth::Healthy)
}

fn default_values(control_planes: usize) -> Value {
    json!({
        "ipam": {"mode": "kubernetes"},
        "kubeProxyReplacement": true,
        "k8sServiceHost": "localhost",
        "k8sServicePort": KUBE_PRISM_PORT,
        "securityContext": {"capabilities": {
            "ciliumAgent": [
                "CHOWN", "KILL", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "SYS_ADMIN", "SYS_RESOURCE", "DAC_OVERRIDE",
                "FOWNER", "SETGID", "SETUID",
            ],
            "cleanCiliumState": ["NET_ADMIN", "SYS_ADMIN", "SYS_RESOURCE"],
        }},
        "cgroup": {"autoMount": {"enabled": false}, "hostRoot": "/sys/fs/cgroup"},
        // Replicas refuse to share a node, so one too many stays Pending for ever.
        "operator": {"replicas": control_planes.clamp(1, 2)},
    })
}

fn refuse_known_bad(merged: &Value) -> Result<(), Refusal> {
    let replacement = values::at(merged, "kubeProxyReplacement");
    if !matches!(replacement, Some(Value::Bool(true))) && replacement.and_then(Value::as_str) != Some("true")
    {
        return Err(Refusal {
            path: "kubeProxyReplacement",
            problem: "must be true: machines run no kube-proxy while Cilium is enabled, so nothing else serves Services",
            remedy: "leave it out",
        });
    }
    refuse_dead_api_server(merged)?;
    if values::at(merged, "cgroup.autoMount.enabled") != Some(&Value::Bool(false)) {
        return Err(Refusal {
            path: "cgroup.autoMount.enabled",
            problem: "must be false: Talos mounts cgroup2 itself and refuses what the mounting container needs",
            remedy: "leave it out",
        });
    }
    if values::at(merged, "cgroup.hostRoot").and_then(Value::as_str) != Some("/sys/fs/cgroup") {
        return Err(Refusal {
            path: "cgroup.hostRoot",
            problem: "must be /sys/fs/cgroup, where Talos mounts cgroup2",
            remedy: "leave it out",
        });
    }
    refuse_forbidden_capabilities(merged)?;
    let other_namespace = values::at(merged, "namespaceOverride").and_then(Value::as_str).unwrap_or_default();
    if !matches!(other_namespace, "" | NAMESPACE) {
        return Err(Refusal {
            path: "namespaceOverride",
            problem: "must be kube-system: Talos enforces the baseline Pod Security level everywhere else, and Cilium's \
                      agents do not meet it",
            remedy: "leave it out",
        });
    }
    if values::at(merged, "agent") == Some(&Value::Bool(false)) {
        return Err(Refusal {
            path: "agent",
            problem: "must not be false: no node gets a network without its agent",
            remedy: "leave it out, or disable the addon and install a network yourself",
        });
    }
    Ok(())
}

/// On the node itself only KubePrism answers for the API server.
fn refuse_dead_api_server(merged: &Value) -> Result<(), Refusal> {
    let host = values::at(merged, "k8sServiceHost").and_then(Value::as_str).unwrap_or_default();
    let port = match values::at(merged, "k8sServicePort") {
        Some(Value::String(port)) => port.clone(),
        Some(port) => port.to_string(),
        None => String::new(),
    };
    if matches!(host, "localhost" | "127.0.0.1" | "::1") && port != KUBE_PRISM_PORT.to_string() {
        return Err(Refusal {
            path: "k8sServicePort",
            problem: "must be 7445 with k8sServiceHost localhost: on a node, KubePrism serves the API servers there and \
                      nowhere else",
            remedy: "leave it out",
        });
    }
    Ok(())
}

fn refuse_forbidden_capabilities(merged: &Value) -> Result<(), Refusal> {
    let sets = ["securityContext.capabilities.ciliumAgent", "securityContext.capabilities.cleanCiliumState"];
    for path in sets {
        let set = values::at(merged, path).and_then(Value::as_array);
        // Without a list of ours the chart's own one applies, which holds SYS_MODULE.
        let forbidden = set.is_none_or(|set| {
            set.iter().any(|capability| matches!(capability.as_str(), Some("SYS_MODULE" | "CAP_SYS_MODULE")))
        });
        if forbidden {
            return Err(Refusal {
                path,
                problem: "must not hold SYS_MODULE: Talos refuses it to every container, which then does not start",
                remedy: "remove SYS_MODULE from the list, or leave the list out",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn with(values: &str) -> Result<Addon, SpecError> {
        addon(&Overrides { values: Some(values.to_owned()), ..Overrides::default() }, 3)
    }

    fn refused_path(values: &str) -> &'static str {
        match with(values) {
            Err(SpecError::Refused(refusal)) => refusal.path,
            other => panic!("{values:?} gave {other:?}"),
        }
    }

    #[test]
    fn the_operator_never_gets_more_replicas_than_nodes_nor_more_than_two() {
        for (nodes, replicas) in [(0, 1), (1, 1), (2, 2), (3, 2), (5, 2)] {
            let addon = addon(&Overrides::default(), nodes).unwrap();
            assert_eq!(addon.values["operator"]["replicas"], replicas, "{nodes} nodes");
        }
    }

    #[test]
    fn what_breaks_on_talos_is_refused_by_its_path() {
        let cases = [
            ("k8sServicePort: 6443", "k8sServicePort"),
            ("k8sServicePort: '6443'", "k8sServicePort"),
            ("cgroup: {autoMount: {enabled: true}}", "cgroup.autoMount.enabled"),
            ("cgroup: {hostRoot: /run/cilium/cgroupv2}", "cgroup.hostRoot"),
            ("kubeProxyReplacement: false", "kubeProxyReplacement"),
            ("kubeProxyReplacement: null", "kubeProxyReplacement"),
            (
                "securityContext: {capabilities: {ciliumAgent: [SYS_MODULE]}}",
                "securityContext.capabilities.ciliumAgent",
            ),
            ("securityContext: {capabilities: null}", "securityContext.capabilities.ciliumAgent"),
            ("namespaceOverride: network", "namespaceOverride"),
            ("agent: false", "agent"),
        ];
        for (values, path) in cases {
            assert_eq!(refused_path(values), path, "{values}");
        }
    }

    #[test]
    fn what_works_on_talos_is_not_refused() {
        let accepted = [
            "hubble: {enabled: true}",
            "k8sServiceHost: api.example.org\nk8sServicePort: 443",
            "k8sServicePort: '7445'",
            "kubeProxyReplacement: 'true'",
            "ipam: {mode: cluster-pool}",
            "securityContext: {capabilities: {ciliumAgent: [NET_ADMIN]}}",
            "namespaceOverride: kube-system",
        ];
        for values in accepted {
            assert!(with(values).is_ok(), "{values}: {:?}", with(values));
        }
    }

    #[test]
    fn the_network_needs_agents_but_not_hubble() {
        use crate::domain::addon::workload::{Pod, Progress, WorkloadName};
        let workload = |kind, name: &str, available, pods| Workload {
            name: WorkloadName { kind, namespace: NAMESPACE.to_owned(), name: name.to_owned() },
            progress: Some(Progress {
                observed: true,
                desired: 1,
                updated: 1,
                available,
                ..Progress::default()
            }),
            pods,
        };
        let on_node =
            Pod { name: "a".to_owned(), node: Some("cp-0".to_owned()), ready: true, ..Pod::default() };
        let nodes = BTreeSet::from(["cp-0".to_owned()]);
        let hubble = workload(WorkloadKind::Deployment, "hubble-relay", 0, Vec::new());
        let operator = workload(WorkloadKind::Deployment, "cilium-operator", 1, Vec::new());
        let agent = workload(WorkloadKind::DaemonSet, "cilium", 1, vec![on_node]);
        let all = [hubble.clone(), operator.clone(), agent];
        assert_eq!(network_health(&all, &nodes), AddonHealth::Healthy);
        assert_ne!(network_health(&[hubble, operator], &nodes), AddonHealth::Healthy);
    }
}
