//! The keys of `machine.network`.

use super::Kind::{Bool, Duration, Integer, List, Struct, Text};
use super::{
    Contract, Field,
    IntegerKind::{I64, U8, U16, U32},
    Key, always, optional,
};

/// `machine.network`, the older form of network configuration.
pub(super) const NETWORK: &[Field] = &[
    optional("hostname", Text),
    optional("interfaces", List(&Struct(INTERFACE))).keyed(Key::Interface),
    optional("nameservers", List(&Text)),
    optional("searchDomains", List(&Text)),
    optional("extraHostEntries", List(&Struct(HOST_ENTRY))),
    optional("kubespan", Struct(KUBE_SPAN)).pointer(),
    optional("disableSearchDomain", Bool),
];

const INTERFACE: &[Field] = &[
    optional("interface", Text),
    optional("deviceSelector", Struct(DEVICE_SELECTOR)).pointer(),
    optional("addresses", List(&Text)),
    optional("cidr", Text),
    optional("routes", List(&Struct(ROUTE))),
    optional("bond", Struct(BOND)).pointer(),
    optional("bridge", Struct(BRIDGE)).pointer(),
    optional("bridgePort", Struct(BRIDGE_PORT)).pointer(),
    optional("vlans", List(&Struct(VLAN_LINK))).keyed(Key::Field("vlanId")),
    optional("mtu", Integer(I64)),
    optional("dhcp", Bool),
    optional("ignore", Bool),
    optional("dummy", Bool),
    optional("dhcpOptions", Struct(DHCP_OPTIONS)).pointer(),
    optional("wireguard", Struct(WIREGUARD)).pointer(),
    optional("vip", Struct(VIRTUAL_ADDRESS)).pointer(),
];

const DEVICE_SELECTOR: &[Field] = &[
    optional("busPath", Text),
    optional("hardwareAddr", Text),
    optional("permanentAddr", Text),
    optional("pciID", Text),
    optional("driver", Text),
    optional("physical", Bool),
];

const ROUTE: &[Field] = &[
    always("network", Text),
    always("gateway", Text),
    optional("source", Text),
    optional("metric", Integer(U32)),
    optional("mtu", Integer(U32)),
];

const BOND: &[Field] = &[
    always("interfaces", List(&Text)),
    optional("deviceSelectors", List(&Struct(DEVICE_SELECTOR))),
    optional("arpIPTarget", List(&Text)),
    always("mode", Text),
    optional("xmitHashPolicy", Text),
    optional("lacpRate", Text),
    optional("adActorSystem", Text),
    optional("arpValidate", Text),
    optional("arpAllTargets", Text),
    optional("primary", Text),
    optional("primaryReselect", Text),
    optional("failOverMac", Text),
    optional("adSelect", Text),
    optional("miimon", Integer(U32)),
    optional("updelay", Integer(U32)),
    optional("downdelay", Integer(U32)),
    optional("arpInterval", Integer(U32)),
    optional("resendIgmp", Integer(U32)),
    optional("minLinks", Integer(U32)),
    optional("lpInterval", Integer(U32)),
    optional("packetsPerSlave", Integer(U32)),
    optional("numPeerNotif", Integer(U8)),
    optional("tlbDynamicLb", Integer(U8)),
    optional("allSlavesActive", Integer(U8)),
    optional("useCarrier", Bool),
    optional("adActorSysPrio", Integer(U16)),
    optional("adUserPortKey", Integer(U16)),
    optional("peerNotifyDelay", Integer(U32)),
];

const BRIDGE: &[Field] = &[
    always("interfaces", List(&Text)),
    optional("stp", Struct(STP)).pointer(),
    optional("vlan", Struct(VLAN)).pointer(),
];

const STP: &[Field] = &[optional("enabled", Bool)];

const VLAN: &[Field] = &[optional("vlanFiltering", Bool)];

const BRIDGE_PORT: &[Field] = &[optional("master", Text)];

const VLAN_LINK: &[Field] = &[
    optional("addresses", List(&Text)),
    optional("cidr", Text),
    always("routes", List(&Struct(ROUTE))),
    optional("dhcp", Bool),
    always("vlanId", Integer(U16)),
    optional("mtu", Integer(U32)),
    optional("vip", Struct(VIRTUAL_ADDRESS)).pointer(),
    optional("dhcpOptions", Struct(DHCP_OPTIONS)).pointer(),
];

const VIRTUAL_ADDRESS: &[Field] = &[
    optional("ip", Text),
    optional("equinixMetal", Struct(API_TOKEN)).pointer(),
    optional("hcloud", Struct(API_TOKEN)).pointer(),
];

const API_TOKEN: &[Field] = &[always("apiToken", Text)];

const DHCP_OPTIONS: &[Field] = &[
    always("routeMetric", Integer(U32)),
    optional("ipv4", Bool),
    optional("ipv6", Bool),
    optional("duidv6", Text),
];

const WIREGUARD: &[Field] = &[
    optional("privateKey", Text),
    optional("listenPort", Integer(I64)),
    optional("firewallMark", Integer(I64)),
    optional("peers", List(&Struct(PEER))),
];

const PEER: &[Field] = &[
    optional("publicKey", Text),
    optional("endpoint", Text),
    optional("persistentKeepaliveInterval", Duration),
    optional("allowedIPs", List(&Text)),
];

const HOST_ENTRY: &[Field] = &[always("ip", Text), always("aliases", List(&Text))];

const KUBE_SPAN: &[Field] = &[
    optional("enabled", Bool),
    optional("advertiseKubernetesNetworks", Bool),
    optional("allowDownPeerBypass", Bool),
    optional("harvestExtraEndpoints", Bool),
    optional("mtu", Integer(U32)).pointer(),
    optional("filters", Struct(KUBE_SPAN_FILTERS)).pointer(),
];

const KUBE_SPAN_FILTERS: &[Field] = &[
    optional("endpoints", List(&Text)),
    optional("excludeAdvertisedNetworks", List(&Text)).since(Contract::V1_12),
];
