//! The handshakes of both modes, and the alerts that tell causes apart.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme, SupportedProtocolVersion};
use simulator::configuration::Secret;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_parser::prelude::{FromDer, X509Certificate};

use crate::lab::{Rack, generate, machines, patiently};

#[tokio::test]
async fn in_maintenance_nobody_is_asked_for_a_certificate_and_the_name_tells_the_mode() {
    let _rack = Rack::start(machines(141, 1)).await;
    let seen = shake(&config(&[&rustls::version::TLS13], &[b"h2"]), "127.0.141.11").await.unwrap();
    assert_eq!(seen.common_name, "maintenance-service.talos.dev");
    assert_eq!(seen.protocol.as_deref(), Some(b"h2".as_slice()));
    let with_alert = shake(&config(&[&rustls::version::TLS12], &[b"h2"]), "127.0.141.11").await;
    assert!(with_alert.unwrap_err().contains("ProtocolVersion"));
    let other = shake(&config(&[&rustls::version::TLS13], &[b"spdy/3"]), "127.0.141.11").await;
    assert!(other.unwrap_err().contains("NoApplicationProtocol"));
    let none = shake(&config(&[&rustls::version::TLS13], &[]), "127.0.141.11").await.unwrap();
    assert_eq!(none.protocol, None);
}

#[tokio::test]
async fn a_machine_of_1_12_still_speaks_tls_1_2() {
    let mut own = machines(142, 1);
    own[0].talos_version = "v1.12.4".parse().unwrap();
    let _rack = Rack::start(own).await;
    let seen = shake(&config(&[&rustls::version::TLS12], &[b"h2"]), "127.0.142.11").await.unwrap();
    assert_eq!(seen.common_name, "maintenance-service.talos.dev");
}

#[tokio::test]
async fn a_configured_machine_tells_a_missing_certificate_from_a_foreign_one() {
    let rack = Rack::start(machines(143, 1)).await;
    let address = "127.0.143.11";
    let own = generate(address, "v1.13").await;
    rack.configure("a", address, &own.control_plane).await;
    let mut config = config(&[&rustls::version::TLS13], &[b"h2"]);
    let anonymous = alert(&config, address).await;
    assert!(anonymous.contains("CertificateRequired"), "{anonymous}");
    let foreign = generate(address, "v1.13").await;
    config.client_auth_cert_resolver = resolver(&foreign.talosconfig);
    let refused = alert(&config, address).await;
    assert!(refused.contains("UnknownCA"), "{refused}");
    config.client_auth_cert_resolver = resolver(&own.talosconfig);
    let mut stream = connect(&config, address).await.unwrap();
    let mut byte = [0];
    // Settings of HTTP/2 come: the certificate was accepted.
    assert!(patiently("settings", stream.read(&mut byte)).await.is_ok());
}

/// What a handshake showed.
#[derive(Debug)]
struct Seen {
    common_name: String,
    protocol: Option<Vec<u8>>,
}

async fn shake(config: &ClientConfig, address: &str) -> Result<Seen, String> {
    let stream = connect(config, address).await?;
    let connection = stream.get_ref().1;
    let certificate = connection.peer_certificates().and_then(<[_]>::first).unwrap();
    let (_, certificate) = X509Certificate::from_der(certificate).unwrap();
    let common_name = certificate.subject().iter_common_name().next().unwrap().as_str().unwrap().to_owned();
    Ok(Seen { common_name, protocol: connection.alpn_protocol().map(<[u8]>::to_vec) })
}

/// The alert that the server sends after the handshake.
async fn alert(config: &ClientConfig, address: &str) -> String {
    let mut stream = match connect(config, address).await {
        Ok(stream) => stream,
        Err(error) => return error,
    };
    let mut byte = [0];
    patiently("the alert", stream.read(&mut byte)).await.unwrap_err().to_string()
}

async fn connect(
    config: &ClientConfig,
    address: &str,
) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
    let stream = TcpStream::connect((address, 50000)).await.map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(Arc::new(config.clone()));
    let name = ServerName::try_from(address.to_owned()).unwrap();
    patiently("the handshake", connector.connect(name, stream)).await.map_err(|error| error.to_string())
}

fn config(versions: &[&'static SupportedProtocolVersion], protocols: &[&[u8]]) -> ClientConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anything))
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    config
}

/// The client certificate of a talosconfig.
fn resolver(talosconfig: &Secret) -> Arc<dyn rustls::client::ResolvesClientCert> {
    use base64::Engine;
    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    let field = |name: &str| {
        let prefix = format!("{name}: ");
        let line =
            talosconfig.expose().lines().find_map(|line| line.trim().strip_prefix(prefix.as_str())).unwrap();
        base64::engine::general_purpose::STANDARD.decode(line).unwrap()
    };
    let certificate = CertificateDer::from_pem_slice(&field("crt")).unwrap();
    // Talos labels its Ed25519 keys otherwise than PKCS #8 wants.
    let key = String::from_utf8(field("key")).unwrap().replace("ED25519 PRIVATE KEY", "PRIVATE KEY");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key).unwrap();
    Arc::new(rustls::sign::SingleCertAndKey::from(rustls::sign::CertifiedKey::new(vec![certificate], key)))
}

/// Accepts every certificate: what is looked at here is the handshake.
#[derive(Debug)]
struct Anything;

impl ServerCertVerifier for Anything {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
