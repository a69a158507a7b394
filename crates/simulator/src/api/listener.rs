//! The port of a machine's API: accepts connections, shakes hands, serves calls, and closes as apid does.

use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::server::Acceptor;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Gate;
use crate::events::EventKind;
use crate::tcp::at_once;
use crate::tls::{Acceptance, Caller};

/// HTTP/2 settings of Talos' server, as recorded.
const STREAM_WINDOW: u32 = 2_097_120;
const CONNECTION_WINDOW: u32 = 1_048_560;
/// How long a client may take to shake hands, and to read an alert, before the connection is dropped.
const HANDSHAKE: Duration = Duration::from_secs(10);
const ALERT: Duration = Duration::from_secs(1);

/// A listening API.
#[derive(Debug)]
pub(crate) struct Listener {
    closing: CancellationToken,
    cut: CancellationToken,
    connections: TaskTracker,
}

/// What every connection of a listener shares.
#[derive(Clone)]
struct Port {
    acceptance: Acceptance,
    mutual: bool,
    gate: Gate,
    closing: CancellationToken,
}

impl Listener {
    /// Listens at the address and serves calls through the gate.
    ///
    /// # Errors
    /// When the address is taken or not of this host.
    pub(crate) async fn open(
        address: SocketAddr,
        acceptance: Acceptance,
        mutual: bool,
        gate: Gate,
    ) -> std::io::Result<Self> {
        let socket = TcpListener::bind(address).await?;
        let (closing, cut, connections) =
            (CancellationToken::new(), CancellationToken::new(), TaskTracker::new());
        let port = Port { acceptance, mutual, gate, closing: closing.clone() };
        let accepting = accept(socket, port, cut.clone(), connections.clone());
        connections.spawn(cut.clone().run_until_cancelled_owned(accepting));
        Ok(Self { closing, cut, connections })
    }

    /// Stops listening, lets running calls and streams end for so long, then breaks what is left.
    pub(crate) async fn close(self, grace: Duration) {
        self.closing.cancel();
        self.connections.close();
        if tokio::time::timeout(grace, self.connections.wait()).await.is_err() {
            self.cut.cancel();
            self.connections.wait().await;
        }
    }

    /// Breaks everything at once, as the loss of power does.
    pub(crate) async fn cut(self) {
        self.cut.cancel();
        self.connections.close();
        self.connections.wait().await;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.cut.cancel();
    }
}

async fn accept(socket: TcpListener, port: Port, cut: CancellationToken, connections: TaskTracker) {
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = port.closing.cancelled() => return,
        };
        match accepted {
            Ok((stream, _)) => {
                at_once(&stream);
                let cut = cut.child_token();
                let connection = serve(stream, port.clone(), cut.clone());
                connections.spawn(cut.run_until_cancelled_owned(connection));
            }
            // Too many open files, or the client is gone already: the next one may do.
            Err(error) => tracing::warn!(%error, "failed to accept a connection"),
        }
    }
}

async fn serve(stream: TcpStream, port: Port, cut: CancellationToken) {
    if port.gate.faults.is_silent() {
        // Held open without a word until the machine goes down.
        std::future::pending::<()>().await;
    }
    let shaken = tokio::time::timeout(HANDSHAKE, shake_hands(stream, &port.acceptance)).await;
    let stream = match shaken.unwrap_or_else(|_| Err("the client never finished its handshake".to_owned())) {
        Ok(stream) => stream,
        Err(reason) => {
            let recorder = &port.gate.recorder;
            return recorder.events.record(&recorder.machine, EventKind::Refused { reason });
        }
    };
    let caller = caller(&stream, port.mutual);
    let gate = port.gate;
    let service = tower::service_fn(move |request| gate.clone().call(request, caller.clone(), cut.clone()));
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    let connection = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = port.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Shakes hands; an error is what TLS said, and the client has been told.
async fn shake_hands(stream: TcpStream, acceptance: &Acceptance) -> Result<TlsStream<TcpStream>, String> {
    let acceptor = LazyConfigAcceptor::new(Acceptor::default(), stream);
    let start = acceptor.await.map_err(|error| error.to_string())?;
    let config = acceptance.for_protocols(start.client_hello().alpn());
    match start.into_stream(config).into_fallible().await {
        Ok(stream) => Ok(stream),
        Err((error, stream)) => {
            linger(stream).await;
            Err(error.to_string())
        }
    }
}

/// Closes so that the client can read the alert: unread bytes at closing would reset the connection and lose it.
async fn linger(mut stream: TcpStream) {
    let mut unread = [0; 4096];
    let drained = async {
        stream.shutdown().await?;
        while stream.read(&mut unread).await? > 0 {}
        std::io::Result::Ok(())
    };
    if let Ok(Err(error)) = tokio::time::timeout(ALERT, drained).await {
        tracing::debug!(%error, "a refused client went away");
    }
}

/// Who is at the other end. Without mutual TLS everybody is a reader.
fn caller(stream: &TlsStream<TcpStream>, mutual: bool) -> Caller {
    if !mutual {
        return Caller::in_maintenance();
    }
    let certificates = stream.get_ref().1.peer_certificates();
    certificates.and_then(<[_]>::first).map(Caller::of_certificate).unwrap_or_default()
}
