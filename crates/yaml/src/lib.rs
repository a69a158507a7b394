//! YAML as Go reads and writes it.
//!
//! Helm, Kubernetes and Talos all read and write YAML through Go's yaml packages, whose typing of scalars, order of
//! keys, quoting and folding are no standard but their own. This crate follows them to the byte, so that a rendered
//! chart or a machine configuration is the same text that Helm or Talos would have written:
//!
//! - [`parse_documents`] and [`parse_document`] read a stream into [`Node`]s that know their line and column; scalars
//!   are typed as the [`Typing`] says;
//! - [`emit_v2`] writes as Helm's `toYaml` does, [`emit_v3`] as Helm's `toYamlPretty` does, [`emit_v4`] as Talos does.
//!
//! Input is not trusted: nesting, size and what aliases may add are limited, and nothing here panics.

mod emit;
mod error;
mod node;
mod number;
mod order;
mod parse;
mod resolve;
mod timestamp;
mod value;

pub use emit::{NotRepresentable, emit_v2, emit_v3, emit_v4, emit_v4_documents};
pub use error::{Error, Problem};
pub use node::{Content, Document, Node, Scalar};
pub use number::{format_general, format_json};
pub use order::{natural_order, sort_naturally};
pub use parse::{parse_document, parse_documents};
pub use resolve::{Typing, resolve};
pub use value::{KeyError, Value};
