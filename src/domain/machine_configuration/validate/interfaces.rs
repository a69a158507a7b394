//! `machine.network`, the older form of a machine's network.

use std::collections::BTreeMap;

use yaml::Value;

use super::syntax::{is_address, is_address_or_network, is_filter, is_network, is_wireguard_key};
use super::{Verdict, flag, list, number, text, texts};
use crate::domain::machine_configuration::Role;

const PLACE: &str = "machine.network.interfaces";

pub(super) fn judge(machine: &Value, role: Option<Role>, verdict: &mut Verdict) {
    let interfaces = list(machine, &["network", "interfaces"]);
    let members = members(interfaces, verdict);
    for (index, interface) in interfaces.iter().enumerate() {
        let place = format!("{PLACE}[{index}]");
        if role == Some(Role::Worker) {
            shared_address(interface, &place, verdict);
        }
        if flag(interface, &["ignore"]) == Some(true) {
            continue;
        }
        choice(interface, &place, verdict);
        addresses(interface, &members, &place, verdict);
        routes(interface, &place, verdict);
        if let Some(bond) = interface.field("bond") {
            judge_bond(bond, &place, verdict);
        }
        if let Some(wireguard) = interface.field("wireguard") {
            judge_wireguard(wireguard, &place, verdict);
        }
        for vlan in list(interface, &["vlans"]) {
            pair_of_addresses(vlan, &format!("{place}.vlans"), verdict);
        }
    }
    let mesh = ["network", "kubespan"];
    if flag(machine, &[mesh[0], mesh[1], "enabled"]) == Some(true) {
        let mtu = machine.at(&[mesh[0], mesh[1], "mtu"]).and_then(Value::as_i64);
        let place = "machine.network.kubespan";
        verdict.error_if(mtu.is_some_and(|mtu| mtu < 1280), place, "mtu: at least 1280");
        let filters = [mesh[0], mesh[1], "filters", "endpoints"];
        verdict.error_if(
            !texts(machine, &filters).all(is_filter),
            place,
            "filters.endpoints: expected networks",
        );
        let excluded = [mesh[0], mesh[1], "filters", "excludeAdvertisedNetworks"];
        verdict.error_if(!texts(machine, &excluded).all(is_network), place, "filters: expected networks");
    }
}

/// Which links are part of which other one.
fn members<'value>(interfaces: &'value [Value], verdict: &mut Verdict) -> BTreeMap<&'value str, &'value str> {
    let mut members = BTreeMap::new();
    for interface in interfaces {
        let name = text(interface, &["interface"]);
        let (bond, bridge) = (interface.field("bond"), interface.field("bridge"));
        verdict.error_if(
            bond.is_some() && bridge.is_some(),
            PLACE,
            "an interface is a bond or a bridge, not both",
        );
        if let Some(bond) = bond {
            let both =
                !list(bond, &["interfaces"]).is_empty() && !list(bond, &["deviceSelectors"]).is_empty();
            verdict.error_if(both, PLACE, "bond: either interfaces or deviceSelectors");
        }
        let Some(parent) = bridge.or(bond) else { continue };
        for member in texts(parent, &["interfaces"]) {
            let other = members.insert(member, name);
            verdict.error_if(
                other.is_some_and(|other| other != name),
                PLACE,
                "an interface is part of two others",
            );
        }
    }
    members
}

fn shared_address(interface: &Value, place: &str, verdict: &mut Verdict) {
    let has = interface.field("vip").is_some()
        || list(interface, &["vlans"]).iter().any(|vlan| vlan.field("vip").is_some());
    verdict.error_if(has, place, "only control planes can hold a virtual address");
}

fn choice(interface: &Value, place: &str, verdict: &mut Verdict) {
    match (text(interface, &["interface"]), interface.field("deviceSelector")) {
        ("", None) => verdict.error(place, "either interface or deviceSelector must be set"),
        ("", Some(selector)) => {
            let is_empty = selector.as_mapping().is_some_and(<[_]>::is_empty);
            verdict.error_if(is_empty, place, "deviceSelector: empty");
        }
        (_, Some(_)) => verdict.error(place, "either interface or deviceSelector, not both"),
        (_, None) => {}
    }
}

fn addresses(interface: &Value, members: &BTreeMap<&str, &str>, place: &str, verdict: &mut Verdict) {
    pair_of_addresses(interface, place, verdict);
    let has_address = flag(interface, &["dhcp"]) == Some(true)
        || !text(interface, &["cidr"]).is_empty()
        || !list(interface, &["addresses"]).is_empty()
        || interface.field("vip").is_some();
    let is_member = members.contains_key(text(interface, &["interface"]));
    verdict.error_if(
        is_member && has_address,
        place,
        "a part of a bond or bridge has no addresses of its own",
    );
    if !text(interface, &["cidr"]).is_empty() {
        verdict.warning(place, "cidr is deprecated: use addresses");
    }
    if interface.field("vip").is_some() {
        verdict.error_if(
            !is_address(text(interface, &["vip", "ip"])),
            place,
            "vip.ip: expected an IP address",
        );
    }
}

fn pair_of_addresses(link: &Value, place: &str, verdict: &mut Verdict) {
    let (single, several) = (text(link, &["cidr"]), list(link, &["addresses"]));
    verdict.error_if(!single.is_empty() && !several.is_empty(), place, "either cidr or addresses, not both");
    let is_fine = (single.is_empty() || is_address_or_network(single))
        && texts(link, &["addresses"]).all(is_address_or_network);
    verdict.error_if(!is_fine, place, "addresses: expected ADDRESS/LENGTH");
}

fn routes(interface: &Value, place: &str, verdict: &mut Verdict) {
    for route in list(interface, &["routes"]) {
        let [network, gateway, source] = ["network", "gateway", "source"].map(|key| text(route, &[key]));
        verdict.error_if(
            network.is_empty() && gateway.is_empty(),
            place,
            "a route needs a network or a gateway",
        );
        let is_fine = (network.is_empty() || is_network(network))
            && [gateway, source].iter().all(|address| address.is_empty() || is_address(address));
        verdict.error_if(!is_fine, place, "routes: expected network/length and addresses");
    }
}

fn judge_bond(bond: &Value, place: &str, verdict: &mut Verdict) {
    let place = format!("{place}.bond");
    let mode = text(bond, &["mode"]);
    let modes =
        ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
    verdict.error_if(!modes.contains(&mode), &place, "mode: unknown");
    let words: [(&str, &[&str]); 7] = [
        ("xmitHashPolicy", &["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"]),
        ("lacpRate", &["slow", "fast"]),
        ("arpValidate", &["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"]),
        ("arpAllTargets", &["any", "all"]),
        ("primaryReselect", &["always", "better", "failure"]),
        ("failOverMac", &["none", "active", "follow"]),
        ("adSelect", &["stable", "bandwidth", "count"]),
    ];
    for (key, known) in words {
        let word = text(bond, &[key]);
        verdict.error_if(!word.is_empty() && !known.contains(&word), &place, &format!("{key}: unknown"));
    }
    let [monitored, up, down] = ["miimon", "updelay", "downdelay"].map(|key| number(bond, &[key]));
    let is_multiple = |delay: i64| delay == 0 || (monitored != 0 && delay % monitored == 0);
    verdict.error_if(!is_multiple(up) || !is_multiple(down), &place, "delays must be multiples of miimon");
    for key in ["arpIPTarget", "adActorSystem"] {
        verdict.error_if(bond.field(key).is_some(), &place, &format!("{key} is not supported"));
    }
    let is_lacp = mode == "802.3ad";
    let balances = matches!(mode, "balance-alb" | "balance-tlb");
    let set = |key: &str| bond.field(key).is_some();
    let misplaced = [
        ("lacpRate", set("lacpRate") && !is_lacp),
        ("arpValidate", set("arpValidate") && (is_lacp || balances)),
        ("primary", set("primary") && !(balances || mode == "active-backup")),
        ("arpInterval", set("arpInterval") && (is_lacp || balances)),
        ("packetsPerSlave", number(bond, &["packetsPerSlave"]) > 1 && mode != "balance-rr"),
        ("tlbDynamicLb", set("tlbDynamicLb") && !balances),
        ("adActorSysPrio", set("adActorSysPrio") && !is_lacp),
        ("adUserPortKey", set("adUserPortKey") && !is_lacp),
    ];
    for (key, is_misplaced) in misplaced {
        verdict.error_if(is_misplaced, &place, &format!("{key} does not go with this mode"));
    }
}

fn judge_wireguard(wireguard: &Value, place: &str, verdict: &mut Verdict) {
    let place = format!("{place}.wireguard");
    verdict.error_if(
        !is_wireguard_key(text(wireguard, &["privateKey"])),
        &place,
        "privateKey: no WireGuard key",
    );
    for peer in list(wireguard, &["peers"]) {
        verdict.error_if(
            !is_wireguard_key(text(peer, &["publicKey"])),
            &place,
            "publicKey: no WireGuard key",
        );
        let endpoint = text(peer, &["endpoint"]);
        verdict.error_if(
            !endpoint.is_empty() && !endpoint.contains(':'),
            &place,
            "endpoint: expected HOST:PORT",
        );
        verdict.error_if(
            !texts(peer, &["allowedIPs"]).all(is_network),
            &place,
            "allowedIPs: expected networks",
        );
    }
}
