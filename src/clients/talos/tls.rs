//! Whom we trust: nobody in particular in maintenance mode, a cluster's authority afterwards.

use std::fmt;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme,
};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::error::Fault;
use super::fingerprint::Fingerprint;

/// The common name that Talos gives to every machine in maintenance mode (1.9 to 1.14).
const MAINTENANCE_NAME: &str = "maintenance-service.talos.dev";

/// Talos' servers speak HTTP/2 and nothing else.
const HTTP2: &[u8] = b"h2";

/// What an administrator of a cluster holds: the cluster's authority, and a certificate with its key. `Debug` shows
/// none of it.
#[derive(Clone)]
pub struct Credentials {
    configuration: Arc<ClientConfig>,
}

impl Credentials {
    /// Reads the authority's certificate, the client's certificate and its key, all PEM, with Talos' own label for
    /// Ed25519 keys or the standard one.
    ///
    /// # Errors
    ///
    /// [`Fault::Credentials`] naming the part that can't be read, or that the key doesn't fit its certificate.
    pub fn from_pem(authority: &str, certificate: &str, key: &str) -> Result<Self, Fault> {
        let unusable = |part: &str, why: &dyn fmt::Display| Fault::Credentials(format!("{part}: {why}"));
        let mut roots = RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            let root = root.map_err(|error| unusable("the authority's certificate", &error))?;
            roots.add(root).map_err(|error| unusable("the authority's certificate", &error))?;
        }
        if roots.is_empty() {
            return Err(unusable("the authority's certificate", &"there is none in the text"));
        }
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes())
            .map_err(|error| unusable("the client's certificate", &error))?;
        // Go's label for Ed25519 keys stands around plain PKCS#8.
        let key = zeroize::Zeroizing::new(key.replace("ED25519 PRIVATE KEY", "PRIVATE KEY"));
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|error| unusable("the client's key", &error))?;

        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(|error| unusable("the authority's certificate", &error))?;
        let mut configuration = client(provider)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(OwnAuthority(verifier)))
            .with_client_auth_cert(vec![certificate], key)
            .map_err(|error| unusable("the client's certificate and key", &error))?;
        configuration.alpn_protocols = vec![HTTP2.to_vec()];
        Ok(Self { configuration: Arc::new(configuration) })
    }

    pub(super) fn configuration(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.configuration)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

/// The configuration for a machine that has no certificate of any authority we could know.
///
/// # Errors
///
/// [`Fault::Credentials`] if the cryptography library offers no usable protocol version.
pub(super) fn unverified(expected: Option<Fingerprint>) -> Result<Arc<ClientConfig>, Fault> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let algorithms = provider.signature_verification_algorithms;
    let mut configuration = client(provider)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone { expected, algorithms }))
        .with_no_client_auth();
    configuration.alpn_protocols = vec![HTTP2.to_vec()];
    Ok(Arc::new(configuration))
}

/// The subject's common name; empty if there is none.
pub(super) fn common_name(certificate: &CertificateDer<'_>) -> String {
    let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return String::new() };
    let name = certificate.subject().iter_common_name().next().and_then(|name| name.as_str().ok());
    name.unwrap_or_default().to_owned()
}

/// Whether this is the certificate of a machine in maintenance mode, by its name: anybody can make one like it.
pub(super) fn is_maintenance(certificate: &CertificateDer<'_>) -> bool {
    common_name(certificate) == MAINTENANCE_NAME
}

fn client(
    provider: Arc<CryptoProvider>,
) -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, Fault> {
    // Talos 1.13 speaks TLS 1.3 only, its predecessors 1.2 too.
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Credentials(error.to_string()))
}

/// Takes any certificate, or only the one with the expected fingerprint; the handshake's signature is verified, so
/// that whoever answers holds the certificate's key.
#[derive(Debug)]
struct Anyone {
    expected: Option<Fingerprint>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = Fingerprint::of(end_entity)
            .ok_or(rustls::Error::InvalidCertificate(CertificateError::BadEncoding))?;
        match self.expected {
            Some(expected) if expected != found => Err(other(Fault::WrongFingerprint { found, expected })),
            Some(_) | None => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Verifies against the cluster's authority, and says which of two reasons it is when that one didn't sign.
#[derive(Debug)]
struct OwnAuthority(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for OwnAuthority {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now).map_err(
            |error| {
                let not_ours = matches!(
                    error,
                    // Every cluster's authority is called `O=talos`: a foreign one shows as a signature that ours didn't
                    // make.
                    rustls::Error::InvalidCertificate(
                        CertificateError::UnknownIssuer | CertificateError::BadSignature
                    )
                );
                match (not_ours, is_maintenance(end_entity)) {
                    (true, true) => other(Fault::InMaintenance),
                    (true, false) => other(Fault::Foreign),
                    (false, _) => error,
                }
            },
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

fn other(fault: Fault) -> rustls::Error {
    rustls::Error::Other(OtherError(Arc::new(fault)))
}
