//! What the machines of one simulator share.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::watch;

use super::Boot;
use crate::configuration::{Judge, MachineConfiguration, Secret};
use crate::events::Events;
use crate::kubernetes::{Clusters, NodeReport};
use crate::locked;
use crate::tls::Authority;

/// The machines' surroundings.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// Where requests and states are recorded.
    pub(crate) events: Arc<Events>,
    /// Talos' own library.
    pub(crate) judge: Judge,
    /// The Kubernetes processes' registry.
    pub(crate) clusters: Clusters,
    /// Folder with a folder for each machine's disk.
    pub(crate) machines: PathBuf,
    /// trustd of all running control planes.
    pub(crate) trust: Trust,
    /// What control planes see of their clusters' nodes.
    pub(crate) nodes: Nodes,
    /// The machines that run.
    pub(crate) neighbours: Neighbours,
}

/// The trust services of all control planes that run: workers get their API certificate from one whose authority and
/// token are theirs (Talos: `securityapi.SecurityService/Certificate` on port 50001).
#[derive(Clone, Debug, Default)]
pub(crate) struct Trust(Arc<watch::Sender<Vec<Trustee>>>);

#[derive(Clone, Debug)]
struct Trustee {
    machine: String,
    certificate: String,
    token: Secret,
    authority: Arc<Authority>,
}

/// A control plane's entry, taken out when it goes down.
#[derive(Debug)]
pub(crate) struct Serving {
    trust: Trust,
    machine: String,
}

/// Nodes by cluster id, as last seen by one of the cluster's control planes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes(Arc<watch::Sender<BTreeMap<String, Vec<NodeReport>>>>);

/// The machines that run, by the address they listen at: whom a control plane can ask about itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours(Arc<Mutex<BTreeMap<IpAddr, Weak<Boot>>>>);

impl Neighbours {
    /// Enters a machine for as long as it runs.
    pub(super) fn enter(&self, boot: &Arc<Boot>) {
        let mut boots = locked(&self.0);
        boots.retain(|_, boot| boot.strong_count() > 0);
        boots.insert(boot.address, Arc::downgrade(boot));
    }

    /// The machine at an address, if one runs there.
    pub(crate) fn at(&self, address: IpAddr) -> Option<Arc<Boot>> {
        locked(&self.0).get(&address).and_then(Weak::upgrade)
    }
}

impl Trust {
    /// Enters a control plane that signs for workers with the same authority and token.
    pub(crate) fn serve(
        &self,
        machine: &str,
        configuration: &MachineConfiguration,
        authority: Arc<Authority>,
    ) -> Serving {
        let machine = machine.to_owned();
        let trustee = Trustee {
            machine: machine.clone(),
            certificate: certificate(configuration).to_owned(),
            token: configuration.machine.token.clone(),
            authority,
        };
        self.0.send_modify(|trustees| {
            trustees.retain(|other| other.machine != machine);
            trustees.push(trustee);
        });
        Serving { trust: self.clone(), machine }
    }

    /// The authority that signs for this worker now, if a control plane of its cluster runs.
    pub(crate) fn find(&self, worker: &MachineConfiguration) -> Option<Arc<Authority>> {
        self.0
            .borrow()
            .iter()
            .find(|trustee| trustee.trusts(worker))
            .map(|trustee| Arc::clone(&trustee.authority))
    }

    /// Waits for a control plane that signs for this worker.
    pub(crate) async fn wait_for(&self, worker: Arc<MachineConfiguration>) -> Arc<Authority> {
        let mut trustees = self.0.subscribe();
        loop {
            trustees.mark_unchanged();
            if let Some(authority) = self.find(&worker) {
                return authority;
            }
            if trustees.changed().await.is_err() {
                // The sender lives as long as `self`.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Trustee {
    fn trusts(&self, worker: &MachineConfiguration) -> bool {
        self.certificate == certificate(worker) && self.token == worker.machine.token
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.trust.0.send_modify(|trustees| trustees.retain(|trustee| trustee.machine != self.machine));
    }
}

impl Nodes {
    /// Publishes what a control plane sees.
    pub(crate) fn publish(&self, cluster: &str, nodes: Vec<NodeReport>) {
        self.0.send_if_modified(|clusters| {
            let changed = clusters.get(cluster) != Some(&nodes);
            if changed {
                clusters.insert(cluster.to_owned(), nodes);
            }
            changed
        });
    }

    /// Whether a node of the cluster is ready; `None` when no control plane has seen it.
    pub(crate) fn find(&self, cluster: &str, name: &str) -> Option<NodeReport> {
        self.0.borrow().get(cluster)?.iter().find(|node| node.name == name).cloned()
    }

    /// Wakes whoever waits for a cluster's nodes to change.
    pub(crate) fn watch(&self) -> watch::Receiver<BTreeMap<String, Vec<NodeReport>>> {
        self.0.subscribe()
    }
}

/// The certificate of the machine's authority, PEM; empty without one.
fn certificate(configuration: &MachineConfiguration) -> &str {
    configuration.machine.ca.as_ref().map_or("", |authority| authority.certificate.as_str())
}
