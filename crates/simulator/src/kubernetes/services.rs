//! The state of the two Talos services that are Kubernetes' own: etcd and kubelet.

use jiff::Timestamp;
use tokio::sync::watch;

/// A Talos service that a [`super::Node`] runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServiceId {
    /// `etcd`, on control planes.
    Etcd,
    /// `kubelet`.
    Kubelet,
}

impl ServiceId {
    /// The id as Talos' ServiceList prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::Kubelet => "kubelet",
        }
    }
}

/// The states of a Talos service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// It was made known and nothing else.
    Initialized,
    /// It prepares: an etcd that wasn't bootstrapped stays here.
    Preparing,
    /// It waits for something else.
    Waiting,
    /// It starts.
    Starting,
    /// Its process runs.
    Running,
    /// It is being stopped.
    Stopping,
    /// It ended without an error.
    Finished,
    /// It ended with an error.
    Failed,
}

impl ServiceState {
    /// The word as Talos' ServiceList prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initialized => "Initialized",
            Self::Preparing => "Preparing",
            Self::Waiting => "Waiting",
            Self::Starting => "Starting",
            Self::Running => "Running",
            Self::Stopping => "Stopping",
            Self::Finished => "Finished",
            Self::Failed => "Failed",
        }
    }
}

/// One change of a service's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEvent {
    /// The state that was entered.
    pub state: ServiceState,
    /// Why, in words.
    pub message: String,
    /// When.
    pub time: Timestamp,
}

/// What the last health check of a service said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHealth {
    /// Whether it was healthy.
    pub healthy: bool,
    /// The check's words, empty when healthy.
    pub message: String,
    /// When it changed.
    pub since: Timestamp,
}

/// A Talos service with its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Which one.
    pub id: ServiceId,
    /// Its state.
    pub state: ServiceState,
    /// Its health; none before the first check.
    pub health: Option<ServiceHealth>,
    /// Its history, oldest first.
    pub events: Vec<ServiceEvent>,
}

/// Events kept per service, as Talos keeps a bounded history.
const HISTORY: usize = 64;

/// Where the parts of a node record what their services do, and others read it.
#[derive(Clone, Debug)]
pub(super) struct ServiceBoard {
    services: watch::Sender<Vec<Service>>,
}

impl ServiceBoard {
    pub(super) fn new(ids: &[ServiceId]) -> Self {
        let services = ids
            .iter()
            .map(|&id| Service { id, state: ServiceState::Initialized, health: None, events: Vec::new() })
            .collect();
        Self { services: watch::Sender::new(services) }
    }

    pub(super) fn snapshot(&self) -> Vec<Service> {
        self.services.borrow().clone()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Vec<Service>> {
        self.services.subscribe()
    }

    pub(super) fn enter(&self, id: ServiceId, state: ServiceState, message: &str) {
        self.change(id, |service| {
            let same =
                service.events.last().is_some_and(|last| last.state == state && last.message == message);
            if same {
                return false;
            }
            service.state = state;
            if state != ServiceState::Running {
                service.health = None;
            }
            service.events.push(ServiceEvent { state, message: message.to_owned(), time: Timestamp::now() });
            if service.events.len() > HISTORY {
                service.events.remove(0);
            }
            true
        });
    }

    pub(super) fn report_health(&self, id: ServiceId, result: Result<(), String>) {
        self.change(id, |service| {
            let (healthy, message) = match result {
                Ok(()) => (true, String::new()),
                Err(message) => (false, message),
            };
            let same = service
                .health
                .as_ref()
                .is_some_and(|last| last.healthy == healthy && last.message == message);
            if same || service.state != ServiceState::Running {
                return false;
            }
            service.health = Some(ServiceHealth { healthy, message, since: Timestamp::now() });
            true
        });
    }

    fn change(&self, id: ServiceId, apply: impl FnOnce(&mut Service) -> bool) {
        self.services.send_if_modified(|services| {
            services.iter_mut().find(|service| service.id == id).is_some_and(apply)
        });
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn health_is_forgotten_when_a_service_leaves_running() {
        let board = ServiceBoard::new(&[ServiceId::Etcd]);
        board.enter(ServiceId::Etcd, ServiceState::Running, "Started");
        board.report_health(ServiceId::Etcd, Ok(()));
        assert!(board.snapshot()[0].health.as_ref().unwrap().healthy);
        board.enter(ServiceId::Etcd, ServiceState::Failed, "exit status 1");
        assert_eq!(board.snapshot()[0].health, None);
        board.report_health(ServiceId::Etcd, Ok(()));
        assert_eq!(board.snapshot()[0].health, None, "a service that doesn't run has no health");
    }

    #[test]
    fn readers_are_woken_by_changes_only() {
        let board = ServiceBoard::new(&[ServiceId::Kubelet]);
        let mut reader = board.subscribe();
        board.enter(ServiceId::Kubelet, ServiceState::Waiting, "x");
        assert!(reader.has_changed().unwrap());
        reader.mark_unchanged();
        board.enter(ServiceId::Kubelet, ServiceState::Waiting, "x");
        assert!(!reader.has_changed().unwrap());
    }
}
