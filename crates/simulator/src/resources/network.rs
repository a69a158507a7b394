//! Links, addresses, host name.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};
use talos_api::common::{NetIp, NetIpPrefix};
use talos_api::resource::enums::{
    NethelpersDuplex, NethelpersFamily, NethelpersLinkType, NethelpersOperationalState, NethelpersPort,
    NethelpersScope,
};
use talos_api::resource::network::{
    AddressStatusSpec, HostnameStatusSpec, LinkStatusSpec, NodeAddressSpec, StatusSpec,
};

use super::{Resource, Spec};
use crate::world::{Link, LinkKind, Machine};

const ADDRESS_CONTROLLER: &str = "network.AddressStatusController";
const LINK_CONTROLLER: &str = "network.LinkStatusController";
/// The kernel's flags: up, broadcast, running, multicast, lower up; for loopback: up, loopback, running, lower up.
const FLAGS_UP: u32 = 0x1_1043;
const FLAGS_LOOPBACK: u32 = 0x1_0049;
const FLAGS_DOWN: u32 = 0x1002;
/// Prefix length of an address that the world gives without one.
const DEFAULT_PREFIX: (u8, u8) = (24, 64);

/// One link with its addresses.
#[derive(Clone, Debug)]
pub(crate) struct LinkAddresses {
    link: Option<Link>,
    index: u32,
    addresses: Vec<IpNet>,
}

/// Loopback, the machine's links, and the addresses on them; `listening` is where it listens now.
pub(crate) fn layout(machine: &Machine, listening: IpAddr) -> Vec<LinkAddresses> {
    let own = machine.addresses.iter().skip(1).copied();
    let own = std::iter::once(listening).chain(own.filter(|address| *address != listening));
    let mut own: Vec<_> = own.map(with_default_prefix).collect();
    let loopback = [(IpAddr::from([127, 0, 0, 1]), 8), (IpAddr::V6(std::net::Ipv6Addr::LOCALHOST), 128)];
    let loopback =
        loopback.into_iter().filter_map(|(address, length)| IpNet::new(address, length).ok()).collect();
    let mut links = vec![LinkAddresses { link: None, index: 1, addresses: loopback }];
    for (link, index) in machine.links().into_iter().zip(2..) {
        let mut addresses = link.addresses.clone();
        if link.kind == LinkKind::Physical {
            addresses.splice(0..0, own.drain(..));
        }
        links.push(LinkAddresses { link: Some(link), index, addresses });
    }
    links
}

/// Status of links, addresses, and the node's addresses.
pub(crate) fn all(layout: &[LinkAddresses]) -> Vec<Resource> {
    let links = layout.iter().map(link_status);
    let addresses = layout.iter().flat_map(|link| {
        link.addresses.iter().map(|address| address_status(link, *address)).collect::<Vec<_>>()
    });
    let global: Vec<_> =
        layout.iter().filter(|link| link.link.is_some()).flat_map(|link| &link.addresses).collect();
    let node = ["default", "current", "accumulative", "routed", "current-no-k8s", "accumulative-no-k8s"]
        .into_iter()
        .map(|id| {
            let count = if id == "default" { 1 } else { global.len() };
            node_addresses(id, global.iter().take(count).map(|address| **address))
        });
    links.chain(addresses).chain(node).collect()
}

/// The host name, once the machine has one.
pub(crate) fn hostname(hostname: &str) -> Resource {
    let (name, domain) = hostname.split_once('.').unwrap_or((hostname, ""));
    let message = HostnameStatusSpec { hostname: name.to_owned(), domainname: domain.to_owned() };
    let value = json!({"hostname": name, "domainname": domain});
    let spec = Spec::new(&message, &value);
    Resource::new("HostnameStatuses.net.talos.dev", "hostname", "network.HostnameSpecController", spec)
}

/// Whether the network is up.
pub(crate) fn status(has_hostname: bool) -> Resource {
    let message = StatusSpec {
        address_ready: true,
        connectivity_ready: true,
        hostname_ready: has_hostname,
        etc_files_ready: true,
    };
    let value = json!({
        "addressReady": true,
        "connectivityReady": true,
        "hostnameReady": has_hostname,
        "etcFilesReady": true,
    });
    let spec = Spec::new(&message, &value);
    Resource::new("NetworkStatuses.net.talos.dev", "status", "network.StatusController", spec)
}

/// An address as the API carries it.
pub(crate) fn net_ip(address: IpAddr) -> NetIp {
    let ip = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    NetIp { ip }
}

fn net_ip_prefix(address: IpNet) -> NetIpPrefix {
    NetIpPrefix { ip: net_ip(address.addr()).ip, prefix_length: i32::from(address.prefix_len()) }
}

fn with_default_prefix(address: IpAddr) -> IpNet {
    let length = if address.is_ipv4() { DEFAULT_PREFIX.0 } else { DEFAULT_PREFIX.1 };
    IpNet::new(address, length).unwrap_or_else(|_| IpNet::from(address))
}

fn link_status(entry: &LinkAddresses) -> Resource {
    let Some(link) = &entry.link else { return loopback_status(entry.index) };
    let (kind, driver) = match link.kind {
        LinkKind::Physical => ("", "e1000"),
        LinkKind::Bond => ("bond", "bonding"),
        LinkKind::Bridge => ("bridge", "bridge"),
        LinkKind::Vlan => ("vlan", "802.1Q VLAN Support"),
        LinkKind::Dummy => ("dummy", "dummy"),
    };
    let physical = link.kind == LinkKind::Physical;
    let state = if link.up {
        NethelpersOperationalState::OperStateUp
    } else {
        NethelpersOperationalState::OperStateDown
    };
    let message = LinkStatusSpec {
        index: entry.index,
        r#type: NethelpersLinkType::LinkEther.into(),
        flags: if link.up { FLAGS_UP } else { FLAGS_DOWN },
        hardware_addr: link.mac.0.to_vec(),
        permanent_addr: if physical { link.mac.0.to_vec() } else { Vec::new() },
        broadcast_addr: vec![0xff; 6],
        mtu: 1500,
        queue_disc: "pfifo_fast".to_owned(),
        operational_state: state.into(),
        kind: kind.to_owned(),
        driver: driver.to_owned(),
        bus_path: if physical { format!("0000:00:{:02x}.0", entry.index) } else { String::new() },
        link_state: link.up,
        speed_megabits: if physical && link.up { 1000 } else { 0 },
        port: if physical { NethelpersPort::TwistedPair } else { NethelpersPort::Other }.into(),
        duplex: if physical { NethelpersDuplex::Full } else { NethelpersDuplex::Unknown }.into(),
        ..LinkStatusSpec::default()
    };
    let mac = link.mac.to_string();
    let words = LinkWords {
        kind: "ether",
        state: if link.up { "up" } else { "down" },
        flags: if link.up { "UP,BROADCAST,RUNNING,MULTICAST,LOWER_UP" } else { "BROADCAST,MULTICAST" },
        address: &mac,
        broadcast: "ff:ff:ff:ff:ff:ff",
        port: if physical { "TwistedPair" } else { "Other" },
        duplex: if physical { "Full" } else { "Unknown" },
    };
    link_resource(&link.name, &message, &words)
}

fn loopback_status(index: u32) -> Resource {
    let message = LinkStatusSpec {
        index,
        r#type: NethelpersLinkType::LinkLoopbck.into(),
        flags: FLAGS_LOOPBACK,
        hardware_addr: vec![0; 6],
        broadcast_addr: vec![0; 6],
        mtu: 65536,
        queue_disc: "noqueue".to_owned(),
        operational_state: NethelpersOperationalState::OperStateUnknown.into(),
        link_state: true,
        port: NethelpersPort::Other.into(),
        duplex: NethelpersDuplex::Unknown.into(),
        ..LinkStatusSpec::default()
    };
    let words = LinkWords {
        kind: "loopback",
        state: "unknown",
        flags: "UP,LOOPBACK,RUNNING,LOWER_UP",
        address: "00:00:00:00:00:00",
        broadcast: "00:00:00:00:00:00",
        port: "Other",
        duplex: "Unknown",
    };
    link_resource("lo", &message, &words)
}

/// What YAML spells in words and protobuf in numbers.
struct LinkWords<'a> {
    kind: &'a str,
    state: &'a str,
    flags: &'a str,
    address: &'a str,
    broadcast: &'a str,
    port: &'a str,
    duplex: &'a str,
}

fn link_resource(name: &str, message: &LinkStatusSpec, words: &LinkWords<'_>) -> Resource {
    let permanent = if message.permanent_addr.is_empty() { "" } else { words.address };
    let value = json!({
        "index": message.index,
        "type": words.kind,
        "linkIndex": message.link_index,
        "flags": words.flags,
        "hardwareAddr": words.address,
        "permanentAddr": permanent,
        "broadcastAddr": words.broadcast,
        "mtu": message.mtu,
        "queueDisc": message.queue_disc,
        "operationalState": words.state,
        "kind": message.kind,
        "slaveKind": message.slave_kind,
        "busPath": message.bus_path,
        "driver": message.driver,
        "linkState": message.link_state,
        "speedMbit": message.speed_megabits,
        "port": words.port,
        "duplex": words.duplex,
    });
    Resource::new("LinkStatuses.net.talos.dev", name, LINK_CONTROLLER, Spec::new(message, &value))
}

fn address_status(entry: &LinkAddresses, address: IpNet) -> Resource {
    let link = entry.link.as_ref().map_or("lo", |link| link.name.as_str());
    // The world's addresses are global though they stand on 127/8; only those of `lo` are the host's own.
    let (scope, scope_word) = match &entry.link {
        None => (NethelpersScope::ScopeHost, "host"),
        Some(_) => (NethelpersScope::ScopeGlobal, "global"),
    };
    let (family, family_word) = match address {
        IpNet::V4(_) => (NethelpersFamily::FamilyInet4, "inet4"),
        IpNet::V6(_) => (NethelpersFamily::FamilyInet6, "inet6"),
    };
    // IFA_F_PERMANENT
    let flags = 0x80;
    let message = AddressStatusSpec {
        address: Some(net_ip_prefix(address)),
        local: Some(net_ip(address.addr())),
        broadcast: address.addr().is_ipv4().then(|| net_ip(address.broadcast())),
        anycast: None,
        multicast: None,
        link_index: entry.index,
        link_name: link.to_owned(),
        family: family.into(),
        scope: scope.into(),
        flags,
        priority: 0,
    };
    let broadcast =
        if address.addr().is_ipv4() { json!(address.broadcast().to_string()) } else { Value::from("") };
    let value = json!({
        "address": address.to_string(),
        "local": address.addr().to_string(),
        "broadcast": broadcast,
        "linkIndex": entry.index,
        "linkName": link,
        "family": family_word,
        "scope": scope_word,
        "flags": "permanent",
    });
    let id = format!("{link}/{address}");
    Resource::new("AddressStatuses.net.talos.dev", id, ADDRESS_CONTROLLER, Spec::new(&message, &value))
}

fn node_addresses(id: &str, addresses: impl Iterator<Item = IpNet> + Clone) -> Resource {
    let message = NodeAddressSpec {
        addresses: addresses.clone().map(net_ip_prefix).collect(),
        ..NodeAddressSpec::default()
    };
    let texts: Vec<_> = addresses.map(|address| address.to_string()).collect();
    let value = json!({"addresses": texts, "sortAlgorithm": "v1"});
    let spec = Spec::new(&message, &value);
    Resource::new("NodeAddresses.net.talos.dev", id, "network.NodeAddressController", spec)
}
