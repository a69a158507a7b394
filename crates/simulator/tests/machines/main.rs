//! Simulated machines, judged by Talos' own client and library.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod discovery;
mod faults;
mod lab;
mod lifecycle;
mod probe;
mod program;
mod tls;
