//! Installing Talos, upgrading it, and what a failure leaves.

use std::sync::Arc;

use talos_api::machine::sequence_event::Action;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Ending, Life, Never, sequence, sleep, wait};
use crate::locked;
use crate::machine::disk::Installed;
use crate::machine::{Command, Configuration, Stage, installation};
use crate::world::TalosVersion;

impl Life {
    /// Installs Talos and reboots, or fails and reboots.
    pub(super) async fn install(
        &mut self,
        configuration: &Arc<Configuration>,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Result<Never, Ending> {
        let boot = Arc::clone(&self.boot);
        let machine = &boot.machine;
        boot.enter(Stage::Installing);
        boot.log.publish("machine.SequenceEvent", &sequence("install", Action::Start, None), "");
        if let Some(authority) = self.authority(&configuration.view) {
            self.listen_mutually(&configuration.view, authority).await;
        }
        wait(commands, sleep(machine.specification.install_time)).await?;
        let planned = match machine.faults.take_failed_installation() {
            Some(error) => Err(error),
            None => installation::plan(
                configuration.view.machine.install.as_ref(),
                &machine.specification.disks(),
                machine.faults.take_installed_version(),
            ),
        };
        let installed = planned.and_then(|installed| {
            machine.disk.install(&installed).map_err(|error| error.to_string())?;
            machine.disk.store_configuration(&configuration.text).map_err(|error| error.to_string())?;
            Ok(installed)
        });
        match installed {
            Ok(installed) => {
                boot.log.kernel(&format!("installation of {} complete", installed.version));
                boot.take_installed(installed);
                let done = sequence("install", Action::Stop, None);
                boot.log.publish("machine.SequenceEvent", &done, "");
            }
            Err(error) => {
                let message = format!("task install (1/1): failed: {error}");
                boot.fail(&message);
                *locked(&machine.failed_installation) = Some(message);
            }
        }
        Err(Ending::Reboot)
    }

    /// Puts another version on the disk and reboots into it.
    pub(super) fn upgrade(&self, version: TalosVersion, schematic: Option<String>) -> Ending {
        let boot = &self.boot;
        boot.enter(Stage::Upgrading);
        if let Some(installed) = boot.installed() {
            let installed = Installed { version, schematic, ..installed };
            if let Err(error) = boot.machine.disk.install(&installed) {
                boot.fail(&error.to_string());
            }
        }
        Ending::Reboot
    }

    /// Tells what the boot before left: the failed installation, as a serial console would still show it.
    pub(super) fn tell_failed_installation(&self) {
        let Some(message) = locked(&self.boot.machine.failed_installation).take() else { return };
        self.boot.log.kernel(&format!("phase install (1/1): {message}"));
        let stopped = sequence("install", Action::Stop, Some(message));
        self.boot.log.publish("machine.SequenceEvent", &stopped, "");
    }
}
