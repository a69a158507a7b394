//! Answering who asks.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::{Answer, Request, socket, workload};
use crate::simulator::Simulator;

/// How long a client may take to ask.
const ASKING: Duration = Duration::from_secs(10);

/// The socket of a running simulator; it is removed with the value.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
}

/// Why the socket cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another simulator runs on the same data.
    #[error("expected a data folder of its own, but another simulator runs in {}", .0.display())]
    Taken(PathBuf),
    /// The socket cannot be made.
    #[error("failed to listen on {}", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl Server {
    /// Listens in a data folder. A socket that a killed simulator left is replaced.
    ///
    /// # Errors
    /// When another simulator answers there, or the socket cannot be made.
    pub async fn open(data: &Path) -> Result<Self, ServeError> {
        let path = socket(data);
        let failed = |source| ServeError::Listen { path: path.clone(), source };
        std::fs::create_dir_all(data).map_err(failed)?;
        if UnixStream::connect(&path).await.is_ok() {
            return Err(ServeError::Taken(data.to_owned()));
        }
        match std::fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self { listener, path: path.clone() })
    }

    /// Answers until the future is dropped.
    pub async fn serve(&self, simulator: Arc<Simulator>) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let answering = answer(stream, Arc::clone(&simulator));
                    tokio::spawn(tokio::time::timeout(ASKING, answering));
                }
                Err(error) => tracing::warn!(%error, "failed to accept on the control socket"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(%error, "the control socket is gone already");
        }
    }
}

async fn answer(stream: UnixStream, simulator: Arc<Simulator>) {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    if let Err(error) = BufReader::new(read).read_line(&mut line).await {
        return tracing::debug!(%error, "a client of the control socket went away");
    }
    let answer = match serde_json::from_str(&line) {
        Ok(request) => act(&simulator, request),
        Err(error) => Answer::Refused(format!("expected a request as one JSON line: {error}")),
    };
    let text = serde_json::to_string(&answer).unwrap_or_default() + "\n";
    if let Err(error) = write.write_all(text.as_bytes()).await {
        tracing::debug!(%error, "a client of the control socket went away");
    }
}

fn act(simulator: &Simulator, request: Request) -> Answer {
    let done = match request {
        Request::Status => return Answer::Status(simulator.status()),
        Request::Fault { machine, with } => simulator.fault(&machine, with),
        Request::ClearFaults { machine } => simulator.clear_faults(&machine),
        Request::Power { machine, on } => simulator.power(&machine, on),
        Request::Fate { namespace, name, fate } => {
            simulator.fate(workload(namespace, name), fate.into());
            Ok(())
        }
    };
    done.map_or_else(|error| Answer::Refused(error.to_string()), |()| Answer::Done)
}
