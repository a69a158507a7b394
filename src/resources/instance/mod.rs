//! `kontinuum_instance`: a machine, from candidate addresses to one that was discovered in Talos' maintenance mode.
//!
//! Create remembers it and dials until it answers; update remembers what changed and dials anew where addresses
//! changed; read dials only while nobody claims the machine; delete lets it go. What a machine said of itself is
//! frozen while it is claimed: nothing that a pool or a cluster does shows here.

mod model;

use jiff::Timestamp;

pub use model::Instance;

use super::Clients;
use super::condition::{self, log_changes};
use super::discovery::{self, Found};
use super::records::{self, Look, Private, begin, bury, look, rebuild, uid_of};
use super::report::{inventory_failed, stopped};
use crate::clients::inventory::{Inventory, Stored};
use crate::domain::condition::dated;
use crate::domain::names::Uid;
use crate::domain::record::{InstanceRecord, Work};
use crate::plugin::{Change, Diagnostic, Diagnostics, Failure, Operation, Path, Resource};
use model::Parsed;

/// The resource.
#[derive(Debug)]
pub struct Instances;

fn what(name: &str) -> String {
    format!("kontinuum_instance {name:?}")
}

impl Resource for Instances {
    type Model = Instance;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_instance";
    const DESCRIPTION: &'static str = "A machine that is booted into Talos Linux. It is dialled at its candidate \
        addresses until it answers in maintenance mode, and told apart from one that is configured already. A machine \
        that stays silent is remembered with the condition `Discovered` False and a warning.";

    async fn validate(&self, config: Instance, _: &Operation<Clients>) -> Result<(), Diagnostics> {
        config.check().into_result(())
    }

    async fn plan(&self, change: Change<Instance>, _: &Operation<Clients>) -> Result<Instance, Diagnostics> {
        let mut planned = change.planned;
        if change.config.hostname.is_null() {
            planned.hostname = planned.name.clone();
        }
        let readdressed = change.prior.is_some_and(|prior| {
            prior.interfaces != planned.interfaces
                || prior.certificate_fingerprint != planned.certificate_fingerprint
        });
        if readdressed {
            planned.forget_facts();
        }
        planned.configuration_digest = planned.planned_digest();
        Ok(planned)
    }

    async fn create(
        &self,
        planned: Instance,
        operation: &Operation<Clients>,
    ) -> Result<Instance, Diagnostics> {
        let Parsed { name, record, fingerprint, limits } = planned.parse()?;
        let (what, inventory) = (what(name.as_str()), &operation.data()?.inventory);
        let stored = begin(inventory, &what, name.as_str(), record.clone(), |found| {
            Ok(InstanceRecord {
                facts: found.facts.clone(),
                conditions: found.conditions.clone(),
                claim: found.claim.clone(),
                work: found.work.clone(),
                ..record.clone()
            })
        })
        .await?;
        remember_inventory(inventory, &what, operation).await?;
        let stored = if stored.body.claim.is_some() {
            stored
        } else {
            let found =
                discovery::until_found(&stored.body.interfaces, fingerprint, limits.create, operation.stop())
                    .await;
            let Some(found) = found else { return Err(records::not_in_state(stopped(&what).into())) };
            let stored = record_look(inventory, &what, &stored.uid, &found).await?.unwrap_or(stored);
            warn_if_unseen(&what, &found, operation);
            stored
        };
        Ok(planned.shown(stored.uid.as_str(), &stored.body))
    }

    async fn read(
        &self,
        prior: Instance,
        operation: &Operation<Clients>,
    ) -> Result<Option<Instance>, Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, inventory) = (named(&prior), &operation.data()?.inventory);
        let stored = match look::<InstanceRecord>(inventory, &uid).await {
            Ok(Look::Present(stored)) => stored,
            Ok(Look::Buried) => return Ok(None),
            Ok(Look::Lost) => match remembered_again(inventory, &what, &uid, &prior, operation).await? {
                Some(stored) => stored,
                None => return Ok(Some(prior)),
            },
            Err(error) => {
                // Unknown is not gone: the prior object stays.
                operation.warn(Diagnostics::warning(
                    "the inventory could not be read",
                    format!("{what} is shown as it was: {}", super::report::chain(&error)),
                ));
                return Ok(Some(prior));
            }
        };
        remember_inventory(inventory, &what, operation).await?;
        if stored.body.claim.is_some() {
            return Ok(Some(prior.shown(uid.as_str(), &stored.body)));
        }
        let fingerprint = prior.parse().ok().and_then(|parsed| parsed.fingerprint);
        let found = discovery::glance(&stored.body.interfaces, fingerprint).await;
        let known = stored.body.facts.is_some();
        let stored = match &found {
            // A machine that was seen and is silent now may be rebooting: what it said stays.
            Found::Silent(_) if known => stored,
            Found::Machine(_) | Found::Refused(_) | Found::Silent(_) => {
                record_look(inventory, &what, &uid, &found).await?.unwrap_or(stored)
            }
        };
        warn_if_unseen(&what, &found, operation);
        Ok(Some(prior.shown(uid.as_str(), &stored.body)))
    }

    async fn update(
        &self,
        prior: Instance,
        planned: Instance,
        operation: &Operation<Clients>,
    ) -> Result<Instance, Failure<Instance>> {
        let Parsed { name, record, fingerprint, limits } = planned.parse()?;
        let (what, inventory) = (what(name.as_str()), &operation.data()?.inventory);
        let uid = uid_of(&prior.uid)?;
        let readdressed = planned.address.is_unknown();
        let stored = inventory
            .change::<InstanceRecord>(&uid, |found| {
                *found = InstanceRecord {
                    facts: found.facts.clone(),
                    conditions: found.conditions.clone(),
                    claim: found.claim.clone(),
                    work: found.work.clone(),
                    acknowledged: true,
                    ..record.clone()
                };
            })
            .await
            .map_err(|error| inventory_failed(&what, &error))?
            .ok_or_else(|| gone(&what))?;
        if !readdressed || stored.body.claim.is_some() {
            return Ok(planned.shown(uid.as_str(), &stored.body));
        }
        let found =
            discovery::until_found(&stored.body.interfaces, fingerprint, limits.update, operation.stop())
                .await;
        let Some(found) = found else { return Err(stopped(&what).into()) };
        let stored = record_look(inventory, &what, &uid, &found).await?.unwrap_or(stored);
        warn_if_unseen(&what, &found, operation);
        Ok(planned.shown(uid.as_str(), &stored.body))
    }

    async fn delete(&self, prior: Instance, operation: &Operation<Clients>) -> Result<(), Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, clients) = (named(&prior), operation.data()?);
        let limit =
            prior.parse().map_or(std::time::Duration::from_secs(15 * 60), |parsed| parsed.limits.delete);
        super::leave::machine(clients, &what, &uid, limit, operation).await?;
        bury::<InstanceRecord>(&clients.inventory, &what, &uid).await
    }

    async fn import(&self, id: &str, operation: &Operation<Clients>) -> Result<Instance, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let found = inventory
            .find::<InstanceRecord>(id)
            .await
            .map_err(|error| inventory_failed(&what(id), &error))?
            .ok_or_else(|| records::not_there(&what(id), inventory))?;
        Ok(Instance::imported(id, found.uid.as_str(), &found.body))
    }
}

fn named(instance: &Instance) -> String {
    what(instance.name.known().map(String::as_str).unwrap_or_default())
}

async fn remember_inventory(
    inventory: &Inventory,
    what: &str,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let id = inventory.id().await.map_err(|error| inventory_failed(what, &error))?;
    Private { inventory: id, ..Private::of(operation) }.keep(operation);
    Ok(())
}

async fn remembered_again(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    prior: &Instance,
    operation: &Operation<Clients>,
) -> Result<Option<Stored<InstanceRecord>>, Diagnostics> {
    let Parsed { name, record, .. } = prior.parse()?;
    let conditions = condition::parsed(&prior.conditions);
    let body = InstanceRecord { facts: prior.facts(), conditions, ..record };
    rebuild(inventory, what, name.as_str(), uid, body, operation).await
}

/// Writes what a look found, unless the machine was claimed meanwhile: then it stays as it was discovered.
pub(super) async fn record_look(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    found: &Found,
) -> Result<Option<Stored<InstanceRecord>>, Diagnostics> {
    let now = Timestamp::now();
    inventory
        .change::<InstanceRecord>(uid, |record| {
            if record.claim.is_some() && record.facts.is_some() {
                return;
            }
            let conditions = dated(vec![found.verdict()], &record.conditions, now);
            log_changes(what, &record.conditions, &conditions);
            record.conditions = conditions;
            if let Found::Machine(facts) = found {
                let same = record.facts.as_ref().and_then(|known| known.identity()) == facts.identity();
                record.facts = Some(facts.as_ref().clone());
                // Seen in maintenance mode with its identity: whatever was left on it is gone.
                if same && matches!(record.work, Work::Fenced { .. }) {
                    record.work = Work::Untouched;
                }
            }
        })
        .await
        .map_err(|error| inventory_failed(what, &error))
}

fn warn_if_unseen(what: &str, found: &Found, operation: &Operation<Clients>) {
    let (summary, advice) = match found {
        Found::Machine(_) => return,
        Found::Silent(_) => (
            "a machine does not answer",
            "Is it booted into Talos Linux, and is tcp/50000 reachable from here? Apply again once it is.",
        ),
        Found::Refused(verdict) if verdict.reason == "AlreadyConfigured" => (
            "a machine is already configured",
            "It asks for a client certificate, so it is not in maintenance mode. Foreign machines are never touched: \
             reset it (talosctl reset) if it is to be taken, then apply again.",
        ),
        Found::Refused(_) => (
            "a machine was refused",
            "What answers there is not the machine that was meant. Check `interfaces` and `certificate_fingerprint`.",
        ),
    };
    let detail = format!("{what}: {}. {advice}", found.verdict().message);
    operation.warn([Diagnostic::warning(summary, detail).at(Path::new("interfaces"))]);
}

fn gone(what: &str) -> Diagnostics {
    Diagnostics::error(
        format!("{what} is no longer in the inventory"),
        "Somebody deleted its record. Refresh (tofu apply -refresh-only) and apply again.",
    )
}
