//! The inventory as one SQLite file in WAL mode, used by many processes at once.

use std::collections::BTreeMap;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{InventoryError, Location};
use crate::domain::record::Kind;

/// The layout of the file that this program writes.
const FILE_VERSION: i64 = 1;

/// How long a writer waits for another process' transaction, which lasts milliseconds; beyond it something hangs.
const BUSY: Duration = Duration::from_secs(10);

/// The pause before a lost race for the switch to WAL is run again; the winner needs about a millisecond.
const SWITCH_AGAIN: Duration = Duration::from_millis(5);

/// SQLite tells nobody of another process' commit, so a waiting reader looks at the file's change counter, which
/// costs one small read.
const LOOK: Duration = Duration::from_millis(250);

/// A record as it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) revision: i64,
    pub(super) schema_version: u32,
    pub(super) body: String,
}

#[derive(Debug)]
pub(super) struct File {
    location: Location,
    connection: Arc<Mutex<Option<Connection>>>,
}

impl File {
    pub(super) fn new(location: Location) -> Self {
        Self { location, connection: Arc::default() }
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    pub(super) async fn id(&self) -> Result<Option<String>, InventoryError> {
        self.read(None, |connection| {
            connection.query_row("SELECT value FROM meta WHERE key = 'id'", [], |row| row.get(0)).optional()
        })
        .await
    }

    pub(super) async fn find(&self, kind: Kind, name: String) -> Result<Option<Row>, InventoryError> {
        self.read(None, move |connection| {
            let sql = format!("{SELECT} WHERE kind = ?1 AND name = ?2");
            connection.prepare_cached(&sql)?.query_row(params![kind.as_str(), name], row).optional()
        })
        .await
    }

    pub(super) async fn find_by_uid(&self, kind: Kind, uid: String) -> Result<Option<Row>, InventoryError> {
        self.read(None, move |connection| {
            let sql = format!("{SELECT} WHERE kind = ?1 AND uid = ?2");
            connection.prepare_cached(&sql)?.query_row(params![kind.as_str(), uid], row).optional()
        })
        .await
    }

    pub(super) async fn list(&self, kind: Kind) -> Result<Vec<Row>, InventoryError> {
        self.read(Vec::new(), move |connection| {
            let sql = format!("{SELECT} WHERE kind = ?1 ORDER BY name");
            connection.prepare_cached(&sql)?.query_map(params![kind.as_str()], row)?.collect()
        })
        .await
    }

    pub(super) async fn counts(&self) -> Result<BTreeMap<String, u64>, InventoryError> {
        self.read(BTreeMap::new(), |connection| {
            connection
                .prepare_cached("SELECT kind, count(*) FROM record GROUP BY kind")?
                .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs())))?
                .collect()
        })
        .await
    }

    pub(super) async fn revision(&self) -> Result<i64, InventoryError> {
        self.read(0, |connection| {
            connection.prepare_cached("SELECT revision FROM sequence")?.query_row([], |row| row.get(0))
        })
        .await
    }

    pub(super) async fn changed(&self, since: i64) -> Result<i64, InventoryError> {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            let revision = self.revision().await?;
            if revision > since {
                return Ok(revision);
            }
        }
    }

    pub(super) async fn create(&self, row: Row) -> Result<i64, InventoryError> {
        self.write(row.kind.clone(), row.name.clone(), move |transaction| insert(transaction, &row)).await
    }

    pub(super) async fn update(&self, row: Row) -> Result<i64, InventoryError> {
        self.write(row.kind.clone(), row.name.clone(), move |transaction| {
            let revision = advance(transaction)?;
            let changed = transaction
                .prepare_cached(
                    "UPDATE OR IGNORE record SET name = ?1, revision = ?2, schema_version = ?3, body = ?4 \
                     WHERE kind = ?5 AND uid = ?6 AND revision = ?7",
                )?
                .execute(params![
                    row.name,
                    revision,
                    row.schema_version,
                    row.body,
                    row.kind,
                    row.uid,
                    row.revision
                ])?;
            Ok((changed == 1).then_some(revision))
        })
        .await
    }

    pub(super) async fn delete(
        &self,
        kind: Kind,
        uid: String,
        revision: i64,
        tombstone: Option<Row>,
    ) -> Result<(), InventoryError> {
        self.write(kind.as_str().to_owned(), uid.clone(), move |transaction| {
            let changed = transaction
                .prepare_cached("DELETE FROM record WHERE kind = ?1 AND uid = ?2 AND revision = ?3")?
                .execute(params![kind.as_str(), uid, revision])?;
            if changed != 1 {
                return Ok(None);
            }
            match &tombstone {
                Some(stone) => insert(transaction, stone),
                None => advance(transaction).map(Some),
            }
        })
        .await
        .map(|_| ())
    }

    /// Runs a read; `nothing` when the file doesn't exist.
    async fn read<T: Send + 'static>(
        &self,
        nothing: T,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, InventoryError> {
        self.run(false, move |connection| match connection {
            Some(connection) => work(connection),
            None => Ok(nothing),
        })
        .await
    }

    /// Runs a write in a transaction; `None` from it is a lost race and changes nothing.
    async fn write(
        &self,
        kind: String,
        name: String,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Option<i64>> + Send + 'static,
    ) -> Result<i64, InventoryError> {
        if let Some(evidence) = self.location.refused {
            return Err(InventoryError::Automation { evidence });
        }
        let revision = self
            .run(true, move |connection| {
                let Some(connection) = connection else { return Ok(None) };
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let revision = work(&transaction)?;
                if revision.is_some() {
                    transaction.commit()?;
                }
                Ok(revision)
            })
            .await?;
        revision.ok_or(InventoryError::Conflict { kind, name })
    }

    async fn run<T: Send + 'static>(
        &self,
        create: bool,
        work: impl FnOnce(Option<&mut Connection>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, InventoryError> {
        let (cell, path) = (Arc::clone(&self.connection), self.location.path.clone());
        tokio::task::spawn_blocking(move || {
            // A panic while the lock was held can't have left a connection half way: transactions roll back.
            let mut connection = cell.lock().unwrap_or_else(PoisonError::into_inner);
            if connection.is_none() {
                *connection = open(&path, create)?;
            }
            work(connection.as_mut()).map_err(|source| InventoryError::Storage { path, source })
        })
        .await
        .map_err(|_| InventoryError::Thread)?
    }
}

const SELECT: &str = "SELECT kind, name, uid, revision, schema_version, body FROM record";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        kind: row.get(0)?,
        name: row.get(1)?,
        uid: row.get(2)?,
        revision: row.get(3)?,
        schema_version: row.get(4)?,
        body: row.get(5)?,
    })
}

fn advance(transaction: &Transaction<'_>) -> rusqlite::Result<i64> {
    transaction
        .prepare_cached("UPDATE sequence SET revision = revision + 1 RETURNING revision")?
        .query_row([], |row| row.get(0))
}

fn insert(transaction: &Transaction<'_>, row: &Row) -> rusqlite::Result<Option<i64>> {
    let revision = advance(transaction)?;
    let changed = transaction
        .prepare_cached(
            "INSERT OR IGNORE INTO record (kind, name, uid, revision, schema_version, body) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![row.kind, row.name, row.uid, revision, row.schema_version, row.body])?;
    Ok((changed == 1).then_some(revision))
}

fn open(path: &Path, create: bool) -> Result<Option<Connection>, InventoryError> {
    if !path.exists() {
        if !create {
            return Ok(None);
        }
        make_private(path)?;
    }
    let failed = |source| InventoryError::Storage { path: path.to_owned(), source };
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    let version = prepare(&mut connection).map_err(failed)?;
    if version > FILE_VERSION {
        return Err(InventoryError::NewerFile { path: path.to_owned(), found: version, known: FILE_VERSION });
    }
    Ok(Some(connection))
}

/// Makes the file 0600 in a folder 0700 before SQLite opens it: its side files take over the mode.
fn make_private(path: &Path) -> Result<(), InventoryError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|source| InventoryError::Folder { path: folder.to_owned(), source })?;
    }
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(_) => Ok(()),
        // Another process made it just now.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(InventoryError::Folder { path: path.to_owned(), source }),
    }
}

/// Brings the file to our layout and returns the version that it has then.
fn prepare(connection: &mut Connection) -> rusqlite::Result<i64> {
    let version = |connection: &Connection| connection.query_row("PRAGMA user_version", [], |row| row.get(0));
    let found: i64 = version(connection)?;
    if found >= FILE_VERSION {
        return Ok(found);
    }
    switch_to_wal(connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while we waited for the lock.
    if version(&transaction)? == 0 {
        transaction.execute_batch(
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
             CREATE TABLE sequence (revision INTEGER NOT NULL) STRICT;
             INSERT INTO sequence VALUES (0);
             CREATE TABLE record (
                 kind TEXT NOT NULL,
                 name TEXT NOT NULL,
                 uid TEXT NOT NULL,
                 revision INTEGER NOT NULL,
                 schema_version INTEGER NOT NULL,
                 body TEXT NOT NULL,
                 PRIMARY KEY (kind, name),
                 UNIQUE (kind, uid)
             ) STRICT;",
        )?;
        let id = uuid::Uuid::new_v4().to_string();
        transaction.execute("INSERT INTO meta VALUES ('id', ?1)", params![id])?;
        transaction.pragma_update(None, "user_version", FILE_VERSION)?;
    }
    transaction.commit()?;
    version(connection)
}

/// Switches a new file to WAL. SQLite reads first and then wants to write, and where two processes do so at once it
/// gives one of them up at once, without the time of [`BUSY`], since neither could go on: so it is tried again.
#[expect(
    clippy::disallowed_methods,
    reason = "on a thread of its own for SQLite, and for no longer than `BUSY`"
)]
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && started.elapsed() < BUSY =>
            {
                std::thread::sleep(SWITCH_AGAIN);
            }
            other => return other,
        }
    }
}
