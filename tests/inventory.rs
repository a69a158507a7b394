//! The inventory's contract: what holds of every store behind it, asked of the file.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "inventory_store/claims.rs"]
mod claims;
#[path = "inventory_store/file.rs"]
mod file;
#[path = "inventory_store/leases.rs"]
mod leases;
#[path = "inventory_store/processes.rs"]
mod processes;
#[path = "inventory_store/records.rs"]
mod records;

use std::path::Path;

use kontinuum::clients::inventory::{Environment, Inventory, Location};
use kontinuum::domain::names::Uid;
use kontinuum::domain::record::PoolRecord;

/// An inventory at a place that a user named.
fn inventory(path: &Path) -> Inventory {
    Inventory::new(Location::choose(path.to_str(), &Environment::default()).unwrap())
}

/// A folder of a test's own, and the file that an inventory makes in it.
fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/inventory.db");
    (folder, path)
}

fn pool(replicas: u32) -> PoolRecord {
    PoolRecord {
        instances: None,
        selector: None,
        replicas,
        require_discovered: true,
        conditions: vec![],
        acknowledged: false,
    }
}

fn uid(text: &str) -> Uid {
    Uid::new(text)
}
