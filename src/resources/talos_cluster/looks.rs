//! Looks at machines, etcd and API servers. None of them can fail: what can't be looked at is unknown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::report::chain;
use super::drift;
use super::members::{Machine, gather};
use super::world::{ClusterWorld, Kubernetes};
use crate::clients::inventory::InventoryError;
use crate::clients::kubernetes;
use crate::clients::talos::{
    Admin, Credentials, Failures, Fault, Fingerprint, MachineStatus, Maintenance, Service,
    Stage as TalosStage,
};
use crate::domain::cluster::observed::{EtcdMember, EtcdService, Running, Stage};
use crate::domain::cluster::spec::Role;
use crate::domain::names::{Address, Uid};
use crate::domain::record::{InstanceRecord, Work};
use crate::domain::seen::Seen;
use crate::domain::version::Version;

/// One look at one machine: it answers at once, or is busy with something longer than a look.
const LOOK: Duration = Duration::from_secs(5);

/// A machine that took its configuration leaves maintenance mode within ten seconds (Talos 1.13 waits that long for
/// open calls); one that is still there later has come back.
const LEAVES_WITHIN: Duration = Duration::from_secs(20);

/// A reboot with firmware checks takes some minutes; a longer silence wants somebody to look at the console.
const LONG: Duration = Duration::from_secs(8 * 60);

/// What dialling a machine brought.
pub(super) enum Dialled {
    Admin(Box<Admin>),
    Stage(Stage),
}

impl ClusterWorld<'_> {
    /// Reads anew who belongs to the cluster, and what is remembered of each.
    pub(super) async fn refresh_members(&mut self) -> Result<(), InventoryError> {
        let (mut machines, wanted) = gather(self.inventory(), self.parsed).await?;
        for machine in &mut machines {
            let given = self.record.body.members.get(&machine.member.uid);
            let digest = given.and_then(|member| member.configuration.as_ref());
            // What can't be made here is an error where it is sent; it is no reason to touch a machine that runs.
            machine.is_current = match (digest, self.configuration_of(machine)) {
                (Some(digest), Ok(wanted)) => *digest == wanted.digest,
                (None, _) | (_, Err(_)) => true,
            };
            machine.is_current &= self.drifted.get(&machine.member.uid) != Some(&true);
            machine.member.unproven = machine.is_current && given.is_some_and(|member| !member.proven);
        }
        self.machines = machines;
        self.wanted_control_planes = wanted;
        Ok(())
    }

    /// Looks at all machines at once.
    pub(super) async fn look_at_machines(&mut self) {
        let mut looks = JoinSet::new();
        for machine in self.machines.clone() {
            let credentials = self.access.talos.clone();
            let given = self.unchecked(&machine.member.uid);
            let open = self.connections.get(&machine.member.uid).map(|connection| connection.admin.clone());
            looks.spawn(async move {
                let uid = machine.member.uid.clone();
                let mut drifted = None;
                let dialled = match (&machine.record.work, open) {
                    (Work::Untouched | Work::Fenced { .. }, _) => {
                        Dialled::Stage(in_maintenance(&machine.record, None).await)
                    }
                    (Work::Configured { .. }, Some(admin)) => Dialled::Admin(Box::new(admin)),
                    (Work::Configured { .. }, None) => dial(&machine, &credentials).await,
                };
                let (stage, admin) = match dialled {
                    Dialled::Stage(stage) => (stage, None),
                    Dialled::Admin(admin) => match running(&admin, &machine).await {
                        Ok(mut running) => {
                            if let Some(given) = given {
                                let changed = drift::changed(&admin, Some(&given)).await.is_some();
                                running.configuration_current &= !changed;
                                drifted = Some(changed);
                            }
                            (Stage::Running(running), Some(*admin))
                        }
                        Err(fault) => (stage_of(&fault), None),
                    },
                };
                (uid, stage, admin, drifted)
            });
        }
        while let Some(look) = looks.join_next().await {
            let Ok((uid, stage, admin, drifted)) = look else { continue };
            if let Some(drifted) = drifted {
                self.drifted.insert(uid.clone(), drifted);
            }
            self.note_machine(&uid, stage, admin);
        }
    }

    /// Remembers which machines were seen ready with what they were given last.
    pub(super) async fn note_proven(&mut self) {
        let ready = |machine: &&Machine| {
            let stage = self.seen.machines.get(&machine.member.uid);
            machine.member.unproven
                && matches!(stage, Some(Stage::Running(running)) if running.unmet.is_empty() && running.stage == "running")
        };
        let proven: Vec<Uid> =
            self.machines.iter().filter(ready).map(|machine| machine.member.uid.clone()).collect();
        if proven.is_empty() {
            return;
        }
        let written = self
            .remember(|record| {
                for uid in &proven {
                    record.members.get_mut(uid).into_iter().for_each(|member| member.proven = true);
                }
            })
            .await;
        if let Err(error) = written {
            // It only holds up the next change, and the next look tries again.
            tracing::warn!(error = error.text, "Failed to keep that machines are ready");
        }
        for machine in &mut self.machines {
            machine.member.unproven &= !proven.contains(&machine.member.uid);
        }
    }

    /// What a machine was given last, where it is still to be compared with what it runs: once in an operation, and only
    /// in a cluster that stands, since a machine that keeps changing its configuration would never come to rest.
    fn unchecked(&self, uid: &Uid) -> Option<String> {
        if !self.stood_before || self.drifted.contains_key(uid) {
            return None;
        }
        drift::given(&self.record.body, uid)
    }

    fn note_machine(&mut self, uid: &Uid, stage: Stage, admin: Option<Admin>) {
        match admin {
            Some(admin) if !self.connections.contains_key(uid) => self.keep(uid, admin),
            Some(_) => {}
            None => drop(self.connections.remove(uid)),
        }
        let stage = self.with_memory(uid, stage);
        if let Stage::Running(running) = &stage {
            let newer = running.version > self.parsed.talos_version;
            if let (true, Some(machine)) = (newer, self.machine(uid)) {
                let text = format!(
                    "{} runs Talos {}, the configuration says {}",
                    machine.member.name, running.version, self.parsed.talos_version
                );
                self.remarks.insert(text);
            }
        }
        self.seen.machines.insert(uid.clone(), stage);
    }

    /// Adds what this process remembers: a machine that took its configuration just now is on its way, and one that
    /// has been silent for long wants somebody to look at it.
    fn with_memory(&mut self, uid: &Uid, stage: Stage) -> Stage {
        let now = Instant::now();
        let applied = self.applied.get_mut(uid);
        if let Stage::Unreachable { why, .. } = stage {
            let silent_since = *self.silent_since.entry(uid.clone()).or_insert(now);
            let Some(applied) = applied else {
                return Stage::Unreachable { why, long: now.duration_since(silent_since) > LONG };
            };
            applied.left = true;
            let long = now.duration_since(applied.at.max(silent_since)) > LONG;
            return if long {
                Stage::Unreachable { why, long }
            } else {
                Stage::Installing { why: Some(why) }
            };
        }
        self.silent_since.remove(uid);
        let Some(applied) = applied else { return stage };
        let is_maintenance = matches!(stage, Stage::Maintenance { .. });
        if is_maintenance && !applied.left && now.duration_since(applied.at) < LEAVES_WITHIN {
            return Stage::Installing { why: None };
        }
        applied.left = true;
        stage
    }

    /// Asks any control plane that runs etcd for its members.
    pub(super) async fn look_at_etcd(&mut self) {
        let mut last = None;
        for machine in self.machines.iter().filter(|machine| machine.member.role == Role::ControlPlane) {
            let uid = &machine.member.uid;
            let starts = matches!(
                self.seen.machines.get(uid),
                Some(Stage::Running(Running { etcd: EtcdService::Started, .. }))
            );
            let Some(connection) = self.connections.get(uid).filter(|_| starts) else { continue };
            match connection.admin.etcd_members().await {
                Ok(members) => {
                    let members = members
                        .into_iter()
                        .map(|member| EtcdMember { hostname: member.hostname, learner: member.is_learner })
                        .collect();
                    self.seen.etcd = Some(Seen::Present(members));
                    return;
                }
                Err(error) => last = Some(format!("failed to {}", chain(&error))),
            }
        }
        self.seen.etcd = last.map(Seen::Unknown);
    }

    /// Asks the members' API servers, then the endpoint.
    pub(super) async fn look_at_api_servers(&mut self) {
        self.seen.api_server = Some(self.look_at_members().await);
        if !matches!(self.seen.api_server, Some(Seen::Present(()))) {
            return;
        }
        // Also where it is a member's address: the machine may have come back at another one.
        self.seen.endpoint = Some(match self.client(&self.endpoint.to_string()).await {
            Ok(client) => ready(&client).await,
            Err(why) => Seen::Unknown(why),
        });
    }

    async fn look_at_members(&mut self) -> Seen<()> {
        if let Some(kubernetes) = &self.kubernetes {
            let seen = ready(&kubernetes.client).await;
            if matches!(seen, Seen::Present(())) {
                return seen;
            }
        }
        let mut last = "no control plane is up".to_owned();
        let control_planes: Vec<Address> = self
            .machines
            .iter()
            .filter(|machine| machine.member.role == Role::ControlPlane)
            .filter_map(|machine| {
                // Where it answers now is where its API server is.
                let now = self.connections.get(&machine.member.uid).map(|open| open.admin.address().clone());
                now.or_else(|| machine.address().cloned())
            })
            .collect();
        for address in control_planes {
            let server = format!("https://{}", address.with_port(6443));
            match self.client(&server).await {
                Err(why) => last = why,
                Ok(client) => match ready(&client).await {
                    Seen::Present(()) => {
                        let wake = Arc::clone(&self.wake);
                        self.kubernetes = Some(Kubernetes::watched(client, self.parsed, wake));
                        return Seen::Present(());
                    }
                    Seen::Unknown(why) => last = why,
                    Seen::Absent => {}
                },
            }
        }
        Seen::Unknown(last)
    }

    async fn client(&self, server: &str) -> Result<kubernetes::Client, String> {
        let options =
            kubernetes::Options { server: Some(server.to_owned()), ..kubernetes::Options::default() };
        kubernetes::Client::from_kubeconfig(self.access.kubeconfig.expose(), &options)
            .await
            .map_err(|error| format!("failed to {}", chain(&error)))
    }

    /// The control planes' connections, for questions that any of them can answer.
    pub(super) fn control_plane_connections(&self) -> impl Iterator<Item = &Admin> {
        self.machines
            .iter()
            .filter(|machine| machine.member.role == Role::ControlPlane)
            .filter_map(|machine| Some(&self.connections.get(&machine.member.uid)?.admin))
    }
}

async fn ready(client: &kubernetes::Client) -> Seen<()> {
    match client.ready().await {
        Ok(()) => Seen::Present(()),
        Err(error) => Seen::Unknown(format!("failed to {}", chain(&error))),
    }
}

/// Dials a machine that was configured: with the cluster's credentials only. That it shows the certificate of
/// maintenance mode is seen in the handshake; then it is asked, unverified, whether it is itself and what went wrong.
pub(super) async fn dial(machine: &Machine, credentials: &Credentials) -> Dialled {
    match Admin::dial_at_once(&machine.record.candidates(), credentials, LOOK).await {
        Ok(admin) => Dialled::Admin(Box::new(admin)),
        Err(failures) if shows_maintenance(&failures) => {
            Dialled::Stage(in_maintenance(&machine.record, Some(())).await)
        }
        Err(failures) => Dialled::Stage(failures.foremost().map_or_else(
            || Stage::Unreachable { why: "it has no address".to_owned(), long: false },
            |error| stage_of(error.fault()),
        )),
    }
}

fn shows_maintenance(failures: &Failures) -> bool {
    failures.refusals().iter().any(|refusal| *refusal.error.fault() == Fault::InMaintenance)
}

/// Looks at a machine in maintenance mode. `returned`: it had a configuration already, so an installation failed.
async fn in_maintenance(record: &InstanceRecord, returned: Option<()>) -> Stage {
    let fingerprint =
        record.certificate_fingerprint.as_deref().and_then(|text| Fingerprint::parse(text).ok());
    // A fingerprint lasts one boot: a machine that came back from an installation has another.
    let expected = if returned.is_some() { None } else { fingerprint };
    let candidates = record.candidates();
    let machine = match Maintenance::dial_at_once(&candidates, expected, LOOK).await {
        Ok(machine) => machine,
        Err(failures) => {
            return failures.foremost().map_or_else(
                || Stage::Unreachable { why: "it has no address".to_owned(), long: false },
                |error| stage_of(error.fault()),
            );
        }
    };
    let facts = match machine.discover().await {
        Ok(facts) => facts,
        Err(error) => return Stage::Unreachable { why: format!("failed to {}", chain(&error)), long: false },
    };
    let known = record.identity();
    if known.is_some() && facts.identity() != known {
        let found =
            facts.identity().map_or_else(|| "it tells no identity".to_owned(), |found| found.to_string());
        return Stage::OtherMachine { found };
    }
    let install_error = match returned {
        None => None,
        Some(()) => machine.last_failure().await.ok().flatten(),
    };
    Stage::Maintenance { install_error }
}

fn stage_of(fault: &Fault) -> Stage {
    match fault {
        Fault::Foreign | Fault::CertificateRequired | Fault::NotTalos(_) | Fault::OursRefused(_) => {
            Stage::Foreign
        }
        Fault::WrongFingerprint { found, .. } => {
            Stage::OtherMachine { found: format!("its fingerprint is {found}") }
        }
        Fault::Expired | Fault::NotYetValid | Fault::OursExpired => {
            Stage::ClockOff { why: fault.to_string() }
        }
        Fault::InMaintenance => Stage::Maintenance { install_error: None },
        Fault::Credentials(_)
        | Fault::Unresolved(_)
        | Fault::Refused
        | Fault::Unreachable(_)
        | Fault::Silent(_)
        | Fault::Lost(_)
        | Fault::WrongName
        | Fault::Handshake(_)
        | Fault::Status { .. }
        | Fault::Malformed(_) => Stage::Unreachable { why: fault.to_string(), long: false },
    }
}

/// Asks a machine that answers to the cluster's credentials how far it is.
async fn running(admin: &Admin, machine: &Machine) -> Result<Running, Fault> {
    let fault = |error: crate::clients::talos::Error| error.fault().clone();
    let version = admin.version().await.map_err(fault)?;
    let status = admin.status().await.map_err(fault)?;
    let version = Version::parse(&version, "v1.13.9").map_err(|error| Fault::Malformed(error.to_string()))?;
    let is_control_plane = machine.member.role == Role::ControlPlane;
    let etcd = if is_control_plane { etcd_service(admin).await } else { EtcdService::Empty };
    Ok(Running {
        version,
        stage: word(status.stage).to_owned(),
        time_in_sync: admin.time_in_sync().await.ok().flatten(),
        configuration_current: machine.is_current,
        unmet: unmet(status),
        etcd,
    })
}

fn unmet(status: MachineStatus) -> BTreeMap<String, String> {
    let mut unmet: BTreeMap<_, _> =
        status.unmet.into_iter().map(|unmet| (unmet.name, unmet.reason)).collect();
    if unmet.is_empty() && !status.ready {
        unmet.insert("ready".to_owned(), "Talos does not say what is missing".to_owned());
    }
    unmet
}

fn word(stage: TalosStage) -> &'static str {
    match stage {
        TalosStage::Unknown => "unknown",
        TalosStage::Booting => "booting",
        TalosStage::Installing => "installing",
        TalosStage::Maintenance => "maintenance",
        TalosStage::Running => "running",
        TalosStage::Rebooting => "rebooting",
        TalosStage::ShuttingDown => "shutting down",
        TalosStage::Resetting => "resetting",
        TalosStage::Upgrading => "upgrading",
    }
}

async fn etcd_service(admin: &Admin) -> EtcdService {
    let services = match admin.services().await {
        Ok(services) => services,
        Err(error) => return EtcdService::Unknown(format!("failed to {}", chain(&error))),
    };
    let etcd: Option<&Service> = services.iter().find(|service| service.id == "etcd");
    let Some(etcd) = etcd else {
        return EtcdService::Unknown("the machine does not list its etcd service yet".to_owned());
    };
    if matches!(etcd.state.as_str(), "Running" | "Starting") {
        return EtcdService::Started;
    }
    if etcd.state == "Failed" {
        return EtcdService::Unknown(format!(
            "etcd on {} has failed: {}",
            admin.address(),
            etcd.last_message
        ));
    }
    match admin.has_etcd_data().await {
        Ok(true) => EtcdService::Started,
        Ok(false) => EtcdService::Empty,
        Err(error) => EtcdService::Unknown(format!("failed to {}", chain(&error))),
    }
}

/// How many nodes are there by name, with what keeps each from being Ready.
pub(super) fn nodes_by_name(
    nodes: Vec<kubernetes::Node>,
) -> BTreeMap<String, crate::domain::cluster::observed::NodeSeen> {
    use crate::domain::cluster::observed::NodeSeen;
    nodes
        .into_iter()
        .map(|node| {
            let not_ready = match node.readiness {
                kubernetes::Readiness::Ready => None,
                kubernetes::Readiness::NotReady(why) => Some(why),
                kubernetes::Readiness::Silent => Some("its kubelet is silent".to_owned()),
            };
            (node.name, NodeSeen { not_ready })
        })
        .collect()
}
