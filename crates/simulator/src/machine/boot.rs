//! One boot of a machine: everything that is gone when it goes down.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use talos_api::machine::machine_status_event::{MachineStage, MachineStatus, machine_status};
use talos_api::machine::{MachineStatusEvent, ServiceHealth, ServiceStateEvent, service_state_event};

use super::disk::Installed;
use super::log::Log;
use super::services::{self, Service};
use super::{Machine, Stage};
use crate::configuration::{MachineConfiguration, Secret};
use crate::events::EventKind;
use crate::kubernetes::Node;
use crate::locked;
use crate::resources::cluster::{self, Role};
use crate::resources::{Store, block, hardware, kubernetes, network, runtime};
use crate::tls::Names;
use crate::world::{TalosVersion, hexadecimal};

/// A machine that runs.
#[derive(Debug)]
pub(crate) struct Boot {
    pub(crate) machine: Arc<Machine>,
    pub(crate) store: Store,
    pub(crate) log: Log,
    pub(crate) version: TalosVersion,
    pub(crate) address: IpAddr,
    pub(crate) began: Timestamp,
    pub(crate) id: uuid::Uuid,
    /// Held while a configuration is being applied.
    pub(crate) applying: tokio::sync::Mutex<()>,
    active: Mutex<Active>,
}

/// A configuration with what Talos' library says of it.
pub(crate) struct Configuration {
    /// The text as it was sent: secret.
    pub(crate) text: Vec<u8>,
    /// What it means.
    pub(crate) view: Arc<MachineConfiguration>,
}

/// What changes during a boot.
#[derive(Debug)]
struct Active {
    stage: Stage,
    installed: Option<Installed>,
    configuration: Option<Arc<Configuration>>,
    node: Option<Node>,
    /// A reboot was promised: no further configuration is taken.
    going_down: bool,
    /// Service states as last published.
    published: Vec<Service>,
}

impl Boot {
    /// Begins a boot: firmware is done, the kernel shows the hardware.
    pub(super) fn begin(machine: Arc<Machine>, installed: Option<Installed>, maintenance: bool) -> Self {
        let specification = &machine.specification;
        let version = installed.as_ref().map_or(specification.talos_version, |installed| installed.version);
        let address = machine.listener().ip();
        let boot = Self {
            store: Store::new(),
            log: Log::new(),
            version,
            address,
            began: machine.clock.now(),
            id: uuid::Uuid::new_v4(),
            applying: tokio::sync::Mutex::default(),
            active: Mutex::new(Active {
                stage: Stage::Booting,
                installed,
                configuration: None,
                node: None,
                going_down: false,
                published: Vec::new(),
            }),
            machine,
        };
        boot.show_hardware();
        if maintenance && version.apid_in_maintenance() {
            boot.store.put(runtime::api_service_config(true));
        }
        boot
    }

    /// The stage.
    pub(crate) fn stage(&self) -> Stage {
        locked(&self.active).stage
    }

    /// The configuration, once it has one.
    pub(crate) fn configuration(&self) -> Option<Arc<Configuration>> {
        locked(&self.active).configuration.clone()
    }

    /// The role that the configuration gives.
    pub(crate) fn role(&self) -> Role {
        match self.configuration() {
            None => Role::Unknown,
            Some(configuration) if configuration.view.machine.kind.is_control_plane() => Role::ControlPlane,
            Some(_) => Role::Worker,
        }
    }

    /// Its Kubernetes, once that was started.
    pub(crate) fn node(&self) -> Option<Node> {
        locked(&self.active).node.clone()
    }

    /// What is installed.
    pub(crate) fn installed(&self) -> Option<Installed> {
        locked(&self.active).installed.clone()
    }

    /// Whether it has promised to reboot.
    pub(crate) fn is_going_down(&self) -> bool {
        locked(&self.active).going_down
    }

    /// Promises a reboot.
    pub(crate) fn promise_reboot(&self) {
        locked(&self.active).going_down = true;
    }

    /// The name: the configuration's, the network's, or one derived from the machine's identity. A machine without a
    /// configuration has none of its own.
    pub(crate) fn hostname(&self) -> Option<String> {
        let configuration = self.configuration();
        let wanted = configuration.as_ref().map(|configuration| &configuration.view.machine.hostname);
        let fixed = wanted.and_then(|hostname| hostname.fixed.clone());
        let network = || self.machine.specification.hostname.clone();
        let stable = || wanted.filter(|hostname| hostname.stable).map(|_| self.stable_name());
        fixed.or_else(network).or_else(stable).or_else(|| wanted.map(|_| "talos".to_owned()))
    }

    /// All services by id.
    pub(crate) fn services(&self) -> Vec<Service> {
        let node = self.node().map(|node| node.services());
        services::list(self.role(), self.began, node.as_deref())
    }

    /// Whether the clock counts as in sync.
    pub(crate) fn time_in_sync(&self) -> bool {
        self.time_sync_disabled() || self.machine.faults.time_in_sync()
    }

    /// Addresses by which the machine is meant.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let mut addresses = vec![self.address];
        let own = self.machine.specification.addresses.iter().skip(1);
        addresses.extend(own.copied().filter(|address| *address != self.address));
        addresses
    }

    /// What the API's certificate says of the machine with this configuration.
    pub(super) fn certificate_names(&self, configuration: Option<&MachineConfiguration>) -> Names {
        let hostname = self.hostname();
        let mut names =
            Names { common_name: crate::tls::MAINTENANCE_COMMON_NAME.to_owned(), ..Names::default() };
        names.dns.extend(hostname.clone());
        names.addresses.extend(self.addresses());
        names.addresses.push(IpAddr::from([127, 0, 0, 1]));
        match configuration {
            None => names.addresses.push(IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)),
            Some(configuration) => {
                names.common_name = hostname.unwrap_or_default();
                for name in &configuration.machine.cert_sans {
                    match name.parse() {
                        Ok(address) => names.addresses.push(address),
                        Err(_) => names.dns.push(name.clone()),
                    }
                }
            }
        }
        names.dns.dedup();
        names.addresses.dedup();
        names
    }

    /// Enters a stage and shows it.
    pub(super) fn enter(&self, stage: Stage) {
        locked(&self.active).stage = stage;
        self.machine.enter(stage);
        self.show_status();
    }

    /// Shows a configuration that is on the disk and not in use.
    pub(crate) fn show_stored(&self, configuration: &Configuration) {
        self.store.put_again(cluster::machine_config("persistent", &configuration.text));
    }

    /// Takes over a configuration and shows what follows from it.
    pub(crate) fn take(&self, configuration: &Arc<Configuration>) {
        locked(&self.active).configuration = Some(Arc::clone(configuration));
        self.store.put_again(cluster::machine_config("v1alpha1", &configuration.text));
        self.store.put_again(cluster::machine_config("persistent", &configuration.text));
        self.show_volumes();
        let (role, view) = (self.role(), &configuration.view);
        let hostname = self.hostname().unwrap_or_default();
        let node_id = self.node_id();
        let addresses = self.addresses();
        self.store.put(cluster::machine_type(role));
        self.store.put(network::hostname(&hostname));
        self.store.put(network::status(true));
        self.store.put(cluster::nodename(&hostname));
        self.store.put(cluster::info(&view.cluster.id, &view.cluster.name));
        self.store.put(cluster::member(&hostname, &addresses, role, self.version, &node_id));
        self.store.put(cluster::affiliate(&hostname, &addresses, &node_id));
        self.store.put(cluster::api_certificate());
        if self.version.apid_in_maintenance() {
            self.store.put(runtime::api_service_config(false));
        }
        if role == Role::ControlPlane {
            self.store.put(cluster::bootstrap_manifests(&view.cluster.network.cni));
        }
        self.show_status();
    }

    /// Takes over what was installed.
    pub(super) fn take_installed(&self, installed: Installed) {
        locked(&self.active).installed = Some(installed);
        self.show_volumes();
    }

    /// Takes over the Kubernetes that was started or, for none, stopped.
    pub(super) fn take_node(&self, node: Option<Node>) {
        if node.is_none() {
            self.store.destroy("etcd", "EtcdMembers.etcd.talos.dev", "local");
        }
        locked(&self.active).node = node;
        self.show_status();
    }

    /// Shows services, and the stage and readiness that follow from them.
    pub(super) fn show_status(&self) {
        let services = self.services();
        self.publish(&services);
        let mut stage = self.stage();
        // Without its Kubernetes the boot isn't over, whatever else runs.
        if matches!(stage, Stage::Booting | Stage::Running) && self.node().is_some() {
            stage = services::stage(&services, stage);
            locked(&self.active).stage = stage;
            self.machine.enter(stage);
        }
        let unmet = match self.configuration() {
            None => Vec::new(),
            Some(configuration) => {
                let name = self.hostname().unwrap_or_default();
                let seen = self.machine.site.nodes.find(&configuration.view.cluster.id, &name);
                let ready = seen.map(|node| {
                    let ready = node.ready.is_ok();
                    self.store.put(kubernetes::node_status(&name, ready, node.schedulable));
                    ready
                });
                services::unmet(&services, self.time_in_sync(), &name, ready)
            }
        };
        self.store.put(runtime::time_status(self.time_in_sync(), self.time_sync_disabled()));
        self.show_stage(stage, &unmet);
    }

    /// A failure, in the machine's log and in the simulator's.
    pub(super) fn fail(&self, message: &str) {
        self.log.kernel(message);
        self.machine.record(EventKind::Failure { message: message.to_owned() });
    }

    fn show_stage(&self, stage: Stage, unmet: &[(&'static str, String)]) {
        let resource = runtime::machine_status(stage, unmet);
        let before = self.store.find(&resource.namespace, &resource.kind, &resource.id);
        if before.is_some_and(|before| before.spec == resource.spec) {
            return;
        }
        self.store.put(resource);
        let unmet_conditions = unmet.iter().map(|(name, reason)| machine_status::UnmetCondition {
            name: (*name).to_owned(),
            reason: reason.clone(),
        });
        let event = MachineStatusEvent {
            stage: event_stage(stage).into(),
            status: Some(MachineStatus {
                ready: unmet.is_empty(),
                unmet_conditions: unmet_conditions.collect(),
            }),
        };
        self.log.publish("machine.MachineStatusEvent", &event, "");
    }

    /// Shows services as resources, events, and in the simulator's log, where they changed.
    fn publish(&self, services: &[Service]) {
        let before = std::mem::replace(&mut locked(&self.active).published, services.to_vec());
        for service in services {
            if before.contains(service) {
                continue;
            }
            let healthy = service.healthy == Some(true);
            let running = service.state == "Running";
            self.store.put(runtime::service(service.id, running, healthy, service.healthy.is_none()));
            let message = service.events.last().map(|(_, message, _)| message.clone()).unwrap_or_default();
            let event = ServiceStateEvent {
                service: service.id.to_owned(),
                action: event_action(service.state).into(),
                message: message.clone(),
                health: Some(ServiceHealth {
                    unknown: service.healthy.is_none(),
                    healthy,
                    last_message: service.message.clone(),
                    last_change: None,
                }),
            };
            self.log.publish("machine.ServiceStateEvent", &event, "");
            self.log.kernel(&format!("service[{}]({}): {message}", service.id, service.state));
            let (id, state) = (service.id.to_owned(), service.state.to_owned());
            self.machine.record(EventKind::Service { id, state, healthy });
        }
    }

    fn show_hardware(&self) {
        let specification = &self.machine.specification;
        let installed = self.installed();
        let booted = installed.as_ref().and_then(|installed| installed.schematic.clone());
        let schematic = booted.or_else(|| specification.schematic.clone().filter(|_| installed.is_none()));
        let mut resources = hardware::all(specification);
        resources.extend(block::disks(&specification.disks()));
        resources.extend(network::all(&network::layout(specification, self.address)));
        resources.push(runtime::version(self.version));
        resources.push(runtime::security_state(specification.secure_boot));
        resources.push(runtime::platform_metadata());
        resources.push(cluster::machine_type(Role::Unknown));
        resources.extend(schematic.as_deref().map(runtime::schematic_extension));
        resources.push(network::status(self.hostname().is_some()));
        resources.extend(self.hostname().as_deref().map(network::hostname));
        for resource in resources {
            self.store.put(resource);
        }
        self.show_volumes();
        self.show_status();
    }

    fn show_volumes(&self) {
        let disks = self.machine.specification.disks();
        let installed = self.installed();
        let disk = installed.as_ref().map(|installed| installed.disk.as_str());
        let configured = self.configuration().is_some();
        for resource in block::discovered_volumes(&disks, disk) {
            self.store.put(resource);
        }
        for resource in block::volumes(&disks, disk, configured) {
            self.store.put(resource);
        }
        if let Some(disk) = disk {
            self.store.put(block::system_disk(disk));
        }
    }

    fn time_sync_disabled(&self) -> bool {
        self.configuration().is_some_and(|configuration| configuration.view.machine.time_sync_disabled)
    }

    /// `talos-xxx-xxx`, always the same for a machine.
    fn stable_name(&self) -> String {
        let digest = Sha256::digest(self.machine.specification.uuid());
        let digits = hexadecimal(&digest);
        format!("talos-{}-{}", &digits[..3], &digits[3..6])
    }

    /// The machine's id in its cluster, as long and of the same letters as Talos'.
    fn node_id(&self) -> String {
        use base64::Engine;
        let digest = Sha256::digest(format!("node/{}", self.machine.specification.uuid()));
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(digest)
    }
}

impl std::fmt::Debug for Configuration {
    /// Without the text, which is secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Configuration").field("text", &Secret::default()).finish_non_exhaustive()
    }
}

const fn event_stage(stage: Stage) -> MachineStage {
    match stage {
        Stage::Off => MachineStage::Unknown,
        Stage::Booting => MachineStage::Booting,
        Stage::Installing => MachineStage::Installing,
        Stage::Maintenance => MachineStage::Maintenance,
        Stage::Running => MachineStage::Running,
        Stage::Rebooting => MachineStage::Rebooting,
        Stage::ShuttingDown => MachineStage::ShuttingDown,
        Stage::Resetting => MachineStage::Resetting,
        Stage::Upgrading => MachineStage::Upgrading,
    }
}

fn event_action(state: &str) -> service_state_event::Action {
    use service_state_event::Action;
    match state {
        "Preparing" => Action::Preparing,
        "Waiting" => Action::Waiting,
        "Starting" => Action::Starting,
        "Running" => Action::Running,
        "Stopping" => Action::Stopping,
        "Finished" => Action::Finished,
        "Failed" => Action::Failed,
        _ => Action::Initialized,
    }
}
