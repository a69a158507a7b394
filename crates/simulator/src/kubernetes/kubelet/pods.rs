//! The pods that are bound to the node: each one gets a worker for as long as the API server has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::{Kubelet, RETRY, pod_worker};

/// Marks the API server's picture of a pod that the kubelet got from elsewhere.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// Follows the node's pods until it is dropped.
pub(super) async fn run(kubelet: &Arc<Kubelet>) {
    let pods: Api<Pod> = Api::all(kubelet.client.clone());
    let mut workers =
        Workers { kubelet: Arc::clone(kubelet), senders: BTreeMap::new(), tasks: JoinSet::new() };
    loop {
        if let Err(reason) = follow(&pods, &mut workers).await {
            tracing::debug!(node = kubelet.node_name(), %reason, "follow the node's pods");
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// One list and one watch.
async fn follow(pods: &Api<Pod>, workers: &mut Workers) -> Result<(), String> {
    let field = format!("spec.nodeName={}", workers.kubelet.node_name());
    let selection = ListParams::default().fields(&field);
    let listed = workers.kubelet.ask(pods.list(&selection)).await.map_err(|error| error.to_string())?;
    let version = listed.metadata.resource_version.unwrap_or_default();
    workers.keep_only(&listed.items);
    for pod in listed.items {
        workers.seen(pod);
    }
    let events = pods.watch(&WatchParams::default().fields(&field), &version).await;
    let events = events.map_err(|error| error.to_string())?;
    futures::pin_mut!(events);
    while let Some(event) = events.next().await {
        match event.map_err(|error| error.to_string())? {
            WatchEvent::Added(pod) | WatchEvent::Modified(pod) => workers.seen(pod),
            WatchEvent::Deleted(pod) => workers.gone(&pod),
            WatchEvent::Bookmark(_) => {}
            WatchEvent::Error(status) => return Err(status.message.clone()),
        }
    }
    Ok(())
}

struct Workers {
    kubelet: Arc<Kubelet>,
    /// By the pod's uid: a worker ends when its sender is dropped.
    senders: BTreeMap<String, watch::Sender<Pod>>,
    tasks: JoinSet<()>,
}

impl Workers {
    fn seen(&mut self, pod: Pod) {
        let Some(uid) = pod.uid() else {
            return;
        };
        if pod.annotations().contains_key(MIRROR) {
            return;
        }
        // Workers that ended are taken out of the set.
        while self.tasks.try_join_next().is_some() {}
        if let Some(sender) = self.senders.get(&uid) {
            sender.send_replace(pod);
            return;
        }
        let (sender, receiver) = watch::channel(pod);
        self.senders.insert(uid, sender);
        self.tasks.spawn(pod_worker::run(Arc::clone(&self.kubelet), receiver));
    }

    fn gone(&mut self, pod: &Pod) {
        if pod.annotations().contains_key(MIRROR) {
            self.kubelet.mirror_pod_deleted.notify_one();
        }
        if let Some(uid) = pod.uid() {
            self.senders.remove(&uid);
        }
    }

    fn keep_only(&mut self, listed: &[Pod]) {
        self.senders.retain(|uid, _| listed.iter().any(|pod| pod.uid().as_ref() == Some(uid)));
    }
}
