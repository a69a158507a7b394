//! What a machine in maintenance mode says of itself, as the domain's [`Facts`].

use std::net::IpAddr;

use talos_api::common::NetIpPrefix;
use talos_api::resource::block::{DiscoveredVolumeSpec, DiskSpec};
use talos_api::resource::enums::{NethelpersLinkType, NethelpersScope};
use talos_api::resource::extensions::Layer;
use talos_api::resource::network::{AddressStatusSpec, LinkStatusSpec};
use tonic::Code;

use super::deadline::CALL;
use super::error::{Error, Fault};
use super::resources::{
    ADDRESSES, DISKS, EXTENSIONS, LINKS, MEMORY_MODULES, PROCESSORS, SECURITY_STATES, SYSTEM_INFORMATION,
    VERSIONS, VOLUMES,
};
use super::session::Session;
use crate::domain::machine::{Disk, Facts, Link};
use crate::domain::names::Address;

/// The extension by which an image of the image factory names its schematic.
const SCHEMATIC: &str = "schematic";

/// Partitions that Talos makes.
const TALOS_PARTITIONS: [&str; 6] = ["EFI", "BIOS", "BOOT", "META", "STATE", "EPHEMERAL"];

/// Kinds of links that carry a machine's addresses in place of a physical one.
const CARRIERS: [&str; 4] = ["bond", "bridge", "team", "vlan"];

impl Session {
    /// The version of the running Talos, for example `v1.13.9`.
    ///
    /// Machines before Talos 1.13 refuse the method `Version` in maintenance mode, so the resource comes first.
    ///
    /// # Errors
    ///
    /// [`Fault::Malformed`] if the machine doesn't say: it runs Talos 1.9 or older.
    pub(super) async fn version(&self) -> Result<String, Error> {
        match self.get(&VERSIONS, "version").await {
            Ok(Some(version)) => return Ok(version.version),
            // Talos before 1.10 doesn't have the kind.
            Err(error) if error.code() != Some(Code::PermissionDenied) => return Err(error),
            Ok(None) | Err(_) => {}
        }
        let answer = self.call_one("Version", CALL, self.machine().version(()), |reply| reply.messages).await;
        let unknown = || {
            let text = "the machine does not say which Talos it runs: boot it with Talos 1.10 or newer";
            self.error("Version", Fault::Malformed(text.to_owned()))
        };
        match answer {
            Ok(version) => version.version.map(|version| version.tag).ok_or_else(unknown),
            Err(error) if error.code() == Some(Code::Unimplemented) => Err(unknown()),
            Err(error) => Err(error),
        }
    }

    /// Everything that the domain wants to know of a machine.
    ///
    /// # Errors
    ///
    /// The first look that failed. What this version of Talos or this machine doesn't have is empty instead.
    pub(super) async fn facts(&self, address: Address) -> Result<Facts, Error> {
        let (talos_version, system, security, processors, modules) = tokio::try_join!(
            self.version(),
            self.get(&SYSTEM_INFORMATION, "systeminformation"),
            self.get(&SECURITY_STATES, "securitystate"),
            self.list(&PROCESSORS),
            self.list(&MEMORY_MODULES),
        )?;
        let (link_statuses, addresses, disk_statuses, volumes, extensions) = tokio::try_join!(
            self.list(&LINKS),
            self.list(&ADDRESSES),
            self.list(&DISKS),
            self.list(&VOLUMES),
            self.list(&EXTENSIONS),
        )?;
        let mebibytes: u64 = modules.iter().map(|(_, module)| u64::from(module.size)).sum();
        let memory_bytes = if mebibytes == 0 { self.total_memory().await? } else { mebibytes << 20 };
        let system = system.unwrap_or_default();
        Ok(Facts {
            address,
            talos_version,
            uuid: system.uuid,
            serial_number: system.serial_number,
            links: links(&link_statuses, &addresses),
            disks: disks(disk_statuses, &volumes),
            processor_count: processors.iter().map(|(_, processor)| u64::from(processor.core_count)).sum(),
            memory_bytes,
            secure_boot: security.is_some_and(|state| state.secure_boot),
            schematic: schematic(&extensions),
        })
    }

    /// The kernel's idea of the memory, for machines whose firmware lists no modules. 0 where Talos doesn't tell
    /// (in maintenance mode before 1.13).
    async fn total_memory(&self) -> Result<u64, Error> {
        match self.call_one("Memory", CALL, self.machine().memory(()), |reply| reply.messages).await {
            Ok(memory) => Ok(memory.meminfo.map_or(0, |info| info.memtotal << 10)),
            Err(error) if error.code() == Some(Code::Unimplemented) => Ok(0),
            Err(error) => Err(error),
        }
    }
}

/// Physical links, and those that stand on them and hold addresses; with the addresses by which others can reach the
/// machine. What kind a link is and what scope an address has decide, never its name or range.
fn links(links: &[(String, LinkStatusSpec)], addresses: &[(String, AddressStatusSpec)]) -> Vec<Link> {
    let of_link = |name: &str| -> Vec<String> {
        let here = addresses.iter().filter(|(_, status)| status.link_name == name && is_routable(status));
        here.filter_map(|(_, status)| prefix(status.address.as_ref()?)).collect()
    };
    links
        .iter()
        .filter_map(|(name, status)| {
            let addresses = of_link(name);
            let ether = status.r#type == NethelpersLinkType::LinkEther as i32;
            let physical = ether && status.kind.is_empty();
            let carries = CARRIERS.contains(&status.kind.as_str()) && !addresses.is_empty();
            // A member of a bond shows the bond's address as its own; the permanent one stays.
            let mac = [&status.permanent_addr, &status.hardware_addr].into_iter().find(|mac| !mac.is_empty());
            (physical || carries).then(|| Link {
                name: name.clone(),
                mac_address: mac.map(|mac| hardware_address(mac)).unwrap_or_default(),
                addresses,
            })
        })
        .collect()
}

fn is_routable(status: &AddressStatusSpec) -> bool {
    status.scope == NethelpersScope::ScopeGlobal as i32 || status.scope == NethelpersScope::ScopeSite as i32
}

fn hardware_address(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// `10.0.0.11/24`; `None` for what is not an address.
fn prefix(prefix: &NetIpPrefix) -> Option<String> {
    let ip = match *prefix.ip.as_slice() {
        [a, b, c, d] => IpAddr::from([a, b, c, d]),
        _ => IpAddr::from(<[u8; 16]>::try_from(prefix.ip.as_slice()).ok()?),
    };
    Some(format!("{ip}/{}", prefix.prefix_length))
}

/// Disks on which something can be installed or that are in the way: without loop and memory devices, which have no
/// transport, and without optical drives.
fn disks(disks: Vec<(String, DiskSpec)>, volumes: &[(String, DiscoveredVolumeSpec)]) -> Vec<Disk> {
    disks
        .into_iter()
        .filter(|(_, disk)| !disk.transport.is_empty() && !disk.cdrom)
        .map(|(name, disk)| Disk {
            foreign_content: foreign_content(&name, volumes),
            name,
            device_path: disk.dev_path,
            size_bytes: disk.size,
            model: disk.model,
            serial: disk.serial,
            wwid: disk.wwid,
            transport: disk.transport,
            bus_path: disk.bus_path,
            rotational: disk.rotational,
            read_only: disk.readonly,
        })
        .collect()
}

/// What stands on a disk that Talos didn't put there: a file system on the whole of it, or partitions none of which is
/// Talos' META. `None` for an empty disk and for one of Talos'.
fn foreign_content(disk: &str, volumes: &[(String, DiscoveredVolumeSpec)]) -> Option<String> {
    let whole = volumes.iter().find(|(id, _)| id == disk).map_or("", |(_, volume)| volume.name.as_str());
    let partitions: Vec<&DiscoveredVolumeSpec> =
        volumes.iter().map(|(_, volume)| volume).filter(|volume| volume.parent == disk).collect();
    let is_table = matches!(whole, "gpt" | "dos");
    if !is_table && partitions.is_empty() {
        return if whole.is_empty() { None } else { Some(whole.to_owned()) };
    }
    let ours = partitions.iter().any(|partition| partition.partition_label == "META");
    let foreign: Vec<String> = partitions
        .iter()
        .filter(|partition| !(ours && TALOS_PARTITIONS.contains(&partition.partition_label.as_str())))
        .filter(|partition| !(ours && is_user_volume(partition)))
        .map(|partition| describe(partition))
        .collect();
    if foreign.is_empty() { None } else { Some(format!("partitions: {}", foreign.join(", "))) }
}

/// Volumes that a machine configuration asked Talos for: user, raw, existing and swap volumes.
fn is_user_volume(partition: &DiscoveredVolumeSpec) -> bool {
    ["u-", "r-", "s-"].iter().any(|prefix| partition.partition_label.starts_with(prefix))
        || partition.partition_label == "IMAGECACHE"
}

fn describe(partition: &DiscoveredVolumeSpec) -> String {
    let labels = [&partition.partition_label, &partition.label, &partition.name];
    let label = labels.into_iter().find(|label| !label.is_empty());
    label.cloned().unwrap_or_else(|| format!("number {}", partition.partition_index))
}

fn schematic(extensions: &[(String, Layer)]) -> String {
    let metadata = extensions.iter().filter_map(|(_, layer)| layer.metadata.as_ref());
    let schematic = metadata.into_iter().find(|metadata| metadata.name == SCHEMATIC);
    schematic.map(|metadata| metadata.version.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(kind: &str, r#type: NethelpersLinkType) -> LinkStatusSpec {
        LinkStatusSpec {
            kind: kind.to_owned(),
            r#type: r#type as i32,
            hardware_addr: vec![0x0a, 0, 0, 0, 0, 0x0f],
            ..LinkStatusSpec::default()
        }
    }

    fn address(
        link: &str,
        ip: &[u8],
        prefix_length: i32,
        scope: NethelpersScope,
    ) -> (String, AddressStatusSpec) {
        let status = AddressStatusSpec {
            address: Some(NetIpPrefix { ip: ip.to_vec(), prefix_length }),
            link_name: link.to_owned(),
            scope: scope as i32,
            ..AddressStatusSpec::default()
        };
        (String::new(), status)
    }

    #[test]
    fn links_are_told_by_kind_and_addresses_by_scope() {
        let bond =
            LinkStatusSpec { permanent_addr: Vec::new(), ..link("bond", NethelpersLinkType::LinkEther) };
        let statuses = [
            ("lo".to_owned(), link("", NethelpersLinkType::LinkLoopbck)),
            ("eth0".to_owned(), link("", NethelpersLinkType::LinkEther)),
            ("bond0".to_owned(), bond),
            ("vlan9".to_owned(), link("vlan", NethelpersLinkType::LinkEther)),
            ("cilium_vxlan".to_owned(), link("vxlan", NethelpersLinkType::LinkEther)),
        ];
        let mut site_local = [0; 16];
        site_local[..2].copy_from_slice(&[0xfd, 0x00]);
        let addresses = [
            address("lo", &[127, 0, 0, 1], 8, NethelpersScope::ScopeHost),
            address("eth0", &[10, 0, 0, 11], 24, NethelpersScope::ScopeGlobal),
            address("eth0", &[169, 254, 1, 1], 16, NethelpersScope::ScopeLink),
            address("bond0", &site_local, 64, NethelpersScope::ScopeGlobal),
            address("cilium_vxlan", &[10, 244, 0, 1], 32, NethelpersScope::ScopeGlobal),
        ];
        let found = links(&statuses, &addresses);
        let shown: Vec<_> = found.iter().map(|link| (link.name.as_str(), link.addresses.join(" "))).collect();
        assert_eq!(shown, [("eth0", "10.0.0.11/24".to_owned()), ("bond0", "fd00::/64".to_owned())]);
        assert_eq!(found.first().map(|link| link.mac_address.as_str()), Some("0a:00:00:00:00:0f"));
    }

    #[test]
    fn a_bonded_link_keeps_its_permanent_address() {
        let member = LinkStatusSpec { permanent_addr: vec![2; 6], ..link("", NethelpersLinkType::LinkEther) };
        let found = links(&[("eth0".to_owned(), member)], &[]);
        assert_eq!(found.first().map(|link| link.mac_address.as_str()), Some("02:02:02:02:02:02"));
    }

    fn volume(id: &str, parent: &str, name: &str, label: &str) -> (String, DiscoveredVolumeSpec) {
        let volume = DiscoveredVolumeSpec {
            name: name.to_owned(),
            parent: parent.to_owned(),
            partition_label: label.to_owned(),
            ..DiscoveredVolumeSpec::default()
        };
        (id.to_owned(), volume)
    }

    #[test]
    fn what_is_not_of_talos_is_named() {
        let empty = [volume("sda", "", "", "")];
        assert_eq!(foreign_content("sda", &empty), None);
        let table_only = [volume("sda", "", "gpt", "")];
        assert_eq!(foreign_content("sda", &table_only), None);
        let filesystem = [volume("sda", "", "xfs", "")];
        assert_eq!(foreign_content("sda", &filesystem).as_deref(), Some("xfs"));
        let talos = [
            volume("sda", "", "gpt", ""),
            volume("sda1", "sda", "vfat", "EFI"),
            volume("sda2", "sda", "talosmeta", "META"),
            volume("sda3", "sda", "xfs", "u-data"),
        ];
        assert_eq!(foreign_content("sda", &talos), None);
        let foreign = [
            volume("sda", "", "gpt", ""),
            volume("sda1", "sda", "vfat", "EFI"),
            volume("sda2", "sda", "ext4", ""),
            volume("sdb1", "sdb", "ext4", "elsewhere"),
        ];
        assert_eq!(foreign_content("sda", &foreign).as_deref(), Some("partitions: EFI, ext4"));
    }

    #[test]
    fn devices_without_transport_and_optical_drives_are_no_disks() {
        let disk = |transport: &str, cdrom| DiskSpec {
            transport: transport.to_owned(),
            cdrom,
            ..DiskSpec::default()
        };
        let found = disks(
            vec![
                ("loop0".to_owned(), disk("", false)),
                ("sr0".to_owned(), disk("sata", true)),
                ("vda".to_owned(), disk("virtio", false)),
            ],
            &[],
        );
        assert_eq!(found.iter().map(|disk| disk.name.as_str()).collect::<Vec<_>>(), ["vda"]);
    }
}
