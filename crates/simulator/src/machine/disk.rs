//! What stays on a machine's disk: Talos' partitions as a folder each.
//!
//! `meta/installed.json` stands for META and the boot loader, `state/config.yaml` for STATE, `ephemeral/` for EPHEMERAL.
//! A simulator that is started again on the same data folder finds its machines as they were when the power went.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::world::TalosVersion;

/// The disk of one machine.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
}

/// What the installer leaves in META and beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Installed {
    /// The disk's kernel name.
    pub(crate) disk: String,
    /// The version that boots from it.
    pub(crate) version: TalosVersion,
    /// The schematic of the installer's image, if it came from the image factory.
    pub(crate) schematic: Option<String>,
}

/// What is on the disk.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// META is there.
    pub(crate) installed: Option<Installed>,
    /// The configuration on STATE.
    pub(crate) configuration: Option<Vec<u8>>,
}

/// A partition that can be wiped by its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    Meta,
    State,
    Ephemeral,
}

/// Why the disk failed.
#[derive(Debug, thiserror::Error)]
#[error("failed to {what} {}", path.display())]
pub(crate) struct DiskError {
    what: &'static str,
    path: PathBuf,
    #[source]
    source: std::io::Error,
}

impl Disk {
    /// The disk in this folder.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder that stands for EPHEMERAL.
    pub(crate) fn ephemeral(&self) -> PathBuf {
        self.folder.join("ephemeral")
    }

    /// Reads META and STATE.
    pub(crate) fn read(&self) -> Result<Contents, DiskError> {
        let meta = self.meta();
        let installed = match read(&meta)? {
            None => None,
            Some(bytes) => Some(serde_json::from_slice(&bytes).map_err(|error| DiskError {
                what: "understand",
                path: meta,
                source: error.into(),
            })?),
        };
        Ok(Contents { installed, configuration: read(&self.state())? })
    }

    /// Installs Talos: writes META.
    pub(crate) fn install(&self, installed: &Installed) -> Result<(), DiskError> {
        let path = self.meta();
        let bytes = serde_json::to_vec(installed).map_err(|error| DiskError {
            what: "encode",
            path: path.clone(),
            source: error.into(),
        })?;
        write(&path, &bytes)
    }

    /// Writes the configuration to STATE, readable by nobody else.
    pub(crate) fn store_configuration(&self, configuration: &[u8]) -> Result<(), DiskError> {
        write(&self.state(), configuration)
    }

    /// Wipes a partition.
    pub(crate) fn wipe(&self, volume: Volume) -> Result<(), DiskError> {
        let path = match volume {
            Volume::Meta => self.folder.join("meta"),
            Volume::State => self.folder.join("state"),
            Volume::Ephemeral => self.ephemeral(),
        };
        match std::fs::remove_dir_all(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(DiskError { what: "wipe", path, source }),
        }
    }

    /// Puts etcd data of an earlier cluster on EPHEMERAL.
    pub(crate) fn put_foreign_etcd_data(&self) -> Result<(), DiskError> {
        let text = b"data of an earlier cluster";
        write(&self.ephemeral().join("etcd/member/snap/db"), text)
    }

    /// Whether etcd's data folder on EPHEMERAL holds nothing.
    pub(crate) fn etcd_data_is_empty(&self) -> bool {
        let folder = self.ephemeral().join("etcd");
        std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
    }

    fn meta(&self) -> PathBuf {
        self.folder.join("meta/installed.json")
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state/config.yaml")
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DiskError { what: "read", path: path.to_owned(), source }),
    }
}

/// Writes by way of a new file, so that a killed simulator leaves the old content or the new.
fn write(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let failed = |source| DiskError { what: "write", path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    let new = path.with_extension("new");
    let mut file = std::fs::File::options();
    let mut file = file.create(true).truncate(true).write(true).mode(0o600).open(&new).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn installed() -> Installed {
        Installed { disk: "sda".to_owned(), version: TalosVersion::default(), schematic: None }
    }

    #[test]
    fn wiping_state_keeps_what_boots_and_the_data() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::new(folder.path().join("a"));
        assert!(disk.read().unwrap() == Contents::default());
        disk.install(&installed()).unwrap();
        disk.store_configuration(b"version: v1alpha1\n").unwrap();
        disk.put_foreign_etcd_data().unwrap();
        disk.wipe(Volume::State).unwrap();
        let contents = disk.read().unwrap();
        assert_eq!(contents.installed, Some(installed()));
        assert_eq!(contents.configuration, None);
        assert!(!disk.etcd_data_is_empty());
        disk.wipe(Volume::Ephemeral).unwrap();
        assert!(disk.etcd_data_is_empty());
    }
}
