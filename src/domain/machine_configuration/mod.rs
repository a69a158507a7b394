//! What a machine is told to be: its Talos machine configuration.
//!
//! Made from a cluster's secrets and a machine's facts byte for byte as Talos' own generator would make it, patched as
//! Talos patches, and judged before it is sent.

mod contract;
mod secrets;

pub use contract::{Contract, ContractError};
pub use secrets::{CertificateAndKey, Secret, SecretsBundle, SecretsError};
