//! Addons: charts that make a cluster of machines work. What is installed, with which values, and when it is healthy.
//!
//! Pure: where the chart comes from, how it is rendered and applied is the clients' business.

pub mod cert_manager;
pub mod cilium;
pub mod further;
mod health;
mod spec;
pub mod values;
mod workload;

pub use health::AddonHealth;
pub use spec::{Addon, Overrides, Refusal, SpecError};
pub use workload::{Container, ContainerState, Exit, Pod, Progress, Workload, WorkloadKind, WorkloadName};
