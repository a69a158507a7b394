//! A Kubernetes API server: its readiness and kinds, objects of any kind, nodes, workloads, Helm releases.
//!
//! - Every call has a deadline of its own ([`Deadlines`]); nothing is tried again here. The loop looks again.
//! - What fails is an [`Error`] whose cause was sorted once, in `error.rs`; absence (`None`) and "could not look"
//!   (an error) are never mixed.
//! - Objects are JSON ([`Object`]), so that fields that are newer than this program survive.

mod client;
mod discovery;
mod drain;
mod error;
mod install;
mod namespaces;
mod nodes;
mod object;
mod pods;
mod probe;
mod releases;
mod resources;
mod signing_requests;
mod watch;
mod workloads;

pub use client::{Client, Deadlines, Options};
pub use discovery::{Kind, Kinds, Version};
pub use drain::Drained;
pub use error::{Cause, Error, FieldConflict, Result};
pub use install::{Installation, Installed, objects};
pub use nodes::{Node, Readiness};
pub use object::{NotAnObject, Object, Reference};
pub use resources::{FIELD_MANAGER, Filter, Write};
pub use watch::{Wakeups, Watched};
