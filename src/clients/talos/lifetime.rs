//! Configuring, rebooting, resetting.

use talos_api::machine::apply_configuration_request::Mode;
use talos_api::machine::{
    ApplyConfigurationRequest, RebootRequest, ResetPartitionSpec, ResetRequest, ShutdownRequest,
};

use super::deadline::{APPLY, CALL};
use super::error::Error;
use super::resources::MACHINE_CONFIGURATIONS;
use super::session::Session;
use crate::domain::machine_configuration::{ApplyMode, Secret};

/// The partitions whose loss brings a machine back to maintenance mode with its boot loader and Talos on its disk.
/// Never empty: an empty list wipes the disk, boot loader and all.
const WIPED: [&str; 2] = ["STATE", "EPHEMERAL"];

/// What a machine made of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// In Talos' words, for the user.
    pub warnings: Vec<String>,
    /// Whether it restarts for it.
    pub reboots: bool,
}

impl Session {
    /// Mode AUTO always: the protocol's default is refused by configured machines of Talos 1.14, and other modes by
    /// those in maintenance mode up to 1.12.
    ///
    /// The reply's details are not looked at: they hold an unredacted difference of the configurations.
    pub(super) async fn apply(
        &self,
        configuration: &Secret,
        mode: ApplyMode,
        dry_run: bool,
    ) -> Result<Applied, Error> {
        let mode = match mode {
            ApplyMode::Auto => Mode::Auto,
            ApplyMode::NoReboot => Mode::NoReboot,
            ApplyMode::Staged => Mode::Staged,
        };
        let request = ApplyConfigurationRequest {
            data: configuration.expose().as_bytes().to_vec(),
            mode: mode.into(),
            dry_run,
            try_mode_timeout: None,
        };
        let mut machine = self.machine();
        let answer = machine.apply_configuration(request);
        let reply = self.call_one("ApplyConfiguration", APPLY, answer, |reply| reply.messages).await?;
        // Up to 1.12 a machine in maintenance mode leaves the mode at its default: it doesn't say.
        let reboots = reply.mode() == Mode::Reboot && !reply.mode_details.is_empty();
        Ok(Applied { warnings: reply.warnings, reboots })
    }

    /// The configuration with an id: `v1alpha1` is in use, `persistent` is on the disk.
    pub(super) async fn machine_configuration(&self, id: &str) -> Result<Option<Secret>, Error> {
        let found = self.get(&MACHINE_CONFIGURATIONS, id).await?;
        Ok(found.map(|found| Secret::new(String::from_utf8_lossy(&found.yaml_marshalled).into_owned())))
    }

    pub(super) async fn reboot(&self) -> Result<(), Error> {
        let mut machine = self.machine();
        self.call("Reboot", CALL, machine.reboot(RebootRequest::default())).await?;
        Ok(())
    }

    pub(super) async fn shut_down(&self) -> Result<(), Error> {
        let mut machine = self.machine();
        self.call("Shutdown", CALL, machine.shutdown(ShutdownRequest::default())).await?;
        Ok(())
    }

    pub(super) async fn reset(&self, graceful: bool) -> Result<(), Error> {
        let partitions = WIPED.map(|label| ResetPartitionSpec { label: label.to_owned(), wipe: true });
        let request = ResetRequest {
            graceful,
            reboot: true,
            system_partitions_to_wipe: partitions.to_vec(),
            ..ResetRequest::default()
        };
        let mut machine = self.machine();
        self.call("Reset", CALL, machine.reset(request)).await?;
        Ok(())
    }

    /// When the machine last started, in seconds since 1970.
    pub(super) async fn boot_time(&self) -> Result<u64, Error> {
        let mut machine = self.machine();
        let answer = machine.system_stat(());
        Ok(self.call_one("SystemStat", CALL, answer, |reply| reply.messages).await?.boot_time)
    }
}
