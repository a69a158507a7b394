//! Simulated Talos machines.
