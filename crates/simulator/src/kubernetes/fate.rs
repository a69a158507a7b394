//! What a test or a rehearsal lets happen to a workload's pods.

use std::collections::BTreeMap;

use tokio::sync::watch;

/// What happens to a workload's pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// They run and become ready.
    #[default]
    Healthy,
    /// The image of their first application container can't be pulled.
    ImagePullError,
    /// Their first application container ends again and again.
    CrashLoop {
        /// Its exit code.
        exit_code: i32,
    },
    /// They run and never become ready.
    NeverReady,
}

/// A workload: the controller that owns the pods (a Deployment, DaemonSet, StatefulSet or Job by its name), or
/// a pod without one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The fates of all workloads; changes reach running pods.
#[derive(Clone, Debug)]
pub(super) struct Fates {
    fates: watch::Sender<BTreeMap<Workload, Fate>>,
}

impl Fates {
    pub(super) fn new() -> Self {
        Self { fates: watch::Sender::new(BTreeMap::new()) }
    }

    pub(super) fn set(&self, workload: Workload, fate: Fate) {
        self.fates.send_modify(|fates| {
            fates.insert(workload, fate);
        });
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<BTreeMap<Workload, Fate>> {
        self.fates.subscribe()
    }
}
