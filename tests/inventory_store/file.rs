//! The file: private, made by the first write, refused when it is newer than this program.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Barrier;

use kontinuum::clients::inventory::{Environment, Inventory, InventoryError, Location};
use kontinuum::domain::record::PoolRecord;

use super::{inventory, place, pool, uid};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn reading_a_missing_file_finds_nothing_and_creates_nothing() {
    let (folder, path) = place();
    let inventory = inventory(&path);
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), None);
    assert_eq!(inventory.find_by_uid::<PoolRecord>(&uid("1")).await.unwrap(), None);
    assert_eq!(inventory.list::<PoolRecord>().await.unwrap(), []);
    assert_eq!((inventory.id().await.unwrap(), inventory.revision().await.unwrap()), (None, 0));
    assert!(inventory.counts().await.unwrap().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "not even the folder");
}

#[tokio::test]
async fn the_first_write_makes_a_private_file_in_a_private_folder() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_replaced_file_has_another_id() {
    let (_folder, path) = place();
    let first = inventory(&path);
    first.create("a", &uid("1"), pool(1)).await.unwrap();
    let id = first.id().await.unwrap().unwrap();
    assert_eq!(inventory(&path).id().await.unwrap().as_ref(), Some(&id));
    drop(first);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let second = inventory(&path);
    second.create("a", &uid("1"), pool(1)).await.unwrap();
    assert_ne!(second.id().await.unwrap(), Some(id));
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_and_left_alone() {
    let (_folder, path) = place();
    inventory(&path).create("a", &uid("1"), pool(1)).await.unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    let read = inventory(&path).find::<PoolRecord>("a").await;
    assert!(matches!(read, Err(InventoryError::NewerFile { found: 99, .. })), "{read:?}");
    let written = inventory(&path).create("b", &uid("2"), pool(1)).await;
    assert!(matches!(written, Err(InventoryError::NewerFile { .. })), "{written:?}");
    let rows: i64 = connection.query_row("SELECT count(*) FROM record", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn a_record_of_a_newer_program_is_refused_by_name() {
    let (_folder, path) = place();
    let inventory = inventory(&path);
    inventory.create("a", &uid("1"), pool(1)).await.unwrap();
    inventory.create("b", &uid("2"), pool(1)).await.unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE record SET schema_version = 99 WHERE name = 'a'", []).unwrap();
    let read = inventory.find::<PoolRecord>("a").await;
    assert!(
        matches!(&read, Err(InventoryError::NewerRecord { name, version: 99, .. }) if name == "a"),
        "{read:?}"
    );
    assert!(inventory.find::<PoolRecord>("b").await.unwrap().is_some(), "the others are fine");
}

#[tokio::test]
async fn a_file_that_is_no_inventory_is_an_error_and_not_empty() {
    let (_folder, path) = place();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "this is no database, though it is long enough to be looked at as one").unwrap();
    let read = inventory(&path).find::<PoolRecord>("a").await;
    assert!(matches!(read, Err(InventoryError::Storage { .. })), "{read:?}");
}

#[tokio::test]
async fn automation_reads_the_default_place_but_never_writes_it() {
    let (_folder, path) = place();
    let environment = Environment {
        state_home: path.parent().unwrap().to_str().map(str::to_owned),
        in_automation: true,
        ..Environment::default()
    };
    let inventory = Inventory::new(Location::choose(None, &environment).unwrap());
    assert_eq!(inventory.find::<PoolRecord>("a").await.unwrap(), None);
    let refused = inventory.create("a", &uid("1"), pool(1)).await;
    assert!(matches!(refused, Err(InventoryError::Automation { .. })), "{refused:?}");
    assert!(!inventory.location().path.exists());
}

/// SQLite gives up at once on one of two that switch a new file's journal at the same time.
#[test]
fn of_many_that_make_a_new_file_at_once_none_is_refused() {
    const MAKERS: usize = 4;
    for _ in 0..100 {
        let (_folder, path) = place();
        let together = Barrier::new(MAKERS);
        std::thread::scope(|scope| {
            for number in 0..MAKERS {
                let (path, together) = (&path, &together);
                scope.spawn(move || {
                    let inventory = inventory(path);
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    together.wait();
                    runtime
                        .block_on(async {
                            let uid = uid(&number.to_string());
                            inventory.create(&format!("pool-{number}"), &uid, pool(1)).await
                        })
                        .unwrap();
                });
            }
        });
    }
}
