//! One HTTPS request with a client certificate, for etcd's JSON gateway and the API server's health.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::tcp::at_once;

/// A client that trusts one set of CAs and shows one certificate.
#[derive(Clone)]
pub(super) struct Https {
    connector: TlsConnector,
}

/// What a server answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

impl Https {
    /// A client from PEM texts.
    pub(super) fn new(ca: &str, certificate: &str, key: &str) -> Result<Self, String> {
        let mut roots = rustls::RootCertStore::empty();
        for root in CertificateDer::pem_slice_iter(ca.as_bytes()) {
            roots.add(root.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        }
        let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| error.to_string())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let configuration = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_client_auth_cert(chain, key)
            .map_err(|error| error.to_string())?;
        Ok(Self { connector: TlsConnector::from(Arc::new(configuration)) })
    }

    /// Sends one request on a connection of its own.
    pub(super) async fn request(
        &self,
        method: Method,
        (address, port): (IpAddr, u16),
        path: &str,
        body: Option<&serde_json::Value>,
        deadline: Duration,
    ) -> Result<Answer, String> {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", super::arguments::socket(address, port))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| error.to_string())?;
        tokio::time::timeout(deadline, self.exchange(address, port, request))
            .await
            .unwrap_or_else(|_| Err(format!("no answer within {} s", deadline.as_secs_f32())))
    }

    async fn exchange(
        &self,
        address: IpAddr,
        port: u16,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, String> {
        let stream = TcpStream::connect((address, port)).await.map_err(|error| error.to_string())?;
        at_once(&stream);
        let name = ServerName::IpAddress(address.into());
        let stream = self.connector.connect(name, stream).await.map_err(|error| error.to_string())?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| error.to_string())?;
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            let body = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
            Ok(Answer { status, body })
        };
        tokio::pin!(exchange);
        tokio::select! {
            answer = &mut exchange => answer,
            ended = connection => match ended {
                // The connection may end first, with the whole answer read already.
                Ok(()) => exchange.await,
                Err(error) => Err(error.to_string()),
            },
        }
    }
}
