//! Asking a running simulator.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::{Answer, Request, socket};

/// How long a simulator may take to answer: it only notes what it is told.
const DEADLINE: Duration = Duration::from_secs(10);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nobody listens in this data folder.
    #[error("failed to reach a simulator in {}; is one running with this data folder?", data.display())]
    NotRunning {
        /// The folder.
        data: std::path::PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The conversation broke.
    #[error("failed to talk to the simulator")]
    Broken(#[source] std::io::Error),
    /// It did not answer in time.
    #[error("failed to get an answer from the simulator within 10 s")]
    Silent,
}

/// Asks the simulator whose data folder this is.
///
/// # Errors
/// When none is running there, or it doesn't answer.
pub async fn ask(data: &Path, request: &Request) -> Result<Answer, AskError> {
    let conversation = async {
        let mut stream = UnixStream::connect(socket(data))
            .await
            .map_err(|source| AskError::NotRunning { data: data.to_owned(), source })?;
        let line = serde_json::to_string(request).map_err(|error| AskError::Broken(error.into()))? + "\n";
        stream.write_all(line.as_bytes()).await.map_err(AskError::Broken)?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await.map_err(AskError::Broken)?;
        serde_json::from_str(&answer).map_err(|error| AskError::Broken(error.into()))
    };
    tokio::time::timeout(DEADLINE, conversation).await.unwrap_or(Err(AskError::Silent))
}
