//! One create or update: what a cluster is given once, the machines' preflight, the loop, and what is said at the end.

use std::time::Duration;

use jiff::Timestamp;

use super::super::Clients;
use super::super::access::Access;
use super::super::records::{Private, lease_name};
use super::super::report::{chain, inventory_failed};
use super::model::Cluster;
use super::parse::{Parsed, default_endpoint};
use super::world::ClusterWorld;
use super::{ACCESS, members, preflight, stalled, teardown};
use crate::clients::inventory::{InventoryError, Lease, Stored};
use crate::clients::talos::pki::generate_secrets;
use crate::converge::{Ended, converge};
use crate::domain::cluster::gates::shortcomings;
use crate::domain::cluster::spec::Role;
use crate::domain::machine_configuration::{Contract, Secret, SecretsBundle};
use crate::domain::names::Endpoint;
use crate::domain::record::{ClusterRecord, PoolRecord};
use crate::plugin::{Diagnostic, Diagnostics, Operation, Path};

/// One create or update.
pub(super) struct Work<'a> {
    pub(super) clients: &'a Clients,
    pub(super) what: &'a str,
    pub(super) parsed: &'a Parsed,
    pub(super) limit: Duration,
    pub(super) operation: &'a Operation<Clients>,
}

/// What a create or update came to.
pub(super) struct Done {
    record: Stored<ClusterRecord>,
    machines: Vec<members::Machine>,
    access: (Secret, Secret),
}

impl Done {
    pub(super) fn shown(self, planned: Cluster) -> Cluster {
        let files = self.access;
        let shown = planned.shown(&self.record, &self.machines);
        if shown.kubeconfig.known().is_some() && shown.talosconfig.known().is_some() {
            shown
        } else {
            shown.with_access(files)
        }
    }
}

/// Why it did not get to its end, and the record as it stood then.
pub(super) type Unfinished = (Diagnostics, Option<ClusterRecord>);

impl Work<'_> {
    /// Drives the cluster under its lease.
    pub(super) async fn leased(&self, stored: Stored<ClusterRecord>) -> Result<Done, Unfinished> {
        let inventory = &self.clients.inventory;
        let lease = Lease::take(inventory, &lease_name(&stored.uid))
            .await
            .map_err(|error| (inventory_failed(self.what, &error), None))?;
        let done = tokio::select! {
            done = self.drive(stored) => done,
            () = lease.lost().cancelled() => Err((
                Diagnostics::error(
                    format!("{}: another apply took over", self.what),
                    "This one could not renew its lease in the inventory in time. Apply again.",
                ),
                None,
            )),
        };
        if let Err(error) = lease.release().await {
            tracing::warn!(error = %error, "Failed to give back a lease; it ends by itself");
        }
        done
    }

    async fn drive(&self, stored: Stored<ClusterRecord>) -> Result<Done, Unfinished> {
        let early = |errors: Diagnostics| (errors, None);
        let (stored, endpoint, bundle) = self.settled(stored).await.map_err(early)?;
        let name = self.parsed.name.as_str();
        let access = Access::new(self.what, name, &endpoint, bundle).map_err(early)?;
        let failed = |error: InventoryError| (inventory_failed(self.what, &error), None);
        let mut world =
            ClusterWorld::open(self.clients, self.what, self.parsed, stored, access, endpoint.clone())
                .await
                .map_err(failed)?;
        teardown::removed(&mut world, self.limit, self.operation).await.map_err(early)?;
        preflight::check(&world, self.operation).await.map_err(early)?;
        let ended = converge(&mut world, self.limit, self.operation.stop()).await;
        self.warn(&world);
        let short = matches!(ended, Ok(Ended::Short(_)));
        let gate = world.evaluation.as_ref().and_then(|evaluation| evaluation.gate);
        match ended {
            Ok(Ended::Done | Ended::Short(_)) => {}
            Err(stalled) => {
                let errors = stalled::diagnose(self.what, self.limit, gate, &world.conditions, stalled);
                return Err((errors, Some(world.record.body)));
            }
        }
        let unlabelled = world.label_nodes().await;
        let inventory = self.clients.inventory.id().await.map_err(failed)?;
        self.note_unfinished(&world, short, unlabelled, inventory);
        let control_planes: Vec<String> =
            world.control_plane_connections().map(|admin| admin.address().to_string()).collect();
        let access = world.access.files(self.what, name, &endpoint, &control_planes).map_err(early)?;
        Ok(Done { record: world.record.clone(), machines: world.machines.clone(), access })
    }

    /// Freezes what a cluster is given once: endpoint, contract, secrets. All of it is in the record before any machine
    /// is touched.
    async fn settled(
        &self,
        stored: Stored<ClusterRecord>,
    ) -> Result<(Stored<ClusterRecord>, Endpoint, SecretsBundle), Diagnostics> {
        let inventory = &self.clients.inventory;
        let failed = |error: InventoryError| inventory_failed(self.what, &error);
        let (machines, _) = members::gather(inventory, self.parsed).await.map_err(failed)?;
        let first = machines
            .iter()
            .find_map(|machine| machine.address().filter(|_| machine.member.role == Role::ControlPlane));
        let endpoint = match (&stored.body.endpoint, first) {
            (Some(frozen), _) => Endpoint::parse(frozen).map_err(|error| {
                Diagnostics::error(format!("{}: its record can't be used", self.what), format!("{error}."))
            })?,
            (None, Some(first)) => default_endpoint(self.parsed.vip, first),
            (None, None) => return Err(self.no_members().await),
        };
        let oldest = machines
            .iter()
            .filter_map(|machine| machine.record.facts.as_ref())
            .map(|facts| facts.talos_version.as_str())
            .chain([self.parsed.talos_version.to_string().as_str()])
            .map(Contract::of_version)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                Diagnostics::error(
                    format!("{}: a machine is too old: {error}", self.what),
                    "Nothing was touched.",
                )
            })?
            .into_iter()
            .min()
            .unwrap_or(Contract::V1_13);
        let secrets = match &stored.body.secrets {
            Some(secrets) => SecretsBundle::from_yaml(secrets),
            None => {
                let made = generate_secrets(Timestamp::now()).await.map_err(|error| {
                    Diagnostics::error(
                        format!("{}: failed to make its secrets: {}", self.what, chain(&error)),
                        "Nothing was touched. Apply again.",
                    )
                })?;
                Ok(made)
            }
        }
        .map_err(|error| {
            Diagnostics::error(
                format!("{}: failed to {}", self.what, chain(&error)),
                "The record's secrets can't be used. Nothing was touched.",
            )
        })?;
        let text = secrets.to_yaml();
        let stored = inventory
            .change::<ClusterRecord>(&stored.uid, |record| {
                record.endpoint.get_or_insert_with(|| endpoint.to_string());
                record.contract.get_or_insert_with(|| oldest.to_string());
                record.secrets.get_or_insert_with(|| text.expose().to_owned());
            })
            .await
            .map_err(failed)?
            .unwrap_or(stored);
        Ok((stored, endpoint, secrets))
    }

    async fn no_members(&self) -> Diagnostics {
        let pool = &self.parsed.control_plane;
        let want = self
            .clients
            .inventory
            .find_by_uid::<PoolRecord>(&pool.uid)
            .await
            .ok()
            .flatten()
            .map_or(0, |pool| pool.body.replicas);
        tracing::info!(
            object = self.what,
            condition = "ControlPlaneReady",
            status = "False",
            reason = "WaitingForInstances",
            detail = "no discovered control-plane machine is claimed",
            "Condition changed"
        );
        Diagnostic::error(
            format!("{} has no control-plane machine (WaitingForInstances): have 0, want {want}", self.what),
            format!(
                "No machine of pool {:?} is claimed and discovered, and nothing in this apply can change that. Boot \
                 machines into Talos maintenance mode; the data source kontinuum_instance_pool_candidates says why each \
                 one could not be claimed. Then apply again.\n\nControlPlaneReady False (WaitingForInstances)",
                pool.name
            ),
        )
        .at(Path::new("control_plane").attribute("pool"))
        .into()
    }

    fn warn(&self, world: &ClusterWorld<'_>) {
        let have = world.spec().control_planes().count();
        let want = world.wanted_control_planes as usize;
        if have < want && have > 0 {
            self.operation.warn([Diagnostic::warning(
                "a cluster has fewer control planes than wanted",
                format!(
                    "{} goes on with {have} of {want} control-plane machines. The next apply takes in more when the pool \
                     has them.",
                    self.what
                ),
            )
            .at(Path::new("control_plane").attribute("pool"))]);
        }
        if !world.remarks.is_empty() {
            let detail = world.remarks.iter().cloned().collect::<Vec<_>>().join("; ");
            self.operation.warn([Diagnostic::warning(
                "machines run a newer Talos than the configuration says",
                format!(
                    "{}: {detail}. Nothing is taken down a version; set talos_version to what runs.",
                    self.what
                ),
            )
            .at(Path::new("talos_version"))]);
        }
    }

    /// A shortcoming is a warning now and an update in the next plan.
    fn note_unfinished(
        &self,
        world: &ClusterWorld<'_>,
        short: bool,
        unlabelled: Vec<String>,
        inventory: Option<String>,
    ) {
        let mut missing: Vec<String> = if short {
            shortcomings(&world.spec(), &world.seen_whole)
                .iter()
                .map(|missing| format!("waiting for {missing}"))
                .collect()
        } else {
            Vec::new()
        };
        missing.extend(unlabelled);
        let unfinished = (!missing.is_empty()).then(|| missing.join("; "));
        if let Some(missing) = &unfinished {
            self.operation.warn([Diagnostic::warning(
                "a cluster is Ready, but not everything has joined",
                format!("{}: {missing}. The next apply goes on.", self.what),
            )]);
        }
        let private = Private::of(self.operation);
        let access_until = private.access_until.or_else(|| Timestamp::now().checked_add(ACCESS).ok());
        // All that Read keeps too, so that it has nothing to add to a state that was just written.
        Private { inventory, unfinished, drift: None, access_until, ..private }.keep(self.operation);
    }
}
