//! The life of a record: adopted or made, acknowledged once a state has shown it, found again or made again.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::report::inventory_failed;
use crate::clients::inventory::{Body, Inventory, InventoryError, Stored};
use crate::domain::names::Uid;
use crate::domain::record::{ClusterRecord, InstanceRecord, PoolRecord, Tombstone, Work};
use crate::plugin::{Attr, Diagnostic, Diagnostics, Operation, Path};

/// A record that a resource owns.
pub(super) trait Owned: Body + Clone + PartialEq + Sync {
    /// Whether a saved state has shown it.
    fn is_acknowledged(&self) -> bool;
    /// Remembers that one has.
    fn acknowledge(&mut self);
}

macro_rules! owned {
    ($($body:ty),*) => {$(
        impl Owned for $body {
            fn is_acknowledged(&self) -> bool {
                self.acknowledged
            }
            fn acknowledge(&mut self) {
                self.acknowledged = true;
            }
        }
    )*};
}
owned!(InstanceRecord, PoolRecord, ClusterRecord);

/// What a resource keeps beside its state.
///
/// Clients copy the private data of all instances of a resource for each of them (OpenTofu 1.12), so that what says nothing
/// is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Private {
    /// The id of the inventory that held the record last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inventory: Option<String>,
    /// Names of machines that a short pool could claim, as Read saw them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) free: Vec<String>,
    /// When the certificates in the kubeconfig and the talosconfig end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) access_until: Option<Timestamp>,
    /// What the last create or update left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unfinished: Option<String>,
    /// What the last Read found to be other than it was left, as far as an update can mend it.
    #[serde(default)]
    pub(super) drift: Option<String>,
}

impl Private {
    /// Of an operation.
    pub(super) fn of<D>(operation: &Operation<D>) -> Self {
        serde_json::from_slice(&operation.private()).unwrap_or_default()
    }

    /// Keeps it, if it changed: Read must echo what it did not change byte for byte.
    pub(super) fn keep<D>(&self, operation: &Operation<D>) {
        let changed = *self != Self::of(operation) || operation.private().is_empty();
        if changed && let Ok(bytes) = serde_json::to_vec(self) {
            operation.set_private(bytes);
        }
    }
}

/// Makes the record of a new resource, or adopts the one that an interrupted create left. `adopt` takes the found
/// body and says what it becomes, or why it can't be taken over.
pub(super) async fn begin<B: Owned>(
    inventory: &Inventory,
    what: &str,
    name: &str,
    fresh: B,
    adopt: impl Fn(&B) -> Result<B, String>,
) -> Result<Stored<B>, Diagnostics> {
    loop {
        let found = inventory.find::<B>(name).await.map_err(|error| inventory_failed(what, &error))?;
        let written = match found {
            None => {
                let uid = Uid::new(uuid::Uuid::new_v4().to_string());
                inventory.create(name, &uid, fresh.clone()).await
            }
            Some(found) if found.body.is_acknowledged() => {
                return Err(exists(what, "a saved state has shown it"));
            }
            Some(found) => {
                let body = adopt(&found.body).map_err(|why| exists(what, &why))?;
                inventory.update(Stored { body, ..found }).await
            }
        };
        match written {
            Ok(stored) => return Ok(stored),
            // Somebody else wrote at the same moment: look again.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(inventory_failed(what, &error)),
        }
    }
}

fn exists(what: &str, why: &str) -> Diagnostics {
    Diagnostic::error(
        format!("{what} exists already in the inventory"),
        format!(
            "It is not taken over, since {why}. Import it, or choose another name or another inventory. \
             create_before_destroy is not supported: a machine, a pool or a cluster cannot stand twice."
        ),
    )
    .at(Path::new("name"))
    .into()
}

/// What the inventory knows of a resource in the state.
#[derive(Debug)]
pub(super) enum Look<B> {
    /// Its record.
    Present(Stored<B>),
    /// It was deleted.
    Buried,
    /// Neither record nor tombstone: the inventory is another one, or lost it.
    Lost,
}

/// Looks for the record of a resource in the state, and acknowledges it.
pub(super) async fn look<B: Owned>(inventory: &Inventory, uid: &Uid) -> Result<Look<B>, InventoryError> {
    // `change` writes only what differs, so an acknowledged record is only read.
    match inventory.change::<B>(uid, Owned::acknowledge).await? {
        Some(stored) => Ok(Look::Present(stored)),
        None if inventory.is_buried(uid).await? => Ok(Look::Buried),
        None => Ok(Look::Lost),
    }
}

/// Writes the record of a resource in the state again, where the inventory lost it. Never over a foreign record.
pub(super) async fn rebuild<B: Owned, D>(
    inventory: &Inventory,
    what: &str,
    name: &str,
    uid: &Uid,
    mut body: B,
    operation: &Operation<D>,
) -> Result<Option<Stored<B>>, Diagnostics> {
    body.acknowledge();
    match inventory.create(name, uid, body).await {
        Ok(stored) => {
            operation.warn(Diagnostics::warning(
                "the inventory did not know an object of the state",
                format!(
                    "{what} (uid {uid}) was written again into {} from what the state says. That is right if the \
                     inventory is new or was restored. If it is the wrong one, correct the provider's `inventory` before \
                     the next apply.",
                    inventory.location().path.display()
                ),
            ));
            Ok(Some(stored))
        }
        Err(error) if error.is_conflict() => {
            operation.warn(Diagnostics::warning(
                "the inventory holds another object of the same name",
                format!(
                    "{what} of this state has uid {uid}; the inventory has another one under this name. Nothing was \
                     written. Is it the right inventory?"
                ),
            ));
            Ok(None)
        }
        Err(error) => Err(inventory_failed(what, &error)),
    }
}

/// Deletes a record and leaves its tombstone; that it is gone already is success.
pub(super) async fn bury<B: Owned>(inventory: &Inventory, what: &str, uid: &Uid) -> Result<(), Diagnostics> {
    loop {
        let found = inventory.find_by_uid::<B>(uid).await.map_err(|error| inventory_failed(what, &error))?;
        let Some(found) = found else { return Ok(()) };
        let stone = Tombstone { kind: B::KIND, name: found.name.clone(), deleted: Timestamp::now() };
        match inventory.delete(&found, Some(&stone)).await {
            Ok(()) => return Ok(()),
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(inventory_failed(what, &error)),
        }
    }
}

/// The uid of a resource in the state.
pub(super) fn uid_of(uid: &Attr<String>) -> Result<Uid, Diagnostics> {
    uid.require(&Path::new("uid")).map(Uid::new)
}

/// There is nothing of that name to import.
pub(super) fn not_there(what: &str, inventory: &Inventory) -> Diagnostics {
    Diagnostics::error(
        format!("{what} is not in the inventory"),
        format!(
            "Looked in {}. The id of an import is the object's name.",
            inventory.location().path.display()
        ),
    )
}

/// A create failed: what was begun is remembered, and the user learns how to go on and how to give it up.
pub(super) fn not_in_state(errors: Diagnostics) -> Diagnostics {
    errors
        .into_iter()
        .map(|mut diagnostic| {
            diagnostic.detail.push_str(
                "\n\nThe object is not in the state yet, but what was done is remembered in the inventory: apply again \
                 to go on from there. To give it up instead, import it by its name and destroy it.",
            );
            diagnostic
        })
        .collect()
}

/// The lease under which a cluster is worked on.
pub(super) fn lease_name(cluster: &Uid) -> String {
    format!("cluster {cluster}")
}

/// Remembers again that a machine runs a cluster's configuration, where the inventory lost it.
pub(super) async fn configured_by(
    inventory: &Inventory,
    machine: &Uid,
    cluster: &Uid,
) -> Result<(), InventoryError> {
    inventory
        .change::<InstanceRecord>(machine, |record| {
            if record.work == Work::Untouched {
                record.work = Work::Configured { cluster: cluster.clone(), installs: 1 };
            }
        })
        .await
        .map(drop)
}
