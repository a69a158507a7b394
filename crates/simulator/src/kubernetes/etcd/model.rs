//! What etcd says, and why it might not.

use std::net::IpAddr;
use std::path::PathBuf;

/// A member as etcd lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdMember {
    /// Its id.
    pub id: u64,
    /// Its name, the node's hostname; empty before its first start.
    pub name: String,
    /// Where peers reach it.
    pub peer_urls: Vec<String>,
    /// Where clients reach it; empty before its first start.
    pub client_urls: Vec<String>,
    /// Whether it can't vote yet.
    pub is_learner: bool,
}

/// A member's own status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdStatus {
    /// The cluster's id.
    pub cluster_id: u64,
    /// Its own id.
    pub member_id: u64,
    /// The server's version, such as `3.6.16`.
    pub version: String,
    /// The storage format's version.
    pub storage_version: String,
    /// The leader's id; 0 without one.
    pub leader: u64,
    /// The raft index.
    pub raft_index: u64,
    /// The applied raft index.
    pub raft_applied_index: u64,
    /// The raft term.
    pub raft_term: u64,
    /// Size of the database in bytes.
    pub database_bytes: i64,
    /// The part of it that is in use, in bytes.
    pub database_in_use_bytes: i64,
    /// Whether it can't vote yet.
    pub is_learner: bool,
    /// What is wrong with it.
    pub errors: Vec<String>,
}

/// Why etcd didn't answer as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EtcdError {
    /// This node runs no etcd (a worker, or not bootstrapped and not joined).
    #[error("etcd isn't running on {node}")]
    NotRunning {
        /// The node.
        node: String,
    },
    /// The member answered with an error of its own.
    #[error("etcd refused: {message}")]
    Refused {
        /// The gRPC code in its answer.
        code: i32,
        /// Its words.
        message: String,
    },
    /// No answer came.
    #[error("reach etcd at {address}: {reason}")]
    Unreachable {
        /// The member's address.
        address: IpAddr,
        /// What went wrong.
        reason: String,
    },
    /// The data of a member that left couldn't be removed.
    #[error("remove {}", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// There is no other member that could take over.
    #[error("no other voting member can take the leadership")]
    NoSuccessor,
}
