//! What all parts of a node share.

use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::certificates::CertificateError;
use super::clusters::{Clusters, Membership};
use super::components::Components;
use super::files::{Facts, File};
use super::node::NodeSpecification;
use super::process::Program;
use super::services::ServiceBoard;
use crate::configuration::MachineConfiguration;

/// What all parts of a node share.
pub(super) struct Context {
    pub(super) specification: NodeSpecification,
    /// The address that everything listens on.
    pub(super) address: IpAddr,
    pub(super) clusters: Clusters,
    pub(super) membership: Membership,
    pub(super) services: ServiceBoard,
    /// Ends every part.
    pub(super) stop: CancellationToken,
    /// Someone asked for a new etcd cluster.
    pub(super) bootstrap_requested: watch::Sender<bool>,
    /// Someone asked etcd to leave its cluster and stop.
    pub(super) etcd_left: watch::Sender<bool>,
    /// Whether this node's etcd answers.
    pub(super) etcd_healthy: watch::Sender<bool>,
    /// Which of the control plane's components run here.
    pub(super) components: watch::Sender<Components>,
    /// A folder with a short path, for sockets.
    pub(super) sockets: tempfile::TempDir,
}

impl Context {
    pub(super) fn configuration(&self) -> &MachineConfiguration {
        &self.specification.configuration
    }

    pub(super) fn hostname(&self) -> &str {
        &self.specification.hostname
    }

    pub(super) fn is_control_plane(&self) -> bool {
        self.configuration().machine.kind.is_control_plane()
    }

    pub(super) fn etcd_data(&self) -> PathBuf {
        self.specification.data.join("etcd")
    }

    pub(super) fn secrets(&self) -> PathBuf {
        self.specification.data.join("secrets")
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.specification.data.join("logs")
    }

    pub(super) fn egress_socket(&self) -> PathBuf {
        self.sockets.path().join("egress")
    }

    /// Renders files from the configuration and writes them, readable by their owner only.
    pub(super) fn write(
        &self,
        render: impl FnOnce(&Facts<'_>) -> Result<Vec<File>, CertificateError>,
    ) -> Result<(), String> {
        let (secrets, egress) = (self.secrets(), self.egress_socket());
        let facts = Facts {
            configuration: self.configuration(),
            hostname: self.hostname(),
            addresses: &self.specification.addresses,
            address: self.address,
            secrets: &secrets,
            egress: &egress,
        };
        for file in render(&facts).map_err(|error| error.to_string())? {
            let path = secrets.join(&file.path);
            write_secret(&path, file.content.expose().as_bytes())
                .map_err(|error| format!("write {}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// A program of the lab that runs on this node.
    pub(super) fn program(&self, name: &str, arguments: Vec<String>) -> Program {
        Program {
            path: self.clusters.binaries().join(name),
            arguments,
            environment: Vec::new(),
            hostname: self.hostname().to_owned(),
            log: self.logs().join(format!("{name}.log")),
        }
    }

    /// Pauses between two tries; false when the node stops meanwhile.
    pub(super) async fn pause(&self, duration: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => false,
            () = tokio::time::sleep(duration) => true,
        }
    }
}

/// Runs a part of the node again and again until the node stops.
pub(super) async fn until_stopped<F: Future<Output = ()>>(context: Arc<Context>, part: F) {
    tokio::select! {
        () = context.stop.cancelled() => {}
        () = part => {}
    }
}

/// Writes a file that only its owner reads.
pub(super) fn write_secret(path: &Path, content: &[u8]) -> Result<(), std::io::Error> {
    use std::io::Write;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file =
        std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    file.write_all(content)
}
