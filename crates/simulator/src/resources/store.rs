//! Resources by namespace, kind and id, with the history that watches read.
//!
//! As Talos' own in-memory state: versions count up from 1, a bounded history per kind, bookmarks that are good for
//! one boot.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use tokio::sync::watch;

use super::{Resource, kinds};
use crate::locked;

/// Changes kept per kind; Talos keeps at most 1024.
const HISTORY: usize = 1024;

/// All resources of one boot of a machine.
#[derive(Debug)]
pub(crate) struct Store {
    collections: Mutex<BTreeMap<(String, String), Collection>>,
    changed: watch::Sender<u64>,
    /// Tells bookmarks of this boot from those of others.
    cookie: [u8; 8],
}

/// The resources of one kind in one namespace.
#[derive(Debug, Default)]
struct Collection {
    resources: BTreeMap<String, Arc<Resource>>,
    history: VecDeque<Change>,
    /// Changes that fell off the history's front.
    forgotten: u64,
}

/// A change of a resource.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) kind: ChangeKind,
    pub(crate) resource: Arc<Resource>,
    /// What it was before an update.
    pub(crate) old: Option<Arc<Resource>>,
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Created,
    Updated,
    Destroyed,
}

/// How many changes of a kind were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position(u64);

/// A bookmark of another boot, or of changes that are forgotten.
#[derive(Debug, thiserror::Error)]
#[error("invalid watch bookmark")]
pub(crate) struct InvalidBookmark;

impl Store {
    /// A store with the definitions of namespaces and kinds.
    pub(crate) fn new() -> Self {
        let mut cookie = [0; 8];
        cookie.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[..8]);
        let mut collections: BTreeMap<_, Collection> = BTreeMap::new();
        for definition in kinds::DEFINITIONS.iter() {
            let key = (definition.namespace.clone(), definition.kind.clone());
            let resources = &mut collections.entry(key).or_default().resources;
            resources.insert(definition.id.clone(), Arc::clone(definition));
        }
        Self { collections: Mutex::new(collections), changed: watch::Sender::new(0), cookie }
    }

    /// Creates the resource, or updates it if its specification changed.
    pub(crate) fn put(&self, resource: Resource) {
        self.write(resource, false);
    }

    /// Creates or updates the resource, and counts its version up though nothing may differ, as Talos does for a
    /// configuration that is applied again.
    pub(crate) fn put_again(&self, resource: Resource) {
        self.write(resource, true);
    }

    fn write(&self, mut resource: Resource, again: bool) {
        let mut collections = locked(&self.collections);
        let key = (resource.namespace.clone(), resource.kind.clone());
        let collection = collections.entry(key).or_default();
        let now = Timestamp::now();
        let old = collection.resources.get(&resource.id).cloned();
        if !again && old.as_ref().is_some_and(|old| old.spec == resource.spec) {
            return;
        }
        resource.version = old.as_ref().map_or(1, |old| old.version + 1);
        resource.created = old.as_ref().map_or(now, |old| old.created);
        resource.updated = now;
        let resource = Arc::new(resource);
        collection.resources.insert(resource.id.clone(), Arc::clone(&resource));
        let kind = if old.is_some() { ChangeKind::Updated } else { ChangeKind::Created };
        collection.remember(Change { kind, resource, old });
        drop(collections);
        self.changed.send_modify(|count| *count += 1);
    }

    /// Removes a resource if it is there.
    pub(crate) fn destroy(&self, namespace: &str, kind: &str, id: &str) {
        let mut collections = locked(&self.collections);
        let Some(collection) = collections.get_mut(&(namespace.to_owned(), kind.to_owned())) else { return };
        let Some(resource) = collection.resources.remove(id) else { return };
        collection.remember(Change { kind: ChangeKind::Destroyed, resource, old: None });
        drop(collections);
        self.changed.send_modify(|count| *count += 1);
    }

    /// One resource.
    pub(crate) fn find(&self, namespace: &str, kind: &str, id: &str) -> Option<Arc<Resource>> {
        let collections = locked(&self.collections);
        collections.get(&(namespace.to_owned(), kind.to_owned()))?.resources.get(id).cloned()
    }

    /// All resources of a kind, by id.
    pub(crate) fn list(&self, namespace: &str, kind: &str) -> Vec<Arc<Resource>> {
        self.snapshot(namespace, kind).0
    }

    /// All resources of a kind, by id, and the position from which changes follow.
    pub(crate) fn snapshot(&self, namespace: &str, kind: &str) -> (Vec<Arc<Resource>>, Position) {
        let collections = locked(&self.collections);
        let Some(collection) = collections.get(&(namespace.to_owned(), kind.to_owned())) else {
            return (Vec::new(), Position(0));
        };
        (collection.resources.values().cloned().collect(), collection.end())
    }

    /// The position that many changes before the end, or as far back as the history goes.
    pub(crate) fn position_before_end(&self, namespace: &str, kind: &str, changes: u64) -> Position {
        let collections = locked(&self.collections);
        let Some(collection) = collections.get(&(namespace.to_owned(), kind.to_owned())) else {
            return Position(0);
        };
        Position(collection.end().0.saturating_sub(changes).max(collection.forgotten))
    }

    /// The changes from a position on, each with the position after it; waits until there is one.
    ///
    /// `None` when the history no longer reaches back to the position.
    pub(crate) async fn changes_after(
        &self,
        namespace: &str,
        kind: &str,
        position: Position,
    ) -> Option<Vec<(Change, Position)>> {
        let key = (namespace.to_owned(), kind.to_owned());
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if let Some(collection) = locked(&self.collections).get(&key) {
                let seen = position.0.checked_sub(collection.forgotten)?;
                let changes = collection.history.iter().skip(usize::try_from(seen).ok()?);
                let changes: Vec<_> = changes.cloned().zip((position.0 + 1..).map(Position)).collect();
                if !changes.is_empty() {
                    return Some(changes);
                }
            }
            // The sender lives as long as `self`.
            changed.changed().await.ok()?;
        }
    }

    /// The bookmark of the change before a position.
    pub(crate) fn bookmark(&self, position: Position) -> Vec<u8> {
        // Talos numbers changes from 0, so that the bookmark of "none yet" is -1.
        let last = i64::try_from(position.0).unwrap_or(i64::MAX) - 1;
        [self.cookie, last.to_be_bytes()].concat()
    }

    /// The position after a bookmarked change.
    ///
    /// # Errors
    /// When the bookmark is of another boot, or its changes are forgotten or yet to come.
    pub(crate) fn position_of(
        &self,
        namespace: &str,
        kind: &str,
        bookmark: &[u8],
    ) -> Result<Position, InvalidBookmark> {
        let (cookie, last) = bookmark.split_at_checked(8).ok_or(InvalidBookmark)?;
        let last = i64::from_be_bytes(last.try_into().map_err(|_| InvalidBookmark)?);
        let position =
            last.checked_add(1).and_then(|next| u64::try_from(next).ok()).ok_or(InvalidBookmark)?;
        let (_, end) = self.snapshot(namespace, kind);
        let start = self.position_before_end(namespace, kind, u64::MAX);
        let known = start.0..=end.0;
        if cookie == self.cookie && known.contains(&position) {
            Ok(Position(position))
        } else {
            Err(InvalidBookmark)
        }
    }
}

impl Collection {
    fn end(&self) -> Position {
        Position(self.forgotten + self.history.len() as u64)
    }

    fn remember(&mut self, change: Change) {
        if self.history.len() == HISTORY {
            self.history.pop_front();
            self.forgotten += 1;
        }
        self.history.push_back(change);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::*;
    use crate::resources::Spec;

    const KIND: &str = "Disks.block.talos.dev";

    fn disk(id: &str, size: u64) -> Resource {
        let spec = Spec { proto: size.to_be_bytes().to_vec(), yaml: json!(size).to_string() };
        Resource::new(KIND, id, "test", spec)
    }

    #[test]
    fn versions_count_changes_and_an_equal_specification_is_none() {
        let store = Store::new();
        store.put(disk("sda", 1));
        store.put(disk("sda", 1));
        assert_eq!(store.find("runtime", KIND, "sda").unwrap().version, 1);
        store.put(disk("sda", 2));
        assert_eq!(store.find("runtime", KIND, "sda").unwrap().version, 2);
    }

    #[tokio::test]
    async fn a_watch_that_resumes_from_a_bookmark_misses_and_repeats_nothing() {
        let store = Store::new();
        store.put(disk("sda", 1));
        let (_, position) = store.snapshot("runtime", KIND);
        let bookmark = store.bookmark(position);
        store.put(disk("sda", 2));
        store.destroy("runtime", KIND, "sda");
        let resumed = store.position_of("runtime", KIND, &bookmark).unwrap();
        let changes = store.changes_after("runtime", KIND, resumed).await.unwrap();
        let kinds: Vec<_> = changes.iter().map(|(change, _)| change.kind).collect();
        assert_eq!(kinds, [ChangeKind::Updated, ChangeKind::Destroyed]);
        assert_eq!(changes[0].0.old.as_ref().unwrap().version, 1);
    }

    #[test]
    fn a_bookmark_of_another_boot_or_of_no_boot_is_invalid() {
        let (store, other) = (Store::new(), Store::new());
        let (_, position) = other.snapshot("runtime", KIND);
        assert!(store.position_of("runtime", KIND, &other.bookmark(position)).is_err());
        assert!(store.position_of("runtime", KIND, b"short").is_err());
    }
}
