//! What the inventory remembers: the bodies of its records.
//!
//! These have their final form: saved states depend on them. A field is only ever added, with a default.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::digest;
use super::machine::{Facts, InstallDisk};
use super::names::{Address, Label, Uid};
use super::selector::{Labels, Selector};

/// The schema version that this program writes. Records of a newer one are refused.
pub const SCHEMA_VERSION: u32 = 1;

/// The kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A machine: [`InstanceRecord`].
    Instance,
    /// A pool: [`PoolRecord`].
    InstancePool,
    /// A cluster: [`ClusterRecord`].
    TalosCluster,
    /// Who works on something now: [`LeaseRecord`].
    Lease,
    /// What was deleted: [`Tombstone`], named by the uid.
    Tombstone,
}

impl Kind {
    /// The kind's name in the inventory.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instance => "Instance",
            Self::InstancePool => "InstancePool",
            Self::TalosCluster => "TalosCluster",
            Self::Lease => "Lease",
            Self::Tombstone => "Tombstone",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// Where it may answer, in the order in which it is tried.
    pub interfaces: Vec<Address>,
    /// The host name it gets; the record's name when `None`.
    #[serde(default)]
    pub hostname: Option<Label>,
    /// The user's labels.
    #[serde(default)]
    pub labels: Labels,
    /// Which disk Talos goes on.
    #[serde(default)]
    pub install_disk: Option<InstallDisk>,
    /// Patches of this machine's configuration.
    #[serde(default)]
    pub config_patches: Vec<String>,
    /// The SHA-256 fingerprint that the maintenance service's certificate must have, when the user pins one.
    #[serde(default)]
    pub certificate_fingerprint: Option<String>,
    /// What it said of itself; frozen while it is claimed.
    #[serde(default)]
    pub facts: Option<Facts>,
    /// What the last look says.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Which pool owns it.
    #[serde(default)]
    pub claim: Option<Claim>,
    /// What we did to it.
    #[serde(default)]
    pub work: Work,
    /// Whether a saved state has shown this record.
    #[serde(default)]
    pub acknowledged: bool,
}

impl InstanceRecord {
    /// The machine's own addresses, as far as they are known: those at which it is dialled, and those that it had in
    /// maintenance mode.
    #[must_use]
    pub fn addresses(&self) -> BTreeSet<IpAddr> {
        let dialled = self.candidates().into_iter().filter_map(|address| address.as_str().parse().ok());
        let links = self.facts.iter().flat_map(|facts| &facts.links).flat_map(|link| &link.addresses);
        let held = links.filter_map(|prefix| prefix.split('/').next()?.parse().ok());
        dialled.chain(held).collect()
    }

    /// A digest of what the machine's own resource says of its configuration: it changes when that does.
    #[must_use]
    pub fn configuration_digest(&self) -> String {
        let names: Vec<String> = self.interfaces.iter().map(ToString::to_string).collect();
        let hostname = self.hostname.as_ref().map(ToString::to_string).unwrap_or_default();
        // A missing disk and one without criteria choose alike.
        let disk =
            self.install_disk.as_ref().and_then(|disk| serde_json::to_string(disk).ok()).unwrap_or_default();
        digest::short(&[digest::short(&self.config_patches), digest::short(&names), hostname, disk])
    }

    /// Where the machine is dialled: the address that answered first, then all others.
    #[must_use]
    pub fn candidates(&self) -> Vec<Address> {
        let answered = self.facts.as_ref().map(|facts| &facts.address);
        let others = self.interfaces.iter().filter(|address| Some(*address) != answered);
        answered.into_iter().chain(others).cloned().collect()
    }

    /// What tells the machine from every other one, as far as it told.
    #[must_use]
    pub fn identity(&self) -> Option<super::machine::Identity> {
        self.facts.as_ref().and_then(Facts::identity)
    }
}

/// A pool's claim on a machine: the value of the label `kontinuum.sh/claimed-by` is the pool's uid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The pool.
    pub pool: Uid,
}

/// How far a machine was taken. Memory of this kind only ever refuses a step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Work {
    /// Nothing was ever sent to it.
    #[default]
    Untouched,
    /// A configuration of this cluster was sent, or is about to be: from here on it is never dialled without
    /// verification, except to see that it came back to maintenance mode.
    Configured {
        /// The cluster's uid.
        cluster: Uid,
        /// How many installations were tried.
        #[serde(default)]
        installs: u32,
    },
    /// It was let go, but nobody has seen it clean: never claimed before it is seen in maintenance mode with its
    /// identity.
    Fenced {
        /// What is still on it.
        left_behind: String,
    },
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolRecord {
    /// The candidates by name, when the pool lists them.
    #[serde(default)]
    pub instances: Option<BTreeMap<Label, Uid>>,
    /// Which labels a candidate must have.
    #[serde(default)]
    pub selector: Option<Selector>,
    /// How many machines it wants.
    pub replicas: u32,
    /// Whether a machine must have answered before it is claimed.
    pub require_discovered: bool,
    /// What the last look says.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Whether a saved state has shown this record.
    #[serde(default)]
    pub acknowledged: bool,
}

/// An addon that was installed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddonRecord {
    /// The namespace of its release.
    pub namespace: String,
    /// What it depends on, by release name: it goes before them.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// A cluster.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterRecord {
    /// The control plane's pool.
    pub control_plane: Uid,
    /// The worker pools by the user's key.
    #[serde(default)]
    pub workers: BTreeMap<String, Uid>,
    /// The Talos version that it was asked to run last.
    #[serde(default)]
    pub talos_version: Option<String>,
    /// The Kubernetes version that it was asked to run last.
    #[serde(default)]
    pub kubernetes_version: Option<String>,
    /// The address that its control planes share.
    #[serde(default)]
    pub vip: Option<String>,
    /// The frozen endpoint, once there is one.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The configuration contract, frozen at creation, for example `v1.13`.
    #[serde(default)]
    pub contract: Option<String>,
    /// The secrets bundle as YAML. Never shown.
    #[serde(default)]
    pub secrets: Option<String>,
    /// How far etcd got.
    #[serde(default)]
    pub etcd: EtcdRecord,
    /// Whether the cluster ever was bootstrapped and healthy.
    #[serde(default)]
    pub bootstrapped: bool,
    /// The addons that were ever installed and not removed since, by release name.
    #[serde(default)]
    pub addons: BTreeMap<String, AddonRecord>,
    /// The versions of installed charts by release name, frozen.
    #[serde(default)]
    pub charts: BTreeMap<String, String>,
    /// The control-plane machines that stand, or stood, in the cluster, by uid.
    #[serde(default)]
    pub members: BTreeMap<Uid, MemberRecord>,
    /// What the last look says.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Whether a saved state has shown this record.
    #[serde(default)]
    pub acknowledged: bool,
    /// Whether it is being taken down: nothing is configured any more.
    #[serde(default)]
    pub deleting: bool,
}

impl std::fmt::Debug for ClusterRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterRecord")
            .field("control_plane", &self.control_plane)
            .field("endpoint", &self.endpoint)
            .field("contract", &self.contract)
            .field("etcd", &self.etcd)
            .field("bootstrapped", &self.bootstrapped)
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

/// A machine of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberRecord {
    /// The instance's name.
    pub name: Label,
    /// Whether it carries etcd and the API server.
    pub control_plane: bool,
    /// The SHA-256 digest of the configuration that it was given last, in hexadecimal.
    #[serde(default)]
    pub configuration: Option<String>,
    /// What the instance said of itself then, as one digest: its patches, host name, disk and addresses.
    #[serde(default)]
    pub instance: Option<String>,
    /// Whether the machine was seen ready with it, where it was a change. Until then no other machine's configuration is changed.
    #[serde(default)]
    pub proven: bool,
}

/// How far etcd got. It only ever refuses a step.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EtcdRecord {
    /// The one machine to which a bootstrap request may go; set before the request is sent.
    #[serde(default)]
    pub bootstrap_sent: Option<Uid>,
    /// Whether a member list was ever read: no bootstrap after that.
    #[serde(default)]
    pub seen: bool,
}

/// Who works on something now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRecord {
    /// Host and process, for people.
    pub holder: String,
    /// When the holder was last alive.
    pub renewed: Timestamp,
    /// From when on others may take over.
    pub expires: Timestamp,
}

/// A deleted record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// What it was.
    pub kind: Kind,
    /// What it was called.
    pub name: String,
    /// When it was deleted.
    pub deleted: Timestamp,
}
