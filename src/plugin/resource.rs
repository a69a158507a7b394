//! What a resource is.

use std::future::Future;

use super::{Diagnostic, Diagnostics, Model, Operation};

/// A change that a plan is asked for.
#[derive(Clone, Debug)]
pub struct Change<M> {
    /// What the user wrote.
    pub config: M,
    /// What is there; nothing when the resource is new.
    pub prior: Option<M>,
    /// What the layer would plan: the user's values and defaults; computed ones unknown in new objects and as
    /// they are in others, except for [`recomputed`](super::Attribute::recomputed) ones when something changes.
    pub planned: M,
}

/// An update that failed.
#[derive(Debug)]
#[must_use]
pub struct Failure<M> {
    /// Why; at least one error.
    pub diagnostics: Diagnostics,
    /// The prior object with what has been observed since. Only computed attributes may differ from the prior
    /// object: with a planned value in it, the next plan would be empty and the work be lost.
    pub observed: Option<M>,
}

impl<M> Failure<M> {
    /// A failure after which the prior object looks like `observed`.
    pub const fn observed(diagnostics: Diagnostics, observed: M) -> Self {
        Self { diagnostics, observed: Some(observed) }
    }
}

/// The prior object stays as it is.
impl<M> From<Diagnostics> for Failure<M> {
    fn from(diagnostics: Diagnostics) -> Self {
        Self { diagnostics, observed: None }
    }
}

/// The prior object stays as it is.
impl<M> From<Diagnostic> for Failure<M> {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics::from(diagnostic).into()
    }
}

/// A type of thing that a user declares and the provider makes, keeps and takes down.
///
/// Methods run as tasks of their own: a panic becomes an error that says so, and a connection that is lost
/// does not end them but fires [`Operation::stop`]. Implementations write plain `async fn`.
///
/// # Guarantees
/// Each answer is checked before it is sent: a plan has the user's values, a result has the planned values
/// where they were known, and nothing is unknown after apply. What breaks this is shown as a bug of the
/// provider, and the state is what it was.
pub trait Resource: Send + Sync + 'static {
    /// Its attributes.
    type Model: Model;
    /// What the provider's `configure` makes for it.
    type Data: Send + Sync + 'static;

    /// The type's name with the provider's before it, as in `kontinuum_instance`.
    const NAME: &'static str;
    /// What it is, in Markdown, for the docs page.
    const DESCRIPTION: &'static str;
    /// Counts up when stored states need an [`upgrade`](Self::upgrade).
    const VERSION: i64 = 0;

    /// Finds what is wrong with the configuration alone. Values may be unknown; the provider is not
    /// configured.
    ///
    /// # Errors
    /// All that is wrong, each with its path.
    fn validate(
        &self,
        config: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        let _ = (config, operation);
        async { Ok(()) }
    }

    /// Adjusts what is planned for a new or changed resource. It must be a pure function of the change and of
    /// the private data: clients plan twice.
    ///
    /// May set computed attributes, known or unknown, and the private data; may ask for a replacement.
    /// Attributes that the user set must stay.
    ///
    /// # Errors
    /// Why the change cannot be made.
    fn plan(
        &self,
        change: Change<Self::Model>,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Model, Diagnostics>> + Send {
        let _ = operation;
        async { Ok(change.planned) }
    }

    /// Looks at a deletion before it is made, to refuse it or to warn.
    ///
    /// # Errors
    /// Why it cannot be deleted.
    fn plan_delete(
        &self,
        prior: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        let _ = (prior, operation);
        async { Ok(()) }
    }

    /// Makes it. Must be re-enterable: after an error the client knows of no resource, and the next apply
    /// creates again.
    ///
    /// # Errors
    /// Why it could not be made. No state is recorded then, since a client would mark a recorded one as
    /// tainted and destroy it next.
    fn create(
        &self,
        planned: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Model, Diagnostics>> + Send;

    /// What it is now; `None` only if it is known to be gone.
    ///
    /// # Errors
    /// Why that cannot be told at all. Rather answer `prior` and warn.
    fn read(
        &self,
        prior: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Option<Self::Model>, Diagnostics>> + Send;

    /// Changes it in place.
    ///
    /// # Errors
    /// Why that failed. The state is the prior object then, or that with what was observed.
    fn update(
        &self,
        prior: Self::Model,
        planned: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Model, Failure<Self::Model>>> + Send;

    /// Takes it down. That it is gone already is success.
    ///
    /// # Errors
    /// Why it is still there. The state stays the prior object.
    fn delete(
        &self,
        prior: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send;

    /// The state of one that exists and no state knows. The client reads it next.
    ///
    /// # Errors
    /// Why there is none of that id, or, unless implemented, that this type cannot be imported.
    fn import(
        &self,
        id: &str,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Model, Diagnostics>> + Send {
        let _ = (id, operation);
        async {
            Err(Diagnostics::error(
                format!("{} cannot be imported", Self::NAME),
                "This type of resource has no import.",
            ))
        }
    }

    /// Brings a stored state of an older `version` into the present form. Attributes that the schema does not
    /// have are dropped afterwards, missing ones are null.
    ///
    /// # Errors
    /// Why the stored state cannot be read.
    fn upgrade(&self, version: i64, state: serde_json::Value) -> Result<serde_json::Value, Diagnostics> {
        let _ = state;
        Err(Diagnostics::error(
            format!("{} cannot read a state of version {version}", Self::NAME),
            format!(
                "This version of the provider reads states of version {}. Use the provider version that wrote \
                 the state, or import the resource anew.",
                Self::VERSION
            ),
        ))
    }
}
