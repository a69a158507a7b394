//! Starting a configured machine's Kubernetes, and watching it.

use std::sync::Arc;
use std::time::Duration;

use super::Life;
use crate::configuration::MachineConfiguration;
use crate::kubernetes::{Hardware, Node, NodeSpecification};
use crate::machine::{Boot, Configuration};
use crate::resources;
use crate::resources::cluster::Role;

/// How often a control plane looks at its cluster while it runs.
const CLUSTER_SEEN_EVERY: Duration = Duration::from_secs(2);

impl Life {
    /// Starts Kubernetes unless it runs already, or must wait for the clock.
    pub(super) async fn start_kubernetes(&self, configuration: &Arc<MachineConfiguration>) {
        let boot = &self.boot;
        let machine = &boot.machine;
        if boot.node().is_some() || !boot.time_in_sync() {
            return;
        }
        if machine.faults.take_foreign_etcd_data()
            && let Err(error) = machine.disk.put_foreign_etcd_data()
        {
            boot.fail(&error.to_string());
        }
        let specification = NodeSpecification {
            hostname: boot.hostname().unwrap_or_default(),
            addresses: boot.addresses(),
            data: machine.disk.ephemeral(),
            configuration: Arc::clone(configuration),
            hardware: Hardware {
                uuid: machine.specification.uuid(),
                processors: machine.specification.processors,
                memory_bytes: machine.specification.memory.bytes(),
            },
            talos_version: boot.version.to_string(),
        };
        match Node::start(&machine.site.clusters, specification).await {
            Ok(node) => boot.take_node(Some(node)),
            Err(error) => boot.fail(&format!("failed to {error}")),
        }
    }

    /// Takes over a configuration as the machine runs. Kubernetes is started anew where anything differs.
    pub(super) async fn reconfigure(&self, configuration: &Arc<Configuration>) {
        let boot = &self.boot;
        let same = boot.configuration().is_some_and(|before| before.text == configuration.text);
        boot.take(configuration);
        if same {
            return;
        }
        if let Some(node) = boot.node() {
            boot.take_node(None);
            node.stop().await;
        }
        self.start_kubernetes(&configuration.view).await;
    }
}

/// Publishes what this control plane sees of its cluster, as long as it runs.
pub(super) async fn observe(boot: Arc<Boot>, configuration: Arc<MachineConfiguration>) {
    if boot.role() != Role::ControlPlane {
        return;
    }
    let mut look = tokio::time::interval(CLUSTER_SEEN_EVERY);
    look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        look.tick().await;
        let Some(node) = boot.node() else { continue };
        let health = node.health().await;
        if let Ok(nodes) = health.nodes {
            boot.machine.site.nodes.publish(&configuration.cluster.id, nodes);
        }
        let own = boot.hostname().unwrap_or_default();
        for pod in health.static_pods.into_iter().flatten().filter(|pod| pod.node == own) {
            boot.store.put(resources::kubernetes::static_pod_status(&pod.component, &own, pod.ready));
        }
        if let Ok(status) = node.etcd_status().await {
            boot.store.put(resources::cluster::etcd_member(status.member_id));
        }
    }
}

/// A task that ends with whom it works for.
pub(super) struct AbortOnDrop(pub(super) tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
