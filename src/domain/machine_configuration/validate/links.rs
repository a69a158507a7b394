//! The documents about links and their addresses.

use yaml::Value;

use super::syntax::{is_address, is_wireguard_key};
use super::{Verdict, list, number, text};

/// Judges the documents of one kind; `place` names the document.
pub(super) fn judge(kind: &str, document: &Value, place: &str, verdict: &mut Verdict) {
    match kind {
        "LinkConfig" | "BridgeConfig" | "DummyLinkConfig" => common(document, place, verdict),
        "BondConfig" => {
            common(document, place, verdict);
            verdict.error_if(list(document, &["links"]).is_empty(), place, "links: at least one is needed");
            verdict.error_if(document.field("bondMode").is_none(), place, "bondMode must be set");
            if text(document, &["bondMode"]) == "802.3ad" {
                let missing = ["miimon", "updelay", "downdelay"]
                    .into_iter()
                    .filter(|key| document.field(key).is_none());
                missing.for_each(|key| verdict.warning(place, format!("{key} should be set for 802.3ad")));
            }
        }
        "VLANConfig" => {
            common(document, place, verdict);
            let is_fine = (1..=4094).contains(&number(document, &["vlanID"]));
            verdict.error_if(!is_fine, place, "vlanID: expected 1 to 4094");
            verdict.error_if(text(document, &["parent"]).is_empty(), place, "parent must be set");
        }
        "VRFConfig" => {
            common(document, place, verdict);
            let is_reserved =
                matches!(text(document, &["table"]), "" | "unspec" | "default" | "main" | "local");
            verdict.error_if(is_reserved, place, "table: expected 1 to 252");
        }
        "WireguardConfig" => {
            common(document, place, verdict);
            wireguard(document, place, verdict);
        }
        "DHCPv4Config" | "DHCPv6Config" => {
            let is_duid = text(document, &["clientIdentifier"]) == "duid";
            let has_duid = !text(document, &["duidRaw"]).is_empty();
            verdict.error_if(
                is_duid != has_duid,
                place,
                "duidRaw goes with clientIdentifier duid, and only with it",
            );
        }
        "LinkAliasConfig" => {
            verdict.error_if(
                text(document, &["selector", "match"]).is_empty(),
                place,
                "selector.match must be set",
            );
            let name = text(document, &["name"]);
            let is_fine =
                name.split_once('%').is_none_or(|(prefix, suffix)| suffix == "d" && !prefix.is_empty());
            verdict.error_if(!is_fine, place, "name: `%d` at the end is the only pattern");
        }
        "Layer2VIPConfig" | "HCloudVIPConfig" => {
            let keys: &[&str] = if kind == "HCloudVIPConfig" { &["link", "apiToken"] } else { &["link"] };
            verdict.error_if(!is_address(text(document, &["name"])), place, "name: expected the address");
            for key in keys {
                verdict.error_if(text(document, &[key]).is_empty(), place, &format!("{key} must be set"));
            }
        }
        _ => {}
    }
}

fn common(document: &Value, place: &str, verdict: &mut Verdict) {
    let is_unspecified = |text: &str| {
        let address = text.split('/').next().unwrap_or_default();
        address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_unspecified())
    };
    for address in list(document, &["addresses"]) {
        let written = text(address, &["address"]);
        verdict.error_if(
            written.is_empty() || is_unspecified(written),
            place,
            "addresses: expected ADDRESS/LENGTH",
        );
    }
    for route in list(document, &["routes"]) {
        let destination = text(route, &["destination"]);
        verdict.error_if(
            is_unspecified(destination),
            place,
            "a default route is written without a destination",
        );
        let is_fine = ["gateway", "source"].iter().all(|key| !is_unspecified(text(route, &[key])));
        verdict.error_if(!is_fine, place, "gateway and source: expected an address");
    }
}

fn wireguard(document: &Value, place: &str, verdict: &mut Verdict) {
    verdict.error_if(
        !is_wireguard_key(text(document, &["privateKey"])),
        place,
        "privateKey: no WireGuard key",
    );
    let port = number(document, &["listenPort"]);
    verdict.error_if(!(0..=65535).contains(&port), place, "listenPort: expected 0 to 65535");
    for peer in list(document, &["peers"]) {
        verdict.error_if(!is_wireguard_key(text(peer, &["publicKey"])), place, "publicKey: no WireGuard key");
        let shared = text(peer, &["presharedKey"]);
        verdict.error_if(
            !shared.is_empty() && !is_wireguard_key(shared),
            place,
            "presharedKey: no WireGuard key",
        );
        let interval = number(peer, &["persistentKeepaliveInterval"]);
        verdict.error_if(interval < 0, place, "persistentKeepaliveInterval: negative");
    }
}
