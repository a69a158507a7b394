//! A strict simulated kubelet: joins by TLS bootstrap as a real one, and runs a pod only as far as a real one could.

mod addresses;
mod credentials;
mod node_object;
mod pod_status;
mod pod_worker;
mod pods;
mod registration;
mod serving;
mod static_pods;
mod talos_node;
mod volumes;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube::Client;
use tokio::sync::{Notify, watch};

use self::addresses::PodAddresses;
use super::context::Context;
use super::services::{ServiceId, ServiceState};

pub(super) use addresses::node_address_of_shadow;

/// Pause between two tries to reach the API server.
const RETRY: Duration = Duration::from_secs(1);
/// How long one request may take.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the kubelet's parts share.
struct Kubelet {
    context: Arc<Context>,
    client: Client,
    /// Whether a pod that mounts /etc/cni/net.d has run on this node since it booted.
    network_ready: watch::Sender<bool>,
    pod_addresses: Mutex<Option<PodAddresses>>,
    /// A mirror pod went away that has to be there.
    mirror_pod_deleted: Notify,
}

/// Runs the kubelet until the node stops.
pub(super) async fn run(context: Arc<Context>) {
    context.services.enter(ServiceId::Kubelet, ServiceState::Starting, "Creating service runner");
    context.services.enter(ServiceId::Kubelet, ServiceState::Running, "Started task kubelet");
    // A real kubelet with certificate rotation is healthy before it has a certificate: it gets one meanwhile.
    context.services.report_health(ServiceId::Kubelet, Ok(()));
    if context.configuration().machine.kubelet.skip_node_registration {
        return context.stop.cancelled().await;
    }
    let Some(client) = credentials::obtain(&context).await else {
        return;
    };
    let kubelet = Arc::new(Kubelet {
        context,
        client,
        network_ready: watch::Sender::new(false),
        pod_addresses: Mutex::new(None),
        mirror_pod_deleted: Notify::new(),
    });
    let Some(node) = registration::register(&kubelet).await else {
        return;
    };
    tokio::join!(
        registration::heartbeat(&kubelet),
        registration::renew_lease(&kubelet, &node),
        talos_node::apply(&kubelet),
        serving::obtain(&kubelet),
        pods::run(&kubelet),
        static_pods::run(&kubelet, &node),
    );
}

impl Kubelet {
    fn node_name(&self) -> &str {
        self.context.hostname()
    }

    /// Bounds a request, and turns what went wrong into words.
    async fn ask<T, F: Future<Output = Result<T, kube::Error>>>(&self, request: F) -> Result<T, kube::Error> {
        match tokio::time::timeout(DEADLINE, request).await {
            Ok(answer) => answer,
            Err(_) => Err(kube::Error::Service("no answer within 10 s".into())),
        }
    }
}

/// Whether the API server said that there is no such object.
fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Whether the API server said that there is such an object already.
fn already_exists(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.reason == "AlreadyExists")
}
