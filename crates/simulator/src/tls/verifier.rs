//! Which clients a configured machine lets in.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::AuthorityError;

/// Talos' rules on top of the chain's verification: the extended key usage is client authentication and nothing
/// else, and the alerts are those of Talos' server.
#[derive(Debug)]
pub(super) struct TalosClientVerifier(Arc<dyn ClientCertVerifier>);

impl TalosClientVerifier {
    pub(super) fn new(
        roots: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, AuthorityError> {
        let mut store = RootCertStore::empty();
        for root in roots {
            store.add(root)?;
        }
        WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider)
            .build()
            .map(Self)
            .map_err(|error| AuthorityError::Certificate(error.to_string()))
    }
}

impl ClientCertVerifier for TalosClientVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let verified = self.0.verify_client_cert(end_entity, intermediates, now).map_err(as_talos_says)?;
        if is_for_clients_only(end_entity) { Ok(verified) } else { Err(bad_certificate()) }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// The error whose alert Talos sends: all Talos authorities have the same subject, so that a foreign certificate
/// fails by its signature, which is `unknown_ca` there; a wrong purpose is `bad_certificate`.
fn as_talos_says(error: Error) -> Error {
    let Error::InvalidCertificate(reason) = &error else { return error };
    if matches!(reason, CertificateError::BadSignature) {
        return Error::InvalidCertificate(CertificateError::UnknownIssuer);
    }
    if matches!(reason, CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. }) {
        return bad_certificate();
    }
    error
}

/// The alert of `BadEncoding` is `bad_certificate`.
const fn bad_certificate() -> Error {
    Error::InvalidCertificate(CertificateError::BadEncoding)
}

/// Whether the extended key usage is exactly client authentication.
fn is_for_clients_only(certificate: &CertificateDer<'_>) -> bool {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else { return false };
    let Ok(Some(usage)) = parsed.extended_key_usage() else { return false };
    let usage = usage.value;
    let others = usage.any
        || usage.server_auth
        || usage.code_signing
        || usage.email_protection
        || usage.time_stamping
        || usage.ocsp_signing
        || !usage.other.is_empty();
    usage.client_auth && !others
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use jiff::{SignedDuration, Timestamp};
    use rustls::pki_types::pem::PemObject;

    use super::super::authority::tests::generated;
    use super::super::{Authority, Names};
    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn authority() -> Authority {
        let (certificate, key) = generated();
        Authority::from_pem(&certificate, &key).unwrap()
    }

    /// Verifies a certificate as the machine of this authority does, now.
    fn verify(authority: &Authority, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        verifier(authority).verify_client_cert(certificate, &[], UnixTime::now()).map(|_| ())
    }

    fn verifier(authority: &Authority) -> TalosClientVerifier {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        TalosClientVerifier::new(vec![authority.certificate().clone()], provider).unwrap()
    }

    fn client(authority: &Authority, issued: Timestamp) -> CertificateDer<'static> {
        let (pem, _) = authority.issue_client(&["os:admin".to_owned()], issued, HOUR).unwrap();
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
    }

    fn alert(refused: Result<(), Error>) -> rustls::AlertDescription {
        let Err(Error::InvalidCertificate(reason)) = refused else { panic!("{refused:?}") };
        reason.into()
    }

    #[test]
    fn each_fault_of_a_certificate_has_talos_own_alert() {
        use rustls::AlertDescription::{BadCertificate, CertificateExpired, UnknownCA};
        let own = authority();
        let now = Timestamp::now();
        assert_eq!(verify(&own, &client(&own, now)), Ok(()));
        assert_eq!(alert(verify(&own, &client(&authority(), now))), UnknownCA);
        assert_eq!(alert(verify(&own, &client(&own, now - HOUR - HOUR))), CertificateExpired);
        assert_eq!(alert(verify(&own, &client(&own, now + HOUR))), CertificateExpired);
        let (server, _) = own.issue_server(Names::default(), now).unwrap();
        assert_eq!(alert(verify(&own, &server)), BadCertificate);
    }
}
