//! The engine against the real Helm: every case is rendered by both.

mod errors;
mod functions;
#[expect(clippy::unwrap_in_result, reason = "a test fails by panicking")]
mod lab;
mod language;
mod released;
mod structure;
