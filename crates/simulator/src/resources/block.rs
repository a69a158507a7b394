//! Disks, what is on them, and Talos' own volumes.

use serde_json::json;
use talos_api::resource::block::{DiscoveredVolumeSpec, DiskSpec, SystemDiskSpec, VolumeStatusSpec};
use talos_api::resource::enums::{BlockVolumePhase, BlockVolumeType};

use super::{Resource, Spec};
use crate::world::{Disk, Partition, Size, Transport};

/// Size of the read-only image that Talos itself runs from, as recorded.
const SYSTEM_IMAGE_SIZE: Size = Size::of_bytes(83_886_080);

/// Talos' partitions as its installer lays them out; the last one takes what is left of the disk.
const TALOS_PARTITIONS: [(&str, &str, Size); 6] = [
    ("EFI", "vfat", Size::of_bytes(105 << 20)),
    ("BIOS", "", Size::of_bytes(1 << 20)),
    ("BOOT", "xfs", Size::of_bytes(1000 << 20)),
    ("META", "talosmeta", Size::of_bytes(1 << 20)),
    ("STATE", "xfs", Size::of_bytes(100 << 20)),
    ("EPHEMERAL", "xfs", Size::of_bytes(0)),
];

/// The loop device of the running system, and the machine's disks.
pub(crate) fn disks(disks: &[Disk]) -> Vec<Resource> {
    let mut system = Disk::blank("loop0", SYSTEM_IMAGE_SIZE);
    (system.transport, system.model, system.read_only) = (Transport::None, String::new(), true);
    std::iter::once(&system).chain(disks).map(disk).collect()
}

/// What is found on the disks: each disk, and its partitions. `installed` names the disk that Talos is on.
pub(crate) fn discovered_volumes(disks: &[Disk], installed: Option<&str>) -> Vec<Resource> {
    disks
        .iter()
        .flat_map(|disk| {
            let partitions = if installed == Some(disk.name.as_str()) {
                talos_partitions(disk.size)
            } else {
                disk.partitions.clone()
            };
            let whole = discovered_disk(disk, !partitions.is_empty());
            let parts =
                partitions.iter().enumerate().map(|(index, part)| discovered_partition(disk, index, part));
            std::iter::once(whole).chain(parts).collect::<Vec<_>>()
        })
        .collect()
}

/// The disk that Talos runs from; it exists once Talos is installed.
pub(crate) fn system_disk(disk: &str) -> Resource {
    let message = SystemDiskSpec { disk_id: disk.to_owned(), dev_path: format!("/dev/{disk}") };
    let value = json!({"diskID": message.disk_id, "devPath": message.dev_path});
    let spec = Spec::new(&message, &value);
    Resource::new("SystemDisks.block.talos.dev", "system-disk", "block.SystemDiskController", spec)
}

/// Talos' volumes META, STATE and EPHEMERAL: ready on an installed machine, else missing or waiting.
pub(crate) fn volumes(disks: &[Disk], installed: Option<&str>, configured: bool) -> Vec<Resource> {
    let disk = installed.and_then(|name| disks.iter().find(|disk| disk.name == name));
    ["META", "STATE", "EPHEMERAL"]
        .into_iter()
        .map(|id| match disk {
            Some(disk) if id == "META" || configured => volume(id, Some(disk)),
            Some(_) | None => volume(id, None),
        })
        .collect()
}

/// Talos' partitions on a disk of this size.
fn talos_partitions(disk: Size) -> Vec<Partition> {
    let mut left = disk.bytes();
    TALOS_PARTITIONS
        .iter()
        .map(|(label, filesystem, size)| {
            let size = if size.bytes() == 0 { left } else { size.bytes().min(left) };
            left -= size;
            Partition {
                label: (*label).to_owned(),
                filesystem: (*filesystem).to_owned(),
                size: Size::of_bytes(size),
            }
        })
        .collect()
}

fn disk(disk: &Disk) -> Resource {
    let message = DiskSpec {
        size: disk.size.bytes(),
        io_size: 512,
        sector_size: 512,
        readonly: disk.read_only,
        model: disk.model.clone(),
        serial: disk.serial.clone(),
        wwid: disk.wwid.clone(),
        bus_path: disk.bus_path.clone(),
        sub_system: "/sys/class/block".to_owned(),
        transport: disk.transport.as_str().to_owned(),
        rotational: disk.rotational,
        cdrom: disk.cdrom,
        dev_path: disk.path(),
        pretty_size: disk.size.pretty(),
        ..DiskSpec::default()
    };
    let mut value = json!({
        "dev_path": message.dev_path,
        "size": message.size,
        "pretty_size": message.pretty_size,
        "io_size": message.io_size,
        "sector_size": message.sector_size,
        "readonly": message.readonly,
        "cdrom": message.cdrom,
    });
    // What the disk doesn't tell is left out.
    if let Some(fields) = value.as_object_mut() {
        let told = [
            ("model", &message.model),
            ("serial", &message.serial),
            ("wwid", &message.wwid),
            ("bus_path", &message.bus_path),
            ("sub_system", &message.sub_system),
            ("transport", &message.transport),
        ];
        for (key, text) in told.into_iter().filter(|(_, text)| !text.is_empty()) {
            fields.insert(key.to_owned(), json!(text));
        }
        if message.rotational {
            fields.insert("rotational".to_owned(), json!(true));
        }
    }
    // Talos' disks have no owner in its own record.
    Resource::new("Disks.block.talos.dev", disk.name.as_str(), "", Spec::new(&message, &value))
}

fn discovered_disk(disk: &Disk, partitioned: bool) -> Resource {
    let message = DiscoveredVolumeSpec {
        size: disk.size.bytes(),
        sector_size: 512,
        io_size: 512,
        name: if partitioned { "gpt".to_owned() } else { String::new() },
        r#type: "disk".to_owned(),
        device_path: disk.bus_path.clone(),
        dev_path: disk.path(),
        pretty_size: disk.size.pretty(),
        ..DiscoveredVolumeSpec::default()
    };
    discovered(&disk.name, &message)
}

fn discovered_partition(disk: &Disk, index: usize, partition: &Partition) -> Resource {
    // Devices whose name ends in a digit put a `p` before the partition's number.
    let separator = if disk.name.ends_with(|last: char| last.is_ascii_digit()) { "p" } else { "" };
    let name = format!("{}{separator}{}", disk.name, index + 1);
    let message = DiscoveredVolumeSpec {
        size: partition.size.bytes(),
        sector_size: 512,
        io_size: 512,
        name: partition.filesystem.clone(),
        partition_label: partition.label.clone(),
        partition_index: index as u64 + 1,
        r#type: "partition".to_owned(),
        parent: disk.name.clone(),
        dev_path: format!("/dev/{name}"),
        parent_dev_path: disk.path(),
        pretty_size: partition.size.pretty(),
        ..DiscoveredVolumeSpec::default()
    };
    discovered(&name, &message)
}

fn discovered(id: &str, message: &DiscoveredVolumeSpec) -> Resource {
    let value = json!({
        "type": message.r#type,
        "device_path": message.device_path,
        "parent": message.parent,
        "dev_path": message.dev_path,
        "parent_dev_path": message.parent_dev_path,
        "size": message.size,
        "pretty_size": message.pretty_size,
        "sector_size": message.sector_size,
        "io_size": message.io_size,
        "name": message.name,
        "partition_label": message.partition_label,
        "partition_index": message.partition_index,
    });
    Resource::new(
        "DiscoveredVolumes.block.talos.dev",
        id,
        "block.DiscoveryController",
        Spec::new(message, &value),
    )
}

fn volume(id: &str, disk: Option<&Disk>) -> Resource {
    let (phase, word) = match disk {
        Some(_) => (BlockVolumePhase::VolumePhaseReady, "ready"),
        None if id == "META" => (BlockVolumePhase::VolumePhaseMissing, "missing"),
        None => (BlockVolumePhase::VolumePhaseWaiting, "waiting"),
    };
    let mut message = VolumeStatusSpec {
        phase: phase.into(),
        r#type: BlockVolumeType::VolumeTypePartition.into(),
        ..VolumeStatusSpec::default()
    };
    if let Some(disk) = disk {
        let partitions = talos_partitions(disk.size);
        let found = partitions.iter().position(|partition| partition.label == id).unwrap_or_default();
        message.parent_location = disk.path();
        message.partition_index = found as i64 + 1;
        message.size = partitions.get(found).map_or(0, |partition| partition.size.bytes());
        message.location = format!("{}{}", disk.path(), found + 1);
        message.pretty_size = Size::of_bytes(message.size).pretty();
    }
    let value = json!({
        "phase": word,
        "type": "partition",
        "location": message.location,
        "parentLocation": message.parent_location,
        "partitionIndex": message.partition_index,
        "size": message.size,
        "prettySize": message.pretty_size,
    });
    Resource::new(
        "VolumeStatuses.block.talos.dev",
        id,
        "block.VolumeManagerController",
        Spec::new(&message, &value),
    )
}
