//! What a machine is told to be: its Talos machine configuration.
//!
//! Made from a cluster's secrets and a machine's facts byte for byte as Talos' own generator would make it, patched as
//! Talos patches, and judged before it is sent.

mod application;
mod contract;
mod decode;
mod delete;
mod difference;
mod document;
mod encode;
mod generate;
mod inputs;
mod installer;
mod json_patch;
mod managed;
mod merge;
mod merge_keys;
mod patch;
mod problem;
mod redaction;
mod scalars;
mod schema;
mod schematic;
mod secrets;
mod validate;

pub use application::{Application, ApplyMode, Effect, NeedsReboot, allows, effects, how};
pub use contract::{Contract, ContractError};
pub use difference::{Change, Difference};
pub use document::{MachineConfiguration, ParseError};
pub use generate::{GenerateError, generate};
pub use inputs::{
    Credentials, DiskSelector, Inputs, InstallTarget, NetworkPlugin, Registry, Role, VirtualAddress,
    is_restricted_label,
};
pub use installer::{DEFAULT_SCHEMATIC, installer_image};
pub use managed::{Managed, renames};
pub use patch::{Patch, PatchError, Patched, patch};
pub use problem::{Problem, ProblemKind};
pub use schematic::{Schematic, SchematicError};
pub use secrets::{CertificateAndKey, Secret, SecretsBundle, SecretsError};
pub use validate::{Verdict, validate};
