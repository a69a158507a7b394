//! The forms of names, addresses and labels.

use std::net::IpAddr;

use ipnet::IpNet;

pub(super) fn is_address(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok()
}

pub(super) fn is_network(text: &str) -> bool {
    text.parse::<IpNet>().is_ok()
}

pub(super) fn is_address_or_network(text: &str) -> bool {
    is_address(text) || is_network(text)
}

/// A network or an address that may be taken out with `!`.
pub(super) fn is_filter(text: &str) -> bool {
    is_address_or_network(text.strip_prefix('!').unwrap_or(text))
}

/// A DNS name as Talos' validator takes it, with underscores and a final dot.
pub(super) fn is_dns_name(text: &str) -> bool {
    let name = text.strip_suffix(['.', '_']).filter(|name| !name.is_empty()).unwrap_or(text);
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && !part.starts_with('-')
            && part
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'))
    };
    text.len() <= 255 && name.split('.').all(is_part)
}

/// A host name that Kubernetes takes for a node: RFC 1123.
pub(super) fn is_hostname(text: &str) -> bool {
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

/// A label's key: a name of at most 63 characters after an optional DNS prefix.
pub(super) fn is_label_key(key: &str) -> bool {
    let (prefix, name) = key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
    is_label_name(name) && prefix.is_none_or(is_hostname)
}

/// A label's value: empty, or a name.
pub(super) fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_label_name(value)
}

fn is_label_name(name: &str) -> bool {
    let is_edge =
        |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
    name.len() <= 63
        && is_edge(name.chars().next())
        && is_edge(name.chars().last())
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
}

/// `value:Effect` or `Effect`, as Talos keeps a node's taints.
pub(super) fn is_taint(taint: &str) -> bool {
    let (value, effect) = taint.split_once(':').unwrap_or(("", taint));
    is_label_value(value) && matches!(effect, "NoSchedule" | "PreferNoSchedule" | "NoExecute")
}

/// The scheme, host, port and path of a URL.
pub(super) struct Url<'text> {
    pub(super) scheme: &'text str,
    pub(super) host: &'text str,
    pub(super) port: &'text str,
    pub(super) path: &'text str,
}

pub(super) fn url(text: &str) -> Option<Url<'_>> {
    let (scheme, rest) = text.split_once("://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or_default()),
        None => authority.rsplit_once(':').unwrap_or((authority, "")),
    };
    Some(Url { scheme, host, port, path })
}

/// A WireGuard key: 32 bytes in base64.
pub(super) fn is_wireguard_key(text: &str) -> bool {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

/// A text with a block of PEM whose label ends in the one given: `PRIVATE KEY` is the end of `EC PRIVATE KEY`.
pub(super) fn is_pem(text: &str, label: &str) -> bool {
    use base64::Engine;
    let Some((_, rest)) = text.split_once("-----BEGIN ") else { return false };
    let Some((found, rest)) = rest.split_once("-----") else { return false };
    let Some((body, _)) = rest.split_once(&format!("-----END {found}-----")) else { return false };
    let body: String = body.split_whitespace().collect();
    found.ends_with(label) && base64::engine::general_purpose::STANDARD.decode(body).is_ok()
}
