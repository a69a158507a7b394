//! What a resource is given along with its values: the configured provider, the stop signal, private data.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{Diagnostic, Diagnostics, Path, Severity};

/// One call of one resource or data source. Clones are the same operation.
pub struct Operation<D>(Arc<Inner<D>>);

struct Inner<D> {
    data: Option<Arc<D>>,
    stop: CancellationToken,
    given_private: Vec<u8>,
    outcome: Mutex<Outcome>,
}

/// What an operation leaves behind besides its result.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) warnings: Diagnostics,
    pub(crate) private: Option<Vec<u8>>,
    pub(crate) replace: Vec<Path>,
}

impl<D> Operation<D> {
    /// An operation of a provider that was configured with `data` (`None`: not configured yet), ended early
    /// by `stop`, on a resource whose private data is `private`.
    #[must_use]
    pub fn new(data: Option<Arc<D>>, stop: CancellationToken, private: Vec<u8>) -> Self {
        Self(Arc::new(Inner { data, stop, given_private: private, outcome: Mutex::default() }))
    }

    /// What the provider's `configure` made.
    ///
    /// # Errors
    /// One error if the provider was not configured. A client never reads, plans or applies before that.
    pub fn data(&self) -> Result<&Arc<D>, Diagnostics> {
        self.0.data.as_ref().ok_or_else(|| {
            Diagnostics::error(
                "the provider is not configured",
                "The client asked for something that needs a configured provider before it configured it.",
            )
        })
    }

    /// Cancelled when the user asks to stop (Ctrl-C) or the client is gone. Whoever waits must wait for this
    /// too, and return soon: an error that says how to go on.
    #[must_use]
    pub fn stop(&self) -> &CancellationToken {
        &self.0.stop
    }

    /// Shows something to the user although the operation may succeed. An error is shown as a warning: beside
    /// a result it would make clients distrust that result.
    pub fn warn(&self, warnings: impl IntoIterator<Item = Diagnostic>) {
        let warnings = warnings.into_iter().map(|one| Diagnostic { severity: Severity::Warning, ..one });
        self.outcome().warnings.extend(warnings);
    }

    /// The bytes that belong to the resource beside its state, unseen by the user: as the last call of this
    /// operation set them, else as they were given. Empty for a resource that has none.
    #[must_use]
    pub fn private(&self) -> Vec<u8> {
        self.outcome().private.clone().unwrap_or_else(|| self.0.given_private.clone())
    }

    /// Replaces the private bytes. In a plan they reach the apply (also where that fails after that); in
    /// create, read and update they reach the state. Without this call they stay as they are.
    pub fn set_private(&self, private: Vec<u8>) {
        self.outcome().private = Some(private);
    }

    /// In a plan: the change at `path` is possible only by a new resource, though the attribute is not
    /// marked [`replaces`](super::Attribute::replaces).
    pub fn require_replacement(&self, path: Path) {
        self.outcome().replace.push(path);
    }

    /// What was left behind so far.
    pub(crate) fn take_outcome(&self) -> Outcome {
        std::mem::take(&mut *self.outcome())
    }

    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.0.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D> Clone for Operation<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D> fmt::Debug for Operation<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("stopped", &self.0.stop.is_cancelled()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_beside_a_result_is_a_warning() {
        let operation = Operation::<()>::new(None, CancellationToken::new(), Vec::new());
        operation.warn(Diagnostics::error("half broken", ""));
        assert_eq!(operation.take_outcome().warnings, Diagnostics::warning("half broken", ""));
    }

    #[test]
    fn private_data_stays_until_it_is_set() {
        let operation = Operation::<()>::new(None, CancellationToken::new(), b"old".to_vec());
        assert_eq!(operation.private(), b"old");
        assert!(operation.data().is_err());
        operation.clone().set_private(b"new".to_vec());
        assert_eq!(operation.private(), b"new");
        assert_eq!(operation.take_outcome().private, Some(b"new".to_vec()));
    }
}
