//! WHAT THE USER WRITES: one file or folder for each resource and data source. The only place where Terraform's side
//! and the world's side meet.

mod access;
pub mod candidates;
pub mod condition;
pub mod discovery;
pub mod instance;
pub mod instance_pool;
pub mod instances;
mod leave;
pub mod machine_configuration;
mod patches;
mod records;
mod report;
pub mod talos_cluster;
pub mod timeouts;

use crate::clients::charts::Charts;
use crate::clients::inventory::Inventory;

/// What the configured provider gives to every resource.
#[derive(Debug)]
pub struct Clients {
    /// Where machines, claims and clusters are remembered.
    pub inventory: Inventory,
    /// Where charts are fetched.
    pub charts: Charts,
}
