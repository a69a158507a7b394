//! The stages of a machine.

use serde::{Deserialize, Serialize};

/// In which stage a machine is; except for `Off` the words are Talos' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// No power.
    Off,
    /// Firmware, kernel, services.
    Booting,
    /// Talos is written to the disk.
    Installing,
    /// Waits for a configuration.
    Maintenance,
    /// All services are up.
    Running,
    /// Goes down and comes back.
    Rebooting,
    /// Goes down and stays.
    ShuttingDown,
    /// Wipes partitions.
    Resetting,
    /// Writes another version to the disk.
    Upgrading,
}

impl Stage {
    /// As Talos prints it in YAML.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Booting => "booting",
            Self::Installing => "installing",
            Self::Maintenance => "maintenance",
            Self::Running => "running",
            Self::Rebooting => "rebooting",
            Self::ShuttingDown => "shutting down",
            Self::Resetting => "resetting",
            Self::Upgrading => "upgrading",
        }
    }
}
