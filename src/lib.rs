//! terraform-provider-kontinuum: machines booted into Talos Linux become Kubernetes clusters.
//!
//! The map, from the outside to the inside; an arrow reads "may name":
//!
//! ```text
//! main -> provider -> resources -+-> plugin      Terraform's side: protocol, models, plans
//!                                +-> converge    the loop: look, decide, act, pause
//!                                +-> clients     the world's side: Talos, Kubernetes, charts, inventory
//!                                +-> domain      what is true and what to do next: pure
//! ```
//!
//! `clients` and `converge` may name `domain`; `domain` and `plugin` name nothing of ours. `tests/layers.rs` holds it.

pub mod clients;
pub mod converge;
pub mod domain;
pub mod plugin;
pub mod provider;
pub mod resources;
