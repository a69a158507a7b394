//! A machine: what its owner says of it, and what it said of itself when it was discovered.

use serde::{Deserialize, Serialize};

use super::names::Address;

/// A network link of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The kernel's name, for example `eth0`.
    pub name: String,
    /// The hardware address, six lower-case pairs with colons.
    pub mac_address: String,
    /// Its addresses as prefixes, for example `10.0.0.11/24`.
    pub addresses: Vec<String>,
}

/// A disk of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Disk {
    /// The kernel's name, for example `sda`.
    pub name: String,
    /// The device, for example `/dev/sda`.
    pub device_path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The model, when the disk tells one.
    pub model: String,
    /// The serial number, when the disk tells one.
    pub serial: String,
    /// The World Wide Identifier, when the disk tells one.
    pub wwid: String,
    /// How it is attached, for example `nvme` or `sata`.
    pub transport: String,
    /// Where it is attached, as Talos names it.
    pub bus_path: String,
    /// Whether it spins.
    pub rotational: bool,
    /// Whether it can't be written (an optical drive, a locked card).
    pub read_only: bool,
    /// What stands on it now, when Talos tells: a file system or partition table that isn't Talos'.
    pub foreign_content: Option<String>,
}

/// What a machine says of itself in Talos' maintenance mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The candidate address that answered.
    pub address: Address,
    /// The version of the running Talos, for example `v1.13.9`.
    pub talos_version: String,
    /// The SMBIOS UUID; empty when the firmware has none.
    pub uuid: String,
    /// The SMBIOS serial number; empty when the firmware has none.
    pub serial_number: String,
    /// Physical links.
    pub links: Vec<Link>,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Processors' cores over all sockets.
    pub processor_count: u64,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Whether it was booted by secure boot.
    pub secure_boot: bool,
    /// The image factory's schematic of the running image; empty when there is none.
    pub schematic: String,
}

impl Facts {
    /// What tells this machine from every other one: the SMBIOS UUID, or its sorted hardware addresses where the
    /// UUID is one of the fillers that firmware gives (all zero, all F). `None` when it has neither.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        let digits: String = self.uuid.chars().filter(char::is_ascii_hexdigit).collect();
        let filler = digits.is_empty()
            || digits.chars().all(|c| c == '0')
            || digits.chars().all(|c| c == 'f' || c == 'F');
        if !filler {
            return Some(Identity::Uuid(self.uuid.to_ascii_lowercase()));
        }
        let mut macs: Vec<String> = self
            .links
            .iter()
            .map(|link| link.mac_address.to_ascii_lowercase())
            .filter(|mac| !mac.is_empty())
            .collect();
        macs.sort();
        macs.dedup();
        if macs.is_empty() { None } else { Some(Identity::HardwareAddresses(macs)) }
    }
}

/// What tells a machine from every other one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Identity {
    /// The SMBIOS UUID.
    Uuid(String),
    /// The hardware addresses of all links, sorted.
    HardwareAddresses(Vec<String>),
}

impl std::fmt::Display for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Uuid(uuid) => write!(f, "UUID {uuid}"),
            Self::HardwareAddresses(macs) => write!(f, "hardware addresses {}", macs.join(", ")),
        }
    }
}

/// Which disk Talos is installed on: exactly one disk must match all that is given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InstallDisk {
    /// The device path, for example `/dev/nvme0n1`.
    pub path: Option<String>,
    /// The serial number.
    pub serial: Option<String>,
    /// The World Wide Identifier.
    pub wwid: Option<String>,
    /// The model; `*` stands for any characters.
    pub model: Option<String>,
    /// The size: a number of bytes with `==`, `>=`, `<=`, `>` or `<` before it and a unit after it, as in `>= 100GB`.
    pub size: Option<String>,
    /// The transport, for example `nvme`.
    #[serde(rename = "type")]
    pub transport: Option<String>,
    /// The bus path; `*` stands for any characters.
    pub bus_path: Option<String>,
    /// Whether a disk that holds a foreign system may be overwritten.
    pub overwrite: bool,
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn facts(uuid: &str, macs: &[&str]) -> Facts {
        let links = macs
            .iter()
            .map(|mac| Link { name: "eth0".into(), mac_address: (*mac).into(), addresses: vec![] })
            .collect();
        Facts {
            address: Address::parse("10.0.0.1").unwrap(),
            talos_version: "v1.13.9".into(),
            uuid: uuid.into(),
            serial_number: String::new(),
            links,
            disks: vec![],
            processor_count: 1,
            memory_bytes: 1,
            secure_boot: false,
            schematic: String::new(),
        }
    }

    #[test]
    fn firmware_fillers_are_no_identity() {
        let real = "4C4C4544-0044-4810-8031-B9C04F4D3733";
        assert_eq!(facts(real, &[]).identity(), Some(Identity::Uuid(real.to_lowercase())));
        for filler in ["", "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"] {
            assert_eq!(facts(filler, &[]).identity(), None, "{filler}");
            let by_mac = facts(filler, &["0a:00:00:00:00:02", "0A:00:00:00:00:01"]).identity().unwrap();
            assert_eq!(by_mac.to_string(), "hardware addresses 0a:00:00:00:00:01, 0a:00:00:00:00:02");
        }
    }
}
