//! Taking a cluster down, and letting go of machines that no longer belong to it.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use super::super::Clients;
use super::super::leave::{Seen, access_of, fence, free, out_of_cluster, seen_clean};
use super::super::records::lease_name;
use super::super::report::{chain, inventory_failed, stopped};
use super::world::ClusterWorld;
use crate::clients::inventory::{Inventory, InventoryError, Lease, Stored};
use crate::clients::talos::{Admin, Credentials};
use crate::domain::names::Uid;
use crate::domain::record::{ClusterRecord, InstanceRecord, Work};
use crate::plugin::{Diagnostics, Operation};

/// How long one dial of a machine takes at most.
const DIAL: Duration = Duration::from_secs(5);

/// Gate 0: machines that the configuration no longer has leave first.
pub(super) async fn removed(
    world: &mut ClusterWorld<'_>,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let gone: Vec<Uid> = world
        .record
        .body
        .members
        .keys()
        .filter(|uid| !world.machines.iter().any(|machine| machine.member.uid == **uid))
        .cloned()
        .collect();
    let failed = |error: InventoryError| inventory_failed(world.what, &error);
    for uid in gone {
        let found = world.inventory().find_by_uid::<InstanceRecord>(&uid).await.map_err(failed)?;
        let cluster = world.record.uid.clone();
        match found {
            Some(machine) if matches!(&machine.body.work, Work::Configured { cluster: owner, .. } if *owner == cluster) =>
            {
                out_of_cluster(world.clients, world.what, &machine, &cluster, limit, operation).await?;
            }
            Some(_) | None => {}
        }
        let forgotten = world
            .inventory()
            .change::<ClusterRecord>(&cluster, |record| drop(record.members.remove(&uid)))
            .await
            .map_err(failed)?;
        if let Some(record) = forgotten {
            world.record = record;
        }
    }
    Ok(())
}

/// Takes a whole cluster down: workers first, then control planes, none of them gracefully, since nothing is to be
/// kept. What could not be wiped is listed and stays fenced. That it is gone already is success.
pub(super) async fn cluster(
    clients: &Clients,
    what: &str,
    uid: &Uid,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let inventory = &clients.inventory;
    let failed = |error: InventoryError| inventory_failed(what, &error);
    if inventory.find_by_uid::<ClusterRecord>(uid).await.map_err(failed)?.is_none() {
        return Ok(());
    }
    let lease = Lease::wait(inventory, &lease_name(uid), limit).await.map_err(failed)?;
    let done = take_down(inventory, what, uid, limit, operation).await;
    if let Err(error) = lease.release().await {
        tracing::warn!(error = %error, "Failed to give back a lease; it ends by itself");
    }
    done
}

async fn take_down(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let failed = |error: InventoryError| inventory_failed(what, &error);
    let deadline = Instant::now() + limit;
    let record =
        inventory.change::<ClusterRecord>(uid, |record| record.deleting = true).await.map_err(failed)?;
    let Some(record) = record else { return Ok(()) };
    let machines: Vec<_> = inventory
        .list::<InstanceRecord>()
        .await
        .map_err(failed)?
        .into_iter()
        .filter(|machine| matches!(&machine.body.work, Work::Configured { cluster, .. } if cluster == uid))
        .collect();
    if machines.is_empty() {
        return Ok(());
    }
    let access = access_of(what, &record)?;
    let is_control_plane = |machine: &Stored<InstanceRecord>| {
        record.body.members.get(&machine.uid).is_some_and(|member| member.control_plane)
    };
    let (control_planes, workers): (Vec<_>, Vec<_>) = machines.into_iter().partition(is_control_plane);
    for group in [workers, control_planes] {
        reset_all(inventory, what, group, &access.talos, deadline, operation).await?;
    }
    Ok(())
}

async fn reset_all(
    inventory: &Inventory,
    what: &str,
    machines: Vec<Stored<InstanceRecord>>,
    credentials: &Credentials,
    deadline: Instant,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let mut resets = JoinSet::new();
    for machine in machines {
        let (credentials, stop) = (credentials.clone(), operation.stop().clone());
        resets.spawn(async move {
            let reset = reset(&machine, &credentials).await;
            let seen = match reset {
                Ok(()) => seen_clean(&machine.body, &credentials, deadline, &stop).await,
                // Nobody could tell it to reset itself: it is looked for once, since it may be clean already.
                Err(_) => seen_clean(&machine.body, &credentials, Instant::now() + DIAL, &stop).await,
            };
            (machine, seen, reset.err())
        });
    }
    let mut stop = false;
    while let Some(done) = resets.join_next().await {
        let Ok((machine, seen, error)) = done else { continue };
        match seen {
            Seen::Clean => free(inventory, what, &machine.uid).await?,
            Seen::Stopped => stop = true,
            Seen::Not => {
                let left = match error {
                    Some(error) => format!("the cluster's configuration and data ({error})"),
                    None => "perhaps the cluster's configuration and data".to_owned(),
                };
                fence(inventory, what, &machine.uid, &left, operation).await?;
            }
        }
    }
    if stop { Err(stopped(what).into()) } else { Ok(()) }
}

async fn reset(machine: &Stored<InstanceRecord>, credentials: &Credentials) -> Result<(), String> {
    let admin = Admin::dial_at_once(&machine.body.candidates(), credentials, DIAL)
        .await
        .map_err(|failures| failures.to_string())?;
    admin.reset(false).await.map_err(|error| chain(&error))
}
