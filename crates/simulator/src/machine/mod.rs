//! A simulated machine.
//!
//! [`Machine`] is what lasts: its hardware, its disk, its faults. A [`Boot`] is what lives from power-on to power-off:
//! resources, logs, configuration, processes. The task in `life` carries the machine from one to the next.

mod boot;
mod disk;
mod installation;
mod life;
mod log;
mod services;
mod site;
mod stage;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub(crate) use boot::{Boot, Configuration};
pub(crate) use disk::Volume;
pub(crate) use installation::image as installer_image;
pub(crate) use services::Service;
pub(crate) use site::{Neighbours, Nodes, Site, Trust};
pub use stage::Stage;

use crate::events::EventKind;
use crate::fault::Faults;
use crate::locked;
use crate::tls::Clock;
use crate::world;
use disk::Disk;

/// A machine from the simulator's start to its end.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) specification: world::Machine,
    pub(crate) site: Site,
    pub(crate) faults: Arc<Faults>,
    pub(crate) clock: Clock,
    disk: Disk,
    commands: mpsc::UnboundedSender<Command>,
    state: watch::Sender<State>,
    /// Where it listens; a fault can move it.
    address: Mutex<IpAddr>,
    /// Why the installation before this boot failed.
    failed_installation: Mutex<Option<String>>,
}

/// What is seen of a machine from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) stage: Stage,
    /// Where the API listens, if it does.
    pub(crate) listening: Option<SocketAddr>,
    /// Why it doesn't, if it tried.
    pub(crate) deaf: Option<String>,
    /// Counts boots.
    pub(crate) boots: u64,
}

/// What a machine is told to do, by its power button or by its API.
#[derive(Debug)]
pub(crate) enum Command {
    /// The button: nothing is saved.
    PowerOff,
    /// The button.
    PowerOn,
    /// An accepted configuration for a machine in maintenance mode.
    Configure(Arc<Configuration>),
    /// An accepted configuration that a configured machine takes over as it runs.
    Reconfigure(Arc<Configuration>),
    /// Goes down and comes back.
    Reboot,
    /// Goes down and stays.
    ShutDown,
    /// Wipes, then reboots or shuts down.
    Reset(Reset),
    /// Another version is on the disk: reboots into it.
    Upgrade(world::TalosVersion, Option<String>),
}

/// A reset as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reset {
    /// Leaves etcd first.
    pub(crate) graceful: bool,
    /// Comes back afterwards.
    pub(crate) reboot: bool,
    /// What is wiped.
    pub(crate) volumes: Vec<Volume>,
    /// Under which events are published.
    pub(crate) actor: String,
}

impl Machine {
    /// Puts the machine into its rack and, if it is powered, boots it. The task ends when it is aborted.
    pub(crate) fn start(specification: world::Machine, site: Site) -> (Arc<Self>, JoinHandle<()>) {
        let (commands, received) = mpsc::unbounded_channel();
        let faults = Arc::new(Faults::new(specification.faults.clone()));
        let machine = Arc::new(Self {
            disk: Disk::new(site.machines.join(&specification.name)),
            clock: Clock(Arc::clone(&faults)),
            address: Mutex::new(specification.listener().ip()),
            failed_installation: Mutex::default(),
            state: watch::Sender::new(State { stage: Stage::Off, listening: None, deaf: None, boots: 0 }),
            specification,
            site,
            faults,
            commands,
        });
        let task = tokio::spawn(life::run(Arc::clone(&machine), received));
        (machine, task)
    }

    /// Tells the machine to do something; it does it when it gets to it.
    pub(crate) fn command(&self, command: Command) {
        // The other end lives as long as the machine's task; after that nothing is to be done.
        if self.commands.send(command).is_err() {
            tracing::debug!(machine = self.specification.name, "a command came after the end");
        }
    }

    /// Its state, and changes of it.
    pub(crate) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// What is on its disk now.
    pub(crate) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Where it listens, or will.
    pub(crate) fn listener(&self) -> SocketAddr {
        SocketAddr::new(*locked(&self.address), self.specification.port)
    }

    /// Records something in the event log.
    pub(crate) fn record(&self, kind: EventKind) {
        self.site.events.record(&self.specification.name, kind);
    }

    fn enter(&self, stage: Stage) {
        let changed =
            self.state.send_if_modified(|state| std::mem::replace(&mut state.stage, stage) != stage);
        if changed {
            self.record(EventKind::Stage { stage });
        }
    }
}
