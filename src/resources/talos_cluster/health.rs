//! Whether the control plane is healthy: Talos' own check from 1.13 on, and before that ours.
//!
//! Up to Talos 1.12 the machines' check never passes without a network plugin of Talos' own, so it is made here of its
//! parts.

use std::time::Duration;

use super::super::report::chain;
use super::world::ClusterWorld;
use crate::clients::kubernetes::Node;
use crate::clients::talos::{Admin, Health, HealthCheck};
use crate::domain::cluster::observed::{Running, Stage};
use crate::domain::cluster::spec::Role;
use crate::domain::seen::Seen;

/// How long the machine tries before it answers: long enough for one round of its checks, short enough to be looked at
/// again soon.
const WAIT: Duration = Duration::from_secs(10);

impl ClusterWorld<'_> {
    /// Looks whether the control plane is healthy.
    pub(super) async fn look_at_health(&mut self) {
        let client = self.kubernetes.as_ref().map(|kubernetes| kubernetes.client.clone());
        let nodes = match client {
            None => Err("no API server answers".to_owned()),
            Some(client) => client.nodes().await.map_err(|error| format!("failed to {}", chain(&error))),
        };
        self.seen.health = Some(match nodes {
            Err(why) => Seen::Unknown(why),
            Ok(nodes) => match self.health(&nodes).await {
                Ok(()) => Seen::Present(()),
                Err(why) => Seen::Unknown(why),
            },
        });
    }

    async fn health(&self, nodes: &[Node]) -> Result<(), String> {
        let control_planes = self.addresses(nodes, Role::ControlPlane)?;
        if self.runs_own_check() {
            // Workers that are registered belong to the check: it refuses nodes that it wasn't told of.
            let workers = nodes
                .iter()
                .filter_map(|node| node.internal_addresses.first().cloned())
                .filter(|address| !control_planes.contains(address))
                .collect();
            let check = HealthCheck { control_planes, workers, endpoint: None, wait: WAIT };
            let admin = self.control_plane_connections().next().ok_or("no control plane is connected")?;
            return match admin.health_check(check).await {
                Ok(Health::Healthy) => Ok(()),
                Ok(Health::Unhealthy(why)) => Err(why),
                Err(error) => Err(format!("failed to {}", chain(&error))),
            };
        }
        for admin in self.control_plane_connections() {
            member_health(admin).await?;
        }
        let booting = self.seen.machines.iter().find_map(|(uid, stage)| {
            let Stage::Running(Running { stage, .. }) = stage else { return None };
            (stage != "running").then(|| (uid, stage.clone()))
        });
        match booting.and_then(|(uid, stage)| Some((self.machine(uid)?, stage))) {
            Some((machine, stage)) => Err(format!("machine {} is in stage {stage}", machine.member.name)),
            None => Ok(()),
        }
    }

    /// Whether every control plane has the check that knows clusters without Talos' own network plugin.
    fn runs_own_check(&self) -> bool {
        self.machines.iter().filter(|machine| machine.member.role == Role::ControlPlane).all(|machine| {
            let stage = self.seen.machines.get(&machine.member.uid);
            matches!(stage, Some(Stage::Running(running)) if running.version.minor() >= 13)
        })
    }

    /// The addresses of a role's nodes, as their kubelets report them.
    fn addresses(&self, nodes: &[Node], role: Role) -> Result<Vec<String>, String> {
        self.machines
            .iter()
            .filter(|machine| machine.member.role == role)
            .map(|machine| {
                let hostname = machine.member.hostname.as_str();
                nodes
                    .iter()
                    .find(|node| node.name == hostname)
                    .and_then(|node| node.internal_addresses.first().cloned())
                    .ok_or_else(|| format!("node {hostname} has not registered with the API server"))
            })
            .collect()
    }
}

/// What Talos' check asks of one control plane: its etcd has a leader and no error, its kubelet is healthy.
async fn member_health(admin: &Admin) -> Result<(), String> {
    let failed = |error| format!("failed to {}", chain(&error));
    let status = admin.etcd_status().await.map_err(failed)?;
    if status.leader.is_none() {
        return Err("etcd has no leader".to_owned());
    }
    if let Some(error) = status.errors.first() {
        return Err(format!("etcd reports {error}"));
    }
    let services = admin.services().await.map_err(failed)?;
    match services.iter().find(|service| service.id == "kubelet") {
        Some(kubelet) if kubelet.healthy == Some(true) => Ok(()),
        Some(kubelet) => Err(format!("the kubelet of {} is {}", admin.address(), kubelet.state)),
        None => Err(format!("the kubelet of {} is not started", admin.address())),
    }
}
