//! What the process does when it is signalled.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Who started the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartedBy {
    /// Terraform or OpenTofu: only they decide what Ctrl-C or a closed terminal means.
    Client,
    /// A person, who ends it by Ctrl-C.
    Person,
}

/// From now on SIGTERM ends the server by `quit`; SIGINT and SIGHUP do only where a person started it.
pub(super) fn handle(started_by: StartedBy, quit: CancellationToken) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        tokio::select! {
            () = first(&mut terminate) => {}
            () = heeded(&mut interrupt, started_by) => {}
            () = heeded(&mut hang_up, started_by) => {}
        }
        quit.cancel();
    });
    Ok(())
}

async fn first(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        std::future::pending().await
    }
}

async fn heeded(signal: &mut Signal, started_by: StartedBy) {
    match started_by {
        StartedBy::Person => first(signal).await,
        StartedBy::Client => loop {
            first(signal).await;
            tracing::debug!("Ignored a signal that is the client's to answer");
        },
    }
}
