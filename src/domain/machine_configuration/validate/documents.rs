//! The documents beside the main one.

use yaml::Value;

use super::syntax::{is_address, is_filter, is_hostname, is_network, is_pem, url};
use super::{Verdict, flag, links, list, number, pairs, text, texts, volumes};
use crate::domain::machine_configuration::{MachineConfiguration, Role};

pub(super) fn judge(configuration: &MachineConfiguration, role: Option<Role>, verdict: &mut Verdict) {
    for document in &configuration.documents {
        let (kind, value) = (document.kind.kind, &document.value);
        if kind.is_empty() {
            continue;
        }
        let name = text(value, &["name"]);
        let place = document.name();
        verdict.error_if(document.kind.named && name.is_empty(), &place, "name must be set");
        // Talos refuses only the older form of it.
        let shares = matches!(kind, "Layer2VIPConfig" | "HCloudVIPConfig");
        verdict.error_if(
            shares && role == Some(Role::Worker),
            &place,
            "kontinuum refuses virtual addresses on workers: only control planes can hold them",
        );
        links::judge(kind, value, &place, verdict);
        volumes::judge(kind, value, &place, verdict);
        network(kind, value, &place, verdict);
        system(kind, value, &place, verdict);
    }
}

fn network(kind: &str, value: &Value, place: &str, verdict: &mut Verdict) {
    let name = text(value, &["name"]);
    match kind {
        "HostnameConfig" => hostname(value, place, verdict),
        "KubeSpanConfig" => {
            let mtu = value.field("mtu").and_then(Value::as_i64);
            verdict.error_if(mtu.is_some_and(|mtu| mtu < 1280), place, "mtu: at least 1280");
            let is_fine = texts(value, &["filters", "endpoints"]).all(is_filter);
            verdict.error_if(!is_fine, place, "filters.endpoints: expected networks");
        }
        "BlackholeRouteConfig" => verdict.error_if(!is_network(name), place, "name: expected a network"),
        "StaticHostConfig" => {
            verdict.error_if(!is_address(name), place, "name: expected an IP address");
            verdict.error_if(
                list(value, &["hostnames"]).is_empty(),
                place,
                "hostnames: at least one is needed",
            );
        }
        "TimeSyncConfig" => {
            let both = value.field("ntp").is_some() && value.field("ptp").is_some();
            verdict.error_if(both, place, "either ntp or ptp");
            verdict.error_if(number(value, &["bootTimeout"]) < 0, place, "bootTimeout: negative");
        }
        "RoutingRuleConfig" => {
            let is_priority = name.parse::<u32>().is_ok_and(|priority| (1..=32765).contains(&priority));
            verdict.error_if(!is_priority, place, "name: expected a priority from 1 to 32765");
            let has_table = !matches!(text(value, &["table"]), "" | "unspec");
            let is_unicast = matches!(text(value, &["action"]), "" | "unicast");
            verdict.error_if(
                !has_table && is_unicast,
                place,
                "a table or another action than unicast must be set",
            );
            let is_masked = number(value, &["fwMask"]) != 0 && number(value, &["fwMark"]) == 0;
            verdict.error_if(is_masked, place, "fwMask needs fwMark");
        }
        "NetworkRuleConfig" => ports(value, place, verdict),
        "TCPProbeConfig" => {
            verdict.error_if(text(value, &["endpoint"]).is_empty(), place, "endpoint must be set");
            let is_negative =
                ["timeout", "interval", "failureThreshold"].iter().any(|key| number(value, &[key]) < 0);
            verdict.error_if(is_negative, place, "a number is negative");
        }
        _ => {}
    }
}

fn hostname(value: &Value, place: &str, verdict: &mut Verdict) {
    let (auto, name) = (text(value, &["auto"]), text(value, &["hostname"]));
    verdict.error_if(auto.is_empty() && name.is_empty(), place, "either auto or hostname must be set");
    verdict.error_if(
        !matches!(auto, "" | "off") && !name.is_empty(),
        place,
        "auto and hostname cannot be set at once: write `auto: off` beside the name",
    );
    verdict.error_if(auto == "talos-addr", place, "auto: expected stable or off");
    verdict.error_if(
        !name.is_empty() && !is_hostname(name),
        place,
        "hostname: kontinuum expects lower-case letters, digits and hyphens, as Kubernetes does",
    );
}

fn ports(value: &Value, place: &str, verdict: &mut Verdict) {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for port in list(value, &["portSelector", "ports"]) {
        let single = port.as_i64().map(|port| (port, port));
        let range = |text: &str| {
            let (low, high) = text.split_once('-')?;
            Some((low.parse().ok()?, high.parse().ok()?))
        };
        ranges.extend(single.or_else(|| port.as_str().and_then(range)));
    }
    verdict.error_if(ranges.is_empty(), place, "portSelector.ports: at least one is needed");
    ranges.sort_unstable();
    let is_fine = ranges.iter().all(|(low, high)| low <= high)
        && ranges.windows(2).all(|pair| matches!(pair, [(_, high), (low, _)] if low > high));
    verdict.error_if(!is_fine, place, "portSelector.ports: ranges overlap or end before they start");
    // Talos takes a rule without one, but writes it so that no machine reads it.
    let has_protocol = !text(value, &["portSelector", "protocol"]).is_empty();
    verdict.error_if(!has_protocol, place, "kontinuum needs portSelector.protocol");
    let is_subnet = |rule: &Value| !text(rule, &["subnet"]).is_empty();
    verdict.error_if(
        !list(value, &["ingress"]).iter().all(is_subnet),
        place,
        "ingress: a subnet must be set",
    );
}

fn system(kind: &str, value: &Value, place: &str, verdict: &mut Verdict) {
    match kind {
        "EnvironmentConfig" => {
            let is_name = |name: &str| {
                !name.starts_with(|first: char| first.is_ascii_digit())
                    && !name.is_empty()
                    && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
            };
            let is_fine = pairs(value, &["variables"]).all(|(name, _)| is_name(name));
            verdict.error_if(!is_fine, place, "variables: letters, digits and underscores");
        }
        "EventSinkConfig" => {
            verdict.error_if(
                !text(value, &["endpoint"]).contains(':'),
                place,
                "endpoint: expected HOST:PORT",
            );
        }
        "KmsgLogConfig" => {
            let target = url(text(value, &["url"]));
            let is_fine = target.is_some_and(|url| {
                matches!(url.scheme, "tcp" | "udp") && matches!(url.path, "" | "/") && !url.port.is_empty()
            });
            verdict.error_if(!is_fine, place, "url: expected tcp://HOST:PORT or udp://HOST:PORT");
        }
        "SideroLinkConfig" => {
            let target = url(text(value, &["apiUrl"]));
            let is_fine = target
                .is_some_and(|url| matches!(url.scheme, "https" | "grpc") && matches!(url.path, "" | "/"));
            verdict.error_if(!is_fine, place, "apiUrl: expected https://HOST or grpc://HOST");
        }
        "WatchdogTimerConfig" => {
            verdict.error_if(text(value, &["device"]).is_empty(), place, "device must be set");
            let timeout = number(value, &["timeout"]);
            verdict.error_if(timeout != 0 && timeout < 10_000_000_000, place, "timeout: at least 10s");
        }
        "OOMConfig" => {
            verdict.error_if(number(value, &["sampleInterval"]) < 0, place, "sampleInterval: negative")
        }
        "ExtensionServiceConfig" => {
            let files = list(value, &["configFiles"]);
            let is_empty = files.is_empty() && list(value, &["environment"]).is_empty();
            verdict.error_if(is_empty, place, "configFiles or environment must be set");
            let is_whole =
                |file: &Value| ["content", "mountPath"].iter().all(|key| !text(file, &[key]).is_empty());
            verdict.error_if(!files.iter().all(is_whole), place, "a file needs content and mountPath");
        }
        "RegistryAuthConfig" => {
            let [user, token, auth] =
                ["username", "identityToken", "auth"].map(|key| !text(value, &[key]).is_empty());
            let several = usize::from(user) + usize::from(token) + usize::from(auth) > 1;
            verdict.error_if(several, place, "only one of username, identityToken and auth");
        }
        "RegistryMirrorConfig" => {
            let is_web = |endpoint: &Value| {
                url(text(endpoint, &["url"])).is_some_and(|url| matches!(url.scheme, "http" | "https"))
            };
            verdict.error_if(
                !list(value, &["endpoints"]).iter().all(is_web),
                place,
                "endpoints: expected http or https URLs",
            );
        }
        "RegistryTLSConfig" => {
            let authority = text(value, &["ca"]);
            let is_fine = authority.is_empty() || is_pem(authority, "CERTIFICATE");
            verdict.error_if(!is_fine, place, "ca: expected a certificate in PEM");
            if value.field("clientIdentity").is_some() {
                let has = |key: &str, label: &str| is_pem(text(value, &["clientIdentity", key]), label);
                let is_fine = has("cert", "CERTIFICATE") && has("key", "PRIVATE KEY");
                verdict.error_if(!is_fine, place, "clientIdentity: expected a certificate and a key in PEM");
            }
        }
        "ImageVerificationConfig" => {
            list(value, &["rules"]).iter().for_each(|rule| verification_rule(rule, place, verdict));
        }
        _ => {}
    }
}

fn verification_rule(rule: &Value, place: &str, verdict: &mut Verdict) {
    let image = text(rule, &["image"]);
    verdict.error_if(image.is_empty(), place, "a rule needs an image");
    let (registry, repository) = image.split_once('/').unwrap_or((image, ""));
    if image.contains('@') {
        verdict.warning(place, "only registry and repository of an image are matched: leave the digest out");
    }
    if repository.contains(':') {
        verdict.warning(place, "only registry and repository of an image are matched: leave the tag out");
    }
    if !image.contains('/') && !matches!(registry, "" | "*") {
        verdict
            .warning(place, "an image without a registry is looked for under docker.io: write the registry");
    }
    let [skips, denies] = ["skip", "deny"].map(|key| flag(rule, &[key]) == Some(true));
    let [keyless, key] = ["keyless", "publicKey"].map(|key| rule.field(key).is_some());
    let choices = usize::from(skips) + usize::from(denies) + usize::from(keyless) + usize::from(key);
    verdict.error_if(choices != 1, place, "a rule takes exactly one of skip, deny, keyless and publicKey");
    if keyless {
        let has_subject =
            ["subject", "subjectRegex"].iter().any(|key| !text(rule, &["keyless", key]).is_empty());
        let is_fine = !text(rule, &["keyless", "issuer"]).is_empty() && has_subject;
        verdict.error_if(!is_fine, place, "keyless: issuer and subject or subjectRegex must be set");
    }
    let lacks_certificate = key && text(rule, &["publicKey", "certificate"]).is_empty();
    verdict.error_if(lacks_certificate, place, "publicKey.certificate must be set");
}
