//! `kontinuum_talos_cluster`: pools become a running cluster with its addons.
//!
//! Create and update drive the cluster through the gates of [`crate::domain::cluster::gates`]; read looks and changes
//! nothing but the inventory; delete resets the machines and gives them back. All of them may be interrupted and run
//! again.

mod acts;
mod addons;
mod changes;
mod configuration;
mod digests;
mod drift;
mod further;
mod health;
mod image;
mod judged;
mod looks;
mod members;
mod model;
mod parse;
mod plan;
mod preflight;
mod rendering;
mod shown;
mod stalled;
mod teardown;
mod work;
mod world;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use model::Cluster;

use super::Clients;
use super::condition;
use super::records::{self, Look, Private, begin, bury, look, rebuild, uid_of};
use super::report::{chain, inventory_failed};
use crate::clients::inventory::{Inventory, InventoryError, Stored};
use crate::domain::cluster::spec::Role;
use crate::domain::machine_configuration::Contract;
use crate::domain::names::{Endpoint, Uid};
use crate::domain::record::{ClusterRecord, EtcdRecord, InstanceRecord, PoolRecord};
use crate::plugin::{Change, Diagnostic, Diagnostics, Failure, Operation, Path, Resource};
use parse::Parsed;
use work::Work;

/// The resource.
#[derive(Debug)]
pub struct TalosClusters;

fn what(name: &str) -> String {
    format!("kontinuum_talos_cluster {name:?}")
}

fn named(cluster: &Cluster) -> String {
    what(cluster.name.known().map(String::as_str).unwrap_or_default())
}

impl Resource for TalosClusters {
    type Model = Cluster;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_talos_cluster";
    const DESCRIPTION: &'static str = "A Kubernetes cluster on claimed machines: Talos configured and etcd \
        bootstrapped, Cilium and cert-manager installed and proven healthy. Create and update go through the same gates \
        in the same order, so that an interrupted apply is simply run again.";

    async fn validate(&self, config: Cluster, operation: &Operation<Clients>) -> Result<(), Diagnostics> {
        let mut wrong = Diagnostics::new();
        if !config.endpoint.is_null() && !config.vip.is_null() {
            wrong.push(
                Diagnostic::error(
                    "endpoint and vip are both given",
                    "With a VIP, the endpoint is https://VIP:6443. Give one of the two.",
                )
                .at(Path::new("vip")),
            );
        }
        match config.parse() {
            Ok(parsed) => {
                let judged = judged::check(&config, &parsed);
                if judged.has_errors() {
                    wrong.extend(judged);
                } else {
                    operation.warn(judged);
                }
            }
            Err(more) => wrong.extend(more),
        }
        wrong.into_result(())
    }

    async fn plan(
        &self,
        change: Change<Cluster>,
        operation: &Operation<Clients>,
    ) -> Result<Cluster, Diagnostics> {
        let prior = change.prior.clone();
        let planned = plan::plan(change, &Private::of(operation))?;
        rendering::check(operation, prior.as_ref(), &planned).await?;
        changes::check(operation, prior.as_ref(), &planned).await?;
        Ok(planned)
    }

    async fn create(&self, planned: Cluster, operation: &Operation<Clients>) -> Result<Cluster, Diagnostics> {
        let parsed = planned.parse()?;
        let (what, clients) = (what(parsed.name.as_str()), operation.data()?);
        let fresh = fresh_record(&parsed);
        let stored = begin(&clients.inventory, &what, parsed.name.as_str(), fresh.clone(), |found| {
            adopted(found, &fresh)
        })
        .await?;
        let limit = parsed.limits.create;
        let work = Work { clients, what: &what, parsed: &parsed, limit, operation };
        work.leased(stored)
            .await
            .map(|done| done.shown(planned))
            .map_err(|(errors, _)| records::not_in_state(errors))
    }

    async fn read(
        &self,
        prior: Cluster,
        operation: &Operation<Clients>,
    ) -> Result<Option<Cluster>, Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, clients) = (named(&prior), operation.data()?);
        let inventory = &clients.inventory;
        let stored = match look::<ClusterRecord>(inventory, &uid).await {
            Ok(Look::Present(stored)) => stored,
            Ok(Look::Buried) => return Ok(None),
            Ok(Look::Lost) => match remembered_again(inventory, &what, &uid, &prior, operation).await? {
                Some(stored) => stored,
                None => return Ok(Some(prior)),
            },
            Err(error) => {
                operation.warn(Diagnostics::warning(
                    "the inventory could not be read",
                    format!("{what} is shown as it was: {}", chain(&error)),
                ));
                return Ok(Some(prior));
            }
        };
        let failed = |error: InventoryError| inventory_failed(&what, &error);
        let id = inventory.id().await.map_err(failed)?;
        Private { inventory: id, ..Private::of(operation) }.keep(operation);
        let parsed = prior.parse()?;
        let (machines, _) = members::gather(inventory, &parsed).await.map_err(failed)?;
        let machines: Vec<_> = machines
            .into_iter()
            .filter(|machine| stored.body.members.contains_key(&machine.member.uid))
            .collect();
        note_drift(&what, &parsed, &stored, &machines, operation).await;
        let shown = prior.shown(&stored, &machines);
        renewed(shown, &what, &stored, &machines, operation).map(Some)
    }

    async fn update(
        &self,
        prior: Cluster,
        planned: Cluster,
        operation: &Operation<Clients>,
    ) -> Result<Cluster, Failure<Cluster>> {
        let parsed = planned.parse()?;
        let (what, clients) = (what(parsed.name.as_str()), operation.data()?);
        let uid = uid_of(&prior.uid)?;
        let wanted = fresh_record(&parsed);
        let stored = clients
            .inventory
            .change::<ClusterRecord>(&uid, |record| {
                record.acknowledged = true;
                record.workers.clone_from(&wanted.workers);
                record.talos_version.clone_from(&wanted.talos_version);
                record.kubernetes_version.clone_from(&wanted.kubernetes_version);
            })
            .await
            .map_err(|error| inventory_failed(&what, &error))?
            .ok_or_else(|| {
                Diagnostics::error(
                    format!("{what} is no longer in the inventory"),
                    "Somebody deleted its record. Refresh (tofu apply -refresh-only) and apply again.",
                )
            })?;
        let work = Work { clients, what: &what, parsed: &parsed, limit: parsed.limits.update, operation };
        match work.leased(stored).await {
            Ok(done) => Ok(done.shown(planned)),
            Err((errors, seen)) => Err(match seen {
                // What was observed may be shown; what was planned may not, or the work would be lost.
                Some(record) => Failure::observed(errors, observed(prior, &record)),
                None => errors.into(),
            }),
        }
    }

    async fn delete(&self, prior: Cluster, operation: &Operation<Clients>) -> Result<(), Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, clients) = (named(&prior), operation.data()?);
        let limit = prior.parse().map_or(Duration::from_secs(30 * 60), |parsed| parsed.limits.delete);
        teardown::cluster(clients, &what, &uid, limit, operation).await?;
        bury::<ClusterRecord>(&clients.inventory, &what, &uid).await
    }

    async fn import(&self, id: &str, operation: &Operation<Clients>) -> Result<Cluster, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let failed = |error: InventoryError| inventory_failed(&what(id), &error);
        let found = inventory
            .find::<ClusterRecord>(id)
            .await
            .map_err(failed)?
            .ok_or_else(|| records::not_there(&what(id), inventory))?;
        let pools = inventory.list::<PoolRecord>().await.map_err(failed)?;
        let machines = inventory.list::<InstanceRecord>().await.map_err(failed)?;
        Ok(Cluster::imported(&found, &pools, &machines))
    }
}

/// Looks what the machines of a cluster that stands run, warns of what is not as it was left, and keeps what an update
/// can mend for the next plan.
async fn note_drift(
    what: &str,
    parsed: &Parsed,
    record: &Stored<ClusterRecord>,
    machines: &[members::Machine],
    operation: &Operation<Clients>,
) {
    let private = Private::of(operation);
    let mut found = Vec::new();
    if record.body.bootstrapped
        && !record.body.deleting
        && let Ok(access) = super::leave::access_of(what, record)
    {
        let unapproved = async {
            if parsed.serving_certificates { drift::unapproved(machines, &access).await } else { Vec::new() }
        };
        let (moved, unapproved) =
            tokio::join!(drift::look(machines, &record.body, &access.talos), unapproved);
        found.extend(moved.into_iter().chain(unapproved));
    }
    let (silent, moved): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|drift| matches!(drift.kind, drift::Kind::Silent { .. }));
    let base = changes::Base::recorded(record, Vec::new(), Vec::new());
    let differs = |drift: &drift::Drift| {
        let drift::Kind::Changed(runs) = &drift.kind else { return String::new() };
        let machine = machines.iter().find(|machine| machine.member.uid == drift.uid);
        let listing =
            base.as_ref().zip(machine).map(|(base, machine)| changes::listing(base, parsed, machine, runs));
        listing.filter(|text| !text.is_empty()).map(|text| format!("\n{text}")).unwrap_or_default()
    };
    let lines = |drifts: &[drift::Drift]| {
        let line = |drift| format!("{what}: {drift}.{}", differs(drift));
        drifts.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    if !silent.is_empty() {
        let summary = "a machine of a cluster does not answer";
        operation
            .warn([Diagnostic::warning(summary, format!("{}\nNothing follows from it.", lines(&silent)))]);
    }
    if !moved.is_empty() {
        let remedy = "The next apply puts right what it can: it sends a changed or reset machine its configuration, \
                      and approves what waits for it. A \
                      machine that was exchanged is replaced by `-replace` of its kontinuum_instance.";
        operation.warn([Diagnostic::warning(
            "a machine of a cluster is not as it was left",
            format!("{}\n{remedy}", lines(&moved)),
        )]);
    }
    let mendable: Vec<_> =
        moved.iter().filter(|drift| drift.kind.is_mendable()).map(ToString::to_string).collect();
    let drift = (!mendable.is_empty()).then(|| mendable.join("; "));
    Private { drift, ..private }.keep(operation);
}

/// How long before its end a file of access is made anew: the old one stays valid, so nobody is cut off.
const RENEWED_BEFORE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How long a file of access is valid; its certificate says the same.
const ACCESS: SignedDuration = SignedDuration::from_hours(365 * 24);

/// Makes new files of access where there are none, or where they end soon.
fn renewed(
    cluster: Cluster,
    what: &str,
    record: &Stored<ClusterRecord>,
    machines: &[members::Machine],
    operation: &Operation<Clients>,
) -> Result<Cluster, Diagnostics> {
    let private = Private::of(operation);
    let now = Timestamp::now();
    let ends = private.access_until;
    let lasts = ends.is_some_and(|ends| ends.duration_since(now) > RENEWED_BEFORE);
    let there = cluster.kubeconfig.known().is_some() && cluster.talosconfig.known().is_some();
    if (there && (lasts || ends.is_none())) || record.body.secrets.is_none() || record.body.endpoint.is_none()
    {
        return Ok(cluster);
    }
    let access = super::leave::access_of(what, record)?;
    let endpoint = record.body.endpoint.as_deref().unwrap_or_default();
    let Ok(endpoint) = Endpoint::parse(endpoint) else { return Ok(cluster) };
    let control_planes: Vec<String> = machines
        .iter()
        .filter(|machine| machine.member.role == Role::ControlPlane)
        .filter_map(|machine| machine.address().map(ToString::to_string))
        .collect();
    let files = access.files(what, &record.name, &endpoint, &control_planes)?;
    Private { access_until: now.checked_add(ACCESS).ok(), ..private }.keep(operation);
    Ok(cluster.with_access(files))
}

/// What a failed update may show: conditions as they were seen, all else as it was.
fn observed(prior: Cluster, record: &ClusterRecord) -> Cluster {
    Cluster { conditions: condition::listed(&record.conditions), ..prior }
}

fn fresh_record(parsed: &Parsed) -> ClusterRecord {
    ClusterRecord {
        control_plane: parsed.control_plane.uid.clone(),
        workers: parsed.workers.iter().map(|(key, pool)| (key.clone(), pool.uid.clone())).collect(),
        talos_version: Some(parsed.talos_version.tag()),
        kubernetes_version: Some(parsed.kubernetes_version.to_string()),
        vip: parsed.vip.map(|vip| vip.to_string()),
        endpoint: parsed.endpoint.as_ref().map(ToString::to_string),
        contract: None,
        secrets: parsed.secrets.as_ref().map(|secrets| secrets.to_yaml().expose().to_owned()),
        etcd: EtcdRecord::default(),
        bootstrapped: false,
        addons: std::collections::BTreeMap::new(),
        charts: std::collections::BTreeMap::new(),
        members: std::collections::BTreeMap::new(),
        conditions: Vec::new(),
        acknowledged: false,
        deleting: false,
    }
}

/// What an interrupted create left is taken over where it is the same cluster: the same pools, and after bootstrap the
/// same endpoint. All else may have been edited.
fn adopted(found: &ClusterRecord, fresh: &ClusterRecord) -> Result<ClusterRecord, String> {
    if found.control_plane != fresh.control_plane || found.workers != fresh.workers {
        return Err("the cluster of this name that an earlier apply began has other pools".to_owned());
    }
    let begun = found.etcd.bootstrap_sent.is_some() || found.etcd.seen;
    if begun && fresh.endpoint.is_some() && found.endpoint != fresh.endpoint {
        return Err(
            "the cluster of this name that an earlier apply bootstrapped has another endpoint".to_owned()
        );
    }
    let mut record = ClusterRecord {
        talos_version: fresh.talos_version.clone(),
        kubernetes_version: fresh.kubernetes_version.clone(),
        vip: fresh.vip.clone(),
        ..found.clone()
    };
    if fresh.secrets.is_some() && found.secrets.is_some() && fresh.secrets != found.secrets && begun {
        return Err(
            "the cluster of this name that an earlier apply bootstrapped has other secrets".to_owned()
        );
    }
    if !begun {
        record.endpoint = fresh.endpoint.clone().or(record.endpoint);
        record.secrets = fresh.secrets.clone().or(record.secrets);
    }
    record.deleting = false;
    Ok(record)
}

async fn remembered_again(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    prior: &Cluster,
    operation: &Operation<Clients>,
) -> Result<Option<Stored<ClusterRecord>>, Diagnostics> {
    let parsed = prior.parse()?;
    let contract = Contract::of_version(&parsed.talos_version.to_string()).ok();
    let body = ClusterRecord {
        contract: contract.map(|contract| contract.to_string()),
        // A state is written only of a cluster that stood: no second etcd is ever made of it.
        etcd: EtcdRecord { bootstrap_sent: None, seen: true },
        bootstrapped: true,
        members: prior.remembered_members(),
        addons: parsed.remembered_addons(),
        conditions: condition::parsed(&prior.conditions),
        ..fresh_record(&parsed)
    };
    let members: Vec<Uid> = body.members.keys().cloned().collect();
    let stored = rebuild(inventory, what, parsed.name.as_str(), uid, body, operation).await?;
    if stored.is_some() {
        for member in members {
            records::configured_by(inventory, &member, uid)
                .await
                .map_err(|error| inventory_failed(what, &error))?;
        }
    }
    Ok(stored)
}
