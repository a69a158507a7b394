//! go-plugin's AutoMTLS: both sides make a certificate for this one connection and pin the other's.
//!
//! The client's is a self-signed CA certificate with a P-521 key. rustls' own verifier refuses a CA as a
//! client, so the pin is a verifier of its own: the certificate's bytes are equal, and the handshake's
//! signature fits it. Whoever cannot sign for exactly that certificate is no client.

use std::sync::Arc;

use base64::Engine as _;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{WebPkiSupportedAlgorithms, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use tokio_rustls::TlsAcceptor;

/// Why there can be no TLS.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsError {
    #[error("failed to read the client's certificate from PLUGIN_CLIENT_CERT")]
    Client(#[source] rustls::pki_types::pem::Error),
    #[error("failed to make the server's certificate")]
    Certificate(#[source] rcgen::Error),
    #[error("failed to set up TLS")]
    Setup(#[source] rustls::Error),
}

/// The server's half of a connection's TLS.
pub(super) struct ServerTls {
    pub(super) acceptor: TlsAcceptor,
    /// The certificate as the handshake's line has it: DER in base64 without padding.
    pub(super) certificate: String,
}

/// Makes a certificate and accepts exactly the client of `client_certificate` (PEM).
pub(super) fn server_tls(client_certificate: &str) -> Result<ServerTls, TlsError> {
    let client = CertificateDer::from_pem_slice(client_certificate.as_bytes()).map_err(TlsError::Client)?;
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(TlsError::Certificate)?;
    let mut params =
        rcgen::CertificateParams::new(["localhost".to_owned()]).map_err(TlsError::Certificate)?;
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.self_signed(&key).map_err(TlsError::Certificate)?;

    let crypto = Arc::new(aws_lc_rs::default_provider());
    let pin = Pin { certificate: client, algorithms: crypto.signature_verification_algorithms };
    let private_key = PrivatePkcs8KeyDer::from(key.serialize_der());
    let mut config = ServerConfig::builder_with_provider(crypto)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Setup)?
        .with_client_cert_verifier(Arc::new(pin))
        .with_single_cert(vec![certificate.der().clone()], private_key.into())
        .map_err(TlsError::Setup)?;
    // gRPC clients close a connection that does not negotiate HTTP/2.
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(ServerTls {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        certificate: base64::engine::general_purpose::STANDARD_NO_PAD.encode(certificate.der()),
    })
}

/// Accepts one certificate.
#[derive(Debug)]
struct Pin {
    certificate: CertificateDer<'static>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if *shown == self.certificate {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
