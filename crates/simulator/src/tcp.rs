//! Connections as Go's programs make them.

use tokio::net::TcpStream;

/// Sends what is written when it is written, as Go does by default: else an answer in two writes waits for the client's
/// delayed acknowledgement, which Linux delays by 40 ms.
pub(crate) fn at_once(stream: &TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection answers late");
    }
}
