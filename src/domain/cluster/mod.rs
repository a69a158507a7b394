//! A cluster: what it should be, what was seen of it, and the gates between the two.
//!
//! [`gates::evaluate`] reads one ordered list of gates and answers with the next step; [`conditions::verdicts`] says
//! the same for people. Nothing here remembers anything: where a cluster stands follows from what is seen. Memory
//! ([`crate::domain::record::EtcdRecord`]) only ever refuses a step.

pub mod conditions;
pub mod disk;
pub mod gates;
pub mod observed;
pub mod preflight;
pub mod quantity;
pub mod serving_certificates;
pub mod spec;
pub mod step;

#[cfg(test)]
mod tests;
