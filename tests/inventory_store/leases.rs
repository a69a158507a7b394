//! Leases: one holder at a time, a dead one's taken over.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kontinuum::clients::inventory::{Inventory, InventoryError, Lease};
use kontinuum::domain::record::LeaseRecord;

use super::processes::{Role, role};
use super::{inventory, place, uid};

/// Far beyond what a turn takes; a hang ends here.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_second_holder_is_told_who_holds_it() {
    let (_folder, path) = place();
    let (first, second) = (inventory(&path), inventory(&path));
    let lease = Lease::take(&first, "cluster/a").await.unwrap();
    let refused = Lease::take(&second, "cluster/a").await;
    let process = format!("process {} ", std::process::id());
    assert!(matches!(&refused, Err(InventoryError::Held { holder, .. }) if holder.contains(&process)));
    Lease::take(&second, "cluster/b").await.unwrap().release().await.unwrap();
    lease.release().await.unwrap();
    Lease::take(&second, "cluster/a").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_holders_are_never_in_at_once() {
    let (_folder, path) = place();
    let inside = Arc::new(AtomicBool::new(false));
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (inventory, inside) = (inventory(&path), Arc::clone(&inside));
        workers.spawn(async move {
            for _ in 0..5 {
                let lease = waited_for(&inventory, "cluster/a").await;
                assert!(!inside.swap(true, Ordering::SeqCst), "somebody else is in");
                tokio::task::yield_now().await;
                inside.store(false, Ordering::SeqCst);
                lease.release().await.unwrap();
            }
        });
    }
    let all = tokio::time::timeout(PATIENCE, workers.join_all()).await;
    assert!(all.is_ok(), "somebody never got in");
}

/// Takes a lease as soon as it is free.
async fn waited_for(inventory: &Inventory, what: &str) -> Lease {
    loop {
        let since = inventory.revision().await.unwrap();
        match Lease::take(inventory, what).await {
            Ok(lease) => return lease,
            Err(InventoryError::Held { .. }) => {
                inventory.changed(since).await.unwrap();
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A lease of a process on another machine, of which nothing is known but what it wrote.
async fn held_elsewhere(path: &Path, expires: Timestamp) -> Inventory {
    let inventory = inventory(path);
    let record = LeaseRecord {
        holder: "elsewhere process 1 started 1".into(),
        renewed: Timestamp::UNIX_EPOCH,
        expires,
    };
    inventory.create("cluster/a", &uid("1"), record).await.unwrap();
    inventory
}

#[tokio::test]
async fn a_holder_elsewhere_is_believed_until_its_lease_expires() {
    let soon = |seconds| Timestamp::now().checked_add(SignedDuration::from_secs(seconds)).unwrap();
    let (_folder, path) = place();
    let inventory = held_elsewhere(&path, soon(3600)).await;
    assert!(matches!(Lease::take(&inventory, "cluster/a").await, Err(InventoryError::Held { .. })));
    let (_folder, path) = place();
    let inventory = held_elsewhere(&path, soon(-1)).await;
    Lease::take(&inventory, "cluster/a").await.unwrap();
    let record = inventory.find::<LeaseRecord>("cluster/a").await.unwrap().unwrap();
    assert!(record.body.holder.contains(&format!("process {} ", std::process::id())));
}

#[tokio::test(start_paused = true)]
async fn a_holder_learns_that_its_lease_was_taken() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    let lease = Lease::take(&inventory, "cluster/a").await.unwrap();
    assert!(!lease.lost().is_cancelled());
    let mut stored = inventory.find::<LeaseRecord>("cluster/a").await.unwrap().unwrap();
    stored.body.holder = "elsewhere process 1 started 1".into();
    inventory.update(stored).await.unwrap();
    tokio::time::timeout(PATIENCE, lease.lost().cancelled()).await.unwrap();
    // It is no longer this process' to give back.
    lease.release().await.unwrap();
    assert!(inventory.find::<LeaseRecord>("cluster/a").await.unwrap().is_some());
}

#[tokio::test]
async fn the_lease_of_a_process_that_ended_is_taken_over_at_once() {
    match role() {
        Role::Child(path) => {
            // It ends without giving the lease back.
            std::mem::forget(Lease::take(&inventory(&path), "cluster/a").await.unwrap());
        }
        Role::Parent(children) => {
            let (_folder, path) = place();
            children.run(1, "leases::the_lease_of_a_process_that_ended_is_taken_over_at_once", &path);
            let inventory = inventory(&path);
            let left = inventory.find::<LeaseRecord>("cluster/a").await.unwrap().unwrap();
            assert!(left.body.expires > Timestamp::now(), "it has not expired");
            Lease::take(&inventory, "cluster/a").await.unwrap();
        }
    }
}
