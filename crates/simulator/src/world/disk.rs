//! Disks of a machine, and what is on them before Talos is.

use serde::Deserialize;

use super::Size;

/// A block device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Kernel name, e.g. `sda`; the device path is `/dev/<name>`.
    pub name: String,
    /// Default: 64 GiB.
    #[serde(default = "default_size")]
    pub size: Size,
    /// Model as the disk tells it.
    #[serde(default)]
    pub model: String,
    /// Serial number.
    #[serde(default)]
    pub serial: String,
    /// World-wide identifier, e.g. `naa.5000c500a1b2c3d4`.
    #[serde(default)]
    pub wwid: String,
    /// How the disk is attached; `none` for a loop device.
    #[serde(default)]
    pub transport: Transport,
    /// A spinning disk.
    #[serde(default)]
    pub rotational: bool,
    /// Write-protected.
    #[serde(default)]
    pub read_only: bool,
    /// An optical drive.
    #[serde(default)]
    pub cdrom: bool,
    /// Path on the bus, e.g. `/pci0000:00/0000:00:1f.2/ata1`.
    #[serde(default)]
    pub bus_path: String,
    /// What is on the disk in the beginning: another system, or data. Empty: a blank disk.
    #[serde(default)]
    pub partitions: Vec<Partition>,
}

/// A partition of a GUID partition table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// Label in the partition table.
    #[serde(default)]
    pub label: String,
    /// File system, e.g. `ext4`; empty when none is recognised.
    #[serde(default)]
    pub filesystem: String,
    /// Size.
    pub size: Size,
}

/// How a disk is attached. Talos writes it in lower case and leaves it out for loop devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Not attached to a bus: loop and RAM devices.
    None,
    /// Serial ATA.
    #[default]
    Sata,
    /// NVMe.
    Nvme,
    /// Virtio.
    Virtio,
    /// Serial attached SCSI.
    Sas,
    /// USB.
    Usb,
    /// SD cards and eMMC.
    Mmc,
}

impl Disk {
    /// A blank SATA disk.
    #[must_use]
    pub fn blank(name: &str, size: Size) -> Self {
        Self {
            name: name.to_owned(),
            size,
            model: "SIMULATED DISK".to_owned(),
            serial: String::new(),
            wwid: String::new(),
            transport: Transport::Sata,
            rotational: false,
            read_only: false,
            cdrom: false,
            bus_path: String::new(),
            partitions: Vec::new(),
        }
    }

    /// The device's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/dev/{}", self.name)
    }
}

impl Transport {
    /// As Talos writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Sata => "sata",
            Self::Nvme => "nvme",
            Self::Virtio => "virtio",
            Self::Sas => "sas",
            Self::Usb => "usb",
            Self::Mmc => "mmc",
        }
    }
}

const fn default_size() -> Size {
    Size::of_gibibytes(64)
}
