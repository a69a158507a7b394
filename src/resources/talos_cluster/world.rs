//! A cluster's world: what the loop sees of it, gate by gate.
//!
//! A look goes only as far as the first gate that is not passed: what lies behind it is not asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::Clients;
use super::super::access::Access;
use super::super::condition::log_changes;
use super::members::{Machine, gather};
use super::parse::Parsed;
use crate::clients::inventory::{Inventory, InventoryError, Stored};
use crate::clients::kubernetes::{self, Watched};
use crate::clients::talos::{Admin, Watching};
use crate::converge::{ActError, Turn, World};
use crate::domain::cluster::conditions::verdicts;
use crate::domain::cluster::gates::{Evaluation, Gate, evaluate};
use crate::domain::cluster::observed::Observed;
use crate::domain::cluster::spec::{Addon, Member, Spec};
use crate::domain::cluster::step::{Action, Step, Waiting};
use crate::domain::condition::{Condition, dated};
use crate::domain::names::{Endpoint, Uid};
use crate::domain::record::ClusterRecord;

/// A kubelet that was told to asks for a certificate within seconds of its restart, unless it has one of an earlier time.
const ASKS: Duration = Duration::from_secs(60);

/// What was done to a machine in this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Applied {
    /// When its configuration was accepted.
    pub(super) at: Instant,
    /// Whether it was seen gone, or back, since.
    pub(super) left: bool,
}

/// The world of one cluster.
pub(super) struct ClusterWorld<'a> {
    pub(super) clients: &'a Clients,
    pub(super) what: &'a str,
    pub(super) parsed: &'a Parsed,
    pub(super) record: Stored<ClusterRecord>,
    pub(super) access: Access,
    pub(super) endpoint: Endpoint,
    pub(super) machines: Vec<Machine>,
    pub(super) wanted_control_planes: u32,
    pub(super) connections: BTreeMap<Uid, Connection>,
    pub(super) applied: BTreeMap<Uid, Applied>,
    /// Whether the cluster stood before this operation.
    pub(super) stood_before: bool,
    /// Whether a machine ran another configuration than it was given, when it was asked.
    pub(super) drifted: BTreeMap<Uid, bool>,
    /// How often an installation had been tried on each machine before this operation.
    installs_before: BTreeMap<Uid, u32>,
    /// Whose kubelets were told in this operation to ask for serving certificates; since when, where they may have one
    /// of an earlier time.
    pub(super) asks_for_certificate: BTreeMap<Uid, Option<Instant>>,
    pub(super) silent_since: BTreeMap<Uid, Instant>,
    pub(super) kubernetes: Option<Kubernetes>,
    pub(super) seen: Observed,
    /// What the last look saw that was not cut off by the end of the time.
    pub(super) seen_whole: Observed,
    pub(super) evaluation: Option<Evaluation>,
    pub(super) failure: Option<String>,
    pub(super) conditions: Vec<Condition>,
    /// Warnings that the user should see at the end, once each.
    pub(super) remarks: BTreeSet<String>,
    pub(super) wake: Arc<Notify>,
}

/// A machine that answers, and what wakes us when it changes.
pub(super) struct Connection {
    pub(super) admin: Admin,
    _watching: Watching,
}

/// A member's API server, and what wakes us when its objects change.
pub(super) struct Kubernetes {
    pub(super) client: kubernetes::Client,
    /// Ends with the set.
    _watching: JoinSet<()>,
}

impl Kubernetes {
    /// Keeps a member's API server, and is woken by its objects from now on.
    pub(super) fn watched(client: kubernetes::Client, parsed: &Parsed, wake: Arc<Notify>) -> Self {
        let mut watched = vec![Watched::nodes()];
        watched.extend(parsed.serving_certificates.then(Watched::serving_requests));
        watched.extend(parsed.namespaces().into_iter().flat_map(Watched::workloads));
        let mut wakeups = client.wakeups(watched);
        let mut watching = JoinSet::new();
        watching.spawn(async move {
            loop {
                wakeups.changed().await;
                wake.notify_one();
            }
        });
        Self { client, _watching: watching }
    }
}

impl<'a> ClusterWorld<'a> {
    /// The world of a recorded cluster.
    ///
    /// # Errors
    /// When the inventory can't be read.
    pub(super) async fn open(
        clients: &'a Clients,
        what: &'a str,
        parsed: &'a Parsed,
        record: Stored<ClusterRecord>,
        access: Access,
        endpoint: Endpoint,
    ) -> Result<Self, InventoryError> {
        let (machines, wanted_control_planes) = gather(&clients.inventory, parsed).await?;
        let conditions = record.body.conditions.clone();
        let before = |machine: &Machine| (machine.member.uid.clone(), machine.member.installs);
        Ok(Self {
            stood_before: record.body.bootstrapped,
            installs_before: machines.iter().map(before).collect(),
            clients,
            what,
            parsed,
            record,
            access,
            endpoint,
            machines,
            wanted_control_planes,
            connections: BTreeMap::new(),
            applied: BTreeMap::new(),
            drifted: BTreeMap::new(),
            asks_for_certificate: BTreeMap::new(),
            silent_since: BTreeMap::new(),
            kubernetes: None,
            seen: Observed::default(),
            seen_whole: Observed::default(),
            evaluation: None,
            failure: None,
            conditions,
            remarks: BTreeSet::new(),
            wake: Arc::new(Notify::new()),
        })
    }

    pub(super) fn inventory(&self) -> &Inventory {
        &self.clients.inventory
    }

    /// What the cluster should be, with what is remembered of it now.
    pub(super) fn spec(&self) -> Spec {
        Spec {
            name: self.parsed.name.clone(),
            talos_version: self.parsed.talos_version.clone(),
            members: self.machines.iter().map(|machine| self.member(machine)).collect(),
            wanted_control_planes: self.wanted_control_planes,
            cilium: self.parsed.cilium.is_some(),
            cert_manager: self.parsed.cert_manager.is_some(),
            addons: self.parsed.addons.iter().map(|(name, further)| further.spec(name)).collect(),
            leaving: self.leaving(),
            serving_certificates: self.parsed.serving_certificates,
            etcd: self.record.body.etcd.clone(),
            secrets_given: self.parsed.secrets.is_some(),
            bootstrapped: self.record.body.bootstrapped,
        }
    }

    fn member(&self, machine: &Machine) -> Member {
        let before = self.installs_before.get(&machine.member.uid).copied().unwrap_or(0);
        let tries = machine.member.installs.saturating_sub(before);
        let asks = self.asks_for_certificate.get(&machine.member.uid);
        let asks_for_certificate = asks.is_some_and(|since| since.is_none_or(|since| since.elapsed() < ASKS));
        Member { tries, asks_for_certificate, ..machine.member.clone() }
    }

    pub(super) fn machine(&self, uid: &Uid) -> Option<&Machine> {
        self.machines.iter().find(|machine| machine.member.uid == *uid)
    }

    /// Keeps a connection, and is woken by its machine from now on.
    pub(super) fn keep(&mut self, uid: &Uid, admin: Admin) {
        let wake = Arc::clone(&self.wake);
        let watching = admin.wake_on_change(move || wake.notify_one());
        self.connections.insert(uid.clone(), Connection { admin, _watching: watching });
    }

    /// Changes the cluster's record, durably, and remembers what it says then.
    pub(super) async fn remember(
        &mut self,
        change: impl FnMut(&mut ClusterRecord) + Send,
    ) -> Result<(), ActError> {
        let changed = self.clients.inventory.change::<ClusterRecord>(&self.record.uid, change).await;
        match changed {
            Ok(Some(record)) => {
                self.record = record;
                Ok(())
            }
            Ok(None) => Err(ActError {
                text: "write the cluster's record: somebody deleted it meanwhile".to_owned(),
                remedy: "Apply again.".to_owned(),
                is_final: true,
            }),
            Err(error) => Err(ActError {
                text: format!("write the cluster's record: {}", super::super::report::chain(&error)),
                remedy: "Nothing goes on without the inventory, which keeps a second etcd from being made. Apply again \
                         once it can be written."
                    .to_owned(),
                is_final: true,
            }),
        }
    }

    /// Asks for what a gate needs, unless it was asked in this look already. Whether it did.
    async fn look_behind(&mut self, gate: Gate, looked: &mut BTreeSet<Gate>) -> bool {
        let group = match gate {
            Gate::Members | Gate::Configured | Gate::Bootstrapped | Gate::ControlPlanes => return false,
            Gate::NetworkInstalled | Gate::NetworkHealthy => Gate::NetworkHealthy,
            Gate::CertificatesInstalled | Gate::CertificatesHealthy => Gate::CertificatesHealthy,
            Gate::ApiServer
            | Gate::EarlyAddons
            | Gate::Healthy
            | Gate::Workers
            | Gate::Addons
            | Gate::Everything => gate,
        };
        if !looked.insert(group) {
            return false;
        }
        match group {
            Gate::ApiServer => self.look_at_api_servers().await,
            Gate::NetworkHealthy => self.look_at_addon(Addon::Cilium).await,
            Gate::CertificatesHealthy => self.look_at_addon(Addon::CertManager).await,
            Gate::EarlyAddons | Gate::Addons => {
                let early = group == Gate::EarlyAddons;
                let further = self.spec().addons.into_iter().filter(|further| further.before_health == early);
                for further in further {
                    self.look_at_addon(further.addon).await;
                }
            }
            Gate::Healthy => self.look_at_health().await,
            Gate::Everything => self.look_at_everything().await,
            Gate::Members
            | Gate::Configured
            | Gate::Bootstrapped
            | Gate::ControlPlanes
            | Gate::NetworkInstalled
            | Gate::Workers
            | Gate::CertificatesInstalled => return false,
        }
        true
    }

    /// Says in conditions where the cluster stands, and keeps them with its record.
    async fn note_conditions(&mut self, evaluation: &Evaluation) {
        let verdicts = verdicts(&self.spec(), evaluation, self.failure.as_deref());
        let conditions = dated(verdicts, &self.conditions, Timestamp::now());
        if conditions == self.conditions {
            return;
        }
        log_changes(self.what, &self.conditions, &conditions);
        self.conditions = conditions.clone();
        // Conditions are shown, and steer nothing: the next change of one is another try.
        let written = self.remember(|record| record.conditions.clone_from(&conditions)).await;
        if let Err(error) = written {
            tracing::warn!(error = error.text, "Failed to keep the conditions");
        }
    }
}

impl World for ClusterWorld<'_> {
    async fn look(&mut self) -> Turn {
        if let Err(error) = self.refresh_members().await {
            let why = super::super::report::chain(&error);
            let step =
                Step::Wait(Waiting::EtcdUnknown { why: format!("the inventory can't be read: {why}") });
            return Turn { step, soft: false };
        }
        self.seen = Observed::default();
        self.look_at_machines().await;
        self.note_proven().await;
        self.look_at_etcd().await;
        let mut looked = BTreeSet::new();
        let evaluation = loop {
            let evaluation = evaluate(&self.spec(), &self.seen);
            match evaluation.gate {
                Some(gate) if self.look_behind(gate, &mut looked).await => {}
                Some(_) | None => break evaluation,
            }
        };
        self.note_conditions(&evaluation).await;
        let soft = evaluation.gate.is_some_and(Gate::is_soft);
        let step = evaluation.step.clone();
        self.seen_whole.clone_from(&self.seen);
        self.evaluation = Some(evaluation);
        Turn { step, soft }
    }

    async fn act(&mut self, action: Action) -> Result<(), ActError> {
        let done = match action {
            Action::Configure(uid) => self.configure(&uid).await,
            Action::Reconfigure(uid) => self.reconfigure(&uid).await,
            Action::BootstrapEtcd(uid) => self.bootstrap_etcd(&uid).await,
            Action::RememberEtcd => self.remember(|record| record.etcd.seen = true).await,
            Action::InstallAddon(addon) => self.install_addon(addon).await,
            Action::RemoveAddon(addon) => self.remove_addon(addon).await,
            Action::ApproveServingCertificates(requests) => {
                self.approve_serving_certificates(&requests).await
            }
            Action::RememberBootstrapped => self.remember(|record| record.bootstrapped = true).await,
        };
        self.failure = done.as_ref().err().map(|error| format!("failed to {}", error.text));
        if self.failure.is_some()
            && let Some(evaluation) = self.evaluation.clone()
        {
            self.note_conditions(&evaluation).await;
        }
        done
    }

    async fn changed(&mut self) {
        self.wake.notified().await;
    }
}
