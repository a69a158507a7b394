//! What a change of a running machine's configuration comes to: what Talos does with it in mode AUTO.
//!
//! Up to 1.13 Talos has a list of keys that it changes in the running machine; if anything else differs in the main
//! document it stores the configuration and reboots. From 1.14 on it never reboots for a configuration.

use std::fmt;

use super::difference::{Change, Difference, Step, path};
use super::schema::{Field, Kind, MAIN};
use crate::domain::version::Version;

/// What Talos does with a changed configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Application {
    /// Nothing differs.
    Nothing,
    /// Everything changes in the running machine.
    Live,
    /// The machine reboots.
    Reboot {
        /// The keys that need it, each once.
        paths: Vec<String>,
        /// The keys that have no effect even after the reboot, before Talos' installer runs again.
        after_reinstall: Vec<String>,
    },
    /// Talos takes the change without a reboot, but some of it has no effect before Talos' installer runs again.
    AfterReinstall {
        /// The keys that have none.
        paths: Vec<String>,
    },
}

/// When a change of a single key has its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// At once.
    Live,
    /// After a reboot.
    Reboot,
    /// When Talos' installer runs again: in a new installation, for boot settings in an upgrade too.
    Reinstall,
}

/// How the user wants changes to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    /// Live where Talos can, else by a reboot.
    Auto,
    /// Live or not at all.
    NoReboot,
    /// Stored, and used from the next boot on, whenever that is.
    Staged,
}

/// Why a change cannot be applied in mode `no_reboot`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "apply_mode is \"no_reboot\", but Talos takes a change of {} only by a reboot: take the change back, or set apply_mode to \"auto\" (the machine reboots) or \"staged\" (it is used from the next boot on)",
    .paths.join(", ")
)]
pub struct NeedsReboot {
    /// The keys that need it.
    pub paths: Vec<String>,
}

/// The keys of the main document that change in a running machine.
const LIVE: [&str; 2] = ["debug", "cluster"];

/// The keys of `machine` that change in a running machine, up to Talos 1.13.
const LIVE_OF_MACHINE: [&str; 18] = [
    "ca",
    "acceptedCAs",
    "certSANs",
    "time",
    // Taken in live, but only read by the installer.
    "install",
    "network",
    "sysfs",
    "sysctls",
    "logging",
    "controlPlane",
    "kubelet",
    "kernel",
    // The containers' runtime reads new credentials only when it starts again; Talos reboots for none.
    "registries",
    "pods",
    "seccompProfiles",
    "nodeLabels",
    "nodeAnnotations",
    "nodeTaints",
];

/// The keys of `machine.features` that change in a running machine, up to Talos 1.13.
const LIVE_OF_FEATURES: [&str; 5] =
    ["kubernetesTalosAPIAccess", "kubePrism", "hostDNS", "imageCache", "nodeAddressSortAlgorithm"];

/// The first minor version of Talos 1 that applies every change live.
const ALWAYS_LIVE_SINCE: u64 = 14;

/// What a machine that runs a Talos version does with a difference.
#[must_use]
pub fn how(difference: &Difference, talos: &Version) -> Application {
    if difference.is_empty() {
        return Application::Nothing;
    }
    let (mut reboot, mut after_reinstall) = (Vec::new(), Vec::new());
    for change in difference.changes() {
        let (effect, depth) = effect(change);
        let paths = match effect {
            Effect::Live => continue,
            Effect::Reboot if is_always_live(talos) => continue,
            Effect::Reboot => &mut reboot,
            Effect::Reinstall => &mut after_reinstall,
        };
        let place = path(&change.steps[..depth.min(change.steps.len())]);
        if !paths.contains(&place) {
            paths.push(place);
        }
    }
    match (reboot.is_empty(), after_reinstall.is_empty()) {
        (true, true) => Application::Live,
        (true, false) => Application::AfterReinstall { paths: after_reinstall },
        (false, _) => Application::Reboot { paths: reboot, after_reinstall },
    }
}

/// Whether changes may be applied in a mode.
///
/// # Errors
/// Changes that need a reboot where the mode allows none.
pub fn allows(mode: ApplyMode, application: &Application) -> Result<(), NeedsReboot> {
    match (mode, application) {
        (ApplyMode::NoReboot, Application::Reboot { paths, .. }) => Err(NeedsReboot { paths: paths.clone() }),
        (ApplyMode::Auto | ApplyMode::NoReboot | ApplyMode::Staged, _) => Ok(()),
    }
}

/// When a change of each key of the main document has its effect, up to Talos 1.13: of the keys of its sections and of
/// `machine.features`, in the order in which Talos writes them. Other documents change live.
#[must_use]
pub fn effects() -> Vec<(String, Effect)> {
    let mut effects = Vec::new();
    for (keys, fields) in sections() {
        for field in fields {
            let keys: Vec<&str> = keys.iter().copied().chain([field.key]).collect();
            let is_section = sections().iter().any(|(known, _)| *known == keys);
            if !is_section {
                effects.push((keys.join("."), effect_of(&keys).0));
            }
        }
    }
    effects
}

/// The sections whose keys are told apart.
fn sections() -> Vec<(Vec<&'static str>, &'static [Field])> {
    let mut sections: Vec<(Vec<&'static str>, &'static [Field])> = vec![(Vec::new(), MAIN.fields)];
    for keys in [&["machine"][..], &["machine", "features"], &["cluster"]] {
        let fields = keys.iter().try_fold(MAIN.fields, |fields, key| {
            match fields.iter().find(|field| field.key == *key).map(|field| &field.kind) {
                Some(Kind::Struct(fields)) => Some(*fields),
                _ => None,
            }
        });
        sections.extend(fields.map(|fields| (keys.to_vec(), fields)));
    }
    sections
}

/// The effect of one change, and how many of its steps name the key that decides it.
fn effect(change: &Change) -> (Effect, usize) {
    if !change.kind.is_empty() {
        return (Effect::Live, change.steps.len());
    }
    let keys: Vec<&str> = change
        .steps
        .iter()
        .map_while(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Item(_) => None,
        })
        .collect();
    // Talos compares key by key only in sections that both configurations have.
    let came = change.section.filter(|depth| *depth <= 2).map(|depth| &keys[..depth.min(keys.len())]);
    match came {
        Some(section @ (["machine"] | ["machine", "features"])) => (Effect::Reboot, section.len()),
        Some([]) if keys.first() == Some(&"machine") => (Effect::Reboot, 1),
        _ => effect_of(&keys),
    }
}

/// The effect of a change at some keys of the main document, and how many of them decide it.
fn effect_of(keys: &[&str]) -> (Effect, usize) {
    let live = |is_live: bool| if is_live { Effect::Live } else { Effect::Reboot };
    match keys {
        ["machine", "install", ..] => (Effect::Reinstall, 3),
        // The section itself came or went, with nothing in it.
        ["machine", "features"] => (Effect::Reboot, 2),
        ["machine", "features", key, ..] => (live(LIVE_OF_FEATURES.contains(key)), 3),
        ["machine", key, ..] => (live(LIVE_OF_MACHINE.contains(key)), 2),
        [key, ..] => (live(LIVE.contains(key)), 1),
        [] => (Effect::Reboot, 0),
    }
}

fn is_always_live(talos: &Version) -> bool {
    (talos.major(), talos.minor()) >= (1, ALWAYS_LIVE_SINCE)
}

impl ApplyMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Auto, Self::NoReboot, Self::Staged];

    /// The word that users write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::NoReboot => "no_reboot",
            Self::Staged => "staged",
        }
    }

    /// The mode of a word; `None` for other words.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

impl fmt::Display for Application {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let later = |paths: &[String]| {
            format!("{} has no effect before Talos' installer runs again", paths.join(", "))
        };
        match self {
            Self::Nothing => formatter.write_str("nothing changes"),
            Self::Live => formatter.write_str("Talos applies it in the running machine"),
            Self::Reboot { paths, after_reinstall } => {
                write!(formatter, "Talos applies it by a reboot, for {}", paths.join(", "))?;
                if after_reinstall.is_empty() {
                    return Ok(());
                }
                write!(formatter, "; {}", later(after_reinstall))
            }
            Self::AfterReinstall { paths } => {
                write!(formatter, "Talos applies it in the running machine; {}", later(paths))
            }
        }
    }
}

#[cfg(test)]
mod tests;
