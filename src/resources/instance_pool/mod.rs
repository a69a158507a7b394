//! `kontinuum_instance_pool`: a claim on machines by label selector, race-free and sticky.
//!
//! Create remembers the pool and claims; update releases what is too much and claims what is missing; read looks who
//! belongs to it; delete releases everything. A machine that a cluster uses leaves that cluster before it is released.

mod claims;
mod model;
mod plan;

use std::time::Duration;

use jiff::Timestamp;

pub use model::{Member, Pool};

use super::Clients;
use super::condition::{self, log_changes};
use super::records::{self, Look, Private, begin, bury, look, rebuild, uid_of};
use super::report::{chain, inventory_failed, stopped};
use crate::clients::inventory::{Inventory, Stored};
use crate::domain::claim::{Candidacy, Machine, judge, surplus};
use crate::domain::condition::{Status, Verdict, dated};
use crate::domain::names::{Label, Uid};
use crate::domain::record::{Claim, InstanceRecord, PoolRecord};
use crate::plugin::{Attr, Change, Diagnostic, Diagnostics, Failure, Operation, Path, Resource};
use model::Parsed;

/// The condition of a pool; bad when True.
pub const INSUFFICIENT_CAPACITY: &str = "InsufficientCapacity";

/// The resource.
#[derive(Debug)]
pub struct InstancePools;

fn what(name: &str) -> String {
    format!("kontinuum_instance_pool {name:?}")
}

fn named(pool: &Pool) -> String {
    what(pool.name.known().map(String::as_str).unwrap_or_default())
}

impl Resource for InstancePools {
    type Model = Pool;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_instance_pool";
    const DESCRIPTION: &'static str = "A claim on machines of the inventory. Candidates are taken in the order of \
        their names, each by a conditional write, so that no machine is ever claimed twice. Claims are sticky: they \
        outlive a change of labels, and only a smaller `replicas` releases machines, the highest names first.";

    async fn validate(&self, config: Pool, _: &Operation<Clients>) -> Result<(), Diagnostics> {
        config.parse().map(drop)
    }

    async fn plan(&self, change: Change<Pool>, operation: &Operation<Clients>) -> Result<Pool, Diagnostics> {
        let mut planned = change.planned;
        let Some(prior) = change.prior else { return Ok(planned) };
        let private = Private::of(operation);
        plan::apply(plan::members(&prior, &planned, !private.free.is_empty()), &mut planned);
        Ok(planned)
    }

    async fn create(&self, planned: Pool, operation: &Operation<Clients>) -> Result<Pool, Diagnostics> {
        let parsed = planned.parse()?;
        let (what, inventory) = (what(parsed.name.as_str()), &operation.data()?.inventory);
        let stored = begin(inventory, &what, parsed.name.as_str(), parsed.record.clone(), |found| {
            Ok(PoolRecord { conditions: found.conditions.clone(), ..parsed.record.clone() })
        })
        .await?;
        let limit = parsed.limits.create;
        let (stored, members) =
            settle(&what, stored, &parsed, limit, operation).await.map_err(records::not_in_state)?;
        Ok(planned.shown(stored.uid.as_str(), &stored.body, &members))
    }

    async fn read(&self, prior: Pool, operation: &Operation<Clients>) -> Result<Option<Pool>, Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, inventory) = (named(&prior), &operation.data()?.inventory);
        let stored = match look::<PoolRecord>(inventory, &uid).await {
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
        let all = claims::machines(inventory).await.map_err(|error| inventory_failed(&what, &error))?;
        let members = claims::members(&uid, &all);
        let id = inventory.id().await.map_err(|error| inventory_failed(&what, &error))?;
        let free = if members.len() < stored.body.replicas as usize {
            free_names(&uid, &stored.body, &all)
        } else {
            Vec::new()
        };
        if members.len() < stored.body.replicas as usize && free.is_empty() {
            operation.warn([too_few(&what, &uid, &stored.body, &all)]);
        }
        Private { inventory: id, free, ..Private::of(operation) }.keep(operation);
        Ok(Some(prior.shown(uid.as_str(), &stored.body, &members)))
    }

    async fn update(
        &self,
        prior: Pool,
        planned: Pool,
        operation: &Operation<Clients>,
    ) -> Result<Pool, Failure<Pool>> {
        let parsed = planned.parse()?;
        let (what, inventory) = (what(parsed.name.as_str()), &operation.data()?.inventory);
        let uid = uid_of(&prior.uid)?;
        let stored = rewritten(inventory, &what, &uid, &parsed).await?;
        let (stored, members) = settle(&what, stored, &parsed, parsed.limits.update, operation).await?;
        Ok(planned.shown(uid.as_str(), &stored.body, &members))
    }

    async fn delete(&self, prior: Pool, operation: &Operation<Clients>) -> Result<(), Diagnostics> {
        let uid = uid_of(&prior.uid)?;
        let (what, clients) = (named(&prior), operation.data()?);
        let limit = prior.parse().map_or(Duration::from_secs(20 * 60), |parsed| parsed.limits.delete);
        let all =
            claims::machines(&clients.inventory).await.map_err(|error| inventory_failed(&what, &error))?;
        let names: Vec<Label> = claims::members(&uid, &all).into_iter().map(|machine| machine.name).collect();
        release(clients, &what, &all, &names, limit, operation).await?;
        bury::<PoolRecord>(&clients.inventory, &what, &uid).await
    }

    async fn import(&self, id: &str, operation: &Operation<Clients>) -> Result<Pool, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let failed = |error| inventory_failed(&what(id), &error);
        let found = inventory
            .find::<PoolRecord>(id)
            .await
            .map_err(failed)?
            .ok_or_else(|| records::not_there(&what(id), inventory))?;
        let all = claims::machines(inventory).await.map_err(failed)?;
        let members = claims::members(&found.uid, &all);
        Ok(Pool::imported(id, found.uid.as_str(), &found.body, &members))
    }
}

/// Writes the pool's record as it is wanted now; the name may have changed.
async fn rewritten(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    parsed: &Parsed,
) -> Result<Stored<PoolRecord>, Diagnostics> {
    loop {
        let found =
            inventory.find_by_uid::<PoolRecord>(uid).await.map_err(|error| inventory_failed(what, &error))?;
        let Some(found) = found else {
            return Err(Diagnostics::error(
                format!("{what} is no longer in the inventory"),
                "Somebody deleted its record. Refresh (tofu apply -refresh-only) and apply again.",
            ));
        };
        let renamed = found.name != parsed.name.as_str();
        let body = PoolRecord {
            conditions: found.body.conditions.clone(),
            acknowledged: true,
            ..parsed.record.clone()
        };
        match inventory.update(Stored { name: parsed.name.to_string(), body, ..found }).await {
            Ok(stored) => return Ok(stored),
            Err(error) if error.is_conflict() => {
                let taken = inventory
                    .find::<PoolRecord>(parsed.name.as_str())
                    .await
                    .map_err(|error| inventory_failed(what, &error))?;
                if renamed && taken.is_some() {
                    return Err(Diagnostic::error(
                        format!("{what}: the name is taken"),
                        "Another pool of the inventory has this name: choose another one.",
                    )
                    .at(Path::new("name"))
                    .into());
                }
            }
            Err(error) => return Err(inventory_failed(what, &error)),
        }
    }
}

/// Brings the pool to its size: releases what is too much, claims what is missing, and says what it came to.
async fn settle(
    what: &str,
    stored: Stored<PoolRecord>,
    parsed: &Parsed,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(Stored<PoolRecord>, Vec<Machine>), Diagnostics> {
    let clients = operation.data()?;
    let inventory = &clients.inventory;
    let failed = |error| inventory_failed(what, &error);
    let all = claims::machines(inventory).await.map_err(failed)?;
    let names: Vec<Label> =
        claims::members(&stored.uid, &all).into_iter().map(|machine| machine.name).collect();
    let going = surplus(&names, stored.body.replicas);
    release(clients, what, &all, &going, limit, operation).await?;
    let filled = claims::fill(inventory, what, &stored.uid, &stored.body, limit, operation.stop()).await?;
    let Some(members) = filled else { return Err(stopped(what).into()) };
    let short = members.len() < stored.body.replicas as usize;
    if short {
        let all = claims::machines(inventory).await.map_err(failed)?;
        let mut warning = too_few(what, &stored.uid, &stored.body, &all);
        if parsed.require_capacity {
            warning.severity = crate::plugin::Severity::Error;
            warning.summary = format!("{what}: {}", warning.summary);
            return Err(warning.into());
        }
        operation.warn([warning]);
    }
    let now = Timestamp::now();
    let changed = inventory
        .change::<PoolRecord>(&stored.uid, |record| {
            let conditions = dated(vec![capacity(short)], &record.conditions, now);
            log_changes(what, &record.conditions, &conditions);
            record.conditions = conditions;
        })
        .await
        .map_err(failed)?;
    let id = inventory.id().await.map_err(failed)?;
    Private { inventory: id, free: Vec::new(), ..Private::of(operation) }.keep(operation);
    Ok((changed.unwrap_or(stored), members))
}

/// Lets machines go, the highest name first.
async fn release(
    clients: &Clients,
    what: &str,
    all: &[Machine],
    names: &[Label],
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    for name in names.iter().rev() {
        let Some(machine) = all.iter().find(|machine| machine.name == *name) else { continue };
        super::leave::machine(clients, what, &machine.uid, limit, operation).await?;
    }
    Ok(())
}

fn capacity(short: bool) -> Verdict {
    if short {
        let message = "no more matching machine is free";
        Verdict::new(INSUFFICIENT_CAPACITY, Status::True, "CandidatesExhausted", message)
    } else {
        Verdict::new(INSUFFICIENT_CAPACITY, Status::False, "Claimed", "all replicas are claimed")
    }
}

fn free_names(pool: &Uid, spec: &PoolRecord, all: &[Machine]) -> Vec<String> {
    judge(pool, spec, all)
        .into_iter()
        .filter(|(_, candidacy)| *candidacy == Candidacy::Free)
        .map(|(name, _)| name.to_string())
        .collect()
}

fn too_few(what: &str, pool: &Uid, spec: &PoolRecord, all: &[Machine]) -> Diagnostic {
    let have = claims::members(pool, all).len();
    let others: Vec<String> = judge(pool, spec, all)
        .into_iter()
        .filter(|(_, candidacy)| {
            !matches!(candidacy, Candidacy::Member | Candidacy::NotListed | Candidacy::NotSelected)
        })
        .map(|(name, candidacy)| format!("{name} {candidacy}"))
        .collect();
    let why = if others.is_empty() {
        "no other machine of the inventory matches".to_owned()
    } else {
        others.join("; ")
    };
    Diagnostic::warning(
        "a pool has too few machines",
        format!(
            "{what} has {have} of {} machines: {why}. Add machines, or see the data source \
             kontinuum_instance_pool_candidates; the next apply takes them in.",
            spec.replicas
        ),
    )
    .at(Path::new("replicas"))
}

/// An inventory that lost the pool gets it back from the state, and its claims with it where they are free.
async fn remembered_again(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    prior: &Pool,
    operation: &Operation<Clients>,
) -> Result<Option<Stored<PoolRecord>>, Diagnostics> {
    let Parsed { name, record, .. } = prior.parse()?;
    let body = PoolRecord { conditions: condition::parsed(&prior.conditions), ..record };
    let Some(stored) = rebuild(inventory, what, name.as_str(), uid, body, operation).await? else {
        return Ok(None);
    };
    for member in prior.members.known_items().unwrap_or_default() {
        let Attr::Known(machine) = &member.uid else { continue };
        inventory
            .change::<InstanceRecord>(&Uid::new(machine), |record| {
                record.claim.get_or_insert_with(|| Claim { pool: uid.clone() });
            })
            .await
            .map_err(|error| inventory_failed(what, &error))?;
    }
    Ok(Some(stored))
}
