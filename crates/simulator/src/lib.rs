//! Simulated Talos machines.
//!
//! A [`World`] describes machines; [`Simulator::start`] brings them up. Each speaks the real Talos API over real TLS,
//! in maintenance mode until it is given a configuration, then with mutual TLS from that configuration. Talos' own
//! library judges configurations; bootstrap starts a real etcd and a real Kubernetes control plane.
//!
//! - [`world`]: what is simulated
//! - [`fault`]: what goes wrong on purpose
//! - [`events`]: what happened
//! - `machine`: a machine's states; decisions are pure functions, a task acts
//! - `resources`: the COSI resources that a machine shows
//! - `tls`: certificates and who is let in
//! - `api`: Talos' services
//! - [`configuration`]: Talos' own library as the judge of configurations
//! - [`kubernetes`]: the processes and the kubelet of a configured machine
//! - [`control`]: the socket by which a running simulator is steered

pub mod configuration;
pub mod control;
pub mod events;
pub mod fault;
pub mod kubernetes;
pub mod world;

mod api;
mod machine;
mod resources;
mod simulator;
mod tcp;
mod tls;

pub use machine::Stage;
pub use simulator::{Deaf, MachineStatus, NoSuchMachine, Simulator, StartError};
pub use world::World;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The guarded value, also after a panic elsewhere: each holder leaves it consistent.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
