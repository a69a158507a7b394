//! *Leave*: the one way in which a machine is let go while its cluster lives. Whoever comes first runs it: a pool that
//! shrinks, an instance that is deleted, a cluster that loses an entry.
//!
//! Idempotent, under the cluster's lease, with the credentials of the cluster's record: majority checked, drained, out of
//! etcd, its node object deleted, seen in maintenance mode or fenced, and only then the claim is dropped.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Clients;
use super::access::Access;
use super::records::lease_name;
use super::report::{chain, inventory_failed, stopped};
use crate::clients::inventory::{Inventory, InventoryError, Lease, Stored};
use crate::clients::kubernetes;
use crate::clients::talos::{Admin, Credentials, Maintenance, Stage};
use crate::domain::machine_configuration::SecretsBundle;
use crate::domain::names::{Endpoint, Uid};
use crate::domain::record::{ClusterRecord, InstanceRecord, Work};
use crate::plugin::{Diagnostics, Operation};

/// How long one dial of a machine takes at most.
const DIAL: Duration = Duration::from_secs(5);

/// How often a machine that resets itself is dialled; it is away for minutes at worst.
const LOOK: Duration = Duration::from_secs(1);

/// How long pods get to leave a node: longer than most grace periods, and bounded, since a disruption budget may hold
/// one for ever.
const DRAIN: Duration = Duration::from_secs(90);

/// A reset that was accepted has stopped the machine's services by then; one that still answers has failed.
const TELL_AGAIN: Duration = Duration::from_secs(10);

/// Lets a machine go: out of its cluster first, if it is in one, then its claim is dropped. That it is free already
/// is success.
pub(super) async fn machine(
    clients: &Clients,
    what: &str,
    uid: &Uid,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let inventory = &clients.inventory;
    let failed = |error: InventoryError| inventory_failed(what, &error);
    let found = inventory.find_by_uid::<InstanceRecord>(uid).await.map_err(failed)?;
    let Some(first) = found else { return Ok(()) };
    if let Work::Configured { cluster, .. } = first.body.work {
        // Its cluster may be in work in this very apply, where nothing tells the order (imported resources).
        let lease = Lease::wait(inventory, &lease_name(&cluster), limit).await.map_err(failed)?;
        let found = inventory.find_by_uid::<InstanceRecord>(uid).await.map_err(failed)?;
        let found = found.filter(|found| matches!(found.body.work, Work::Configured { .. }));
        let Some(found) = found else {
            lease.release().await.map_err(failed)?;
            return drop_claim(inventory, uid).await.map_err(failed);
        };
        let left = out_of_cluster(clients, what, &found, &cluster, limit, operation).await;
        if let Err(error) = lease.release().await {
            tracing::warn!(error = %error, "Failed to give back a lease; it ends by itself");
        }
        left?;
    }
    drop_claim(inventory, uid).await.map_err(failed)
}

async fn drop_claim(inventory: &Inventory, uid: &Uid) -> Result<(), InventoryError> {
    inventory.change::<InstanceRecord>(uid, |record| record.claim = None).await.map(drop)
}

/// Takes a machine out of its cluster. The caller holds the cluster's lease.
pub(super) async fn out_of_cluster(
    clients: &Clients,
    what: &str,
    machine: &Stored<InstanceRecord>,
    cluster: &Uid,
    limit: Duration,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let inventory = &clients.inventory;
    let deadline = Instant::now() + limit;
    let record = inventory
        .find_by_uid::<ClusterRecord>(cluster)
        .await
        .map_err(|error| inventory_failed(what, &error))?;
    let Some(record) = record else {
        return fence(
            inventory,
            what,
            &machine.uid,
            "a cluster that the inventory no longer knows",
            operation,
        )
        .await;
    };
    let access = access_of(what, &record)?;
    let is_control_plane = record.body.members.get(&machine.uid).is_some_and(|member| member.control_plane);
    let others = other_control_planes(inventory, what, &record, &machine.uid, &access).await?;
    let hostname =
        machine.body.hostname.as_ref().map_or(machine.name.as_str(), |hostname| hostname.as_str()).to_owned();
    let own = Admin::dial_at_once(&machine.body.candidates(), &access.talos, DIAL).await.ok();
    if is_control_plane {
        check_majority(what, machine, &record, &others).await?;
    }
    let client = api_client(&access, &others).await;
    if let (Some(client), Some(_)) = (&client, &own) {
        drain(what, client, &hostname, operation).await;
    }
    if let Some(admin) = &own {
        if is_control_plane {
            // Handing over leadership first costs no write; that it isn't the leader is fine.
            drop(admin.etcd_forfeit_leadership().await);
        }
        admin.reset(is_control_plane).await.map_err(|error| {
            Diagnostics::error(
                format!(
                    "{what}: machine {:?} refused to be reset: failed to {}",
                    machine.name,
                    chain(&error)
                ),
                "It still belongs to its cluster. Apply again.",
            )
        })?;
    }
    if is_control_plane {
        out_of_etcd(what, &hostname, own.is_none(), &others, deadline, operation.stop()).await?;
    }
    if let Some(client) = &client {
        client.delete_node(&hostname, None).await.map_err(|error| {
            Diagnostics::error(
                format!("{what}: failed to {}", chain(&error)),
                format!("The node object of {hostname} is still there. Apply again."),
            )
        })?;
    }
    inventory
        .change::<ClusterRecord>(cluster, |record| drop(record.members.remove(&machine.uid)))
        .await
        .map_err(|error| inventory_failed(what, &error))?;
    match seen_clean(&machine.body, &access.talos, deadline, operation.stop()).await {
        Seen::Clean => free(inventory, what, &machine.uid).await,
        Seen::Stopped => Err(stopped(what).into()),
        Seen::Not => {
            fence(inventory, what, &machine.uid, "the cluster's configuration and data", operation).await
        }
    }
}

/// The credentials of a recorded cluster.
pub(super) fn access_of(what: &str, record: &Stored<ClusterRecord>) -> Result<Access, Diagnostics> {
    let unusable = |why: String| {
        Diagnostics::error(
            format!("{what}: the record of cluster {:?} can't be used: {why}", record.name),
            "Apply again.",
        )
    };
    let secrets = record.body.secrets.as_deref().ok_or_else(|| unusable("it has no secrets".to_owned()))?;
    let bundle = SecretsBundle::from_yaml(secrets).map_err(|error| unusable(chain(&error)))?;
    let endpoint =
        record.body.endpoint.as_deref().ok_or_else(|| unusable("it has no endpoint".to_owned()))?;
    let endpoint = Endpoint::parse(endpoint).map_err(|error| unusable(error.to_string()))?;
    Access::new(what, &record.name, &endpoint, bundle)
}

async fn other_control_planes(
    inventory: &Inventory,
    what: &str,
    record: &Stored<ClusterRecord>,
    leaving: &Uid,
    access: &Access,
) -> Result<Vec<Admin>, Diagnostics> {
    let mut others = Vec::new();
    for (uid, member) in &record.body.members {
        if uid == leaving || !member.control_plane {
            continue;
        }
        let found = inventory
            .find_by_uid::<InstanceRecord>(uid)
            .await
            .map_err(|error| inventory_failed(what, &error))?;
        let Some(found) = found else { continue };
        if let Ok(admin) = Admin::dial_at_once(&found.body.candidates(), &access.talos, DIAL).await {
            others.push(admin);
        }
    }
    Ok(others)
}

/// Refuses before anything is done where the others would not keep etcd alive.
async fn check_majority(
    what: &str,
    machine: &Stored<InstanceRecord>,
    record: &Stored<ClusterRecord>,
    others: &[Admin],
) -> Result<(), Diagnostics> {
    let recorded = record.body.members.values().filter(|member| member.control_plane).count();
    let needed = (recorded.saturating_sub(1)).div_euclid(2) + 1;
    let mut healthy = 0;
    for other in others {
        if other.etcd_status().await.is_ok_and(|status| status.leader.is_some() && !status.is_learner) {
            healthy += 1;
        }
    }
    if recorded <= 1 {
        return Err(Diagnostics::error(
            format!(
                "{what}: machine {:?} is the last control plane of cluster {:?}",
                machine.name, record.name
            ),
            "Without it there is no cluster. Destroy the cluster to give the machine back. Nothing was changed.",
        ));
    }
    if healthy < needed {
        return Err(Diagnostics::error(
            format!(
                "{what}: machine {:?} can't leave cluster {:?}: etcd would lose its majority",
                machine.name, record.name
            ),
            format!(
                "{healthy} other voting members of {} answer, and {needed} must. Repair them first (see `talosctl etcd \
                 members`). Nothing was changed.",
                recorded - 1
            ),
        ));
    }
    Ok(())
}

async fn api_client(access: &Access, others: &[Admin]) -> Option<kubernetes::Client> {
    for other in others {
        let server = format!("https://{}", other.address().with_port(6443));
        let options = kubernetes::Options { server: Some(server), ..kubernetes::Options::default() };
        let client = kubernetes::Client::from_kubeconfig(access.kubeconfig.expose(), &options).await.ok()?;
        if client.ready().await.is_ok() {
            return Some(client);
        }
    }
    None
}

async fn drain(what: &str, client: &kubernetes::Client, hostname: &str, operation: &Operation<Clients>) {
    if let Err(error) = client.cordon(hostname).await {
        tracing::warn!(error = chain(&error), hostname, "Failed to cordon a node that leaves");
    }
    let deadline = Instant::now() + DRAIN;
    let mut looks = tokio::time::interval(LOOK);
    let left = loop {
        looks.tick().await;
        let left = match client.drain(hostname).await {
            Ok(drained) if drained.is_complete() => return,
            Ok(drained) => {
                let held = drained.held.iter().map(|(pod, why)| format!("{pod} ({why})"));
                let pods: Vec<String> = drained.leaving.iter().cloned().chain(held).collect();
                format!("still there: {}", pods.join(", "))
            }
            Err(error) => format!("failed to {}", chain(&error)),
        };
        if Instant::now() >= deadline || operation.stop().is_cancelled() {
            break left;
        }
    };
    operation.warn(Diagnostics::warning(
        "a node was not drained completely",
        format!("{what}: node {hostname} leaves all the same: {left}."),
    ));
}

/// Waits until no other member lists the machine; a dead one is removed by a member that lives.
async fn out_of_etcd(
    what: &str,
    hostname: &str,
    dead: bool,
    others: &[Admin],
    deadline: Instant,
    stop: &CancellationToken,
) -> Result<(), Diagnostics> {
    let mut last = "no other control plane answers".to_owned();
    let mut looks = tokio::time::interval(LOOK);
    while Instant::now() < deadline {
        tokio::select! {
            () = stop.cancelled() => return Err(stopped(what).into()),
            _ = looks.tick() => {}
        }
        for other in others {
            match other.etcd_members().await {
                Err(error) => last = format!("failed to {}", chain(&error)),
                Ok(members) => match members.iter().find(|member| member.hostname == hostname) {
                    None => return Ok(()),
                    Some(member) if dead => match other.etcd_remove_member(member.id).await {
                        Ok(_) => last = "its removal is not seen yet".to_owned(),
                        Err(error) => last = format!("failed to {}", chain(&error)),
                    },
                    Some(_) => last = "it is still listed".to_owned(),
                },
            }
        }
    }
    Err(Diagnostics::error(
        format!("{what}: {hostname} did not leave etcd in time: {last}"),
        "It still belongs to its cluster. Apply again to go on.",
    ))
}

/// Whether a machine that was reset is back in maintenance mode.
pub(super) enum Seen {
    /// It is, and it is itself.
    Clean,
    /// It was not seen in time.
    Not,
    /// The user asked to stop.
    Stopped,
}

/// Dials until the machine is seen in maintenance mode with its identity. One whose reset failed boots again with all
/// that is on it (Talos gives up when it can't leave etcd gracefully): by then nobody needs its data, so it is told
/// again, and not gracefully.
pub(super) async fn seen_clean(
    record: &InstanceRecord,
    credentials: &Credentials,
    deadline: Instant,
    stop: &CancellationToken,
) -> Seen {
    let mut looks = tokio::time::interval(LOOK);
    let mut told = Instant::now();
    loop {
        tokio::select! {
            () = stop.cancelled() => return Seen::Stopped,
            () = tokio::time::sleep_until(deadline) => return Seen::Not,
            _ = looks.tick() => {}
        }
        if let Ok(machine) = Maintenance::dial_at_once(&record.candidates(), None, DIAL).await {
            if machine.discover().await.is_ok_and(|facts| facts.identity() == record.identity()) {
                return Seen::Clean;
            }
        } else if told.elapsed() >= TELL_AGAIN && is_up_again(record, credentials).await {
            told = Instant::now();
        }
    }
}

/// Tells a machine that is up with its configuration once more to reset itself. Whether it was told.
async fn is_up_again(record: &InstanceRecord, credentials: &Credentials) -> bool {
    let Ok(admin) = Admin::dial_at_once(&record.candidates(), credentials, DIAL).await else { return false };
    let up = admin.status().await.is_ok_and(|status| matches!(status.stage, Stage::Booting | Stage::Running));
    if up {
        tracing::warn!(address = %admin.address(), "A machine came back from its reset as it was; telling it again");
    }
    up && admin.reset(false).await.is_ok()
}

/// A machine that was seen clean is as untouched as before; its claim is somebody else's business.
pub(super) async fn free(inventory: &Inventory, what: &str, uid: &Uid) -> Result<(), Diagnostics> {
    inventory
        .change::<InstanceRecord>(uid, |record| record.work = Work::Untouched)
        .await
        .map(drop)
        .map_err(|error| inventory_failed(what, &error))
}

/// A machine that was not seen clean is never claimed before it is.
pub(super) async fn fence(
    inventory: &Inventory,
    what: &str,
    uid: &Uid,
    left: &str,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let fenced = inventory
        .change::<InstanceRecord>(uid, |record| record.work = Work::Fenced { left_behind: left.to_owned() })
        .await
        .map_err(|error| inventory_failed(what, &error))?;
    if let Some(machine) = fenced {
        operation.warn(Diagnostics::warning(
            "a machine was let go without being seen clean",
            format!(
                "{what}: machine {:?} was not seen in maintenance mode. Still on it: {left}. It stays fenced: nobody \
                 claims it before it is seen there. Reset it by hand if it does not come back.",
                machine.name
            ),
        ));
    }
    Ok(())
}
