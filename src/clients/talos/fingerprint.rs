//! The fingerprint by which a machine in maintenance mode can be told from an impostor.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use sha2::{Digest, Sha256};
use thiserror::Error;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "read {0:?} as a certificate fingerprint: expected the 44 characters that the machine's console shows \
     (base64 of a SHA-256)"
)]
pub struct NotAFingerprint(String);

/// SHA-256 over a certificate's public key (its DER SubjectPublicKeyInfo): what Talos prints on the console of a
/// machine in maintenance mode. The machine makes a new key at every boot, when its addresses or its name change, and
/// every twelve hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Parses padded standard base64.
    ///
    /// # Errors
    ///
    /// [`NotAFingerprint`] for all else.
    pub fn parse(text: &str) -> Result<Self, NotAFingerprint> {
        let bytes = STANDARD.decode(text).map_err(|_| NotAFingerprint(text.to_owned()))?;
        <[u8; 32]>::try_from(bytes).map(Self).map_err(|_| NotAFingerprint(text.to_owned()))
    }

    /// The fingerprint of a certificate; `None` if it isn't one.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
        Some(Self(Sha256::digest(certificate.tbs_certificate.subject_pki.raw).into()))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let fingerprint = Fingerprint([7; 32]);
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 44);
        assert_eq!(Fingerprint::parse(&text).unwrap(), fingerprint);
    }

    #[test]
    fn refuses_what_is_not_a_sha256() {
        for text in
            ["", "abc", "BwcHBwcHBwcHBwcHBwcHBwcHBwc=", "not base64 at all, but 44 characters long!!!!"]
        {
            assert_eq!(Fingerprint::parse(text), Err(NotAFingerprint(text.to_owned())), "{text}");
        }
    }
}
