//! What to do next, and what stands in the way, in words that complete a sentence.

use thiserror::Error;

use super::serving_certificates::RequestId;
use super::spec::Addon;
use crate::domain::names::{Label, Uid};

/// An act. Whoever carries it out has no choices left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send a machine in maintenance mode its configuration.
    Configure(Uid),
    /// Send a running machine its changed configuration.
    Reconfigure(Uid),
    /// Bootstrap etcd on this machine, and on no other ever.
    BootstrapEtcd(Uid),
    /// Remember that etcd was seen.
    RememberEtcd,
    /// Apply a chart.
    InstallAddon(Addon),
    /// Uninstall a chart that is not wanted any more.
    RemoveAddon(Addon),
    /// Remember that the cluster is healthy.
    RememberBootstrapped,
    /// Approve these requests for kubelets' serving certificates.
    ApproveServingCertificates(Vec<RequestId>),
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Configure(uid) => write!(f, "configure machine {uid}"),
            Self::Reconfigure(uid) => write!(f, "change the configuration of machine {uid}"),
            Self::BootstrapEtcd(uid) => write!(f, "bootstrap etcd on machine {uid}"),
            Self::RememberEtcd => f.write_str("remember that etcd was seen"),
            Self::InstallAddon(addon) => write!(f, "apply the chart of {addon}"),
            Self::RemoveAddon(addon) => write!(f, "uninstall the chart of {addon}"),
            Self::RememberBootstrapped => f.write_str("remember that the cluster is healthy"),
            Self::ApproveServingCertificates(requests) => {
                let names: Vec<_> = requests.iter().map(ToString::to_string).collect();
                write!(f, "approve kubelets' serving certificates: {}", names.join(", "))
            }
        }
    }
}

/// What is waited for; the text completes "waiting for …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Waiting {
    /// A machine comes up.
    #[error("machine {name:?} to come up with its configuration{}", so_far(why.as_deref()))]
    Installing {
        /// The machine.
        name: Label,
        /// What came instead of an answer, when it doesn't answer.
        why: Option<String>,
    },
    /// A machine answers.
    #[error("machine {name:?} to answer: {why}")]
    Silent {
        /// The machine.
        name: Label,
        /// What came instead.
        why: String,
    },
    /// A machine answers, long after a reboot.
    #[error(
        "machine {name:?} to answer, for long now: {why}. Look at its console: it may have booted the installation \
         medium again (take it out, or put the disk first), it may have got another address (list every address in \
         the instance's `interfaces`), or it may hang in a kexec reboot (power-cycle it)"
    )]
    LongSilent {
        /// The machine.
        name: Label,
        /// What came instead.
        why: String,
    },
    /// Two clocks agree.
    #[error(
        "the clock of machine {name:?} to agree with the one here: {why}. Check the machine's time servers, its \
         firmware clock, and the clock of this host"
    )]
    Clock {
        /// The machine.
        name: Label,
        /// What the TLS layer said.
        why: String,
    },
    /// A machine's time is in sync.
    #[error("the time of machine {name:?} to be in sync: check that it reaches its time servers (udp/123)")]
    TimeSync {
        /// The machine.
        name: Label,
    },
    /// A machine gets on with booting.
    #[error("machine {name:?} to finish its stage {stage:?}")]
    Stage {
        /// The machine.
        name: Label,
        /// Talos' word.
        stage: String,
    },
    /// A machine is ready, before another one's configuration is changed.
    #[error("machine {name:?} to be ready before the next one is changed: {why}")]
    Ready {
        /// The machine.
        name: Label,
        /// What is unmet.
        why: String,
    },
    /// etcd can be looked at.
    #[error("etcd to be observable: {why}")]
    EtcdUnknown {
        /// Why it can't be.
        why: String,
    },
    /// etcd has all its members.
    #[error("machine {name:?} to join etcd")]
    EtcdJoin {
        /// The machine.
        name: Label,
    },
    /// The API server is ready.
    #[error("the API server to become ready: {why}")]
    ApiServer {
        /// What it said.
        why: String,
    },
    /// The endpoint answers.
    #[error(
        "the endpoint to answer, while the API servers of the members do: {why}. Check the load balancer, the VIP or \
         the name behind `endpoint`"
    )]
    Endpoint {
        /// What came instead.
        why: String,
    },
    /// An addon can be looked at.
    #[error("{addon} to be observable: {why}")]
    AddonUnknown {
        /// The addon.
        addon: Addon,
        /// Why it can't be.
        why: String,
    },
    /// An addon's workloads are healthy.
    #[error("{addon} to become healthy: {why}")]
    AddonHealth {
        /// The addon.
        addon: Addon,
        /// What is missing.
        why: String,
    },
    /// The health check passes.
    #[error("the control plane to become healthy: {why}")]
    Health {
        /// Which check fails.
        why: String,
    },
    /// A node is Ready.
    #[error("node {hostname:?} to become Ready: {why}")]
    Node {
        /// The node.
        hostname: Label,
        /// What is missing.
        why: String,
    },
    /// A kubelet has the certificate that it serves with.
    #[error("the kubelet of node {hostname:?} to get its serving certificate: {why}")]
    ServingCertificate {
        /// The node.
        hostname: Label,
        /// What is missing.
        why: String,
    },
    /// Remaining workloads are healthy.
    #[error("the cluster's workloads to become healthy: {why}")]
    Workloads {
        /// What is missing.
        why: String,
    },
}

fn so_far(why: Option<&str>) -> String {
    why.map_or_else(String::new, |why| format!(": {why}"))
}

impl Waiting {
    /// What to look at when it was in vain, where the text does not say so itself.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Installing { .. } | Self::Silent { .. } => Some(
                "If it does not come up at all, look at its console: it may have booted the installation medium again \
                 (take it out, or put the disk first), it may have got another address (list every address in the \
                 instance's `interfaces`), or it may hang in a kexec reboot (power-cycle it).",
            ),
            Self::Stage { .. }
            | Self::Ready { .. }
            | Self::EtcdUnknown { .. }
            | Self::EtcdJoin { .. }
            | Self::ApiServer { .. } => Some(
                "Its console shows which service fails and why; so does `talosctl logs`, with the talosconfig of the state or \
                 of the imported cluster.",
            ),
            Self::LongSilent { .. }
            | Self::Clock { .. }
            | Self::TimeSync { .. }
            | Self::Endpoint { .. }
            | Self::AddonUnknown { .. }
            | Self::AddonHealth { .. }
            | Self::Health { .. }
            | Self::Node { .. }
            | Self::ServingCertificate { .. }
            | Self::Workloads { .. } => None,
        }
    }
}

/// Why no waiting helps: a text, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{cause}")]
pub struct Blocker {
    /// What is in the way.
    pub cause: String,
    /// What the user may do.
    pub remedy: String,
}

impl Blocker {
    /// A blocker.
    #[must_use]
    pub fn new(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { cause: cause.into(), remedy: remedy.into() }
    }
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Carry these out, then look again.
    Act(Vec<Action>),
    /// Look again when something changed.
    Wait(Waiting),
    /// Stop: nothing that time brings will help.
    Blocked(Blocker),
    /// All gates are passed.
    Done,
}
