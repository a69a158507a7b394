//! The one test seam: what the loop needs of the world.

use std::future::Future;

use thiserror::Error;

use crate::domain::cluster::step::{Action, Step};

/// What a look came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The next step.
    pub step: Step,
    /// Whether running out of time at this step is no failure.
    pub soft: bool,
}

/// An act that failed; the text completes "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct ActError {
    /// What failed and why.
    pub text: String,
    /// What the user may do; empty where trying again is all.
    pub remedy: String,
    /// Whether trying again can't help.
    pub is_final: bool,
}

/// The world, as the loop sees it.
pub trait World: Send {
    /// Looks at everything that the next step depends on, and decides. It cannot fail: what can't be looked at is
    /// unknown.
    fn look(&mut self) -> impl Future<Output = Turn> + Send;

    /// Carries out one action.
    fn act(&mut self, action: Action) -> impl Future<Output = Result<(), ActError>> + Send;

    /// Returns when something that was looked at may have changed. May wait for ever: the loop races it.
    fn changed(&mut self) -> impl Future<Output = ()> + Send;
}
