//! Certificates of a node, issued from the CAs of its configuration as Talos issues them.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, DnValue, ExtendedKeyUsagePurpose, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, PublicKeyData, SanType,
};
use x509_parser::extensions::ParsedExtension;
use x509_parser::prelude::{FromDer, X509Certificate, X509Name};

use crate::configuration::{Authority, Secret};

/// Lifetime of Kubernetes' certificates.
pub(super) const ONE_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Lifetime of etcd's certificates.
pub(super) const TEN_YEARS: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
/// How far back certificates begin to be valid, for clocks that differ a little.
const BACKDATED: Duration = Duration::from_secs(10);

/// Why a certificate can't be issued.
#[derive(Debug, thiserror::Error)]
pub(super) enum CertificateError {
    #[error("the configuration has no {authority} CA")]
    Missing { authority: &'static str },
    #[error("the {authority} CA's certificate: {reason}")]
    Certificate { authority: &'static str, reason: String },
    #[error("the {authority} key: {reason}")]
    Key { authority: &'static str, reason: String },
    #[error("the {authority} CA's key doesn't match its certificate")]
    Mismatch { authority: &'static str },
    #[error("sign with the {authority} CA: {reason}")]
    Sign { authority: &'static str, reason: String },
}

/// A CA that signs.
pub(super) struct CertificateAuthority {
    name: &'static str,
    issuer: Issuer<'static, KeyPair>,
}

/// What a certificate is to say.
#[derive(Default)]
pub(super) struct Subject {
    pub(super) common_name: String,
    pub(super) organization: Option<String>,
    pub(super) dns_names: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) server: bool,
    pub(super) client: bool,
}

/// A certificate with its key, PEM both.
pub(super) struct Issued {
    pub(super) certificate: String,
    pub(super) key: Secret,
}

impl CertificateAuthority {
    /// Reads a CA; like Talos, refuses a key that isn't the certificate's.
    pub(super) fn load(name: &'static str, authority: Option<&Authority>) -> Result<Self, CertificateError> {
        let authority = authority.ok_or(CertificateError::Missing { authority: name })?;
        let key = load_key(name, &authority.key)?;
        let der = pem_body(&authority.certificate).ok_or_else(|| CertificateError::Certificate {
            authority: name,
            reason: "it isn't PEM".to_owned(),
        })?;
        let (_, certificate) = X509Certificate::from_der(&der)
            .map_err(|error| CertificateError::Certificate { authority: name, reason: error.to_string() })?;
        if certificate.public_key().raw != key.subject_public_key_info() {
            return Err(CertificateError::Mismatch { authority: name });
        }
        let mut params = CertificateParams::default();
        params.distinguished_name = distinguished_name(certificate.subject());
        if let Some(identifier) = subject_key_identifier(&certificate) {
            // Talos' CAs carry an identifier that isn't derived from the key: it has to be copied, or OpenSSL
            // finds no issuer.
            params.key_identifier_method = KeyIdMethod::PreSpecified(identifier);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyCertSign];
        Ok(Self { name, issuer: Issuer::new(params, key) })
    }

    /// Issues a certificate with a new ECDSA P-256 key.
    pub(super) fn issue(&self, subject: &Subject, lifetime: Duration) -> Result<Issued, CertificateError> {
        let failed =
            |error: rcgen::Error| CertificateError::Sign { authority: self.name, reason: error.to_string() };
        let key = KeyPair::generate().map_err(failed)?;
        let params = subject.params(lifetime).map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok(Issued { certificate: certificate.pem(), key: Secret::new(key.serialize_pem()) })
    }
}

impl Subject {
    fn params(&self, lifetime: Duration) -> Result<CertificateParams, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        if let Some(organization) = &self.organization {
            params.distinguished_name.push(DnType::OrganizationName, organization.as_str());
        }
        params.distinguished_name.push(DnType::CommonName, self.common_name.as_str());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        params.not_before = rcgen::date_time_ymd(1970, 1, 1) + now.saturating_sub(BACKDATED);
        params.not_after = rcgen::date_time_ymd(1970, 1, 1) + (now + lifetime);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyEncipherment];
        params.use_authority_key_identifier_extension = true;
        if self.server {
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        }
        if self.client {
            params.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
        }
        for name in &self.dns_names {
            params.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
        }
        params.subject_alt_names.extend(self.addresses.iter().copied().map(SanType::IpAddress));
        Ok(params)
    }
}

/// Reads a private key in any of the forms that Talos writes.
pub(super) fn load_key(name: &'static str, key: &Secret) -> Result<KeyPair, CertificateError> {
    if key.is_empty() {
        return Err(CertificateError::Key { authority: name, reason: "it is empty".to_owned() });
    }
    // The label that Talos writes for Ed25519 is its own; what it holds is PKCS#8.
    let text = key.expose().replace("ED25519 PRIVATE KEY", "PRIVATE KEY");
    KeyPair::from_pem(&text)
        .map_err(|error| CertificateError::Key { authority: name, reason: error.to_string() })
}

/// The first PEM block's content.
pub(super) fn pem_body(text: &str) -> Option<Vec<u8>> {
    let begin = text.find("-----BEGIN ")?;
    let body = &text[begin..];
    let start = body.find('\n')?;
    let end = body.find("-----END ")?;
    let encoded: String = body.get(start..end)?.split_ascii_whitespace().collect();
    STANDARD.decode(encoded).ok()
}

fn distinguished_name(name: &X509Name<'_>) -> DistinguishedName {
    let mut copy = DistinguishedName::new();
    for attribute in name.iter_attributes() {
        let components: Vec<u64> =
            attribute.attr_type().iter().map(|parts| parts.collect()).unwrap_or_default();
        let value = attribute.as_str().unwrap_or_default();
        // The type of the text is part of the name: Go compares issuer and subject byte by byte.
        let printable =
            attribute.attr_value().header.tag() == x509_parser::der_parser::ber::Tag::PrintableString;
        let value = match value.try_into() {
            Ok(text) if printable => DnValue::PrintableString(text),
            Ok(_) | Err(_) => DnValue::Utf8String(value.to_owned()),
        };
        copy.push(DnType::from_oid(&components), value);
    }
    copy
}

fn subject_key_identifier(certificate: &X509Certificate<'_>) -> Option<Vec<u8>> {
    certificate.extensions().iter().find_map(|extension| {
        if let ParsedExtension::SubjectKeyIdentifier(identifier) = extension.parsed_extension() {
            return Some(identifier.0.to_vec());
        }
        None
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn authority() -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::OrganizationName, DnValue::PrintableString("kubernetes".try_into().unwrap()));
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.key_identifier_method = KeyIdMethod::PreSpecified(vec![7; 20]);
        let certificate = params.self_signed(&key).unwrap();
        Authority { certificate: certificate.pem(), key: Secret::new(key.serialize_pem()) }
    }

    #[test]
    fn issuer_name_and_key_identifier_are_the_authority_s_own_bytes() {
        let authority = authority();
        let issued = CertificateAuthority::load("Kubernetes", Some(&authority))
            .unwrap()
            .issue(&Subject { common_name: "admin".to_owned(), client: true, ..Subject::default() }, ONE_YEAR)
            .unwrap();
        let (ca, leaf) = (pem_body(&authority.certificate).unwrap(), pem_body(&issued.certificate).unwrap());
        let (_, ca) = X509Certificate::from_der(&ca).unwrap();
        let (_, leaf) = X509Certificate::from_der(&leaf).unwrap();
        assert_eq!(leaf.issuer().as_raw(), ca.subject().as_raw());
        let identifier = leaf.extensions().iter().find_map(|extension| {
            if let ParsedExtension::AuthorityKeyIdentifier(identifier) = extension.parsed_extension() {
                return identifier.key_identifier.clone();
            }
            None
        });
        assert_eq!(identifier.unwrap().0, [7; 20]);
    }

    #[test]
    fn a_key_of_another_certificate_is_refused() {
        let swapped = Authority { key: authority().key, ..authority() };
        let refused = CertificateAuthority::load("etcd", Some(&swapped)).err().unwrap();
        assert!(matches!(refused, CertificateError::Mismatch { authority: "etcd" }), "{refused}");
    }
}
