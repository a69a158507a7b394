//! The world file: which machines are simulated, and what they are like.
//!
//! YAML; unknown keys are refused, sizes are written as `64GiB`, durations as `500ms` or `2m 30s`.
//! Relative folders are taken from the folder of the world file. `docs/simulator.md` is the manual.

mod disk;
mod machine;
mod size;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

pub use disk::{Disk, Partition, Transport};
pub(crate) use machine::hexadecimal;
pub use machine::{InvalidTalosVersion, Link, LinkKind, MacAddress, Machine, TalosVersion};
pub use size::{InvalidSize, Size};

use crate::control::PodFate;
use crate::kubernetes::Workload;

/// Everything a simulator is started with.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct World {
    /// Folder in which machines keep their disks (a folder each) and the control socket stands.
    /// Default: `kontinuum/simulator` in `$XDG_STATE_HOME` (else `~/.local/state`).
    pub data: Option<PathBuf>,
    /// Folder of the lab, whose `bin/` holds etcd, kube-apiserver and the others. Default: `$KONTINUUM_LAB`,
    /// else `kontinuum/lab` in `$XDG_CACHE_HOME` (else `~/.cache`).
    pub lab: Option<PathBuf>,
    /// What happens to the pods of workloads, in all clusters; those not named are healthy.
    #[serde(default)]
    pub fates: Vec<WorkloadFate>,
    /// The machines.
    pub machines: Vec<Machine>,
}

/// What happens to the pods of a workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadFate {
    /// The workload, written `NAMESPACE/NAME`: the controller that owns the pods, or a pod without one.
    #[serde(deserialize_with = "workload")]
    pub workload: Workload,
    /// What happens.
    pub fate: PodFate,
}

/// Why a world is not accepted.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The file cannot be read.
    #[error("failed to read world file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The text is not a world: wrong YAML, an unknown key, a wrong value.
    #[error("failed to understand the world")]
    Malformed(#[source] Box<serde_saphyr::Error>),
    /// Nothing to simulate.
    #[error("expected at least one machine under `machines`")]
    NoMachines,
    /// Two machines cannot be told apart.
    #[error("expected machine {machine} to have a {what} of its own, but {value} is taken")]
    Taken {
        /// The second machine.
        machine: String,
        /// What clashes: a name or an address.
        what: &'static str,
        /// The clashing value.
        value: String,
    },
    /// A machine contradicts itself.
    #[error("expected {expected} for machine {machine}")]
    Machine {
        /// The machine.
        machine: String,
        /// What was expected, and what came.
        expected: String,
    },
    /// Neither `data` nor a home folder says where to keep things.
    #[error("expected `data` in the world file, or HOME or XDG_STATE_HOME in the environment")]
    NoDataFolder,
}

impl World {
    /// Reads and checks a world file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a valid world.
    pub fn read(path: &Path) -> Result<Self, WorldError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| WorldError::Unreadable { path: path.to_owned(), source })?;
        let mut world = Self::parse(&text)?;
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        for own in [&mut world.data, &mut world.lab].into_iter().flatten() {
            *own = folder.join(&*own);
        }
        Ok(world)
    }

    /// Understands and checks the text of a world file.
    ///
    /// # Errors
    /// When the text is not a valid world.
    pub fn parse(text: &str) -> Result<Self, WorldError> {
        let world: Self =
            serde_saphyr::from_str(text).map_err(|error| WorldError::Malformed(Box::new(error)))?;
        world.check()?;
        Ok(world)
    }

    /// A world of these machines, with default folders.
    #[must_use]
    pub fn of(machines: Vec<Machine>) -> Self {
        Self { data: None, lab: None, fates: Vec::new(), machines }
    }

    /// Checks what types alone cannot hold: names and addresses are unique, machines consistent.
    ///
    /// # Errors
    /// The first contradiction found.
    pub fn check(&self) -> Result<(), WorldError> {
        if self.machines.is_empty() {
            return Err(WorldError::NoMachines);
        }
        let mut names = BTreeSet::new();
        let mut listeners = BTreeSet::new();
        for machine in &self.machines {
            machine
                .check()
                .map_err(|expected| WorldError::Machine { machine: machine.name.clone(), expected })?;
            let taken =
                |what, value: String| WorldError::Taken { machine: machine.name.clone(), what, value };
            if !names.insert(&machine.name) {
                return Err(taken("name", machine.name.clone()));
            }
            if !listeners.insert(machine.listener()) {
                return Err(taken("listening address", machine.listener().to_string()));
            }
        }
        Ok(())
    }

    /// The data folder, absolute.
    ///
    /// # Errors
    /// When the world names none and there is no home folder, or no working directory.
    pub fn data_folder(&self) -> Result<PathBuf, WorldError> {
        self.data
            .clone()
            .or_else(|| {
                base_folder("XDG_STATE_HOME", ".local/state").map(|base| base.join("kontinuum/simulator"))
            })
            .and_then(|folder| std::path::absolute(folder).ok())
            .ok_or(WorldError::NoDataFolder)
    }

    /// The lab's folder: where `make lab` puts etcd, the Kubernetes programs and Talos' library.
    #[must_use]
    pub fn lab_folder(&self) -> PathBuf {
        self.lab
            .clone()
            .or_else(|| std::env::var_os("KONTINUUM_LAB").map(PathBuf::from))
            .or_else(|| base_folder("XDG_CACHE_HOME", ".cache").map(|base| base.join("kontinuum/lab")))
            .unwrap_or_else(|| PathBuf::from("lab"))
    }
}

/// Reads a workload as `NAMESPACE/NAME`.
fn workload<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Workload, D::Error> {
    let text = String::deserialize(deserializer)?;
    let (namespace, name) = text.split_once('/').ok_or_else(|| {
        serde::de::Error::custom(format!("expected the workload as NAMESPACE/NAME, but got {text:?}"))
    })?;
    Ok(Workload { namespace: namespace.to_owned(), name: name.to_owned() })
}

/// The folder named by an XDG variable, else the given one in the home folder.
fn base_folder(variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    named.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(in_home)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_name_and_an_address_make_a_machine() {
        let world = World::parse("machines: [{name: a, addresses: [127.0.10.11]}]").unwrap();
        let machine = &world.machines[0];
        assert_eq!(machine.listener().to_string(), "127.0.10.11:50000");
        assert_eq!(machine.talos_version.to_string(), "v1.13.9");
        assert_eq!(machine.disks().len(), 1);
        assert_eq!(machine.uuid().len(), 36);
    }

    #[test]
    fn an_unknown_key_is_refused_by_its_name() {
        let error =
            World::parse("machines: [{name: a, addresses: [127.0.10.11], memroy: 4GiB}]").unwrap_err();
        let WorldError::Malformed(cause) = error else { panic!("{error:?}") };
        assert!(cause.to_string().contains("memroy"), "{cause}");
    }

    #[test]
    fn machines_share_neither_name_nor_listening_address() {
        let named = World::parse(
            "machines: [{name: a, addresses: [127.0.10.11]}, {name: a, addresses: [127.0.10.12]}]",
        );
        assert!(matches!(named, Err(WorldError::Taken { what: "name", .. })), "{named:?}");
        let listening = World::parse(
            "machines: [{name: a, addresses: [127.0.10.11]}, {name: b, addresses: [127.0.10.11]}]",
        );
        assert!(
            matches!(listening, Err(WorldError::Taken { what: "listening address", .. })),
            "{listening:?}"
        );
    }

    #[test]
    fn pods_have_fates_by_their_workload() {
        let text = "machines: [{name: a, addresses: [127.0.10.11]}]\nfates:\n- {workload: kube-system/cilium, fate: never-ready}\n- {workload: x/y, fate: {crash-loop: {exit_code: 3}}}\n";
        let world = World::parse(text).unwrap();
        assert_eq!(world.fates[0].workload.name, "cilium");
        assert_eq!(world.fates[1].fate, PodFate::CrashLoop { exit_code: 3 });
        assert!(World::parse(&text.replace("x/y", "xy")).is_err());
    }

    #[test]
    fn merge_keys_spare_repetition() {
        let world = World::parse(
            "machines:\n- &node {name: a, addresses: [127.0.10.11], memory: 8GiB}\n- {<<: *node, name: b, addresses: [127.0.10.12]}\n",
        )
        .unwrap();
        assert_eq!(world.machines[1].name, "b");
        assert_eq!(world.machines[1].memory.bytes(), 8 << 30);
    }
}
