//! What belongs to one connection of a client: the configured provider, and the signal to stop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// One connection. A client has one for each configuration of the provider.
pub(crate) struct Session<D> {
    data: Mutex<Option<Arc<D>>>,
    stop: Mutex<CancellationToken>,
    gone: CancellationToken,
}

impl<D> Session<D> {
    /// A session whose operations also stop when `server` is cancelled.
    pub(crate) fn new(server: &CancellationToken) -> Self {
        let gone = server.child_token();
        Self { data: Mutex::new(None), stop: Mutex::new(gone.child_token()), gone }
    }

    pub(crate) fn data(&self) -> Option<Arc<D>> {
        lock(&self.data).clone()
    }

    pub(crate) fn configure(&self, data: D) {
        *lock(&self.data) = Some(Arc::new(data));
    }

    /// The signal for an operation that begins now.
    pub(crate) fn stop_signal(&self) -> CancellationToken {
        lock(&self.stop).clone()
    }

    /// Stops the operations that run. What begins later runs: a client that goes on has its reasons.
    pub(crate) fn stop(&self) {
        std::mem::replace(&mut *lock(&self.stop), self.gone.child_token()).cancel();
    }

    /// The connection is gone, and with it whoever wanted the work done.
    pub(crate) fn end(&self) {
        self.gone.cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_ends_what_runs_and_not_what_comes() {
        let session = Session::<()>::new(&CancellationToken::new());
        let running = session.stop_signal();
        session.stop();
        assert!(running.is_cancelled());
        assert!(!session.stop_signal().is_cancelled());
    }

    #[test]
    fn the_end_of_a_session_ends_all_of_it_and_no_other() {
        let server = CancellationToken::new();
        let (one, other) = (Session::<()>::new(&server), Session::<()>::new(&server));
        let signal = one.stop_signal();
        one.end();
        assert!(signal.is_cancelled() && one.stop_signal().is_cancelled());
        assert!(!other.stop_signal().is_cancelled());
        server.cancel();
        assert!(other.stop_signal().is_cancelled());
    }
}
