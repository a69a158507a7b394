//! Records: created once, changed by compare and swap, deleted with a tombstone.

use std::time::Duration;

use jiff::Timestamp;
use kontinuum::clients::inventory::InventoryError;
use kontinuum::domain::record::{InstanceRecord, Kind, PoolRecord, Tombstone};

use super::{inventory, place, pool, uid};

#[tokio::test]
async fn a_name_is_created_once() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    let first = inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    let again = inventory.create("a", &uid("2"), pool(2)).await;
    assert!(matches!(again, Err(InventoryError::Conflict { .. })), "{again:?}");
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), Some(first));
    let same_uid = inventory.create("b", &uid("1"), pool(2)).await;
    assert!(same_uid.is_err_and(|error| error.is_conflict()), "one uid, one record");
}

#[tokio::test]
async fn kinds_have_names_of_their_own() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    assert_eq!(inventory.find::<InstanceRecord>("a").await.unwrap(), None);
    assert_eq!(inventory.find_by_uid::<InstanceRecord>(&uid("1")).await.unwrap(), None);
}

#[tokio::test]
async fn an_update_takes_effect_on_the_revision_that_was_read_only() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    let read = inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    let mut mine = read.clone();
    mine.body.replicas = 2;
    let written = inventory.update(mine).await.unwrap();
    assert!(written.revision > read.revision);
    let mut late = read;
    late.body.replicas = 3;
    assert!(inventory.update(late).await.is_err_and(|error| error.is_conflict()));
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), Some(written));
}

#[tokio::test]
async fn a_record_is_renamed_and_keeps_its_uid_but_takes_no_other_ones_name() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    let mut first = inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    inventory.create("taken", &uid("2"), pool(1)).await.unwrap();
    first.name = "b".into();
    let renamed = inventory.update(first).await.unwrap();
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), None);
    assert_eq!(inventory.find_by_uid::<PoolRecord>(&uid("1")).await.unwrap().unwrap().name, "b");
    let mut wrong = renamed;
    wrong.name = "taken".into();
    assert!(inventory.update(wrong).await.is_err_and(|error| error.is_conflict()));
    assert_eq!(inventory.find::<PoolRecord>("taken").await.unwrap().unwrap().uid, uid("2"));
}

#[tokio::test]
async fn records_are_listed_by_name() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    for name in ["b", "c", "a"] {
        inventory.create(name, &uid(name), pool(1)).await.unwrap();
    }
    let names: Vec<_> =
        inventory.list::<PoolRecord>().await.unwrap().into_iter().map(|stored| stored.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(inventory.counts().await.unwrap(), [("InstancePool".to_owned(), 3)].into());
}

#[tokio::test]
async fn a_deletion_leaves_its_tombstone_and_a_late_one_changes_nothing() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    let read = inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    let mut newer = read.clone();
    newer.body.replicas = 2;
    let newer = inventory.update(newer).await.unwrap();
    let stone = Tombstone { kind: Kind::InstancePool, name: "a".into(), deleted: Timestamp::UNIX_EPOCH };
    let late = inventory.delete(&read, Some(&stone)).await;
    assert!(late.is_err_and(|error| error.is_conflict()));
    assert!(!inventory.is_buried(&uid("1")).await.unwrap(), "a lost race leaves no tombstone");
    inventory.delete(&newer, Some(&stone)).await.unwrap();
    assert!(inventory.is_buried(&uid("1")).await.unwrap());
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), None);
    assert_eq!(inventory.find::<Tombstone>("1").await.unwrap().unwrap().body, stone);
    // The name is free again, for another uid.
    inventory.create("a", &uid("2"), pool(1)).await.unwrap();
    assert!(!inventory.is_buried(&uid("2")).await.unwrap());
}

#[tokio::test]
async fn a_missing_record_is_not_buried() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    assert!(!inventory.is_buried(&uid("never there")).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_writers_lose_no_increment() {
    let (_folder, path) = place();
    inventory(&path).create("counter", &uid("1"), pool(0)).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        // A connection of its own, as another process has one.
        let inventory = inventory(&path);
        writers.spawn(async move {
            for _ in 0..20 {
                inventory.change::<PoolRecord>(&uid("1"), |pool| pool.replicas += 1).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    let counted = inventory(&path).find_by_uid::<PoolRecord>(&uid("1")).await.unwrap().unwrap();
    assert_eq!(counted.body.replicas, 160);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_reader_is_woken_by_a_write_of_somebody_else_and_by_nothing_else() {
    let (_folder, path) = place();
    let (reader, writer) = (inventory(&path), inventory(&path));
    let read = writer.create("a", &uid("1"), pool(1)).await.unwrap();
    let since = reader.revision().await.unwrap();
    assert_eq!(since, read.revision);
    let silence = tokio::time::timeout(Duration::from_secs(60), reader.changed(since)).await;
    assert!(silence.is_err(), "nobody wrote");
    let waiting = tokio::spawn(async move { reader.changed(since).await });
    let written = writer.update(read).await.unwrap();
    let woken = tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(woken, written.revision);
}
