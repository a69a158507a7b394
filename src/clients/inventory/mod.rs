//! The inventory: where machines, claims, cluster records, leases and tombstones live.
//!
//! *Purpose*: what must outlive a process, whether or not Terraform saved its state.
//! *Guarantees*: a record is created once; an update or a deletion takes effect only on the revision that was read
//! (compare and swap); what was written is on the disk when the call returns.
//! *Assumptions*: nothing beyond [`Inventory`]'s five verbs and a wake-up; selectors run in [`crate::domain`].
//! *Errors*: [`InventoryError`]; a lost race is [`InventoryError::Conflict`] and never anything else.

mod error;
mod file;
mod lease;
mod location;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::InventoryError;
pub use lease::{Holder, Lease};
pub use location::{Environment, Location};

use crate::domain::names::Uid;
use crate::domain::record::{
    ClusterRecord, InstanceRecord, Kind, LeaseRecord, PoolRecord, SCHEMA_VERSION, Tombstone,
};
use file::{File, Row};

/// A type that is the body of one kind of record.
pub trait Body: Serialize + DeserializeOwned + Send + 'static {
    /// The kind.
    const KIND: Kind;
}

impl Body for InstanceRecord {
    const KIND: Kind = Kind::Instance;
}
impl Body for PoolRecord {
    const KIND: Kind = Kind::InstancePool;
}
impl Body for ClusterRecord {
    const KIND: Kind = Kind::TalosCluster;
}
impl Body for LeaseRecord {
    const KIND: Kind = Kind::Lease;
}
impl Body for Tombstone {
    const KIND: Kind = Kind::Tombstone;
}

/// A record as it stood at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored<B> {
    /// The record's name, unique within its kind.
    pub name: String,
    /// The record's identity.
    pub uid: Uid,
    /// The revision at which it was read or written.
    pub revision: i64,
    /// What it says.
    pub body: B,
}

/// An inventory in a file. Reading one that doesn't exist finds nothing; the first write creates it.
#[derive(Debug, Clone)]
pub struct Inventory {
    file: Arc<File>,
}

impl Inventory {
    /// An inventory at a place. Nothing is opened or created yet.
    #[must_use]
    pub fn new(location: Location) -> Self {
        Self { file: Arc::new(File::new(location)) }
    }

    /// The random id of this inventory: a replaced one has another. `None` when it doesn't exist yet.
    ///
    /// # Errors
    ///
    /// [`InventoryError`] when the file can't be read.
    pub async fn id(&self) -> Result<Option<String>, InventoryError> {
        self.file.id().await
    }

    /// The record of this name.
    ///
    /// # Errors
    ///
    /// [`InventoryError`] when the file can't be read or the record is of a newer schema.
    pub async fn find<B: Body>(&self, name: &str) -> Result<Option<Stored<B>>, InventoryError> {
        self.file.find(B::KIND, name.to_owned()).await?.map(decode).transpose()
    }

    /// All records of a kind, sorted by name.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn list<B: Body>(&self) -> Result<Vec<Stored<B>>, InventoryError> {
        self.file.list(B::KIND).await?.into_iter().map(decode).collect()
    }

    /// The record with this uid, whatever it is called now.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn find_by_uid<B: Body>(&self, uid: &Uid) -> Result<Option<Stored<B>>, InventoryError> {
        self.file.find_by_uid(B::KIND, uid.as_str().to_owned()).await?.map(decode).transpose()
    }

    /// Writes a new record.
    ///
    /// # Errors
    ///
    /// [`InventoryError::Conflict`] when the name is taken; [`InventoryError`] when it can't be written.
    pub async fn create<B: Body>(&self, name: &str, uid: &Uid, body: B) -> Result<Stored<B>, InventoryError> {
        let row = encode(name, uid, 0, &body)?;
        let revision = self.file.create(row).await?;
        Ok(Stored { name: name.to_owned(), uid: uid.clone(), revision, body })
    }

    /// Writes a record anew if nobody did since it was read. A changed name renames it.
    ///
    /// # Errors
    ///
    /// [`InventoryError::Conflict`] when somebody did; [`InventoryError`] when it can't be written.
    pub async fn update<B: Body>(&self, stored: Stored<B>) -> Result<Stored<B>, InventoryError> {
        let row = encode(&stored.name, &stored.uid, stored.revision, &stored.body)?;
        let revision = self.file.update(row).await?;
        Ok(Stored { revision, ..stored })
    }

    /// Reads a record by uid, changes it and writes it, again and again until no other writer comes between.
    /// `None` when there is no such record. `change` says whether there is anything to write.
    ///
    /// # Errors
    ///
    /// [`InventoryError`] when it can't be read or written.
    pub async fn change<B: Body + Clone + PartialEq>(
        &self,
        uid: &Uid,
        mut change: impl FnMut(&mut B) + Send,
    ) -> Result<Option<Stored<B>>, InventoryError> {
        loop {
            let Some(mut stored) = self.find_by_uid::<B>(uid).await? else { return Ok(None) };
            let before = stored.body.clone();
            change(&mut stored.body);
            if stored.body == before {
                return Ok(Some(stored));
            }
            match self.update(stored).await {
                // Another writer was faster: the store has moved on, so this loop makes progress overall.
                Err(InventoryError::Conflict { .. }) => {}
                done => return done.map(Some),
            }
        }
    }

    /// Deletes a record if nobody changed it since it was read, and leaves `tombstone` in the same transaction.
    ///
    /// # Errors
    ///
    /// [`InventoryError::Conflict`] when somebody did; [`InventoryError`] when it can't be written.
    pub async fn delete<B: Body>(
        &self,
        stored: &Stored<B>,
        tombstone: Option<&Tombstone>,
    ) -> Result<(), InventoryError> {
        let stone = tombstone.map(|stone| encode(stored.uid.as_str(), &stored.uid, 0, stone)).transpose()?;
        self.file.delete(B::KIND, stored.uid.as_str().to_owned(), stored.revision, stone).await
    }

    /// Whether a record with this uid was deleted.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn is_buried(&self, uid: &Uid) -> Result<bool, InventoryError> {
        Ok(self.find::<Tombstone>(uid.as_str()).await?.is_some())
    }

    /// The inventory's revision: it grows with every write of anybody.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn revision(&self) -> Result<i64, InventoryError> {
        self.file.revision().await
    }

    /// Returns once the inventory's revision is beyond `since`. Has no deadline of its own: race it against one.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn changed(&self, since: i64) -> Result<i64, InventoryError> {
        self.file.changed(since).await
    }

    /// The location, for messages.
    #[must_use]
    pub fn location(&self) -> &Location {
        self.file.location()
    }

    /// How many records there are of each kind, for messages.
    ///
    /// # Errors
    ///
    /// As [`Self::find`].
    pub async fn counts(&self) -> Result<BTreeMap<String, u64>, InventoryError> {
        self.file.counts().await
    }
}

fn encode<B: Body>(name: &str, uid: &Uid, revision: i64, body: &B) -> Result<Row, InventoryError> {
    let body = serde_json::to_string(body).map_err(|source| InventoryError::Body {
        kind: B::KIND,
        name: name.to_owned(),
        source,
    })?;
    Ok(Row {
        kind: B::KIND.as_str().to_owned(),
        name: name.to_owned(),
        uid: uid.as_str().to_owned(),
        revision,
        schema_version: SCHEMA_VERSION,
        body,
    })
}

fn decode<B: Body>(row: Row) -> Result<Stored<B>, InventoryError> {
    if row.schema_version > SCHEMA_VERSION {
        return Err(InventoryError::NewerRecord {
            kind: B::KIND,
            name: row.name,
            version: row.schema_version,
        });
    }
    let body = serde_json::from_str(&row.body).map_err(|source| InventoryError::Body {
        kind: B::KIND,
        name: row.name.clone(),
        source,
    })?;
    Ok(Stored { name: row.name, uid: Uid::new(row.uid), revision: row.revision, body })
}
