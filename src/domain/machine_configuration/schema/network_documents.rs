//! The keys of the documents about names, routes, rules and KubeSpan.

use super::Kind::{
    Address, AddressAndPort, Bool, Duration, Integer, List, PortRange, Prefix, RoutingTable, Struct, Text,
    Word,
};
use super::{
    Contract, DocumentKind, Field,
    IntegerKind::{I64, U32},
    always, named, optional, single, words,
};

/// The documents of this file.
pub(super) const DOCUMENTS: &[DocumentKind] = &[
    named("BlackholeRouteConfig", Contract::V1_13, BLACKHOLE_ROUTE),
    single("HostnameConfig", Contract::V1_12, HOSTNAME),
    single("KubeSpanConfig", Contract::V1_13, KUBE_SPAN),
    single("KubeSpanEndpointsConfig", Contract::V1_10, KUBE_SPAN_ENDPOINTS),
    single("NetworkDefaultActionConfig", Contract::V1_10, NETWORK_DEFAULT_ACTION),
    named("NetworkRuleConfig", Contract::V1_10, NETWORK_RULE),
    single("ResolverConfig", Contract::V1_12, RESOLVER),
    named("RoutingRuleConfig", Contract::V1_13, ROUTING_RULE),
    named("StaticHostConfig", Contract::V1_12, STATIC_HOST),
    named("TCPProbeConfig", Contract::V1_13, TCPPROBE),
    single("TimeSyncConfig", Contract::V1_12, TIME_SYNC),
];

const BLACKHOLE_ROUTE: &[Field] = &[always("name", Text), optional("metric", Integer(U32))];

const HOSTNAME: &[Field] =
    &[optional("auto", Word(&words::AUTO_HOSTNAME_KIND)).pointer(), optional("hostname", Text)];

const KUBE_SPAN: &[Field] = &[
    optional("enabled", Bool),
    optional("advertiseKubernetesNetworks", Bool),
    optional("allowDownPeerBypass", Bool),
    optional("harvestExtraEndpoints", Bool),
    optional("mtu", Integer(U32)).pointer(),
    optional("filters", Struct(KUBE_SPAN_FILTERS)).pointer(),
];

const KUBE_SPAN_ENDPOINTS: &[Field] = &[always("extraAnnouncedEndpoints", List(&AddressAndPort))];

const NETWORK_DEFAULT_ACTION: &[Field] = &[always("ingress", Word(&words::DEFAULT_ACTION))];

const NETWORK_RULE: &[Field] = &[
    always("name", Text),
    always("portSelector", Struct(PORT_SELECTOR)),
    always("ingress", List(&Struct(INGRESS_RULE))).replaced(),
];

const RESOLVER: &[Field] =
    &[optional("nameservers", List(&Struct(NAMESERVER))), optional("searchDomains", Struct(SEARCH_DOMAINS))];

const ROUTING_RULE: &[Field] = &[
    always("name", Text),
    optional("src", Prefix),
    optional("dst", Prefix),
    always("table", RoutingTable),
    optional("action", Word(&words::ROUTING_RULE_ACTION)),
    optional("iifName", Text),
    optional("oifName", Text),
    optional("fwMark", Integer(U32)),
    optional("fwMask", Integer(U32)),
];

const STATIC_HOST: &[Field] = &[always("name", Text), always("hostnames", List(&Text))];

const TCPPROBE: &[Field] = &[
    always("name", Text),
    optional("interval", Duration),
    optional("failureThreshold", Integer(I64)),
    always("endpoint", Text),
    optional("timeout", Duration),
];

const TIME_SYNC: &[Field] = &[
    optional("enabled", Bool),
    optional("bootTimeout", Duration),
    optional("ntp", Struct(NTP)).pointer(),
    optional("ptp", Struct(PTP)).pointer(),
];

const NAMESERVER: &[Field] = &[always("address", Address)];

const SEARCH_DOMAINS: &[Field] = &[optional("domains", List(&Text)), optional("disableDefault", Bool)];

const NTP: &[Field] = &[optional("servers", List(&Text))];

const PTP: &[Field] = &[optional("devices", List(&Text))];

const KUBE_SPAN_FILTERS: &[Field] = &[
    optional("endpoints", List(&Text)),
    optional("excludeAdvertisedNetworks", List(&Prefix)).since(Contract::V1_12),
];

const PORT_SELECTOR: &[Field] =
    &[always("ports", List(&PortRange)).replaced(), always("protocol", Word(&words::PROTOCOL))];

const INGRESS_RULE: &[Field] = &[always("subnet", Prefix), optional("except", Prefix)];
