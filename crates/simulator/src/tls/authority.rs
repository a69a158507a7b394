//! A certificate authority of the Talos API, and what it signs.

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    CertificateParams, CustomExtension, DistinguishedName, DnType, DnValue, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, PKCS_ED25519, SanType,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use x509_parser::prelude::{FromDer, ParsedExtension, X509Certificate, X509Name};

use super::Names;

/// Lifetime of a server certificate (Talos: `x509.DefaultCertificateValidityDuration`, 24 h).
const SERVER_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// An authority with its key.
pub(crate) struct Authority {
    certificate: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// Why an authority cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthorityError {
    /// The text holds no certificate.
    #[error("failed to decode a certificate authority's certificate")]
    Pem(#[source] rustls::pki_types::pem::Error),
    /// The certificate is malformed.
    #[error("failed to parse a certificate authority's certificate: {0}")]
    Certificate(String),
    /// The key is of another certificate; Go refuses to sign with it.
    #[error(
        "failed to sign the server's certificate: the private key doesn't match the authority's public key"
    )]
    Mismatch,
    /// Key or signature does not work.
    #[error("failed to sign the server's certificate")]
    Signing(#[from] rcgen::Error),
    /// TLS does not accept what was made.
    #[error("failed to set up TLS")]
    Tls(#[from] rustls::Error),
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// An authority of its own for one boot in maintenance mode: Ed25519, empty subject, never sent.
    pub(crate) fn throw_away(now: Timestamp) -> Result<Self, AuthorityError> {
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let mut parameters = parameters(now);
        parameters.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = parameters.self_signed(&key)?.der().clone();
        Ok(Self { certificate, issuer: Issuer::new(parameters, key) })
    }

    /// The authority of a configuration (PEM texts).
    pub(crate) fn from_pem(certificate: &str, key: &str) -> Result<Self, AuthorityError> {
        let certificate =
            CertificateDer::from_pem_slice(certificate.as_bytes()).map_err(AuthorityError::Pem)?;
        let (_, parsed) = X509Certificate::from_der(&certificate)
            .map_err(|error| AuthorityError::Certificate(error.to_string()))?;
        let mut parameters = parameters(Timestamp::now());
        parameters.distinguished_name = distinguished_name(parsed.subject());
        // The key identifier is copied, never computed: Go's authorities carry one that no library recomputes.
        let identifier = parsed.extensions().iter().find_map(|extension| {
            let ParsedExtension::SubjectKeyIdentifier(identifier) = extension.parsed_extension() else {
                return None;
            };
            Some(identifier.0.to_vec())
        });
        if let Some(identifier) = identifier {
            parameters.key_identifier_method = KeyIdMethod::PreSpecified(identifier);
        }
        let key = KeyPair::from_pem(key)?;
        if key.public_key_raw() != parsed.public_key().subject_public_key.data.as_ref() {
            return Err(AuthorityError::Mismatch);
        }
        Ok(Self { issuer: Issuer::new(parameters, key), certificate })
    }

    /// Its certificate.
    pub(crate) fn certificate(&self) -> &CertificateDer<'static> {
        &self.certificate
    }

    /// Issues a server certificate with a new Ed25519 key.
    pub(super) fn issue_server(
        &self,
        names: Names,
        now: Timestamp,
    ) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), AuthorityError> {
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let mut parameters = parameters(now);
        parameters.distinguished_name.push(DnType::CommonName, printable(&names.common_name));
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        parameters.use_authority_key_identifier_extension = true;
        for name in names.dns {
            parameters.subject_alt_names.push(SanType::DnsName(name.try_into()?));
        }
        parameters.subject_alt_names.extend(names.addresses.into_iter().map(SanType::IpAddress));
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        Ok((certificate.der().clone(), key))
    }

    /// Issues a client certificate for these roles, valid for so long, as PEM with its PEM key.
    pub(crate) fn issue_client(
        &self,
        roles: &[String],
        now: Timestamp,
        lifetime: SignedDuration,
    ) -> Result<(String, String), AuthorityError> {
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let mut parameters = parameters(now);
        parameters.not_after = parameters.not_before + lifetime.unsigned_abs();
        // Several organizations are several values of one attribute type; rcgen's names hold one each, and Talos'
        // command line asks for one role at a time.
        for role in roles {
            parameters.distinguished_name.push(DnType::OrganizationName, printable(role));
        }
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        parameters.use_authority_key_identifier_extension = true;
        let certificate = parameters.signed_by(&key, &self.issuer)?;
        // Talos has a label of its own for these keys.
        let key = key.serialize_pem().replace("PRIVATE KEY", "ED25519 PRIVATE KEY");
        Ok((certificate.pem(), key))
    }
}

/// All certificates of a PEM text.
pub(super) fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, AuthorityError> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<_, _>>().map_err(AuthorityError::Pem)
}

/// Parameters without a name, valid from now for a day.
fn parameters(now: Timestamp) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    let seconds = u64::try_from(now.as_second()).unwrap_or(0);
    parameters.not_before = epoch + std::time::Duration::from_secs(seconds);
    parameters.not_after = parameters.not_before + SERVER_LIFETIME.unsigned_abs();
    parameters.custom_extensions = Vec::<CustomExtension>::new();
    parameters
}

/// A certificate's name, with the string types that it has there: issuer and subject are compared byte by byte.
fn distinguished_name(name: &X509Name<'_>) -> DistinguishedName {
    let mut copy = DistinguishedName::new();
    for attribute in name.iter_attributes() {
        let Some(oid) = attribute.attr_type().iter() else { continue };
        let kind = DnType::from_oid(&oid.collect::<Vec<u64>>());
        let text = String::from_utf8_lossy(attribute.attr_value().data).into_owned();
        let value = if attribute.attr_value().tag() == x509_parser::der_parser::asn1_rs::Tag::PrintableString
        {
            printable(&text)
        } else {
            DnValue::Utf8String(text)
        };
        copy.push(kind, value);
    }
    copy
}

/// A value as Go encodes it: a PrintableString where the letters allow it, else UTF-8.
fn printable(text: &str) -> DnValue {
    match text.try_into() {
        Ok(printable) => DnValue::PrintableString(printable),
        Err(_) => DnValue::Utf8String(text.to_owned()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    /// An authority as Talos makes it: certificate and key, PEM.
    pub(in crate::tls) fn generated() -> (String, String) {
        let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
        let mut parameters = parameters(Timestamp::now());
        parameters.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        parameters.distinguished_name.push(DnType::OrganizationName, printable("talos"));
        (parameters.self_signed(&key).unwrap().pem(), key.serialize_pem())
    }

    #[test]
    fn a_key_of_another_certificate_signs_nothing() {
        let (certificate, key) = generated();
        assert!(Authority::from_pem(&certificate, &key).is_ok());
        let (_, other) = generated();
        let refused = Authority::from_pem(&certificate, &other);
        assert!(matches!(refused, Err(AuthorityError::Mismatch)), "{refused:?}");
    }

    #[test]
    fn what_it_signs_names_it_as_it_names_itself() {
        let (certificate, key) = generated();
        let authority = Authority::from_pem(&certificate, &key).unwrap();
        let (server, _) = authority.issue_server(Names::default(), Timestamp::now()).unwrap();
        let (_, server) = X509Certificate::from_der(&server).unwrap();
        let (_, own) = X509Certificate::from_der(authority.certificate()).unwrap();
        assert_eq!(server.issuer().as_raw(), own.subject().as_raw());
    }
}
