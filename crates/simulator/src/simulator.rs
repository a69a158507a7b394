//! A running world.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::configuration::Judge;
use crate::events::Events;
use crate::fault::Fault;
use crate::kubernetes::{Clusters, Fate, Workload};
use crate::machine::{Command, Machine, Neighbours, Nodes, Site, Stage, Trust};
use crate::world::{World, WorldError};

/// How long processes have to end when a simulator is shut down.
const SHUT_DOWN: Duration = Duration::from_secs(20);

/// A world that runs. Its machines go down, like at the loss of power, when it is shut down or dropped.
#[derive(Debug)]
pub struct Simulator {
    machines: BTreeMap<String, Arc<Machine>>,
    tasks: Vec<JoinHandle<()>>,
    site: Site,
    data: PathBuf,
}

/// Why a world doesn't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The world contradicts itself.
    #[error("failed to accept the world")]
    World(#[from] WorldError),
    /// The data folder cannot be made.
    #[error("failed to create {}", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The event log cannot be opened.
    #[error("failed to open the event log")]
    Events(#[source] std::io::Error),
}

/// No machine of this name is in the world.
#[derive(Debug, thiserror::Error)]
#[error("expected the name of a machine of the world ({}), but got {name:?}", known.join(", "))]
pub struct NoSuchMachine {
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: Vec<String>,
}

/// A machine that cannot listen.
#[derive(Debug, thiserror::Error)]
#[error("machine {machine}: {message}; is the address one of this host (127/8 is), and free?")]
pub struct Deaf {
    /// Its name.
    pub machine: String,
    /// Why.
    pub message: String,
}

/// A machine as it is now.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MachineStatus {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// Where its API listens, if it does.
    pub listening: Option<SocketAddr>,
    /// How often it booted.
    pub boots: u64,
    /// Faults that are still to happen.
    pub faults: Vec<Fault>,
}

impl Simulator {
    /// Starts all machines of a world. Must be called within a Tokio runtime.
    ///
    /// `events` is a file to which the event log is appended.
    ///
    /// # Errors
    /// When the world is not valid, or its folder or the event log cannot be opened.
    pub fn start(world: World, events: Option<&Path>) -> Result<Self, StartError> {
        world.check()?;
        let data = world.data_folder()?;
        let machines = data.join("machines");
        std::fs::create_dir_all(&machines)
            .map_err(|source| StartError::Data { path: machines.clone(), source })?;
        let binaries = world.lab_folder().join("bin");
        let site = Site {
            events: Arc::new(Events::open(events).map_err(StartError::Events)?),
            judge: Judge::new(binaries.join("talos-configuration")),
            clusters: Clusters::new(binaries),
            machines,
            trust: Trust::default(),
            nodes: Nodes::default(),
            neighbours: Neighbours::default(),
        };
        for own in world.fates {
            site.clusters.set_fate(own.workload, own.fate.into());
        }
        let started = world.machines.into_iter().map(|machine| {
            let name = machine.name.clone();
            (name, Machine::start(machine, site.clone()))
        });
        let mut machines = BTreeMap::new();
        let mut tasks = Vec::new();
        for (name, (machine, task)) in started {
            machines.insert(name, machine);
            tasks.push(task);
        }
        Ok(Self { machines, tasks, site, data })
    }

    /// Waits until every powered machine listens. The caller bounds the wait: a machine whose address is taken never
    /// does, see [`Simulator::started`].
    pub async fn listening(&self) {
        for machine in self.machines.values().filter(|machine| machine.specification.powered) {
            let mut state = machine.state();
            // The sender lives as long as the machine.
            let _waited = state.wait_for(|state| state.listening.is_some()).await;
        }
    }

    /// Waits until every powered machine has begun to listen, or one cannot.
    ///
    /// # Errors
    /// The first machine, by name, that cannot listen.
    pub async fn started(&self) -> Result<(), Deaf> {
        for (name, machine) in self.machines.iter().filter(|(_, machine)| machine.specification.powered) {
            let mut state = machine.state();
            let waited = state.wait_for(|state| state.listening.is_some() || state.deaf.is_some()).await;
            // The sender lives as long as the machine.
            let Ok(state) = waited else { continue };
            if let Some(message) = &state.deaf {
                return Err(Deaf { machine: name.clone(), message: message.clone() });
            }
        }
        Ok(())
    }

    /// The event log.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.site.events
    }

    /// The folder in which the machines' disks and the control socket are.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// All machines as they are now, by name.
    #[must_use]
    pub fn status(&self) -> Vec<MachineStatus> {
        let status = |(name, machine): (&String, &Arc<Machine>)| {
            let state = machine.state().borrow().clone();
            MachineStatus {
                name: name.clone(),
                stage: state.stage,
                listening: state.listening,
                boots: state.boots,
                faults: machine.faults.list(),
            }
        };
        self.machines.iter().map(status).collect()
    }

    /// Waits until a machine is in a stage. The caller bounds the wait.
    ///
    /// # Errors
    /// When there is no such machine.
    pub async fn reaches(&self, machine: &str, stage: Stage) -> Result<(), NoSuchMachine> {
        let mut state = self.find(machine)?.state();
        // The sender lives as long as the machine.
        let _waited = state.wait_for(|state| state.stage == stage).await;
        Ok(())
    }

    /// Gives a machine a fault.
    ///
    /// # Errors
    /// When there is no such machine.
    pub fn fault(&self, machine: &str, fault: Fault) -> Result<(), NoSuchMachine> {
        self.find(machine)?.faults.add(fault);
        Ok(())
    }

    /// Takes all faults from a machine.
    ///
    /// # Errors
    /// When there is no such machine.
    pub fn clear_faults(&self, machine: &str) -> Result<(), NoSuchMachine> {
        self.find(machine)?.faults.clear();
        Ok(())
    }

    /// Presses a machine's power button: on, or off without saving anything.
    ///
    /// # Errors
    /// When there is no such machine.
    pub fn power(&self, machine: &str, on: bool) -> Result<(), NoSuchMachine> {
        self.find(machine)?.command(if on { Command::PowerOn } else { Command::PowerOff });
        Ok(())
    }

    /// Lets something happen to a workload's pods, in all clusters.
    pub fn fate(&self, workload: Workload, fate: Fate) {
        self.site.clusters.set_fate(workload, fate);
    }

    /// Powers all machines off and waits, up to some seconds, until their processes have ended.
    ///
    /// What is left then ends with the value.
    pub async fn shut_down(&self) {
        for machine in self.machines.values() {
            machine.command(Command::PowerOff);
        }
        let off = async {
            for machine in self.machines.values() {
                let mut state = machine.state();
                let _waited = state.wait_for(|state| state.stage == Stage::Off).await;
            }
        };
        if tokio::time::timeout(SHUT_DOWN, off).await.is_err() {
            tracing::warn!("some machines did not go down in time");
        }
    }

    fn find(&self, name: &str) -> Result<&Arc<Machine>, NoSuchMachine> {
        let known = || self.machines.keys().cloned().collect();
        self.machines.get(name).ok_or_else(|| NoSuchMachine { name: name.to_owned(), known: known() })
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
