//! The keys of the documents about links and their addresses.

use super::Kind::{
    Address, AddressAndPort, Bool, BoolMap, Duration, Expression, HardwareAddress, Integer, List, Prefix,
    RoutingTable, Struct, Text, Word,
};
use super::{
    Contract, DocumentKind, Field,
    IntegerKind::{I64, U8, U16, U32},
    always, link_fields, named, optional, words,
};

/// The documents of this file.
pub(super) const DOCUMENTS: &[DocumentKind] = &[
    named("BondConfig", Contract::V1_12, BOND),
    named("BridgeConfig", Contract::V1_12, BRIDGE),
    named("DHCPv4Config", Contract::V1_12, DHCPV4),
    named("DHCPv6Config", Contract::V1_12, DHCPV6),
    named("DummyLinkConfig", Contract::V1_12, DUMMY_LINK),
    named("EthernetConfig", Contract::V1_10, ETHERNET),
    named("HCloudVIPConfig", Contract::V1_12, HCLOUD_VIP),
    named("Layer2VIPConfig", Contract::V1_12, LAYER2_VIP),
    named("LinkAliasConfig", Contract::V1_12, LINK_ALIAS),
    named("LinkConfig", Contract::V1_12, LINK),
    named("VLANConfig", Contract::V1_12, VLAN),
    named("VRFConfig", Contract::V1_13, VRF),
    named("WireguardConfig", Contract::V1_12, WIREGUARD),
];

const BOND: &[Field] = link_fields![
    always("name", Text),
    optional("hardwareAddr", HardwareAddress),
    optional("links", List(&Text)),
    optional("bondMode", Word(&words::BOND_MODE)).pointer(),
    optional("miimon", Integer(U32)).pointer(),
    optional("updelay", Integer(U32)).pointer(),
    optional("downdelay", Integer(U32)).pointer(),
    optional("useCarrier", Bool),
    optional("xmitHashPolicy", Word(&words::TRANSMIT_HASH_POLICY)).pointer(),
    optional("arpInterval", Integer(U32)).pointer(),
    optional("arpIpTargets", List(&Address)),
    optional("nsIp6Targets", List(&Address)),
    optional("arpValidate", Word(&words::ARP_VALIDATE)).pointer(),
    optional("arpAllTargets", Word(&words::ARP_ALL_TARGETS)).pointer(),
    optional("lacpRate", Word(&words::LACP_RATE)).pointer(),
    optional("failOverMac", Word(&words::FAIL_OVER_MAC)).pointer(),
    optional("adSelect", Word(&words::AD_SELECT)).pointer(),
    optional("adActorSysPrio", Integer(U16)).pointer(),
    optional("adUserPortKey", Integer(U16)).pointer(),
    optional("adLACPActive", Word(&words::AD_LACP_ACTIVE)).pointer(),
    optional("primaryReselect", Word(&words::PRIMARY_RESELECT)).pointer(),
    optional("resendIGMP", Integer(U32)).pointer(),
    optional("minLinks", Integer(U32)).pointer(),
    optional("lpInterval", Integer(U32)).pointer(),
    optional("packetsPerSlave", Integer(U32)).pointer(),
    optional("numPeerNotif", Integer(U8)).pointer(),
    optional("tlbLogicalLb", Integer(U8)).pointer(),
    optional("allSlavesActive", Integer(U8)).pointer(),
    optional("peerNotifDelay", Integer(U32)).pointer(),
    optional("missedMax", Integer(U8)).pointer(),
];

const BRIDGE: &[Field] = link_fields![
    always("name", Text),
    optional("hardwareAddr", HardwareAddress),
    optional("links", List(&Text)),
    optional("stp", Struct(STP)),
    optional("vlan", Struct(BRIDGE_VLAN)),
];

const DHCPV4: &[Field] = &[
    always("name", Text),
    optional("routeMetric", Integer(U32)),
    optional("ignoreHostname", Bool),
    optional("clientIdentifier", Word(&words::CLIENT_IDENTIFIER)).pointer(),
    optional("duidRaw", HardwareAddress),
];

const DHCPV6: &[Field] = &[
    always("name", Text),
    optional("routeMetric", Integer(U32)),
    optional("ignoreHostname", Bool),
    optional("clientIdentifier", Word(&words::CLIENT_IDENTIFIER)).pointer(),
    optional("duidRaw", HardwareAddress),
];

const DUMMY_LINK: &[Field] = link_fields![always("name", Text), optional("hardwareAddr", HardwareAddress),];

const ETHERNET: &[Field] = &[
    always("name", Text),
    optional("features", BoolMap),
    optional("rings", Struct(RINGS)).pointer(),
    optional("channels", Struct(CHANNELS)).pointer(),
    optional("wakeOnLan", List(&Word(&words::WAKE_ON_LAN_MODE))),
];

const HCLOUD_VIP: &[Field] = &[always("name", Text), always("link", Text), always("apiToken", Text)];

const LAYER2_VIP: &[Field] = &[always("name", Text), always("link", Text)];

const LINK_ALIAS: &[Field] = &[always("name", Text), optional("selector", Struct(MATCH))];

const LINK: &[Field] = link_fields![always("name", Text),];

const VLAN: &[Field] = link_fields![
    always("name", Text),
    optional("vlanID", Integer(U16)),
    optional("vlanMode", Word(&words::VLAN_PROTOCOL)).pointer(),
    optional("parent", Text),
];

const VRF: &[Field] = link_fields![
    always("name", Text),
    optional("hardwareAddr", HardwareAddress),
    optional("links", List(&Text)),
    always("table", RoutingTable),
];

const WIREGUARD: &[Field] = link_fields![
    always("name", Text),
    optional("privateKey", Text),
    optional("listenPort", Integer(I64)),
    optional("firewallMark", Integer(I64)),
    optional("peers", List(&Struct(PEER))),
];

const ADDRESS: &[Field] = &[always("address", Prefix), optional("routePriority", Integer(U32)).pointer()];

const ROUTE: &[Field] = &[
    optional("destination", Prefix),
    optional("gateway", Address),
    optional("source", Address),
    optional("metric", Integer(U32)),
    optional("mtu", Integer(U32)),
    optional("table", RoutingTable),
];

const STP: &[Field] = &[optional("enabled", Bool)];

const BRIDGE_VLAN: &[Field] = &[optional("filtering", Bool)];

const PEER: &[Field] = &[
    optional("publicKey", Text),
    optional("presharedKey", Text),
    optional("endpoint", AddressAndPort),
    optional("persistentKeepaliveInterval", Duration),
    optional("allowedIPs", List(&Prefix)),
];

const MATCH: &[Field] = &[optional("match", Expression)];

const RINGS: &[Field] = &[
    optional("rx", Integer(U32)).pointer(),
    optional("tx", Integer(U32)).pointer(),
    optional("rx-mini", Integer(U32)).pointer(),
    optional("rx-jumbo", Integer(U32)).pointer(),
    optional("rx-buf-len", Integer(U32)).pointer(),
    optional("cqe-size", Integer(U32)).pointer(),
    optional("tx-push", Bool),
    optional("rx-push", Bool),
    optional("tx-push-buf-len", Integer(U32)).pointer(),
    optional("tcp-data-split", Bool),
];

const CHANNELS: &[Field] = &[
    optional("rx", Integer(U32)).pointer(),
    optional("tx", Integer(U32)).pointer(),
    optional("other", Integer(U32)).pointer(),
    optional("combined", Integer(U32)).pointer(),
];
