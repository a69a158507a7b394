//! What simulated nodes know of one another.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::fate::Fates;
use super::network::PodNetwork;
use super::{Fate, Workload};
use crate::configuration::MachineConfiguration;

/// All clusters of one simulator: where the lab's programs are, which nodes are up, and the fates of pods.
///
/// Clones are the same registry.
#[derive(Clone, Debug)]
pub struct Clusters {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    binaries: PathBuf,
    members: watch::Sender<Vec<Member>>,
    fates: Fates,
    networks: Mutex<Vec<(MeetingPoint, PodNetwork)>>,
}

/// By what members find one another: the discovery service is asked for the id and its answers are decrypted
/// with the secret; with discovery off, Talos asks the cluster's endpoint.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum MeetingPoint {
    Discovery { id: String, secret: String },
    Endpoint(String),
}

/// A node that is up, as its fellows see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) meeting_point: MeetingPoint,
    pub(super) hostname: String,
    pub(super) address: IpAddr,
    /// Where its API server listens; none on workers.
    pub(super) api_server_port: Option<u16>,
    /// Whether its etcd answers.
    pub(super) etcd_running: bool,
}

impl Clusters {
    /// A registry without members. `binaries` is the lab's folder that holds `etcd`, `kube-apiserver`,
    /// `kube-controller-manager` and `kube-scheduler`.
    #[must_use]
    pub fn new(binaries: impl Into<PathBuf>) -> Self {
        let shared = Shared {
            binaries: binaries.into(),
            members: watch::Sender::new(Vec::new()),
            fates: Fates::new(),
            networks: Mutex::new(Vec::new()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Lets something happen to a workload's pods in all clusters, from now on, also to those that run.
    pub fn set_fate(&self, workload: Workload, fate: Fate) {
        self.shared.fates.set(workload, fate);
    }

    pub(super) fn binaries(&self) -> &Path {
        &self.shared.binaries
    }

    pub(super) fn fates(&self) -> &Fates {
        &self.shared.fates
    }

    /// The pod network of the cluster that meets here.
    pub(super) fn pod_network(&self, meeting_point: &MeetingPoint) -> PodNetwork {
        let Ok(mut networks) = self.shared.networks.lock() else {
            return PodNetwork::default();
        };
        if let Some((_, network)) = networks.iter().find(|(known, _)| known == meeting_point) {
            return network.clone();
        }
        let network = PodNetwork::default();
        networks.push((meeting_point.clone(), network.clone()));
        network
    }

    /// Enters or changes a member; the returned guard takes it out again.
    pub(super) fn join(&self, member: Member) -> Membership {
        let address = member.address;
        self.shared.members.send_modify(|members| {
            members.retain(|other| other.address != address);
            members.push(member);
        });
        Membership { clusters: self.clone(), address }
    }

    /// Takes a member out.
    pub(super) fn leave(&self, address: IpAddr) {
        self.shared.members.send_modify(|members| members.retain(|member| member.address != address));
    }

    pub(super) fn members(&self) -> watch::Receiver<Vec<Member>> {
        self.shared.members.subscribe()
    }
}

/// A member's entry, for as long as it is up.
#[derive(Debug)]
pub(super) struct Membership {
    clusters: Clusters,
    address: IpAddr,
}

impl Membership {
    pub(super) fn set_etcd_running(&self, running: bool) {
        self.clusters.shared.members.send_if_modified(|members| {
            let Some(member) = members.iter_mut().find(|member| member.address == self.address) else {
                return false;
            };
            std::mem::replace(&mut member.etcd_running, running) != running
        });
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let address = self.address;
        self.clusters
            .shared
            .members
            .send_modify(|members| members.retain(|member| member.address != address));
    }
}

impl MeetingPoint {
    pub(super) fn of(configuration: &MachineConfiguration) -> Self {
        let cluster = &configuration.cluster;
        if cluster.discovery.enabled && cluster.discovery.service_enabled {
            Self::Discovery { id: cluster.id.clone(), secret: cluster.secret.expose().to_owned() }
        } else {
            Self::Endpoint(cluster.endpoint.clone())
        }
    }
}

impl std::fmt::Debug for MeetingPoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Discovery { id, .. } => write!(formatter, "discovery of cluster {id}"),
            Self::Endpoint(endpoint) => write!(formatter, "endpoint {endpoint}"),
        }
    }
}
