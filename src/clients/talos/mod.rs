//! Talos' API, as two identities.
//!
//! [`Maintenance`] knows no authority: it talks to whatever answers at an address, and can discover and configure.
//! [`Admin`] holds a cluster's credentials: it talks only to machines whose certificate that cluster's authority
//! signed, and can bootstrap, look, change and reset. The first can't be made from the second, so code that has an
//! identity never dials unverified.
//!
//! A client is one connection to one machine. It is made by dialling, never redials by itself, and ends when it is
//! dropped: whoever lost it dials anew and so learns what the machine has become. Every call has a deadline of its
//! own ([`deadline`]); only a [`Watch`] lasts until it is dropped.
//!
//! Errors say where and what ([`Error`], [`Fault`]); what a code means is decided in `error.rs` and nowhere else.

mod admin;
mod connection;
pub mod deadline;
mod dial;
mod discovery;
mod error;
mod etcd;
mod fingerprint;
mod handshake;
mod health;
mod kubeconfig;
mod lifetime;
mod logs;
mod maintenance;
mod observation;
pub mod pki;
mod resources;
mod session;
mod tls;
mod watch;

pub use admin::Admin;
pub use dial::{Failures, PORT, Refusal};
pub use error::{Error, Fault};
pub use etcd::{Bootstrapped, EtcdMember, EtcdStatus};
pub use fingerprint::Fingerprint;
pub use health::{Health, HealthCheck};
pub use lifetime::Applied;
pub use maintenance::Maintenance;
pub use observation::{MachineStatus, Service, Stage, UnmetCondition};
pub use tls::Credentials;
pub use watch::{Change, Watch, Watching};
