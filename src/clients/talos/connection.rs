//! HTTP/2 on one encrypted stream, as the generated clients want it.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tonic::body::Body;

use super::error::Fault;
use super::handshake::Stream;

/// One connection. Clones share it; it ends when the last of them is dropped, and is never made anew.
#[derive(Debug, Clone)]
pub(super) struct Connection(SendRequest<Body>);

impl Connection {
    /// Starts HTTP/2. Without keep-alive pings: Talos' server ends a connection that pings more often than every five
    /// minutes.
    ///
    /// # Errors
    ///
    /// [`Fault::Lost`] if the stream broke.
    pub(super) async fn start(stream: Stream) -> Result<Self, Fault> {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Fault::Lost(error.to_string()))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a machine ended");
            }
        });
        Ok(Self(sender))
    }
}

impl tower::Service<http::Request<Body>> for Connection {
    type Response = http::Response<Incoming>;
    type Error = hyper::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}
