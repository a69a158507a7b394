//! The engine against the real Helm: every case is rendered by both.

mod errors;
mod functions;
mod lab;
mod language;
mod released;
mod structure;
