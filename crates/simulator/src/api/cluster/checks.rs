//! The checks of Talos' health check, in Talos' order.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::kubernetes::{EtcdMember, Health, NodeReport, Readiness};
use crate::machine::{Boot, Stage};
use crate::resources::cluster::Role;
use crate::world::TalosVersion;

/// The nodes that the caller expects, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    control_planes: Vec<String>,
    workers: Vec<String>,
}

/// How a check that didn't fail came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Skipped,
}

/// A check, by what is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    EtcdHealthy,
    EtcdConsistent,
    EtcdOnControlPlanes,
    ApidReady,
    MemorySizes,
    DiskSizes,
    NoDiagnostics,
    KubeletHealthy,
    BootFinished,
    NodesReport,
    StaticPodsRunning,
    ComponentsReady,
    NodesReady,
    KubeProxyReady,
    CoreDnsReady,
    NodesSchedulable,
}

/// Checks that ask for a CNI, which 1.13 leaves out where the configuration asks for none.
const NEEDS_CNI: [Check; 2] = [Check::NodesReady, Check::CoreDnsReady];

/// All checks in their order.
pub(super) fn in_order(version: TalosVersion) -> Vec<Look> {
    use Check::{
        ApidReady, BootFinished, ComponentsReady, CoreDnsReady, DiskSizes, EtcdConsistent, EtcdHealthy,
        EtcdOnControlPlanes, KubeProxyReady, KubeletHealthy, MemorySizes, NoDiagnostics, NodesReady,
        NodesReport, NodesSchedulable, StaticPodsRunning,
    };
    let order = [
        EtcdHealthy,
        EtcdConsistent,
        EtcdOnControlPlanes,
        ApidReady,
        MemorySizes,
        DiskSizes,
        NoDiagnostics,
        KubeletHealthy,
        BootFinished,
        NodesReport,
        StaticPodsRunning,
        ComponentsReady,
        NodesReady,
        KubeProxyReady,
        CoreDnsReady,
        NodesSchedulable,
    ];
    order.into_iter().map(|check| Look { check, version }).collect()
}

/// A check as a version makes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    check: Check,
    version: TalosVersion,
}

impl Expected {
    /// The caller's lists; without any, what an isolated machine discovers: itself.
    pub(super) fn new(boot: &Boot, control_planes: Vec<String>, workers: Vec<String>) -> Self {
        if control_planes.is_empty() && workers.is_empty() {
            return Self { control_planes: vec![boot.address.to_string()], workers };
        }
        Self { control_planes, workers }
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.control_planes.iter().chain(&self.workers).cloned().collect()
    }
}

impl Look {
    pub(super) const fn name(self) -> &'static str {
        match self.check {
            Check::EtcdHealthy => "etcd to be healthy",
            Check::EtcdConsistent => "etcd members to be consistent across nodes",
            Check::EtcdOnControlPlanes => "etcd members to be control plane nodes",
            Check::ApidReady => "apid to be ready",
            Check::MemorySizes => "all nodes memory sizes",
            Check::DiskSizes => "all nodes disk sizes",
            Check::NoDiagnostics => "no diagnostics",
            Check::KubeletHealthy => "kubelet to be healthy",
            Check::BootFinished => "all nodes to finish boot sequence",
            Check::NodesReport => "all k8s nodes to report",
            Check::StaticPodsRunning => "all control plane static pods to be running",
            Check::ComponentsReady => "all control plane components to be ready",
            Check::NodesReady => "all k8s nodes to report ready",
            Check::KubeProxyReady => "kube-proxy to report ready",
            Check::CoreDnsReady => "coredns to report ready",
            Check::NodesSchedulable => "all k8s nodes to report schedulable",
        }
    }

    /// Looks once. An error is what keeps the check from passing.
    pub(super) async fn look(self, boot: &Boot, expected: &Expected) -> Result<Outcome, String> {
        let cni = boot.configuration().map(|own| own.view.cluster.network.cni.clone()).unwrap_or_default();
        let knows_no_cni = self.version.health_check_knows_no_cni();
        if knows_no_cni && cni == "none" && NEEDS_CNI.contains(&self.check) {
            return Ok(Outcome::Skipped);
        }
        match self.check {
            // Simulated machines find nothing wrong with themselves.
            Check::NoDiagnostics => Ok(Outcome::Passed),
            Check::ApidReady => everywhere(boot, expected, |_, _| Ok(())),
            Check::MemorySizes => everywhere(boot, expected, memory),
            Check::DiskSizes => everywhere(boot, expected, |node, _| disk(node)),
            Check::KubeletHealthy => everywhere(boot, expected, |node, _| service(node, "kubelet")),
            Check::BootFinished => everywhere(boot, expected, |node, _| booted(node)),
            Check::EtcdConsistent => consistent(boot, expected).await,
            Check::EtcdOnControlPlanes => members(boot, expected).await,
            Check::EtcdHealthy
            | Check::NodesReport
            | Check::StaticPodsRunning
            | Check::ComponentsReady
            | Check::NodesReady
            | Check::KubeProxyReady
            | Check::CoreDnsReady
            | Check::NodesSchedulable => {
                let node = boot.node().ok_or("the machine is still booting")?;
                judge(self.check, &node.health().await, expected)
            }
        }
    }
}

/// Asks every expected machine about itself.
fn everywhere(
    boot: &Boot,
    expected: &Expected,
    ask: impl Fn(&Boot, Role) -> Result<(), String>,
) -> Result<Outcome, String> {
    let roles = [(&expected.control_planes, Role::ControlPlane), (&expected.workers, Role::Worker)];
    for (addresses, role) in roles {
        for address in addresses {
            ask(&*configured(boot, address)?, role)?;
        }
    }
    Ok(Outcome::Passed)
}

/// The configured machine at an address.
fn configured(boot: &Boot, address: &str) -> Result<Arc<Boot>, String> {
    let unreachable = || {
        format!("rpc error: code = Unavailable desc = dial tcp {address}:50000: connect: connection refused")
    };
    let found = address.parse().ok().and_then(|address| boot.machine.site.neighbours.at(address));
    found.filter(|found| found.configuration().is_some()).ok_or_else(unreachable)
}

/// Judges what the cluster says. Pure.
fn judge(check: Check, health: &Health, expected: &Expected) -> Result<Outcome, String> {
    let nodes = || health.nodes.as_ref().map_err(ToString::to_string);
    match check {
        Check::EtcdHealthy => health.etcd.as_ref().map(|()| Outcome::Passed).map_err(ToString::to_string),
        Check::NodesReport => same_nodes(nodes()?, expected),
        Check::NodesReady => {
            let waiting = nodes()?.iter().filter(|node| node.ready.is_err());
            none_left("some nodes are not ready", waiting.map(|node| node.name.clone()))
        }
        Check::NodesSchedulable => {
            let waiting = nodes()?.iter().filter(|node| !node.schedulable);
            none_left("some nodes are not schedulable", waiting.map(|node| node.name.clone()))
        }
        Check::StaticPodsRunning => {
            let pods = health.static_pods.as_ref().map_err(ToString::to_string)?;
            let control_planes =
                nodes()?.iter().filter(|node| node.control_plane).map(|node| node.name.clone());
            let missing = control_planes.flat_map(|node| {
                let there =
                    |component: &str| pods.iter().any(|pod| pod.node == node && pod.component == component);
                let components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
                let missing = components.into_iter().filter(|component| !there(component));
                missing.map(|component| format!("{component}-{node}")).collect::<Vec<_>>()
            });
            none_left("missing static pods", missing)
        }
        Check::ComponentsReady => {
            let pods = health.static_pods.as_ref().map_err(ToString::to_string)?;
            let waiting = pods.iter().filter(|pod| !pod.ready);
            none_left("some pods are not ready", waiting.map(|pod| format!("{}-{}", pod.component, pod.node)))
        }
        Check::KubeProxyReady => workload(health.kube_proxy.as_ref().map_err(ToString::to_string)?.as_ref()),
        Check::CoreDnsReady => workload(health.core_dns.as_ref().map_err(ToString::to_string)?.as_ref()),
        Check::EtcdConsistent
        | Check::EtcdOnControlPlanes
        | Check::ApidReady
        | Check::MemorySizes
        | Check::DiskSizes
        | Check::NoDiagnostics
        | Check::KubeletHealthy
        | Check::BootFinished => Ok(Outcome::Passed),
    }
}

/// A workload that isn't there is skipped.
fn workload(readiness: Option<&Readiness>) -> Result<Outcome, String> {
    match readiness {
        None => Ok(Outcome::Skipped),
        Some(readiness) if readiness.ready >= readiness.desired => Ok(Outcome::Passed),
        Some(readiness) => {
            Err(format!("number of pods not ready: {} of {} are", readiness.ready, readiness.desired))
        }
    }
}

/// The cluster's nodes are those that are expected, by their addresses.
fn same_nodes(nodes: &[NodeReport], expected: &Expected) -> Result<Outcome, String> {
    let wanted: BTreeSet<_> = expected.all().into_iter().collect();
    let missing: Vec<_> =
        wanted.iter().filter(|address| !nodes.iter().any(|node| node.addresses.contains(address))).collect();
    if !missing.is_empty() {
        return Err(format!("can't find expected node with IPs {missing:?}"));
    }
    let unexpected: Vec<_> = nodes
        .iter()
        .filter(|node| !node.addresses.iter().any(|address| wanted.contains(address)))
        .map(|node| &node.addresses)
        .collect();
    if unexpected.is_empty() {
        Ok(Outcome::Passed)
    } else {
        Err(format!("unexpected nodes with IPs {unexpected:?}"))
    }
}

fn none_left(what: &str, waiting: impl Iterator<Item = String>) -> Result<Outcome, String> {
    let waiting: Vec<_> = waiting.collect();
    if waiting.is_empty() { Ok(Outcome::Passed) } else { Err(format!("{what}: {waiting:?}")) }
}

/// Memory that Talos wants: 2 GiB of a control plane, 1 GiB of a worker, less what firmware and kernel take.
fn memory(node: &Boot, role: Role) -> Result<(), String> {
    let minimum_mebibytes = if role == Role::ControlPlane { 1698 } else { 874 };
    let own = node.machine.specification.memory.bytes() >> 20;
    if own >= minimum_mebibytes {
        return Ok(());
    }
    let address = node.address;
    Err(format!(
        "node {address} does not meet memory requirements: expected at least {minimum_mebibytes} MiB, actual {own} MiB"
    ))
}

/// Disk that Talos wants for EPHEMERAL.
fn disk(node: &Boot) -> Result<(), String> {
    const MINIMUM_GIBIBYTES: u64 = 6;
    let installed = node.installed().map(|installed| installed.disk).unwrap_or_default();
    let disks = node.machine.specification.disks();
    let own = disks.iter().find(|disk| disk.name == installed).map_or(0, |disk| disk.size.bytes() >> 30);
    if own >= MINIMUM_GIBIBYTES {
        return Ok(());
    }
    let address = node.address;
    Err(format!(
        "ephemeral partition {installed} for node {address} is too small, expected at least {MINIMUM_GIBIBYTES} GiB, actual {own} GiB"
    ))
}

fn service(node: &Boot, id: &str) -> Result<(), String> {
    let services = node.services();
    let found = services.iter().find(|service| service.id == id);
    match found.map(|service| (service.state, service.healthy)) {
        Some(("Running", Some(true))) => Ok(()),
        Some((state, _)) => {
            Err(format!("service {id:?} not in expected state \"Running\": current state [{state}]"))
        }
        None => Err(format!("service {id:?} is not registered")),
    }
}

fn booted(node: &Boot) -> Result<(), String> {
    let stage = node.stage();
    if stage == Stage::Running {
        return Ok(());
    }
    Err(format!("nodes \"{}\" are in {} state", node.address, stage.as_str()))
}

/// Every control plane lists the same members.
async fn consistent(boot: &Boot, expected: &Expected) -> Result<Outcome, String> {
    let mut first: Option<BTreeSet<u64>> = None;
    for address in &expected.control_planes {
        let listed = members_at(boot, address).await?.iter().map(|member| member.id).collect();
        if first.get_or_insert_with(|| Clone::clone(&listed)) != &listed {
            return Err(format!("etcd members of {address} differ from those of other control planes"));
        }
    }
    Ok(Outcome::Passed)
}

/// etcd's members are the expected control planes, and all of them vote.
async fn members(boot: &Boot, expected: &Expected) -> Result<Outcome, String> {
    let members = members_at(boot, &boot.address.to_string()).await?;
    let (own, wanted) = (members.len(), expected.control_planes.len());
    if own != wanted {
        return Err(format!("expected {wanted} etcd members, but there are {own}"));
    }
    if let Some(learner) = members.iter().find(|member| member.is_learner) {
        return Err(format!("etcd member {} is still a learner", learner.name));
    }
    let at = |address: &String| {
        members.iter().any(|member| member.peer_urls.iter().any(|url| url.contains(&format!("//{address}:"))))
    };
    let missing: Vec<_> = expected.control_planes.iter().filter(|address| !at(address)).collect();
    if missing.is_empty() { Ok(Outcome::Passed) } else { Err(format!("etcd has no member at {missing:?}")) }
}

async fn members_at(boot: &Boot, address: &str) -> Result<Vec<EtcdMember>, String> {
    let node = configured(boot, address)?.node().ok_or_else(|| format!("{address} is still booting"))?;
    node.etcd_members().await.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, address: &str, ready: bool) -> NodeReport {
        NodeReport {
            name: name.to_owned(),
            addresses: vec![address.to_owned()],
            control_plane: true,
            ready: if ready { Ok(()) } else { Err("no network".to_owned()) },
            schedulable: true,
        }
    }

    fn health(nodes: Vec<NodeReport>) -> Health {
        Health {
            etcd: Ok(()),
            nodes: Ok(nodes),
            static_pods: Ok(Vec::new()),
            core_dns: Ok(None),
            kube_proxy: Ok(None),
        }
    }

    #[test]
    fn expected_nodes_are_told_from_others_by_their_addresses() {
        let expected = Expected { control_planes: vec!["127.0.10.11".to_owned()], workers: Vec::new() };
        let own = node("a", "127.0.10.11", true);
        assert_eq!(judge(Check::NodesReport, &health(vec![own.clone()]), &expected), Ok(Outcome::Passed));
        let missing = judge(Check::NodesReport, &health(vec![]), &expected);
        assert!(missing.is_err_and(|text| text.contains("can't find expected node")));
        let other = node("b", "127.0.10.12", true);
        let more = judge(Check::NodesReport, &health(vec![own, other]), &expected);
        assert!(more.is_err_and(|text| text.contains("unexpected nodes")));
    }

    #[test]
    fn a_node_that_is_not_ready_is_named_and_a_missing_workload_is_skipped() {
        let expected = Expected::default();
        let waiting = judge(Check::NodesReady, &health(vec![node("a", "127.0.10.11", false)]), &expected);
        assert!(waiting.is_err_and(|text| text.contains("\"a\"")));
        assert_eq!(judge(Check::KubeProxyReady, &health(vec![]), &expected), Ok(Outcome::Skipped));
    }

    #[test]
    fn static_pods_are_expected_on_every_control_plane() {
        let expected = Expected::default();
        let missing =
            judge(Check::StaticPodsRunning, &health(vec![node("a", "127.0.10.11", true)]), &expected);
        assert!(missing.is_err_and(|text| text.contains("kube-scheduler-a")));
    }
}
