//! Which machines a cluster has: those that its pools claim and that were discovered.

use super::parse::{Parsed, PoolSpec};
use crate::clients::inventory::{Inventory, InventoryError, Stored};
use crate::domain::claim::is_discovered;
use crate::domain::cluster::spec::{Member, Role};
use crate::domain::names::{Address, Label};
use crate::domain::record::{InstanceRecord, PoolRecord, Work};

/// A machine of a cluster with all that is remembered of it.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) member: Member,
    pub(super) record: InstanceRecord,
    /// What its pool says of its machines.
    pub(super) pool: PoolSpec,
    /// Whether it was given the configuration that it should have.
    pub(super) is_current: bool,
}

impl Machine {
    /// The address at which it is expected.
    pub(super) fn address(&self) -> Option<&Address> {
        self.record.facts.as_ref().map(|facts| &facts.address)
    }
}

/// The machines of a cluster's pools, control planes first, each group sorted by name; and how many control planes
/// the pool wants.
pub(super) async fn gather(
    inventory: &Inventory,
    parsed: &Parsed,
) -> Result<(Vec<Machine>, u32), InventoryError> {
    let all = inventory.list::<InstanceRecord>().await?;
    let mut machines = of_pool(&all, &parsed.control_plane, Role::ControlPlane, "");
    for (key, pool) in &parsed.workers {
        machines.extend(of_pool(&all, pool, Role::Worker, key));
    }
    if let Some(vip) = &parsed.vip {
        // Its holder changes: no machine may speak for it as its own.
        machines.iter_mut().for_each(|machine| machine.member.addresses.retain(|address| address != vip));
    }
    let wanted = inventory
        .find_by_uid::<PoolRecord>(&parsed.control_plane.uid)
        .await?
        .map_or(0, |pool| pool.body.replicas);
    Ok((machines, wanted))
}

fn of_pool(all: &[Stored<InstanceRecord>], pool: &PoolSpec, role: Role, key: &str) -> Vec<Machine> {
    let claimed = |stored: &&Stored<InstanceRecord>| {
        stored.body.claim.as_ref().is_some_and(|claim| claim.pool == pool.uid) && is_discovered(&stored.body)
    };
    all.iter().filter(claimed).filter_map(|stored| machine(stored, pool, role, key)).collect()
}

fn machine(stored: &Stored<InstanceRecord>, pool: &PoolSpec, role: Role, key: &str) -> Option<Machine> {
    let name = Label::parse(&stored.name).ok()?;
    let hostname = stored.body.hostname.clone().unwrap_or_else(|| name.clone());
    let installs = match &stored.body.work {
        Work::Configured { installs, .. } => *installs,
        Work::Untouched | Work::Fenced { .. } => 0,
    };
    let member = Member {
        uid: stored.uid.clone(),
        name,
        hostname,
        role,
        pool: key.to_owned(),
        installs,
        tries: 0,
        unproven: false,
        addresses: stored.body.addresses(),
        asks_for_certificate: false,
    };
    Some(Machine { member, record: stored.body.clone(), pool: pool.clone(), is_current: true })
}
