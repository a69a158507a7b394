//! Several processes on one file: a test starts its own program again, with itself as the only test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kontinuum::domain::record::PoolRecord;

use super::{inventory, place, pool, uid};

/// Tells a child that it is one, and which file is meant.
const VARIABLE: &str = "KONTINUUM_TEST_SHARED_INVENTORY";

/// As what a test runs.
pub(super) enum Role {
    /// The test itself.
    Parent(Children),
    /// One of the processes that it started.
    Child(PathBuf),
}

pub(super) fn role() -> Role {
    std::env::var_os(VARIABLE).map_or(Role::Parent(Children(())), |path| Role::Child(PathBuf::from(path)))
}

/// The right to start children, which a child has not.
pub(super) struct Children(());

impl Children {
    /// Runs this program `count` times at once, each with the named test alone, and waits for them.
    pub(super) fn run(&self, count: usize, test: &str, path: &Path) {
        let start = || {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test, "--test-threads=1"])
                .env(VARIABLE, path)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let children: Vec<_> = (0..count).map(|_| start()).collect();
        for child in children {
            let ended = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&ended.stdout).into_owned();
            assert!(ended.status.success() && text.contains("1 passed"), "{text}");
        }
    }
}

#[tokio::test]
async fn four_processes_that_start_together_make_one_file_and_lose_no_increment() {
    match role() {
        Role::Child(path) => {
            let inventory = inventory(&path);
            // Whoever is first creates it; for the others it is there.
            let created = inventory.create("counter", &uid("1"), pool(0)).await;
            assert!(created.as_ref().err().is_none_or(|error| error.is_conflict()), "{created:?}");
            for _ in 0..20 {
                inventory.change::<PoolRecord>(&uid("1"), |pool| pool.replicas += 1).await.unwrap();
            }
        }
        Role::Parent(children) => {
            let (_folder, path) = place();
            let test = "processes::four_processes_that_start_together_make_one_file_and_lose_no_increment";
            children.run(4, test, &path);
            let counted = inventory(&path).find_by_uid::<PoolRecord>(&uid("1")).await.unwrap().unwrap();
            assert_eq!(counted.body.replicas, 80);
        }
    }
}
