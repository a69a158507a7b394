//! Names as Kubernetes and Terraform users know them, parsed once and then carried as types.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a text is not the name it was given as.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// Not an RFC 1123 label.
    #[error(
        "{0:?} is not a DNS label: expected 1 to 63 lower-case letters, digits or hyphens, with a letter or \
         digit at both ends"
    )]
    NotALabel(String),
    /// Not a host at which a machine could be dialled.
    #[error("{0:?} is not an address: expected an IP address or a host name, without port or scheme")]
    NotAnAddress(String),
    /// Not an API server endpoint.
    #[error("{0:?} is not an endpoint: expected https://HOST:PORT, for example https://10.0.0.10:6443")]
    NotAnEndpoint(String),
}

/// Whether `text` is an RFC 1123 label.
pub(crate) fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=63).contains(&text.len())
        && text.chars().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// An RFC 1123 label: the name of a machine, a pool, a cluster or a host.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Label(String);

impl Label {
    /// Parses an RFC 1123 label.
    ///
    /// # Errors
    ///
    /// [`NameError::NotALabel`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if is_label(text) { Ok(Self(text.to_owned())) } else { Err(NameError::NotALabel(text.to_owned())) }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The random identity of one record, which survives renaming and tells a re-created thing from its predecessor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Uid(String);

impl Uid {
    /// Takes a uid that was made elsewhere: this module has no randomness.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An IP address or host name at which a machine may answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// Parses an IP address or a host name.
    ///
    /// # Errors
    ///
    /// [`NameError::NotAnAddress`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_ip = text.parse::<std::net::IpAddr>().is_ok();
        // A dotted name of digits alone is a mistyped IPv4 address, not a host.
        let digits_only = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let host = text.strip_suffix('.').unwrap_or(text);
        let is_host = !digits_only
            && host.len() <= 253
            && host.split('.').all(|part| is_label(&part.to_ascii_lowercase()));
        if is_ip || is_host {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError::NotAnAddress(text.to_owned()))
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `HOST:PORT`, with brackets around an IPv6 address.
    #[must_use]
    pub fn with_port(&self, port: u16) -> String {
        if self.0.contains(':') { format!("[{}]:{port}", self.0) } else { format!("{}:{port}", self.0) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// In messages, a name stands in quotes and without its type.
macro_rules! quoted {
    ($($name:ty),*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    )*};
}
quoted!(Label, Uid, Address);

/// Where clients reach a cluster's API server: `https://HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    host: Address,
    port: u16,
}

impl Endpoint {
    /// The endpoint on a host, at the API server's usual port.
    #[must_use]
    pub fn on(host: Address) -> Self {
        Self { host, port: 6443 }
    }

    /// Parses `https://HOST[:PORT]`; the port is 443 when it is left out, as in any https URL.
    ///
    /// # Errors
    ///
    /// [`NameError::NotAnEndpoint`].
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let bad = || NameError::NotAnEndpoint(text.to_owned());
        let rest = text.strip_prefix("https://").ok_or_else(bad)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port.parse::<u16>().map_err(|_| bad())?),
            Some(_) | None => (rest, 443),
        };
        let host = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
            Some(v6) => v6,
            None if host.contains(':') => return Err(bad()),
            None => host,
        };
        if port == 0 {
            return Err(bad());
        }
        Ok(Self { host: Address::parse(host).map_err(|_| bad())?, port })
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Address {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}", self.host.with_port(self.port))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_what_kubernetes_takes_as_one() {
        for good in ["a", "a-1", "0", &"x".repeat(63)] {
            assert!(Label::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", "a_b", &"x".repeat(64), "ä"] {
            assert!(Label::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_an_ip_or_a_host_without_port() {
        for good in ["10.0.0.1", "fd00::1", "node-1.example.com", "localhost"] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "10.0.0.1:50000", "10.0.0", "10.0.0.256", "https://a", "a b", "[fd00::1]"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_endpoint_round_trips_and_refuses_other_schemes() {
        for text in ["https://10.0.0.10:6443", "https://[fd00::1]:6443", "https://k8s.example.com:443"] {
            assert_eq!(Endpoint::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Endpoint::parse("https://a.example").unwrap().port(), 443);
        for bad in [
            "http://10.0.0.1:6443",
            "10.0.0.1:6443",
            "https://",
            "https://a:0",
            "https://a:70000",
            "https://a/b",
        ] {
            assert!(Endpoint::parse(bad).is_err(), "{bad}");
        }
    }
}
