//! Real etcd members with Talos' flags, and what can be asked of them.

mod model;

pub use model::{EtcdError, EtcdMember, EtcdStatus};
