//! Facts about one workload and its pods, as one look found them.

use std::fmt;

/// The kinds whose pods an addon consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkloadKind {
    /// One pod on each node.
    DaemonSet,
    /// Interchangeable pods.
    Deployment,
    /// Pods with identities.
    StatefulSet,
    /// Pods that end.
    Job,
}

impl WorkloadKind {
    /// The kind as the API names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DaemonSet => "DaemonSet",
            Self::Deployment => "Deployment",
            Self::StatefulSet => "StatefulSet",
            Self::Job => "Job",
        }
    }

    /// The kind of that name, if it is one whose pods are judged.
    #[must_use]
    pub fn parse(kind: &str) -> Option<Self> {
        [Self::DaemonSet, Self::Deployment, Self::StatefulSet, Self::Job]
            .into_iter()
            .find(|known| known.as_str() == kind)
    }
}

/// Which workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadName {
    /// Its kind.
    pub kind: WorkloadKind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}/{}", self.kind.as_str(), self.namespace, self.name)
    }
}

/// A workload and the pods that it owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workload {
    /// Which one.
    pub name: WorkloadName,
    /// What its controller reports; none while the workload does not exist.
    pub progress: Option<Progress>,
    /// The pods that it owns, directly or through the current or an older ReplicaSet.
    pub pods: Vec<Pod>,
}

/// What a workload's controller reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Whether the controller has seen the newest specification; until then the numbers are of the one before.
    pub observed: bool,
    /// How many pods there should be; for a Job, how many should succeed.
    pub desired: u32,
    /// How many pods are of the newest template.
    pub updated: u32,
    /// How many pods of an older template are still there and not on their way out.
    pub outdated: u32,
    /// How many pods are ready (available); for a Job, how many succeeded.
    pub available: u32,
    /// Why the controller cannot go on, in its own words: a refused pod, a failed Job.
    pub refusal: Option<String>,
}

/// A pod that a workload owns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// The node that it was given to.
    pub node: Option<String>,
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    pub phase: String,
    /// Whether its condition `Ready` is true.
    pub ready: bool,
    /// Whether it is being deleted.
    pub leaving: bool,
    /// Whether it was made from the newest template, where that can be told.
    pub current: Option<bool>,
    /// The first condition that is not true and says why, as `type: reason: message`.
    pub trouble: Option<String>,
    /// Its init containers, in order, then its containers.
    pub containers: Vec<Container>,
}

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// The image that the specification asks for.
    pub image: String,
    /// Whether it has to end before the others start.
    pub init: bool,
    /// Whether it passes its readiness probe.
    pub ready: bool,
    /// What it does now.
    pub state: ContainerState,
    /// How it ended the last time, if it was restarted since.
    pub last_exit: Option<Exit>,
}

/// What a container does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerState {
    /// Nothing was reported yet.
    Unreported,
    /// Not started.
    Waiting {
        /// Such as `ImagePullBackOff` or `CrashLoopBackOff`.
        reason: String,
        /// The kubelet's words.
        message: String,
    },
    /// Runs.
    Running,
    /// Has ended.
    Ended(Exit),
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The exit code.
    pub code: i32,
    /// Such as `Error` or `OOMKilled`.
    pub reason: String,
    /// The end of its log or its termination message, if the kubelet kept one.
    pub message: String,
}
