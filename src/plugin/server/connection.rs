//! One connection of a client, and what its end means.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::Lifetime;
use crate::plugin::service::Session;

/// A client on the same machine is done with its handshake in milliseconds.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection whose client proved who it is. When it is dropped, its session ends.
pub(super) struct Connection<D> {
    stream: Stream,
    session: Arc<Session<D>>,
    open: Open,
}

enum Stream {
    Clear(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

/// How many connections are open.
#[derive(Clone)]
struct Open {
    count: Arc<AtomicUsize>,
    lifetime: Lifetime,
}

/// Accepts connections until the server quits, which ends the sessions of all of them.
pub(super) fn accept<D: Send + Sync + 'static>(
    listener: UnixListener,
    tls: Option<TlsAcceptor>,
    lifetime: Lifetime,
) -> mpsc::Receiver<io::Result<Connection<D>>> {
    let (accepted, connections) = mpsc::channel(1);
    let quit = lifetime.quit.clone();
    let open = Open { count: Arc::new(AtomicUsize::new(0)), lifetime };
    tokio::spawn(async move {
        loop {
            let stream = tokio::select! {
                () = quit.cancelled() => break,
                next = listener.accept() => match next {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        tracing::error!(%error, "Cannot accept connections");
                        quit.cancel();
                        break;
                    }
                },
            };
            let (tls, accepted, open) = (tls.clone(), accepted.clone(), open.clone());
            let session = Arc::new(Session::new(&quit));
            // Apart, so that one who opens a connection and says nothing keeps nobody out.
            tokio::spawn(async move {
                match secure(stream, tls).await {
                    Ok(stream) => {
                        open.count.fetch_add(1, Ordering::SeqCst);
                        open.lifetime.first.cancel();
                        let connection = Connection { stream, session, open };
                        // The receiver is gone only when the server is.
                        drop(accepted.send(Ok(connection)).await);
                    }
                    Err(error) => tracing::warn!(%error, "Refused a connection"),
                }
            });
        }
    });
    connections
}

async fn secure(stream: UnixStream, tls: Option<TlsAcceptor>) -> io::Result<Stream> {
    match tls {
        None => Ok(Stream::Clear(stream)),
        Some(tls) => tokio::time::timeout(HANDSHAKE_TIMEOUT, tls.accept(stream))
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
            .map(|stream| Stream::Tls(Box::new(stream))),
    }
}

impl<D> Drop for Connection<D> {
    fn drop(&mut self) {
        self.session.end();
        if self.open.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.open.lifetime.last.cancel();
        }
    }
}

impl<D: Send + Sync + 'static> Connected for Connection<D> {
    type ConnectInfo = Arc<Session<D>>;

    fn connect_info(&self) -> Self::ConnectInfo {
        Arc::clone(&self.session)
    }
}

impl<D> AsyncRead for Connection<D> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Clear(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl<D> AsyncWrite for Connection<D> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Clear(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Clear(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Clear(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
