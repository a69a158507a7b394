//! WHAT IS TRUE AND WHAT TO DO NEXT: pure; no I/O, no clock, no async, no randomness.

pub mod addon;
pub mod claim;
pub mod cluster;
pub mod condition;
pub mod digest;
pub mod machine;
pub mod machine_configuration;
pub mod names;
pub mod record;
pub mod seen;
pub mod selector;
pub mod version;
