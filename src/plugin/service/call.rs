//! One call: its operation, and what it leaves behind.

use super::Session;
use crate::plugin::operation::{Operation, Outcome};
use crate::plugin::{Diagnostic, Diagnostics, Path};

/// An operation of a session.
pub(super) fn operation<D>(session: &Session<D>, private: Vec<u8>) -> Operation<D> {
    Operation::new(session.data(), session.stop_signal(), private)
}

/// A call that has ended.
pub(super) struct Ended<T, E> {
    pub(super) result: Result<T, E>,
    /// The warnings, to which the errors of the result are added.
    pub(super) diagnostics: Diagnostics,
    /// The private data that goes on.
    pub(super) private: Vec<u8>,
    /// What the resource itself wants a replacement for.
    pub(super) replace: Vec<Path>,
}

/// Takes together what a call answered and what it left behind.
pub(super) fn ended<D, T, E>(operation: &Operation<D>, result: Result<T, E>) -> Ended<T, E> {
    let private = operation.private();
    let Outcome { warnings, private: _, replace } = operation.take_outcome();
    Ended { result, diagnostics: warnings, private, replace }
}

/// Adds what failed. There is an error at last: without one, a client takes what comes for a success.
pub(super) fn add_failure(diagnostics: &mut Diagnostics, found: Diagnostics) {
    diagnostics.extend(found);
    if !diagnostics.has_errors() {
        diagnostics
            .push(Diagnostic::bug("the provider failed without an error", "It says no more than that."));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn private_data_goes_on_unless_it_is_set() {
        let session = Session::<u8>::new(&CancellationToken::new());
        session.configure(7);
        let call = operation(&session, b"given".to_vec());
        assert_eq!(call.data().map(Arc::clone).ok().as_deref(), Some(&7));
        call.warn([Diagnostic::warning("careful", "")]);
        let ended = ended(&call, Ok::<_, Diagnostics>(()));
        assert_eq!(ended.private, b"given");
        assert_eq!(ended.diagnostics.iter().count(), 1);
    }
}
