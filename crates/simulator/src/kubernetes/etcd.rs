//! Real etcd members with Talos' flags, and what can be asked of them.

mod gateway;
mod join;
mod leave;
mod model;
mod service;

pub(super) use gateway::Gateway;
pub(super) use leave::leave;
pub use model::{EtcdError, EtcdMember, EtcdStatus};
pub(super) use service::{gateway, run};
