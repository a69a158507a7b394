//! Carrying out claims: get, check, conditional write; a lost race skips that machine in this pass.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::discovery::{self, Found};
use super::super::instance::record_look;
use super::super::report::inventory_failed;
use crate::clients::inventory::{Inventory, InventoryError, Stored};
use crate::clients::talos::Fingerprint;
use crate::domain::claim::{Candidacy, Machine, judge};
use crate::domain::names::{Label, Uid};
use crate::domain::record::{Claim, InstanceRecord, PoolRecord};
use crate::plugin::Diagnostics;

/// How often silent candidates are dialled while a pool is short: as often as a machine that was just booted.
const PAUSE: Duration = Duration::from_secs(1);

/// All machines of the inventory.
pub(super) async fn machines(inventory: &Inventory) -> Result<Vec<Machine>, InventoryError> {
    let stored = inventory.list::<InstanceRecord>().await?;
    Ok(stored.into_iter().filter_map(machine).collect())
}

fn machine(stored: Stored<InstanceRecord>) -> Option<Machine> {
    // A name that is no label was written by somebody else's program; it can't be claimed.
    let name = Label::parse(&stored.name).ok()?;
    Some(Machine { name, uid: stored.uid, record: stored.body })
}

/// The machines that a pool holds, sorted by name.
pub(super) fn members(pool: &Uid, machines: &[Machine]) -> Vec<Machine> {
    let ours = |machine: &&Machine| machine.record.claim.as_ref().is_some_and(|claim| claim.pool == *pool);
    let mut members: Vec<Machine> = machines.iter().filter(ours).cloned().collect();
    members.sort_by(|a, b| a.name.cmp(&b.name));
    members
}

/// Claims free machines until the pool has what it wants, dialling silent candidates until `limit`. Answers the
/// members that it has then. `None` when it was asked to stop.
pub(super) async fn fill(
    inventory: &Inventory,
    what: &str,
    pool: &Uid,
    spec: &PoolRecord,
    limit: Duration,
    stop: &CancellationToken,
) -> Result<Option<Vec<Machine>>, Diagnostics> {
    let failed = |error: InventoryError| inventory_failed(what, &error);
    let deadline = Instant::now() + limit;
    let mut distrusted: Vec<Uid> = Vec::new();
    loop {
        let all = machines(inventory).await.map_err(failed)?;
        let judged = judge(pool, spec, &all);
        let have = members(pool, &all).len();
        let missing = (spec.replicas as usize).saturating_sub(have);
        if missing == 0 || stop.is_cancelled() {
            return Ok((!stop.is_cancelled() || missing == 0).then(|| members(pool, &all)));
        }
        let of = |wanted: &Candidacy| -> Vec<&Machine> {
            let mut found: Vec<&Machine> = judged
                .iter()
                .filter(|(_, candidacy)| candidacy == wanted)
                .filter_map(|(name, _)| all.iter().find(|machine| machine.name == *name))
                .filter(|machine| !distrusted.contains(&machine.uid))
                .collect();
            found.sort_by(|a, b| a.name.cmp(&b.name));
            found
        };
        let free = of(&Candidacy::Free);
        if !free.is_empty() {
            for machine in free.into_iter().take(missing) {
                if !still_itself(inventory, what, machine).await? {
                    distrusted.push(machine.uid.clone());
                    continue;
                }
                claim(inventory, pool, machine).await.map_err(failed)?;
            }
            continue;
        }
        let silent: Vec<Machine> = of(&Candidacy::Undiscovered).into_iter().cloned().collect();
        if silent.is_empty() || Instant::now() >= deadline {
            return Ok(Some(members(pool, &all)));
        }
        if !dial(inventory, what, &silent, deadline).await? {
            let next = (Instant::now() + PAUSE).min(deadline);
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep_until(next) => {}
            }
        }
    }
}

/// Looks at a machine's identity again before it is claimed. One that nobody has discovered yet is taken unseen.
async fn still_itself(inventory: &Inventory, what: &str, machine: &Machine) -> Result<bool, Diagnostics> {
    let Some(facts) = &machine.record.facts else { return Ok(true) };
    let found = discovery::glance(&machine.record.interfaces, fingerprint(machine)).await;
    match &found {
        Found::Machine(now) if now.identity() == facts.identity() => Ok(true),
        Found::Machine(_) | Found::Refused(_) => {
            tracing::warn!(machine = %machine.name, found = found.verdict().message, "Skipped a machine that is not what it was");
            record_look(inventory, what, &machine.uid, &found).await?;
            Ok(false)
        }
        Found::Silent(verdict) => {
            tracing::warn!(machine = %machine.name, detail = verdict.message, "Skipped a machine that does not answer now");
            Ok(false)
        }
    }
}

fn fingerprint(machine: &Machine) -> Option<Fingerprint> {
    machine.record.certificate_fingerprint.as_deref().and_then(|text| Fingerprint::parse(text).ok())
}

/// Claims one machine; a lost race is no error: the next pass sees who won.
async fn claim(inventory: &Inventory, pool: &Uid, machine: &Machine) -> Result<(), InventoryError> {
    let Some(mut stored) = inventory.find_by_uid::<InstanceRecord>(&machine.uid).await? else {
        return Ok(());
    };
    if stored.body.claim.is_some() || stored.body.work != machine.record.work {
        return Ok(());
    }
    stored.body.claim = Some(Claim { pool: pool.clone() });
    match inventory.update(stored).await {
        Ok(_) => {
            tracing::info!(machine = %machine.name, pool = %pool, "Claimed a machine");
            Ok(())
        }
        Err(error) if error.is_conflict() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Dials silent candidates, all at once, and writes down who answered. Whether anybody did.
async fn dial(
    inventory: &Inventory,
    what: &str,
    silent: &[Machine],
    deadline: Instant,
) -> Result<bool, Diagnostics> {
    let mut looks = JoinSet::new();
    for machine in silent.iter().cloned() {
        looks.spawn(async move {
            let found = discovery::glance(&machine.record.interfaces, fingerprint(&machine)).await;
            (machine.uid, found)
        });
    }
    let mut answered = false;
    while let Ok(Some(look)) = tokio::time::timeout_at(deadline, looks.join_next()).await {
        let Ok((uid, found)) = look else { continue };
        if matches!(found, Found::Machine(_)) {
            record_look(inventory, what, &uid, &found).await?;
            answered = true;
        }
    }
    Ok(answered)
}
