//! From an address to an encrypted stream, by hand, so that a refusal can be read.
//!
//! With TLS 1.3 a machine refuses a client certificate after the client's side of the handshake is done: as an alert
//! in place of its first byte, and whoever writes first mostly gets a broken pipe instead. So we wait for the
//! machine's first byte before we write ours; a Talos machine sends its HTTP/2 settings at once.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::deadline::FIRST_BYTE;
use super::error::Fault;
use crate::domain::names::Address;

/// An encrypted stream on which the machine has spoken, or kept silent for [`FIRST_BYTE`].
pub(super) struct Stream {
    inner: TlsStream<TcpStream>,
    /// What the machine said before we did, and how much of it was handed on.
    first: Vec<u8>,
    handed_on: usize,
}

/// Resolves, connects and shakes hands within `budget`.
///
/// # Errors
///
/// The [`Fault`] that says why there is no stream.
pub(super) async fn shake(
    address: &Address,
    port: u16,
    configuration: Arc<ClientConfig>,
    budget: Duration,
) -> Result<Stream, Fault> {
    tokio::time::timeout(budget, attempt(address, port, configuration))
        .await
        .unwrap_or(Err(Fault::Silent(budget)))
}

impl Stream {
    /// The certificate that the machine showed.
    pub(super) fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.inner.get_ref().1.peer_certificates()?.first()
    }
}

async fn attempt(address: &Address, port: u16, configuration: Arc<ClientConfig>) -> Result<Stream, Fault> {
    let offers_certificate = configuration.client_auth_cert_resolver.has_certs();
    let name = match address.as_str().parse::<IpAddr>() {
        Ok(ip) => ServerName::from(ip),
        Err(_) => ServerName::try_from(address.as_str().to_owned())
            .map_err(|error| Fault::Unresolved(error.to_string()))?,
    };
    let socket = connect(address, port).await?;
    let classify = |error: io::Error| of_handshake(&error, offers_certificate);
    let mut inner = TlsConnector::from(configuration).connect(name, socket).await.map_err(classify)?;
    let mut first = vec![0; 64];
    let length = match tokio::time::timeout(FIRST_BYTE, inner.read(&mut first)).await {
        Ok(Ok(0)) => return Err(Fault::Lost("the machine closed it after the handshake".to_owned())),
        Ok(Ok(length)) => length,
        Ok(Err(error)) => return Err(classify(error)),
        Err(_) => 0,
    };
    first.truncate(length);
    Ok(Stream { inner, first, handed_on: 0 })
}

/// Tries every address of a name, as the resolver orders them.
async fn connect(address: &Address, port: u16) -> Result<TcpStream, Fault> {
    let addresses = tokio::net::lookup_host((address.as_str(), port))
        .await
        .map_err(|error| Fault::Unresolved(error.to_string()))?;
    let mut fault = Fault::Unresolved("it has no address".to_owned());
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => {
                // Calls are small and wait for each other: without this, each costs an acknowledgement's delay.
                socket.set_nodelay(true).map_err(|error| of_connect(&error))?;
                return Ok(socket);
            }
            Err(error) => fault = of_connect(&error),
        }
    }
    Err(fault)
}

fn of_connect(error: &io::Error) -> Fault {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        Fault::Refused
    } else {
        Fault::Unreachable(error.to_string())
    }
}

/// Judges an error of the handshake, or of the first read after it.
fn of_handshake(error: &io::Error, offers_certificate: bool) -> Fault {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match tls {
        Some(rustls::Error::AlertReceived(alert)) => of_alert(*alert, offers_certificate),
        Some(rustls::Error::InvalidCertificate(reason)) => of_certificate(reason),
        Some(rustls::Error::Other(other)) => match other.0.downcast_ref::<Fault>() {
            Some(fault) => fault.clone(),
            None => Fault::Handshake(other.to_string()),
        },
        Some(tls) => Fault::Handshake(tls.to_string()),
        None => Fault::Lost(error.to_string()),
    }
}

/// What Talos' servers say by their alerts (Go's `crypto/tls`).
fn of_alert(alert: AlertDescription, offers_certificate: bool) -> Fault {
    match (alert, offers_certificate) {
        // TLS 1.2 has no alert of its own for it; Go then says `bad_certificate` to a client without one.
        (AlertDescription::CertificateRequired, _) | (AlertDescription::BadCertificate, false) => {
            Fault::CertificateRequired
        }
        // All authorities of Talos have the same name: a verifier that goes by names finds a signature that doesn't
        // fit (RFC 8446, 6.2: `decrypt_error`) where Go's says that it doesn't know the authority.
        (AlertDescription::UnknownCA, _) | (AlertDescription::DecryptError, true) => Fault::Foreign,
        (AlertDescription::CertificateExpired, _) => Fault::OursExpired,
        (AlertDescription::BadCertificate, true) => {
            Fault::OursRefused("it is not one of a client".to_owned())
        }
        (alert, _) => Fault::Handshake(format!("the machine said {alert:?}")),
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "rustls may add reasons: those without a meaning of their own are shown as they are"
)]
fn of_certificate(reason: &CertificateError) -> Fault {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Fault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Fault::NotYetValid,
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Fault::WrongName
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => Fault::Foreign,
        reason => Fault::Handshake(rustls::Error::InvalidCertificate(reason.clone()).to_string()),
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let rest = this.first.get(this.handed_on..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut this.inner).poll_read(context, buffer);
        }
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..length).unwrap_or_default());
        this.handed_on += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
