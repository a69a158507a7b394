//! Wiping what a reset was asked to wipe.

use talos_api::machine::sequence_event::Action;

use super::{Ending, Life, sequence};
use crate::kubernetes;
use crate::machine::{Reset, Stage, Volume};
use crate::resources::cluster::Role;

impl Life {
    /// Wipes; a graceful reset that cannot leave etcd reboots without having wiped anything.
    pub(super) async fn reset(&self, reset: &Reset) -> Ending {
        let boot = &self.boot;
        boot.enter(Stage::Resetting);
        let started = sequence("reset", Action::Start, None);
        boot.log.publish("machine.SequenceEvent", &started, &reset.actor);
        let wiped = self.wipe(reset).await;
        let error = wiped.err();
        if let Some(error) = &error {
            boot.fail(&format!("reset failed: {error}"));
        }
        let stopped = sequence("reset", Action::Stop, error.clone());
        boot.log.publish("machine.SequenceEvent", &stopped, &reset.actor);
        if reset.reboot || error.is_some() { Ending::Reboot } else { Ending::ShutDown }
    }

    async fn wipe(&self, reset: &Reset) -> Result<(), String> {
        let boot = &self.boot;
        if let Some(node) = boot.node() {
            let leaves = reset.graceful && boot.role() == Role::ControlPlane && !node.etcd_data_is_empty();
            if leaves {
                node.etcd_leave().await.map_err(|error| format!("failed to leave etcd: {error}"))?;
            }
            node.stop().await;
            boot.take_node(None);
        }
        for volume in &reset.volumes {
            match volume {
                Volume::Ephemeral => {
                    let data = boot.machine.disk.ephemeral();
                    kubernetes::wipe(&data).await.map_err(|error| format!("failed to {error}"))?;
                }
                Volume::Meta | Volume::State => {
                    boot.machine.disk.wipe(*volume).map_err(|error| error.to_string())?;
                }
            }
        }
        Ok(())
    }
}
