//! Terraform's side: the plugin protocol, and what a provider is in terms of it. It knows nothing of Talos.
//!
//! A provider is three kinds of things. A [`Model`] lists the attributes of an object once; schema, decoder,
//! encoder, plan and docs page follow from that list. A [`Resource`] (or [`DataSource`]) says what happens to
//! such an object. A [`Provider`] is configured and lists them.
//!
//! ```
//! use kontinuum::plugin::*;
//!
//! #[derive(Clone, Default)]
//! struct Pool {
//!     name: Attr<String>,
//!     replicas: Attr<u64>,
//!     labels: Attr<Map<String>>,
//!     uid: Attr<String>,
//!     members: Attr<List<Member>>,
//! }
//!
//! #[derive(Clone, Default)]
//! struct Member {
//!     name: Attr<String>,
//! }
//!
//! impl Model for Pool {
//!     fn attributes(&mut self, v: &mut impl Visitor) {
//!         v.attribute(required("name", "The pool's name.").replaces(), &mut self.name);
//!         v.attribute(optional("replicas", "How many.").default_value(1_i64), &mut self.replicas);
//!         v.attribute(optional("labels", "Labels of its own."), &mut self.labels);
//!         v.attribute(computed("uid", "Assigned when it is created."), &mut self.uid);
//!         v.attribute(computed("members", "Who is in it.").recomputed(), &mut self.members);
//!     }
//! }
//!
//! impl Model for Member {
//!     fn attributes(&mut self, v: &mut impl Visitor) {
//!         v.attribute(computed("name", "Its name."), &mut self.name);
//!     }
//! }
//!
//! impl Pool {
//!     fn filled(mut self) -> Self {
//!         let count = self.replicas.known().copied().unwrap_or(0);
//!         self.members = (0..count).map(|n| Member { name: format!("m{n}").into() }).collect();
//!         self
//!     }
//! }
//!
//! struct Pools;
//!
//! impl Resource for Pools {
//!     type Model = Pool;
//!     type Data = ();
//!     const NAME: &'static str = "example_pool";
//!     const DESCRIPTION: &'static str = "A pool of members.";
//!
//!     async fn validate(&self, config: Pool, _: &Operation<()>) -> Result<(), Diagnostics> {
//!         if config.replicas.known().is_some_and(|n| *n > 9) {
//!             let what = Diagnostic::error("a pool has 9 members at most", "Ask for fewer replicas.");
//!             return Err(what.at(Path::new("replicas")).into());
//!         }
//!         Ok(())
//!     }
//!
//!     async fn create(&self, mut planned: Pool, operation: &Operation<()>) -> Result<Pool, Diagnostics> {
//!         if operation.stop().is_cancelled() {
//!             return Err(Diagnostics::error("stopped", "Apply again to go on."));
//!         }
//!         planned.uid = "4711".into();
//!         Ok(planned.filled())
//!     }
//!
//!     async fn read(&self, prior: Pool, _: &Operation<()>) -> Result<Option<Pool>, Diagnostics> {
//!         Ok(Some(prior))
//!     }
//!
//!     async fn update(&self, _: Pool, planned: Pool, _: &Operation<()>) -> Result<Pool, Failure<Pool>> {
//!         Ok(planned.filled())
//!     }
//!
//!     async fn delete(&self, _: Pool, operation: &Operation<()>) -> Result<(), Diagnostics> {
//!         operation.warn(Diagnostics::warning("the members live on", "They belong to nobody now."));
//!         Ok(())
//!     }
//! }
//!
//! struct Example;
//!
//! impl Provider for Example {
//!     type Config = NoConfiguration;
//!     type Data = ();
//!     const ADDRESS: &'static str = "example/example";
//!     const DESCRIPTION: &'static str = "An example.";
//!
//!     async fn configure(&self, _: NoConfiguration, _: &Operation<()>) -> Result<(), Diagnostics> {
//!         Ok(())
//!     }
//!
//!     fn register(&self, registry: &mut Registry<()>) {
//!         registry.resource(Pools);
//!     }
//! }
//!
//! assert_eq!(describe(&Example).resources["example_pool"].attributes[1].name, "replicas");
//! ```
//!
//! `main` is then no more than [`serve`]`(Example)`.

mod attr;
mod conform;
mod data_source;
mod diagnostic;
mod erased;
mod log;
mod model;
mod operation;
mod path;
mod plan;
mod protocol;
mod provider;
mod resource;
pub mod schema;
mod secret;
mod server;
mod service;
mod value;
mod wire;

pub use attr::{Attr, List, Map};
pub use data_source::DataSource;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use model::{
    Attribute, Field, Model, NoConfiguration, Visitor, computed, optional, optional_computed, required,
};
pub use operation::Operation;
pub use path::{Path, PathStep};
pub use provider::{Description, Provider, Registry, describe};
pub use resource::{Change, Failure, Resource};
pub use secret::Secret;
pub use server::{DebugServer, serve};
