//! One booted and configured machine's Kubernetes.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;

use super::services::ServiceBoard;
use super::{Clusters, EtcdError, EtcdMember, EtcdStatus, Health, HealthError, Service, ServiceId};
use crate::configuration::{MachineConfiguration, Secret};

/// What a node is made of.
#[derive(Clone, Debug)]
pub struct NodeSpecification {
    /// Its hostname: the configuration's, else the stable name that the machine derives from its identity.
    pub hostname: String,
    /// Its addresses within 127/8; the first is the one it listens on.
    pub addresses: Vec<IpAddr>,
    /// What Talos keeps on EPHEMERAL: etcd's and the kubelet's data. Kept by [`Node::stop`], emptied by [`wipe`].
    pub data: PathBuf,
    /// The configuration that the machine booted with.
    pub configuration: Arc<MachineConfiguration>,
    /// What the kubelet reports.
    pub hardware: Hardware,
    /// The Talos version that the kubelet reports, such as `v1.13.9`.
    pub talos_version: String,
}

/// What the kubelet reports of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// The system's UUID.
    pub uuid: String,
    /// Logical processors.
    pub processors: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// Why a node doesn't start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A program of the lab is missing.
    #[error("find {}: run `make lab`", path.display())]
    MissingProgram {
        /// Where it should be.
        path: PathBuf,
    },
    /// No address was given.
    #[error("start {hostname}: it has no address")]
    NoAddress {
        /// The node.
        hostname: String,
    },
    /// A file of the node couldn't be written.
    #[error("write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Why etcd isn't bootstrapped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// There is data already, of whichever cluster.
    #[error("etcd data directory is not empty")]
    AlreadyExists,
    /// The node is no control plane.
    #[error("bootstrap is only available on control plane nodes")]
    NotControlPlane,
}

/// Why there is no kubeconfig.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KubeconfigError {
    /// The node is no control plane.
    #[error("kubeconfig is only available on control plane nodes")]
    NotControlPlane,
    /// The cluster CA can't sign.
    #[error("sign the admin certificate: {0}")]
    Certificate(String),
}

/// Why a node's data wasn't emptied.
#[derive(Debug, thiserror::Error)]
#[error("empty {}", path.display())]
pub struct WipeError {
    /// The folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

/// One booted and configured machine's Kubernetes; clones are the same node.
///
/// Its processes end with [`Node::stop`], with the last clone, and with the simulator's own process.
#[derive(Clone, Debug)]
pub struct Node {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    specification: NodeSpecification,
    services: ServiceBoard,
}

impl Node {
    /// Starts what Talos starts on such a machine: the kubelet, on control planes etcd (from its data, by joining,
    /// or waiting for [`Node::bootstrap`]) and then the control plane. Returns when all is under way.
    ///
    /// # Errors
    /// [`StartError`] when a program is missing or a file can't be written.
    pub async fn start(_clusters: &Clusters, specification: NodeSpecification) -> Result<Self, StartError> {
        let control_plane = specification.configuration.machine.kind.is_control_plane();
        let ids: &[ServiceId] =
            if control_plane { &[ServiceId::Etcd, ServiceId::Kubelet] } else { &[ServiceId::Kubelet] };
        tokio::fs::create_dir_all(&specification.data)
            .await
            .map_err(|source| StartError::Write { path: specification.data.clone(), source })?;
        Ok(Self { shared: Arc::new(Shared { specification, services: ServiceBoard::new(ids) }) })
    }

    /// Lets a control plane that waits for it start etcd as a new cluster of one member. Returns at once; whether
    /// etcd came up is in [`Node::services`].
    ///
    /// # Errors
    /// [`BootstrapError`]; none of them changed anything.
    pub fn bootstrap(&self) -> Result<(), BootstrapError> {
        if !self.is_control_plane() {
            return Err(BootstrapError::NotControlPlane);
        }
        if self.etcd_data_is_empty() { Ok(()) } else { Err(BootstrapError::AlreadyExists) }
    }

    /// Ends all processes, as a reboot or loss of power does; data stays. Bounded: what doesn't end within seconds
    /// is killed.
    pub async fn stop(&self) {
        tokio::task::yield_now().await;
    }

    /// The services with their history.
    #[must_use]
    pub fn services(&self) -> Vec<Service> {
        self.shared.services.snapshot()
    }

    /// Wakes whoever waits for a service to change.
    #[must_use]
    pub fn watch_services(&self) -> watch::Receiver<Vec<Service>> {
        self.shared.services.subscribe()
    }

    /// Whether etcd's data folder is empty or absent.
    #[must_use]
    pub fn etcd_data_is_empty(&self) -> bool {
        is_empty(&self.shared.specification.data.join("etcd"))
    }

    /// The members as this node's etcd lists them.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_members(&self) -> Result<Vec<EtcdMember>, EtcdError> {
        tokio::task::yield_now().await;
        Err(self.no_etcd())
    }

    /// This node's etcd's own status.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_status(&self) -> Result<EtcdStatus, EtcdError> {
        tokio::task::yield_now().await;
        Err(self.no_etcd())
    }

    /// Removes another member, as EtcdRemoveMemberByID does.
    ///
    /// # Errors
    /// [`EtcdError`]; `Refused` with etcd's own words where the cluster can't spare it or doesn't know it.
    pub async fn etcd_remove_member(&self, _id: u64) -> Result<(), EtcdError> {
        tokio::task::yield_now().await;
        Err(self.no_etcd())
    }

    /// Gives the leadership to another member where this one holds it; answers whose it is now, or none when this
    /// member wasn't the leader.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_forfeit_leadership(&self) -> Result<Option<EtcdMember>, EtcdError> {
        tokio::task::yield_now().await;
        Err(self.no_etcd())
    }

    /// Leaves the etcd cluster and stops etcd, as EtcdLeaveCluster does.
    ///
    /// # Errors
    /// [`EtcdError`]; the last member can't leave.
    pub async fn etcd_leave(&self) -> Result<(), EtcdError> {
        tokio::task::yield_now().await;
        Err(self.no_etcd())
    }

    /// A kubeconfig of an administrator, newly signed with the cluster's CA, as Talos' Kubeconfig call gives it.
    ///
    /// # Errors
    /// [`KubeconfigError`].
    pub fn kubeconfig(&self) -> Result<Secret, KubeconfigError> {
        Err(KubeconfigError::NotControlPlane)
    }

    /// What this control plane sees of its cluster; each look is bounded by seconds.
    pub async fn health(&self) -> Health {
        tokio::task::yield_now().await;
        let unknown = || HealthError { message: "no API server answers".to_owned() };
        Health {
            etcd: Err(unknown()),
            nodes: Err(unknown()),
            static_pods: Err(unknown()),
            core_dns: Err(unknown()),
            kube_proxy: Err(unknown()),
        }
    }

    fn is_control_plane(&self) -> bool {
        self.shared.specification.configuration.machine.kind.is_control_plane()
    }

    fn no_etcd(&self) -> EtcdError {
        EtcdError::NotRunning { node: self.shared.specification.hostname.clone() }
    }
}

/// Empties a stopped node's data folder, as wiping EPHEMERAL does. An absent one is empty already.
///
/// # Errors
/// [`WipeError`].
pub async fn wipe(data: &Path) -> Result<(), WipeError> {
    match tokio::fs::remove_dir_all(data).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(WipeError { path: data.to_owned(), source }),
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}
