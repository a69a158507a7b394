//! One machine of the world.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use ipnet::IpNet;
use jiff::SignedDuration;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use super::{Disk, Size};
use crate::fault::Fault;

/// The port of Talos' API on every machine unless the world says otherwise.
pub(crate) const TALOS_PORT: u16 = 50000;

/// A machine as it stands in the rack: what it is made of, and how long it takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Name in the simulator: a DNS label. Nothing of it shows on the machine unless `hostname` is given.
    pub name: String,
    /// Addresses; the first is where the machine listens.
    pub addresses: Vec<IpAddr>,
    /// Port of Talos' API. Real machines know only 50000.
    #[serde(default = "default_port")]
    pub port: u16,
    /// Host name that the network (DHCP) gives, if any.
    pub hostname: Option<String>,
    /// Talos that it boots before anything is installed.
    #[serde(default)]
    pub talos_version: TalosVersion,
    /// SMBIOS UUID. Default: derived from the name.
    pub uuid: Option<String>,
    /// SMBIOS serial number. Default: derived from the name.
    pub serial_number: Option<String>,
    /// Network links. Default: one, `eth0`, with all addresses and a MAC derived from the name.
    #[serde(default)]
    pub links: Vec<Link>,
    /// Disks. Default: one blank disk `sda` of 64 GiB.
    #[serde(default)]
    pub disks: Vec<Disk>,
    /// Number of processor cores. Default: 4.
    #[serde(default = "default_processors")]
    pub processors: u32,
    /// Memory. Default: 8 GiB.
    #[serde(default = "default_memory")]
    pub memory: Size,
    /// From power-on, or reboot, to the answering API. Default: 200 ms; `0s` is allowed.
    #[serde(default = "default_time")]
    pub boot_time: SignedDuration,
    /// From the accepted configuration to the reboot after installation. Default: 200 ms; `0s` is allowed.
    #[serde(default = "default_time")]
    pub install_time: SignedDuration,
    /// Booted with secure boot.
    #[serde(default)]
    pub secure_boot: bool,
    /// Image factory schematic of the booted image (64 hexadecimal digits), if it came from there.
    pub schematic: Option<String>,
    /// Whether the machine is on when the simulator starts. Default: true.
    #[serde(default = "default_powered")]
    pub powered: bool,
    /// Faults from the beginning.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// A network link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Kernel name, e.g. `eth0`.
    pub name: String,
    /// MAC address, e.g. `02:00:00:00:00:01`.
    pub mac: MacAddress,
    /// What it is. Default: physical.
    #[serde(default)]
    pub kind: LinkKind,
    /// Whether it has a carrier. Default: true.
    #[serde(default = "default_powered")]
    pub up: bool,
    /// Addresses with their prefix lengths, besides the machine's own addresses, which the first physical link has.
    #[serde(default)]
    pub addresses: Vec<IpNet>,
}

/// What kind of link it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// A network card.
    #[default]
    Physical,
    /// A bond of links.
    Bond,
    /// A bridge.
    Bridge,
    /// A VLAN on another link.
    Vlan,
    /// A dummy link of the kernel.
    Dummy,
}

/// A MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacAddress(pub [u8; 6]);

/// A Talos version that the simulator plays: 1.12 or 1.13, whose behaviour differs where Talos' does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TalosVersion {
    /// 12 or 13.
    minor: u16,
    /// The patch release.
    patch: u16,
}

/// A text that names no version the simulator plays.
#[derive(Debug, thiserror::Error)]
#[error("expected a Talos version v1.12.x or v1.13.x, but got {0:?}")]
pub struct InvalidTalosVersion(String);

impl Machine {
    /// A machine with one address and defaults for all else.
    #[must_use]
    pub fn new(name: &str, address: IpAddr) -> Self {
        Self {
            name: name.to_owned(),
            addresses: vec![address],
            port: TALOS_PORT,
            hostname: None,
            talos_version: TalosVersion::default(),
            uuid: None,
            serial_number: None,
            links: Vec::new(),
            disks: Vec::new(),
            processors: default_processors(),
            memory: default_memory(),
            boot_time: default_time(),
            install_time: default_time(),
            secure_boot: false,
            schematic: None,
            powered: true,
            faults: Vec::new(),
        }
    }

    /// Where it listens. A world without addresses doesn't pass its check.
    #[must_use]
    pub fn listener(&self) -> SocketAddr {
        let address = self.addresses.first().copied().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        SocketAddr::new(address, self.port)
    }

    /// Its links, by default one.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        if !self.links.is_empty() {
            return self.links.clone();
        }
        let digest = self.digest("mac");
        // 02: locally administered, unicast.
        let mac = MacAddress([0x02, digest[0], digest[1], digest[2], digest[3], digest[4]]);
        let kind = LinkKind::Physical;
        vec![Link { name: "eth0".to_owned(), mac, kind, up: true, addresses: Vec::new() }]
    }

    /// Its disks, by default one.
    #[must_use]
    pub fn disks(&self) -> Vec<Disk> {
        if !self.disks.is_empty() {
            return self.disks.clone();
        }
        let digest = self.digest("disk");
        let mut disk = Disk::blank("sda", Size::of_gibibytes(64));
        disk.serial = hexadecimal(&digest[..6]).to_uppercase();
        disk.wwid = format!("naa.5{}", &hexadecimal(&digest[6..14])[..15]);
        vec![disk]
    }

    /// Its SMBIOS UUID.
    #[must_use]
    pub fn uuid(&self) -> String {
        self.uuid.clone().unwrap_or_else(|| {
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&self.digest("uuid")[..16]);
            uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
        })
    }

    /// Its SMBIOS serial number.
    #[must_use]
    pub fn serial_number(&self) -> String {
        let derived = || hexadecimal(&self.digest("serial")[..6]).to_uppercase();
        self.serial_number.clone().unwrap_or_else(derived)
    }

    /// Checks that the machine doesn't contradict itself; an error says what was expected and what came.
    pub(super) fn check(&self) -> Result<(), String> {
        let label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let edge = |byte: Option<&u8>| byte.is_some_and(|byte| *byte != b'-');
        let name = self.name.as_bytes();
        if name.len() > 63 || !name.iter().copied().all(label) || !edge(name.first()) || !edge(name.last()) {
            return Err(format!("a DNS label as name, not {:?},", self.name));
        }
        if self.addresses.is_empty() {
            return Err("at least one address".to_owned());
        }
        for (what, duration) in [("boot_time", self.boot_time), ("install_time", self.install_time)] {
            if duration.is_negative() {
                return Err(format!("a {what} of zero or more, not {duration},"));
            }
        }
        let mut names: Vec<_> = self.disks.iter().map(|disk| &disk.name).collect();
        names.sort();
        names.dedup();
        if names.len() != self.disks.len() {
            return Err("disks with different names".to_owned());
        }
        Ok(())
    }

    /// Stable bytes of the machine's own for one purpose.
    fn digest(&self, purpose: &str) -> [u8; 32] {
        Sha256::digest(format!("{purpose}/{}", self.name)).into()
    }
}

impl TalosVersion {
    /// The version `v1.<minor>.<patch>` if it is one that the simulator plays.
    #[must_use]
    pub const fn new(minor: u16, patch: u16) -> Option<Self> {
        if minor == 12 || minor == 13 { Some(Self { minor, patch }) } else { None }
    }

    /// From 1.13 on apid itself serves maintenance mode; before, a small server inside machined does.
    #[must_use]
    pub const fn apid_in_maintenance(self) -> bool {
        self.minor >= 13
    }

    /// The health check leaves out what needs a CNI where there is none (from 1.13 on).
    #[must_use]
    pub const fn health_check_knows_no_cni(self) -> bool {
        self.minor >= 13
    }
}

impl Default for TalosVersion {
    fn default() -> Self {
        Self { minor: 13, patch: 9 }
    }
}

impl std::fmt::Display for TalosVersion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "v1.{}.{}", self.minor, self.patch)
    }
}

impl std::str::FromStr for TalosVersion {
    type Err = InvalidTalosVersion;

    fn from_str(text: &str) -> Result<Self, InvalidTalosVersion> {
        let parts =
            text.strip_prefix('v').unwrap_or(text).strip_prefix("1.").and_then(|rest| rest.split_once('.'));
        parts
            .and_then(|(minor, patch)| Self::new(minor.parse().ok()?, patch.parse().ok()?))
            .ok_or_else(|| InvalidTalosVersion(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for TalosVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for TalosVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::fmt::Display for MacAddress {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(formatter, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

impl<'de> Deserialize<'de> for MacAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let parsed: Option<Vec<u8>> = text
            .split(':')
            .map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2))
            .collect();
        parsed.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "expected a MAC address such as 02:00:00:00:00:01, but got {text:?}"
            ))
        })
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const fn default_port() -> u16 {
    TALOS_PORT
}

const fn default_processors() -> u32 {
    4
}

const fn default_memory() -> Size {
    Size::of_gibibytes(8)
}

const fn default_time() -> SignedDuration {
    SignedDuration::from_millis(200)
}

const fn default_powered() -> bool {
    true
}
