//! PEM as Go writes it: a label, 64 characters a line, a line break at the end.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use zeroize::Zeroizing;

use super::error::Error;
use crate::domain::machine_configuration::Secret;

/// The label that Go gives to PKCS#8 keys of Ed25519; others don't know it.
const ED25519: &str = "ED25519 PRIVATE KEY";

pub(super) fn certificate(der: &[u8]) -> String {
    encode("CERTIFICATE", der).to_string()
}

pub(super) fn key(label: &str, der: &[u8]) -> Secret {
    Secret::new(encode(label, der).as_str())
}

pub(super) fn read_certificate(what: &str, text: &str) -> Result<CertificateDer<'static>, Error> {
    CertificateDer::from_pem_slice(text.as_bytes()).map_err(|error| unreadable(what, &error.to_string()))
}

/// Reads a key under any of the labels that Talos writes or accepts.
pub(super) fn read_key(what: &str, text: &Secret) -> Result<PrivateKeyDer<'static>, Error> {
    let text = Zeroizing::new(text.expose().replace(ED25519, "PRIVATE KEY"));
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| unreadable(what, &error.to_string()))
}

pub(super) fn unreadable(what: &str, why: &str) -> Error {
    Error::Unreadable { what: what.to_owned(), why: why.to_owned() }
}

fn encode(label: &str, der: &[u8]) -> Zeroizing<String> {
    let base64 = Zeroizing::new(STANDARD.encode(der));
    let mut text = Zeroizing::new(format!("-----BEGIN {label}-----\n"));
    let mut rest = base64.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}
