//! One booted and configured machine's Kubernetes.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::clusters::{MeetingPoint, Member};
use super::components::Components;
use super::context::{Context, until_stopped};
use super::services::ServiceBoard;
use super::{Clusters, EtcdError, EtcdMember, EtcdStatus, Health, Service, ServiceId, ServiceState};
use super::{control_plane, etcd, files, forward, health, kubelet, network};
use crate::configuration::{MachineConfiguration, Secret};

/// How long all parts of a node may take to end.
const STOP: Duration = Duration::from_secs(10);

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
#[derive(Clone)]
pub struct Node {
    shared: Arc<Shared>,
}

struct Shared {
    context: Arc<Context>,
    tasks: TaskTracker,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.context.stop.cancel();
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Node({})", self.shared.context.hostname())
    }
}

impl Node {
    /// Starts what Talos starts on such a machine: the kubelet, on control planes etcd (from its data, by joining,
    /// or waiting for [`Node::bootstrap`]) and then the control plane. Returns when all is under way; what becomes of
    /// it is in [`Node::services`].
    ///
    /// # Errors
    /// [`StartError`] when a program is missing or a folder can't be made.
    pub async fn start(clusters: &Clusters, specification: NodeSpecification) -> Result<Self, StartError> {
        let context = Arc::new(prepare(clusters, specification).await?);
        let tasks = TaskTracker::new();
        let spawn = |part: Pin<Box<dyn Future<Output = ()> + Send>>| {
            tasks.spawn(until_stopped(Arc::clone(&context), part));
        };
        spawn(Box::pin(forward::run_kube_prism(Arc::clone(&context))));
        spawn(Box::pin(kubelet::run(Arc::clone(&context))));
        if context.is_control_plane() {
            spawn(Box::pin(network::run(Arc::clone(&context))));
            // These end by themselves: they stop their processes first.
            tasks.spawn(etcd::run(Arc::clone(&context)));
            tasks.spawn(control_plane::run_api_server(Arc::clone(&context)));
            tasks.spawn(control_plane::run_controller_manager(Arc::clone(&context)));
            tasks.spawn(control_plane::run_scheduler(Arc::clone(&context)));
            spawn(Box::pin(control_plane::create_manifests(Arc::clone(&context))));
            for address in &context.configuration().machine.virtual_addresses {
                match address.parse() {
                    Ok(address) => {
                        spawn(Box::pin(forward::run_virtual_address(Arc::clone(&context), address)))
                    }
                    Err(error) => tracing::info!(%address, %error, "a virtual address that is none"),
                }
            }
        }
        Ok(Self { shared: Arc::new(Shared { context, tasks }) })
    }

    /// Lets a control plane that waits for it start etcd as a new cluster of one member. Returns at once; whether
    /// etcd came up is in [`Node::services`].
    ///
    /// # Errors
    /// [`BootstrapError`]; none of them changed anything.
    pub fn bootstrap(&self) -> Result<(), BootstrapError> {
        if !self.context().is_control_plane() {
            return Err(BootstrapError::NotControlPlane);
        }
        // Asked for already counts as existing: etcd's first file may not be there yet.
        if !self.etcd_data_is_empty() || self.context().bootstrap_requested.send_replace(true) {
            return Err(BootstrapError::AlreadyExists);
        }
        Ok(())
    }

    /// Ends all processes, as a reboot or loss of power does; data stays. Bounded: what doesn't end within seconds
    /// is killed.
    pub async fn stop(&self) {
        let context = self.context();
        context.stop.cancel();
        self.shared.tasks.close();
        if tokio::time::timeout(STOP, self.shared.tasks.wait()).await.is_err() {
            tracing::warn!(node = context.hostname(), "parts of the node didn't end in time");
        }
        context.clusters.leave(context.address);
    }

    /// The services with their history.
    #[must_use]
    pub fn services(&self) -> Vec<Service> {
        self.context().services.snapshot()
    }

    /// Wakes whoever waits for a service to change.
    #[must_use]
    pub fn watch_services(&self) -> watch::Receiver<Vec<Service>> {
        self.context().services.subscribe()
    }

    /// The control plane's components on this node, and whoever waits is woken when one changes.
    #[must_use]
    pub fn watch_components(&self) -> watch::Receiver<Components> {
        self.context().components.subscribe()
    }

    /// Whether etcd's data folder is empty or absent.
    #[must_use]
    pub fn etcd_data_is_empty(&self) -> bool {
        is_empty(&self.context().etcd_data())
    }

    /// The members as this node's etcd lists them.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_members(&self) -> Result<Vec<EtcdMember>, EtcdError> {
        self.etcd()?.members().await
    }

    /// This node's etcd's own status.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_status(&self) -> Result<EtcdStatus, EtcdError> {
        self.etcd()?.status().await
    }

    /// Removes another member, as EtcdRemoveMemberByID does.
    ///
    /// # Errors
    /// [`EtcdError`]; `Refused` with etcd's own words where the cluster can't spare it or doesn't know it.
    pub async fn etcd_remove_member(&self, id: u64) -> Result<(), EtcdError> {
        self.etcd()?.remove(id).await
    }

    /// Gives the leadership to another member where this one holds it; answers whose it is now, or none when this
    /// member wasn't the leader.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub async fn etcd_forfeit_leadership(&self) -> Result<Option<EtcdMember>, EtcdError> {
        let gateway = self.etcd()?;
        let status = gateway.status().await?;
        if status.leader != status.member_id {
            return Ok(None);
        }
        let members = gateway.members().await?;
        let successor = members
            .into_iter()
            .find(|member| member.id != status.member_id && !member.is_learner && !member.name.is_empty())
            .ok_or(EtcdError::NoSuccessor)?;
        gateway.transfer_leadership(successor.id).await?;
        Ok(Some(successor))
    }

    /// Leaves the etcd cluster, stops etcd and removes its data, as EtcdLeaveCluster does; a cluster that isn't
    /// healthy is waited for, five minutes at the most.
    ///
    /// # Errors
    /// [`EtcdError`]; the last member can't leave.
    pub async fn etcd_leave(&self) -> Result<(), EtcdError> {
        etcd::leave(self.context(), &self.etcd()?).await
    }

    /// A kubeconfig of an administrator, newly signed with the cluster's CA, as Talos' Kubeconfig call gives it.
    ///
    /// # Errors
    /// [`KubeconfigError`].
    pub fn kubeconfig(&self) -> Result<Secret, KubeconfigError> {
        if !self.context().is_control_plane() {
            return Err(KubeconfigError::NotControlPlane);
        }
        files::admin_kubeconfig(self.context().configuration())
            .map_err(|error| KubeconfigError::Certificate(error.to_string()))
    }

    /// What this control plane sees of its cluster; each look is bounded by seconds.
    pub async fn health(&self) -> Health {
        health::look(self.context()).await
    }

    fn context(&self) -> &Context {
        &self.shared.context
    }

    fn etcd(&self) -> Result<etcd::Gateway, EtcdError> {
        let context = self.context();
        let running = self
            .services()
            .iter()
            .any(|service| service.id == ServiceId::Etcd && service.state == ServiceState::Running);
        if !running {
            return Err(EtcdError::NotRunning { node: context.hostname().to_owned() });
        }
        etcd::gateway(context, context.address)
            .map_err(|reason| EtcdError::Unreachable { address: context.address, reason })
    }
}

async fn prepare(clusters: &Clusters, specification: NodeSpecification) -> Result<Context, StartError> {
    let address = *specification
        .addresses
        .first()
        .ok_or_else(|| StartError::NoAddress { hostname: specification.hostname.clone() })?;
    let configuration = Arc::clone(&specification.configuration);
    let control_plane = configuration.machine.kind.is_control_plane();
    let programs: &[&str] = if control_plane {
        &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
    } else {
        &[]
    };
    for path in programs.iter().map(|name| clusters.binaries().join(name)) {
        if !path.exists() {
            return Err(StartError::MissingProgram { path });
        }
    }
    for folder in ["logs", "secrets"].map(|name| specification.data.join(name)) {
        tokio::fs::create_dir_all(&folder)
            .await
            .map_err(|source| StartError::Write { path: folder.clone(), source })?;
    }
    let sockets = tempfile::Builder::new()
        .prefix("kontinuum-")
        .tempdir()
        .map_err(|source| StartError::Write { path: std::env::temp_dir(), source })?;
    let ids: &[ServiceId] =
        if control_plane { &[ServiceId::Etcd, ServiceId::Kubelet] } else { &[ServiceId::Kubelet] };
    let membership = clusters.join(Member {
        meeting_point: MeetingPoint::of(&configuration),
        hostname: specification.hostname.clone(),
        address,
        api_server_port: control_plane.then_some(configuration.cluster.local_api_server_port),
        etcd_running: false,
    });
    Ok(Context {
        address,
        clusters: clusters.clone(),
        membership,
        services: ServiceBoard::new(ids),
        stop: CancellationToken::new(),
        bootstrap_requested: watch::Sender::new(false),
        etcd_left: watch::Sender::new(false),
        etcd_healthy: watch::Sender::new(false),
        components: watch::Sender::new(Components::default()),
        sockets,
        specification,
    })
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

pub(super) fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}
