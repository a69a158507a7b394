//! What a machine says of its state: stage, services, clock.

use jiff::Timestamp;
use talos_api::machine::{ServiceHealth, ServiceInfo};
use talos_api::resource::enums::RuntimeMachineStage;
use talos_api::resource::runtime::MachineStatusSpec;

use super::deadline::CALL;
use super::error::{Error, Fault};
use super::resources::{MACHINE_STATUSES, TIME_STATUSES};
use super::session::Session;

/// Where a machine is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The machine itself doesn't know, or says a word of a newer Talos.
    Unknown,
    /// Starting. A control plane whose cluster isn't bootstrapped stays here.
    Booting,
    /// Writing Talos to its disk.
    Installing,
    /// Waiting for a configuration.
    Maintenance,
    /// All services run.
    Running,
    /// About to start again.
    Rebooting,
    /// About to go off.
    ShuttingDown,
    /// Wiping itself.
    Resetting,
    /// Writing another Talos to its disk.
    Upgrading,
}

/// Something that a machine waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetCondition {
    /// `time`, `network`, `services`, `staticPods`, `nodeReady`.
    pub name: String,
    /// In Talos' words.
    pub reason: String,
}

/// A machine's own summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineStatus {
    /// Where it is.
    pub stage: Stage,
    /// Whether nothing is unmet. Never true without a network plugin: look at `unmet`.
    pub ready: bool,
    /// What it waits for.
    pub unmet: Vec<UnmetCondition>,
}

/// A service of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// `machined`, `apid`, `containerd`, `cri`, `kubelet`, on control planes `etcd` and `trustd`, and others.
    pub id: String,
    /// In Talos' words: Initialized, Preparing, Waiting, Running, Finished, Failed and others.
    pub state: String,
    /// `None` while its health isn't known, as with services that have no check.
    pub healthy: Option<bool>,
    /// What its last check or event said.
    pub last_message: String,
}

impl Session {
    /// # Errors
    ///
    /// [`Fault::Malformed`] if the machine has no status, besides those of a call.
    pub(super) async fn machine_status(&self) -> Result<MachineStatus, Error> {
        let status = self.get(&MACHINE_STATUSES, "machine").await?;
        status.map(MachineStatus::from).ok_or_else(|| {
            self.error("Get MachineStatuses/machine", Fault::Malformed("it has no status".to_owned()))
        })
    }

    pub(super) async fn services(&self) -> Result<Vec<Service>, Error> {
        let mut machine = self.machine();
        let answer = machine.service_list(());
        let list = self.call_one("ServiceList", CALL, answer, |reply| reply.messages).await?;
        Ok(list.services.into_iter().map(Service::from).collect())
    }

    /// `None` while the machine has not looked at any time server.
    pub(super) async fn time_in_sync(&self) -> Result<Option<bool>, Error> {
        let status = self.get(&TIME_STATUSES, "node").await?;
        Ok(status.map(|status| status.synced || status.sync_disabled))
    }

    pub(super) async fn clock(&self) -> Result<Timestamp, Error> {
        let time = self.call_one("Time", CALL, self.time().time(()), |reply| reply.messages).await?;
        let local = time.localtime.unwrap_or_default();
        Timestamp::new(local.seconds, local.nanos)
            .map_err(|error| self.error("Time", Fault::Malformed(error.to_string())))
    }
}

impl From<MachineStatusSpec> for MachineStatus {
    fn from(status: MachineStatusSpec) -> Self {
        let stage = Stage::of(status.stage());
        let status = status.status.unwrap_or_default();
        let unmet = status.unmet_conditions.into_iter();
        Self {
            stage,
            ready: status.ready,
            unmet: unmet.map(|unmet| UnmetCondition { name: unmet.name, reason: unmet.reason }).collect(),
        }
    }
}

impl Stage {
    fn of(stage: RuntimeMachineStage) -> Self {
        match stage {
            RuntimeMachineStage::MachineStageUnknown => Self::Unknown,
            RuntimeMachineStage::MachineStageBooting => Self::Booting,
            RuntimeMachineStage::MachineStageInstalling => Self::Installing,
            RuntimeMachineStage::MachineStageMaintenance => Self::Maintenance,
            RuntimeMachineStage::MachineStageRunning => Self::Running,
            RuntimeMachineStage::MachineStageRebooting => Self::Rebooting,
            RuntimeMachineStage::MachineStageShuttingDown => Self::ShuttingDown,
            RuntimeMachineStage::MachineStageResetting => Self::Resetting,
            RuntimeMachineStage::MachineStageUpgrading => Self::Upgrading,
        }
    }
}

impl From<ServiceInfo> for Service {
    fn from(service: ServiceInfo) -> Self {
        let ServiceHealth { unknown, healthy, last_message, .. } =
            service.health.unwrap_or_else(|| ServiceHealth { unknown: true, ..ServiceHealth::default() });
        let last_event = service.events.and_then(|events| events.events.into_iter().next_back());
        let last_event = last_event.map(|event| event.msg).unwrap_or_default();
        Self {
            id: service.id,
            state: service.state,
            healthy: (!unknown).then_some(healthy),
            last_message: if last_message.is_empty() { last_event } else { last_message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_without_a_check_is_neither_healthy_nor_sick() {
        let info = ServiceInfo { id: "apid".to_owned(), ..ServiceInfo::default() };
        assert_eq!(Service::from(info).healthy, None);
        let health = ServiceHealth { unknown: false, healthy: false, ..ServiceHealth::default() };
        let info = ServiceInfo { health: Some(health), ..ServiceInfo::default() };
        assert_eq!(Service::from(info).healthy, Some(false));
    }

    #[test]
    fn a_stage_of_a_newer_talos_is_unknown() {
        let status = MachineStatusSpec { stage: 99, status: None };
        assert_eq!(MachineStatus::from(status).stage, Stage::Unknown);
    }
}
