//! A Helm engine without I/O: a chart, values and a cluster's capabilities go in, manifests in install order come
//! out, byte for byte as Helm 4.3.1 renders them.
//!
//! - [`chart`](Chart): load a chart from an archive or a folder's files;
//! - [`Values`]: what the user gives, merged and coalesced as Helm does;
//! - [`render`](fn@render): templates in, [`Rendered`] out; clock, randomness and the cluster are arguments;
//! - [`release`]: the record that Helm keeps about an installed release;
//! - [`version`]: semantic versions and constraints as charts use them.
//!
//! A chart is untrusted input: archives, nesting, recursion and output are limited, and nothing panics.

mod chart;
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a function names the types that it takes; all others are one case"
)]
mod functions;
mod pattern;
pub mod release;
mod render;
mod template;
mod value;
mod values;
pub mod version;

pub use chart::{Chart, Dependency, ImportValues, LoadError, Maintainer, Metadata};
pub use render::{
    Capabilities, Environment, Error, Hook, HookEvent, KubeVersion, KubeVersionError, Lookup, LookupError,
    Manifest, NoCluster, Release, Rendered, TemplateError, render,
};
pub use values::{SetError, Values, ValuesError};
