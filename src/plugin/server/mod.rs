//! The server of one provider process: how it begins, what ends it, and what is left when it ended.
//!
//! # How it ends
//! When the client asks for it, when the last connection has ended (a client that was killed says no
//! goodbye), on SIGTERM, or when nobody came within a minute. Work that runs is told to stop and waited for,
//! for half a minute at most. SIGINT ends nothing: Ctrl-C reaches the whole process group, and it is the
//! client's to say what becomes of the work.

mod connection;
mod handshake;
mod main;
mod side;
mod signals;
mod socket;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests;
mod tls;

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::transport::server::Router;

use super::protocol::grpc::health::v1::health_server::HealthServer;
use super::protocol::plugin::grpc_broker_server::GrpcBrokerServer;
use super::protocol::plugin::grpc_controller_server::GrpcControllerServer;
use super::protocol::plugin::grpc_stdio_server::GrpcStdioServer;
use super::protocol::tfplugin6::provider_server::ProviderServer;
use super::provider::Provider;
use super::service::Service;

pub use main::serve;

/// What HashiCorp's own server library allows; gRPC's usual 4 MiB are less than some states.
const MAXIMUM_MESSAGE_SIZE: usize = 256 << 20;

/// How long work may run on after it was told to stop.
const GRACE: Duration = Duration::from_secs(30);

/// How long the last answers may take on their way out.
const FLUSH: Duration = Duration::from_secs(1);

/// How long a client may take until it connects, as go-plugin waits for a plugin to start.
const FIRST_CONNECTION: Duration = Duration::from_secs(60);

/// A provider that listens on a socket without TLS and outlives its clients: for a debugger, and for tests
/// that run a provider within their own process.
///
/// Anyone who may enter the socket's folder (mode 0700) may use it.
pub struct DebugServer<P> {
    provider: P,
    socket: socket::Socket,
}

impl<P: Provider> DebugServer<P> {
    /// Listens, and answers nobody before [`run`](Self::run).
    ///
    /// # Errors
    /// The socket cannot be made in the system's folder for temporary files.
    pub fn bind(provider: P) -> io::Result<Self> {
        Ok(Self { provider, socket: socket::Socket::bind(None)? })
    }

    /// Where clients connect.
    #[must_use]
    pub fn socket(&self) -> std::path::PathBuf {
        self.socket.path()
    }

    /// What `TF_REATTACH_PROVIDERS` must be for Terraform and OpenTofu to use this server.
    #[must_use]
    pub fn reattach(&self) -> String {
        reattach(P::ADDRESS, std::process::id(), &self.socket.path())
    }

    /// Serves until `quit`, then waits for what still runs, half a minute at most.
    ///
    /// # Errors
    /// Connections cannot be accepted any more.
    pub async fn run(self, quit: CancellationToken) -> Result<(), tonic::transport::Error> {
        // Connections come and go; none is the last.
        let lifetime = Lifetime { quit, ..Lifetime::default() };
        run(self.provider, self.socket, None, lifetime).await
    }
}

/// One configuration for both clients: each looks for the address of its own registry. `Test` keeps them
/// from ending the process.
fn reattach(address: &str, process: u32, socket: &Path) -> String {
    let server = serde_json::json!({
        "Protocol": "grpc",
        "ProtocolVersion": handshake::PROTOCOL,
        "Pid": process,
        "Test": true,
        "Addr": { "Network": "unix", "String": socket },
    });
    serde_json::json!({
        format!("registry.terraform.io/{address}"): server,
        format!("registry.opentofu.org/{address}"): server,
    })
    .to_string()
}

/// What begins and ends a server's life.
#[derive(Clone, Default)]
struct Lifetime {
    /// Ends it.
    quit: CancellationToken,
    /// Fires when the first client is connected.
    first: CancellationToken,
    /// Fires when there were clients and the last one is gone.
    last: CancellationToken,
}

async fn run<P: Provider>(
    provider: P,
    socket: socket::Socket,
    tls: Option<TlsAcceptor>,
    lifetime: Lifetime,
) -> Result<(), tonic::transport::Error> {
    let tasks = TaskTracker::new();
    let quit = lifetime.quit.clone();
    let router = router(Service::new(provider, tasks.clone()), quit.clone());
    let socket::Socket { listener, folder: _folder } = socket;
    let connections = connection::accept::<P::Data>(listener, tls, lifetime);
    let serving = router.serve_with_incoming_shutdown(ReceiverStream::new(connections), quit.cancelled());
    let working = async {
        quit.cancelled().await;
        tasks.close();
        if tokio::time::timeout(GRACE, tasks.wait()).await.is_err() {
            tracing::error!(tasks = tasks.len(), "Work did not end in time and is given up");
        }
    };
    tokio::pin!(serving, working);
    tokio::select! {
        // Nobody is connected any more; what runs is still waited for.
        served = &mut serving => {
            quit.cancel();
            working.await;
            served
        }
        // Only answers are still on their way.
        () = &mut working => tokio::time::timeout(FLUSH, serving).await.unwrap_or(Ok(())),
    }
}

fn router<P: Provider>(service: Service<P>, quit: CancellationToken) -> Router {
    let side = side::SideServices { quit };
    tonic::transport::Server::builder()
        .add_service(GrpcBrokerServer::new(side.clone()))
        .add_service(GrpcControllerServer::new(side.clone()))
        .add_service(GrpcStdioServer::new(side.clone()))
        .add_service(HealthServer::new(side))
        .add_service(
            ProviderServer::new(service)
                .max_decoding_message_size(MAXIMUM_MESSAGE_SIZE)
                .max_encoding_message_size(MAXIMUM_MESSAGE_SIZE),
        )
}
