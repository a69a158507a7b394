//! *Leave*: the one way in which a machine is let go.

use std::time::Duration;

use super::Clients;
use super::report::inventory_failed;
use crate::domain::names::Uid;
use crate::domain::record::{InstanceRecord, Work};
use crate::plugin::{Diagnostics, Operation};

/// Lets a machine go: out of its cluster first, if it is in one, then its claim is dropped. That it is free already
/// is success.
pub(super) async fn machine(
    clients: &Clients,
    what: &str,
    uid: &Uid,
    _limit: Duration,
    _operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let inventory = &clients.inventory;
    let found =
        inventory.find_by_uid::<InstanceRecord>(uid).await.map_err(|error| inventory_failed(what, &error))?;
    let Some(found) = found else { return Ok(()) };
    if let Work::Configured { .. } = &found.body.work {
        return Err(Diagnostics::error(
            format!("{what}: machine {:?} belongs to a cluster", found.name),
            "Take it out of the cluster first.",
        ));
    }
    inventory
        .change::<InstanceRecord>(uid, |record| record.claim = None)
        .await
        .map(drop)
        .map_err(|error| inventory_failed(what, &error))
}
