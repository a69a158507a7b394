//! What was seen of a cluster: everything a decision may rest on.

use std::collections::BTreeMap;

use super::serving_certificates::ServingRequest;
use super::spec::Addon;
use crate::domain::names::Uid;
use crate::domain::seen::Seen;
use crate::domain::version::Version;

/// How far a machine is, as one look found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// In maintenance mode, and it is the machine that was discovered. Carries the error of a failed installation
    /// when it is back from one.
    Maintenance {
        /// The last error that the machine told of its installation.
        install_error: Option<String>,
    },
    /// In maintenance mode, but another machine than the one that was discovered answers.
    OtherMachine {
        /// What the machine said of itself.
        found: String,
    },
    /// It took its configuration a moment ago and has not come up since.
    Installing {
        /// What came instead of an answer, when it doesn't answer.
        why: Option<String>,
    },
    /// It answers to the cluster's credentials.
    Running(Running),
    /// It answers, but its certificates come from somebody else.
    Foreign,
    /// Its certificate is expired or not yet valid: a clock is off.
    ClockOff {
        /// What the TLS layer said.
        why: String,
    },
    /// It did not answer.
    Unreachable {
        /// What came instead of an answer.
        why: String,
        /// Whether it has been so for long after a reboot that we asked for.
        long: bool,
    },
}

/// A machine that answers to the cluster's credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The running Talos.
    pub version: Version,
    /// Talos' own word for its stage, for example `booting` or `running`.
    pub stage: String,
    /// Whether its clock is in sync, when it says so.
    pub time_in_sync: Option<bool>,
    /// Whether it runs the configuration that it should.
    pub configuration_current: bool,
    /// What Talos finds unmet and why, by its own words (`services`, `nodeReady` and others); nothing when it is ready.
    pub unmet: BTreeMap<String, String>,
    /// What its etcd service says; `Absent` on a worker.
    pub etcd: EtcdService,
}

/// What a control plane says of its etcd service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EtcdService {
    /// Not running, and its data folder is empty: it waits for a bootstrap or for a cluster to join.
    Empty,
    /// Running, or about to run on data that is there.
    Started,
    /// We could not look.
    Unknown(String),
}

/// A member of etcd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdMember {
    /// Its host name; empty before it has started.
    pub hostname: String,
    /// Whether it does not vote yet.
    pub learner: bool,
}

/// What was seen of an addon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddonSeen {
    /// Whether the wanted chart with the wanted values is applied; `Absent` when it is not, or another is.
    pub installed: Seen<()>,
    /// Why its workloads on the control plane (Cilium) or all of them (others) are not healthy yet.
    pub unhealthy: Option<String>,
}

/// What was seen of a Kubernetes node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSeen {
    /// Whether it is Ready; the reason when it is not.
    pub not_ready: Option<String>,
}

/// What was seen of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// The machines by instance uid.
    pub machines: BTreeMap<Uid, Stage>,
    /// etcd's members, asked of any control plane that runs it.
    pub etcd: Option<Seen<Vec<EtcdMember>>>,
    /// A member's API server, asked with our credentials.
    pub api_server: Option<Seen<()>>,
    /// The endpoint, asked with our credentials.
    pub endpoint: Option<Seen<()>>,
    /// The addons.
    pub addons: BTreeMap<Addon, AddonSeen>,
    /// Talos' health check, or our own before Talos 1.13.
    pub health: Option<Seen<()>>,
    /// The nodes by name.
    pub nodes: Option<Seen<BTreeMap<String, NodeSeen>>>,
    /// The kubelets' requests for serving certificates, where they are looked after.
    pub serving_requests: Option<Seen<Vec<ServingRequest>>>,
    /// Why the cluster's remaining workloads (CoreDNS, Cilium beyond the control plane) are not healthy yet.
    pub rest_unhealthy: Option<String>,
}
