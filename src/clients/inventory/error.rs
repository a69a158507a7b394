//! Why the inventory could not be read or written.

use std::path::PathBuf;

use thiserror::Error;

use crate::domain::record::{Kind, SCHEMA_VERSION};

/// Why the inventory could not be read or written.
#[derive(Debug, Error)]
pub enum InventoryError {
    /// Somebody else wrote the record first, or its name is taken.
    #[error("{kind} {name:?} was changed by somebody else at the same time")]
    Conflict {
        /// The record's kind.
        kind: String,
        /// The record's name.
        name: String,
    },
    /// The file was written by a newer program.
    #[error(
        "the inventory {} has schema version {found}, this provider knows up to {known}: use a newer provider",
        path.display()
    )]
    NewerFile {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version that we know.
        known: i64,
    },
    /// A record was written by a newer program.
    #[error(
        "{kind} {name:?} has schema version {version}, this provider knows up to {SCHEMA_VERSION}: use a newer provider"
    )]
    NewerRecord {
        /// The record's kind.
        kind: Kind,
        /// The record's name.
        name: String,
        /// Its version.
        version: u32,
    },
    /// A record's body is not what its kind says.
    #[error("{kind} {name:?} in the inventory can't be understood")]
    Body {
        /// The record's kind.
        kind: Kind,
        /// The record's name.
        name: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The default place would be thrown away with the automation's machine.
    #[error(
        "no inventory is configured, and this runs in automation ({evidence}), whose home folder may be thrown away \
         with what the inventory remembers: set the provider's `inventory = {{ file = {{ path = … }} }}` or the \
         environment variable KONTINUUM_INVENTORY to a file that stays"
    )]
    Automation {
        /// What gave the automation away.
        evidence: &'static str,
    },
    /// No place could be found.
    #[error("neither HOME nor XDG_STATE_HOME is set: set KONTINUUM_INVENTORY to the inventory's file")]
    NoHome,
    /// The folder can't be made or read.
    #[error("failed to use the folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// SQLite said no.
    #[error("failed to use the inventory {}", path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// Our own thread died.
    #[error("the inventory's thread ended early; this is a bug of the provider")]
    Thread,
    /// Somebody else works on it now.
    #[error("{what} is being worked on by {holder} (last seen {renewed}): wait until that ends, or end it")]
    Held {
        /// What is leased.
        what: String,
        /// Who holds it.
        holder: String,
        /// When the holder was last alive.
        renewed: jiff::Timestamp,
    },
}

impl InventoryError {
    /// Whether this is a lost race.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }
}
