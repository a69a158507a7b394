//! The whole life of the process.

use std::io::{self, Write as _};
use std::process::ExitCode;

use tokio_util::sync::CancellationToken;

use super::handshake::{self, Environment, Refusal, Terms};
use super::signals::{self, StartedBy};
use super::{DebugServer, FIRST_CONNECTION, Lifetime, socket, tls};
use crate::plugin::log;
use crate::plugin::provider::Provider;
use crate::plugin::wire::report;

/// Work waits for machines, not for processors.
const WORKERS: usize = 2;

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("failed to start the asynchronous runtime")]
    Runtime(#[source] io::Error),
    #[error("failed to watch for signals")]
    Signals(#[source] io::Error),
    #[error("failed to listen on a unix socket")]
    Socket(#[source] io::Error),
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
    #[error("failed to tell the client where to connect: stdout cannot be written to")]
    Stdout(#[source] io::Error),
    #[error("failed to serve")]
    Serve(#[source] tonic::transport::Error),
}

/// The whole of a provider's `main`: serves the client that started this process until that is done, or, with
/// `--debug`, any client that is told where.
///
/// Writes to stdout what clients expect there and nothing else; logs go to stderr.
pub fn serve<P: Provider>(provider: P) -> ExitCode {
    let debug = std::env::args().skip(1).any(|argument| argument == "--debug" || argument == "-debug");
    let served = if debug { serve_anyone(provider) } else { serve_client(provider) };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to be told where even this fails.
            drop(writeln!(io::stderr(), "{}", report(&error)));
            ExitCode::FAILURE
        }
    }
}

fn serve_client<P: Provider>(provider: P) -> Result<(), ServeError> {
    let terms = handshake::agree(Environment::of_process())?;
    log::start(P::ADDRESS, log::Usual::Warnings);
    block_on(async {
        let lifetime = Lifetime::default();
        // As the last connection ends, so does this.
        let lifetime = Lifetime { last: lifetime.quit.clone(), ..lifetime };
        signals::handle(StartedBy::Client, lifetime.quit.clone()).map_err(ServeError::Signals)?;
        quit_alone(&lifetime);
        let Terms { client_certificate, socket_folder, says_multiplex } = terms;
        let tls = client_certificate.as_deref().map(tls::server_tls).transpose()?;
        let socket = socket::Socket::bind(socket_folder.as_deref()).map_err(ServeError::Socket)?;
        let certificate = tls.as_ref().map_or("", |tls| &tls.certificate);
        let line = handshake::line(&socket.path().to_string_lossy(), certificate, says_multiplex);
        write_line(&line).map_err(ServeError::Stdout)?;
        super::run(provider, socket, tls.map(|tls| tls.acceptor), lifetime).await.map_err(ServeError::Serve)
    })
}

fn serve_anyone<P: Provider>(provider: P) -> Result<(), ServeError> {
    log::start(P::ADDRESS, log::Usual::Everything);
    block_on(async {
        let quit = CancellationToken::new();
        signals::handle(StartedBy::Person, quit.clone()).map_err(ServeError::Signals)?;
        let server = DebugServer::bind(provider).map_err(ServeError::Socket)?;
        let text = format!(
            "The provider waits for Terraform or OpenTofu. Ctrl-C ends it. Where they run, set:\n\n\
             \texport TF_REATTACH_PROVIDERS='{}'\n",
            server.reattach()
        );
        write_line(&text).map_err(ServeError::Stdout)?;
        server.run(quit).await.map_err(ServeError::Serve)
    })
}

fn block_on(work: impl Future<Output = Result<(), ServeError>>) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let result = runtime.block_on(work);
    // What was given up on must not keep the process.
    runtime.shutdown_background();
    result
}

/// A client that dies between the handshake and its first connection leaves nobody to end the process.
fn quit_alone(lifetime: &Lifetime) {
    let Lifetime { quit, first, .. } = lifetime.clone();
    tokio::spawn(async move {
        if tokio::time::timeout(FIRST_CONNECTION, first.cancelled()).await.is_err() {
            tracing::error!("No client connected");
            quit.cancel();
        }
    });
}

fn write_line(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
