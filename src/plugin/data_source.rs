//! What a data source is.

use std::future::Future;

use super::{Diagnostics, Model, Operation};

/// A type of thing that a user looks up.
///
/// The same guarantees as for a [`Resource`](super::Resource) hold.
pub trait DataSource: Send + Sync + 'static {
    /// Its attributes.
    type Model: Model;
    /// What the provider's `configure` makes for it.
    type Data: Send + Sync + 'static;

    /// The type's name with the provider's before it, as in `kontinuum_instances`.
    const NAME: &'static str;
    /// What it is, in Markdown, for the docs page.
    const DESCRIPTION: &'static str;

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

    /// Looks up. All values of `config` are known; those that the user set must stay in the answer. Where
    /// the user set nothing, the defaults are in.
    ///
    /// # Errors
    /// Why it cannot be looked up.
    fn read(
        &self,
        config: Self::Model,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Model, Diagnostics>> + Send;
}
