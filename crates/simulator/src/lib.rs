//! Simulated Talos machines.

pub mod configuration;
pub mod kubernetes;
