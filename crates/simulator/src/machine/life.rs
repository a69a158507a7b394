//! What a machine does from power-on to power-off, again and again.

mod installing;
mod kubernetes;
mod resetting;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use talos_api::common;
use talos_api::machine::{SequenceEvent, sequence_event};
use tokio::sync::mpsc::UnboundedReceiver;

use super::boot::{Boot, Configuration};
use super::disk::DiskError;
use super::{Command, Machine, Stage};
use crate::api::{self, Listener};
use crate::configuration::{Decoded, MachineConfiguration};
use crate::events::EventKind;
use crate::kubernetes::Node;
use crate::locked;
use crate::resources::cluster::Role;
use crate::tls::{Acceptance, Authority, AuthorityError, Versions};

/// How long apid waits for running calls and streams when it leaves maintenance mode (1.13; 1.12: 5 s).
const GRACE: Duration = Duration::from_secs(10);
const GRACE_UP_TO_1_12: Duration = Duration::from_secs(5);
/// How long the reply to the call that takes the machine down has to get out.
const LAST_REPLY: Duration = Duration::from_millis(200);

/// How a boot ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// In order, and it comes back by itself.
    Reboot,
    /// In order, and it stays down until it is powered on.
    ShutDown,
    /// At once.
    PowerLoss,
    /// The simulator ends.
    Simulator,
}

/// The machine's life. It ends when its task is aborted, or with the machine.
pub(super) async fn run(machine: Arc<Machine>, mut commands: UnboundedReceiver<Command>) {
    let mut powered = machine.specification.powered;
    loop {
        if powered {
            powered = match boot(&machine, &mut commands).await {
                Ending::Reboot => !machine.faults.take_stay_down(),
                Ending::ShutDown | Ending::PowerLoss => false,
                Ending::Simulator => return,
            };
            continue;
        }
        machine.enter(Stage::Off);
        match commands.recv().await {
            None => return,
            Some(command) => powered = matches!(command, Command::PowerOn),
        }
    }
}

/// One boot, from firmware to the end.
async fn boot(machine: &Arc<Machine>, commands: &mut UnboundedReceiver<Command>) -> Ending {
    machine.enter(Stage::Booting);
    if let Err(down) = wait(commands, sleep(machine.specification.boot_time)).await {
        return down;
    }
    if let Some(address) = machine.faults.take_new_address() {
        *locked(&machine.address) = address;
    }
    let contents = match machine.disk.read() {
        Ok(contents) => contents,
        Err(error) => return broken(machine, &error),
    };
    machine.state.send_modify(|state| state.boots += 1);
    let configuration = match &contents.configuration {
        None => None,
        Some(text) => match decode(machine, text).await {
            Ok(configuration) => Some(Arc::new(configuration)),
            Err(message) => {
                machine.record(EventKind::Failure { message });
                None
            }
        },
    };
    if let Some(address) = configuration.as_ref().and_then(|own| static_address(&own.view)) {
        *locked(&machine.address) = address;
    }
    let boot = Arc::new(Boot::begin(Arc::clone(machine), contents.installed, configuration.is_none()));
    machine.site.neighbours.enter(&boot);
    let mut life = Life { boot, listener: None };
    life.tell_failed_installation();
    let down = match life.live(configuration, commands).await {
        Ok(never) => match never {},
        Err(down) => down,
    };
    life.end(down).await;
    down
}

/// A machine that is up.
struct Life {
    boot: Arc<Boot>,
    listener: Option<Listener>,
}

/// A life ends, one way or another; it never comes to a result.
enum Never {}

impl Life {
    async fn live(
        &mut self,
        configuration: Option<Arc<Configuration>>,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Result<Never, Ending> {
        let configuration = match configuration {
            Some(configuration) => configuration,
            None => {
                let configuration = self.maintain(commands).await?;
                if self.boot.installed().is_none() {
                    self.install(&configuration, commands).await?;
                }
                configuration
            }
        };
        self.serve_kubernetes(configuration, commands).await
    }

    /// Maintenance mode, until there is a configuration.
    async fn maintain(
        &mut self,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Result<Arc<Configuration>, Ending> {
        let boot = &self.boot;
        let names = boot.certificate_names(None);
        let acceptance = Acceptance::maintenance(&boot.machine.clock, names, tls_versions(boot));
        self.listen(acceptance, false).await;
        self.boot.enter(Stage::Maintenance);
        let configuration = loop {
            match commands.recv().await {
                None => return Err(Ending::Simulator),
                Some(Command::Configure(configuration)) => break configuration,
                Some(command) => {
                    if let Some(down) = takes_down(&command) {
                        return Err(down);
                    }
                }
            }
        };
        if let Some(listener) = self.listener.take() {
            let new = self.boot.version.apid_in_maintenance();
            wait(commands, listener.close(if new { GRACE } else { GRACE_UP_TO_1_12 })).await?;
            self.closed();
        }
        Ok(configuration)
    }

    /// A configured machine: its API, and its Kubernetes once the time is in sync.
    async fn serve_kubernetes(
        &mut self,
        mut configuration: Arc<Configuration>,
        commands: &mut UnboundedReceiver<Command>,
    ) -> Result<Never, Ending> {
        let boot = Arc::clone(&self.boot);
        let machine = &boot.machine;
        if let Err(error) = machine.disk.store_configuration(&configuration.text) {
            boot.fail(&error.to_string());
        }
        boot.take(&configuration);
        boot.enter(Stage::Booting);
        let authority = self.authority(&configuration.view);
        if let Some(authority) = &authority {
            self.listen_mutually(&configuration.view, Arc::clone(authority)).await;
        }
        let _serving = authority.filter(|_| boot.role() == Role::ControlPlane).map(|authority| {
            machine.site.trust.serve(&machine.specification.name, &configuration.view, authority)
        });
        let mut faults = machine.faults.watch();
        let mut nodes = machine.site.nodes.watch();
        let _observer = kubernetes::AbortOnDrop(tokio::spawn(kubernetes::observe(
            Arc::clone(&boot),
            Arc::clone(&configuration.view),
        )));
        self.start_kubernetes(&configuration.view).await;
        loop {
            let node = boot.node();
            let mut services = node.as_ref().map(Node::watch_services);
            let wait_for_services = async {
                match &mut services {
                    Some(services) => services.changed().await.is_ok(),
                    None => std::future::pending().await,
                }
            };
            let wait_for_trust = async {
                if self.listener.is_some() || boot.role() == Role::ControlPlane {
                    std::future::pending::<()>().await;
                }
                machine.site.trust.wait_for(Arc::clone(&configuration.view)).await
            };
            boot.show_status();
            tokio::select! {
                command = commands.recv() => match command {
                    None => return Err(Ending::Simulator),
                    Some(Command::Reconfigure(new)) => {
                        self.reconfigure(&new).await;
                        configuration = new;
                    }
                    Some(Command::Reset(reset)) => return Err(self.reset(&reset).await),
                    Some(Command::Upgrade(version, schematic)) => {
                        return Err(self.upgrade(version, schematic));
                    }
                    Some(command) => if let Some(down) = takes_down(&command) {
                        return Err(down);
                    },
                },
                running = wait_for_services => if !running {
                    boot.take_node(None);
                },
                authority = wait_for_trust => self.listen_mutually(&configuration.view, authority).await,
                _ = faults.changed() => self.start_kubernetes(&configuration.view).await,
                _ = nodes.changed() => {}
            }
        }
    }

    /// The authority that signs the API's certificate: the configuration's own, or that of a control plane for a worker.
    fn authority(&self, configuration: &MachineConfiguration) -> Option<Arc<Authority>> {
        let own = configuration.machine.ca.as_ref()?;
        if own.key.is_empty() {
            return self.boot.machine.site.trust.find(configuration);
        }
        match Authority::from_pem(&own.certificate, own.key.expose()) {
            Ok(authority) => Some(Arc::new(authority)),
            Err(error) => {
                self.boot.fail(&format!("service[apid](Failed): {}", chain(&error)));
                None
            }
        }
    }

    async fn listen_mutually(&mut self, configuration: &MachineConfiguration, authority: Arc<Authority>) {
        let boot = &self.boot;
        let acceptance = Acceptance::mutual(
            &boot.machine.clock,
            authority,
            &configuration.machine.accepted_cas,
            boot.certificate_names(Some(configuration)),
            tls_versions(boot),
        );
        self.listen(acceptance, true).await;
    }

    async fn listen(&mut self, acceptance: Result<Acceptance, AuthorityError>, mutual: bool) {
        let boot = &self.boot;
        let acceptance = match acceptance {
            Ok(acceptance) => acceptance,
            Err(error) => return boot.fail(&format!("service[apid](Failed): {}", chain(&error))),
        };
        let address = boot.machine.listener();
        match Listener::open(address, acceptance, mutual, api::gate(boot, mutual)).await {
            Ok(listener) => {
                self.listener = Some(listener);
                boot.machine.state.send_modify(|state| {
                    (state.listening, state.deaf) = (Some(address), None);
                });
                boot.machine.record(EventKind::Listening { address, mutual });
            }
            Err(error) => {
                let message = format!("failed to listen on {address}: {error}");
                boot.fail(&format!("service[apid](Failed): {message}"));
                boot.machine.state.send_modify(|state| state.deaf = Some(message));
            }
        }
    }

    fn closed(&self) {
        self.boot.machine.state.send_modify(|state| state.listening = None);
        self.boot.machine.record(EventKind::Closed);
    }

    /// Goes down: a reboot in order, the loss of power at once.
    async fn end(mut self, down: Ending) {
        let boot = &self.boot;
        let stage = match down {
            Ending::Reboot => Some(Stage::Rebooting),
            Ending::ShutDown => Some(Stage::ShuttingDown),
            Ending::PowerLoss | Ending::Simulator => None,
        };
        let in_order = stage.is_some();
        if let Some(stage) = stage {
            boot.enter(stage);
        }
        if let Some(listener) = self.listener.take() {
            if in_order {
                listener.close(LAST_REPLY).await;
            } else {
                listener.cut().await;
            }
            self.closed();
        }
        let node = self.boot.node();
        self.boot.take_node(None);
        // Waited for even at the loss of power: what is left of one boot must not hold the ports of the next.
        if let Some(node) = node {
            node.stop().await;
        }
    }
}

/// How a command takes any machine down, if it does.
fn takes_down(command: &Command) -> Option<Ending> {
    match command {
        Command::PowerOff => Some(Ending::PowerLoss),
        Command::ShutDown => Some(Ending::ShutDown),
        Command::Reboot => Some(Ending::Reboot),
        Command::PowerOn
        | Command::Configure(_)
        | Command::Reconfigure(_)
        | Command::Reset(_)
        | Command::Upgrade(..) => None,
    }
}

/// Waits, unless the machine is taken down first.
async fn wait<T>(
    commands: &mut UnboundedReceiver<Command>,
    work: impl Future<Output = T>,
) -> Result<T, Ending> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = work.as_mut() => return Ok(done),
            command = commands.recv() => match command {
                None => return Err(Ending::Simulator),
                Some(command) => if let Some(down) = takes_down(&command) {
                    return Err(down);
                },
            },
        }
    }
}

/// The time that hardware takes: it is part of what is simulated.
async fn sleep(duration: SignedDuration) {
    tokio::time::sleep(duration.unsigned_abs()).await;
}

fn broken(machine: &Machine, error: &DiskError) -> Ending {
    machine.record(EventKind::Failure { message: chain(error) });
    Ending::PowerLoss
}

/// Decodes the configuration on the disk.
async fn decode(machine: &Machine, text: &[u8]) -> Result<Configuration, String> {
    let decoded: Decoded = machine.site.judge.decode(text).await.map_err(|error| error.to_string())?;
    let view = decoded.configuration.ok_or("the configuration on the disk is not complete for boot")?;
    Ok(Configuration { text: text.to_vec(), view: Arc::new(view) })
}

/// The first static address of a configuration: where the machine listens once it has it.
fn static_address(configuration: &MachineConfiguration) -> Option<std::net::IpAddr> {
    let address = configuration.machine.addresses.first()?;
    address.split('/').next()?.parse().ok()
}

fn tls_versions(boot: &Boot) -> Versions {
    if boot.version.apid_in_maintenance() { Versions::Only13 } else { Versions::Both12And13 }
}

fn sequence(name: &str, action: sequence_event::Action, error: Option<String>) -> SequenceEvent {
    let error =
        error.map(|message| common::Error { code: common::Code::Fatal.into(), message, details: Vec::new() });
    SequenceEvent { sequence: name.to_owned(), action: action.into(), error }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
