//! What a provider is, and the list of what it offers.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::erased::{ErasedDataSource, ErasedResource, Typed, schema_of};
use super::schema::Schema;
use super::{DataSource, Diagnostics, Model, Operation, Resource};

/// The root: its configuration, and the resources and data sources that it offers.
pub trait Provider: Send + Sync + 'static {
    /// The attributes of the `provider` block.
    type Config: Model;
    /// What resources and data sources work with.
    type Data: Send + Sync + 'static;

    /// Namespace and name in the registries, as in `kontinuum/kontinuum`.
    const ADDRESS: &'static str;
    /// What it is, in Markdown, for the docs page.
    const DESCRIPTION: &'static str;

    /// Finds what is wrong with the configuration alone. Values may be unknown.
    ///
    /// # Errors
    /// All that is wrong, each with its path.
    fn validate(
        &self,
        config: Self::Config,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<(), Diagnostics>> + Send {
        let _ = (config, operation);
        async { Ok(()) }
    }

    /// Makes what the resources work with. While planning, values may be unknown; that is no reason to fail
    /// before something needs them.
    ///
    /// # Errors
    /// Why the configuration does not work.
    fn configure(
        &self,
        config: Self::Config,
        operation: &Operation<Self::Data>,
    ) -> impl Future<Output = Result<Self::Data, Diagnostics>> + Send;

    /// Lists the resources and data sources.
    fn register(&self, registry: &mut Registry<Self::Data>);
}

/// What a provider offers, by name.
pub struct Registry<D> {
    pub(crate) resources: BTreeMap<&'static str, Arc<dyn ErasedResource<D>>>,
    pub(crate) data_sources: BTreeMap<&'static str, Arc<dyn ErasedDataSource<D>>>,
}

impl<D: Send + Sync + 'static> Registry<D> {
    /// What `provider` registers.
    pub(crate) fn of<P: Provider<Data = D>>(provider: &P) -> Self {
        let mut registry = Self { resources: BTreeMap::new(), data_sources: BTreeMap::new() };
        provider.register(&mut registry);
        registry
    }

    /// Offers a resource.
    pub fn resource<R: Resource<Data = D>>(&mut self, resource: R) -> &mut Self {
        self.resources.insert(R::NAME, Arc::new(Typed::resource(resource)));
        self
    }

    /// Offers a data source.
    pub fn data_source<S: DataSource<Data = D>>(&mut self, data_source: S) -> &mut Self {
        self.data_sources.insert(S::NAME, Arc::new(Typed::data_source(data_source)));
        self
    }
}

impl<D> fmt::Debug for Registry<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("resources", &self.resources.keys())
            .field("data_sources", &self.data_sources.keys())
            .finish()
    }
}

/// All that a provider's docs pages are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The `provider` block.
    pub provider: Schema,
    /// Each resource by its name.
    pub resources: BTreeMap<&'static str, Schema>,
    /// Each data source by its name.
    pub data_sources: BTreeMap<&'static str, Schema>,
}

/// Describes a provider.
pub fn describe<P: Provider>(provider: &P) -> Description {
    let registry = Registry::of(provider);
    Description {
        provider: schema_of::<P::Config>(0, P::DESCRIPTION),
        resources: registry.resources.iter().map(|(name, one)| (*name, one.schema().clone())).collect(),
        data_sources: registry.data_sources.iter().map(|(name, one)| (*name, one.schema().clone())).collect(),
    }
}
