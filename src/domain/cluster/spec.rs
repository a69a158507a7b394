//! What a cluster should be.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::domain::names::{Label, Uid};
use crate::domain::record::EtcdRecord;
use crate::domain::version::Version;

/// What a machine does in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Carries etcd and the API server.
    ControlPlane,
    /// Runs workloads only.
    Worker,
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ControlPlane => "control-plane",
            Self::Worker => "worker",
        })
    }
}

/// A machine that belongs into the cluster: claimed and Discovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The instance's uid.
    pub uid: Uid,
    /// The instance's name.
    pub name: Label,
    /// The host name, which is also the node's name.
    pub hostname: Label,
    /// What it does.
    pub role: Role,
    /// The user's key of its worker pool; empty for the control plane.
    pub pool: String,
    /// How often an installation was ever tried on it.
    pub installs: u32,
    /// How often in this operation: the next apply tries again.
    pub tries: u32,
    /// Whether it was given the configuration that it should have, and was not seen ready with it yet.
    pub unproven: bool,
    /// Its own addresses: those at which it is dialled, and those that it had before it was anyone's. Not the VIP.
    pub addresses: BTreeSet<IpAddr>,
    /// Whether its kubelet must ask for its first serving certificate, since it was told to in this operation.
    pub asks_for_certificate: bool,
}

/// An addon by its release name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Addon {
    /// The network.
    Cilium,
    /// Certificates.
    CertManager,
    /// One of the user's own.
    Further(Label),
}

impl Addon {
    /// The addon of a release name.
    #[must_use]
    pub fn named(name: &Label) -> Self {
        match name.as_str() {
            "cilium" => Self::Cilium,
            "cert-manager" => Self::CertManager,
            _ => Self::Further(name.clone()),
        }
    }
}

/// One of the user's own addons, and when its turn comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FurtherAddon {
    /// Its name.
    pub addon: Addon,
    /// Whether the control plane is not healthy without it.
    pub before_health: bool,
    /// What has to be healthy before it is applied.
    pub depends_on: BTreeSet<Addon>,
}

impl std::fmt::Display for Addon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Cilium => "cilium",
            Self::CertManager => "cert-manager",
            Self::Further(name) => name.as_str(),
        })
    }
}

/// What a cluster should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The cluster's name.
    pub name: Label,
    /// The version that every machine should run.
    pub talos_version: Version,
    /// All machines that are there for it.
    pub members: Vec<Member>,
    /// How many control-plane machines the pool wants.
    pub wanted_control_planes: u32,
    /// Whether Cilium is installed.
    pub cilium: bool,
    /// Whether cert-manager is installed.
    pub cert_manager: bool,
    /// The user's own addons.
    pub addons: Vec<FurtherAddon>,
    /// Addons that were installed and are not wanted any more, in the order in which they go.
    pub leaving: Vec<Addon>,
    /// Whether kubelets ask the cluster for their serving certificates, and we approve them.
    pub serving_certificates: bool,
    /// What is remembered of etcd.
    pub etcd: EtcdRecord,
    /// Whether the user gave the secrets: then an etcd that answers to them is this cluster's, record or not.
    pub secrets_given: bool,
    /// Whether the cluster ever was healthy: from then on the health check is no gate.
    pub bootstrapped: bool,
}

impl Spec {
    /// The control-plane machines, sorted by name.
    pub fn control_planes(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.role == Role::ControlPlane)
    }

    /// The workers, sorted by name.
    pub fn workers(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.role == Role::Worker)
    }

    /// The machine on which etcd is bootstrapped: the recorded one, else the first by name.
    #[must_use]
    pub fn bootstrap_member(&self) -> Option<&Member> {
        match &self.etcd.bootstrap_sent {
            Some(uid) => self.control_planes().find(|member| member.uid == *uid),
            None => self.control_planes().min_by(|a, b| a.name.cmp(&b.name)),
        }
    }
}
