//! One pod's life on the node.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;
use tokio::sync::watch;

use super::addresses::{node_addresses, shadow};
use super::pod_status::{self, Application, Place, Stage};
use super::{Kubelet, RETRY, is_not_found, volumes};
use crate::kubernetes::Fate;
use crate::kubernetes::fate::workload;
use crate::kubernetes::network::Play;

/// Between looks at what a pod still misses.
const MISSING: Duration = Duration::from_millis(500);
/// The first pause of a crash loop; it doubles with each crash.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest pause of a crash loop.
const LONGEST_BACK_OFF: Duration = Duration::from_secs(30);
/// The folder in which a pod network leaves its configuration.
const NETWORK_CONFIGURATION: &str = "/etc/cni/net.d";

/// Lives a pod's life until the API server has no such pod any more.
pub(super) async fn run(kubelet: Arc<Kubelet>, mut pod: watch::Receiver<Pod>) {
    let snapshot = pod.borrow_and_update().clone();
    let uid = snapshot.uid().unwrap_or_default();
    let worker = Worker {
        kubelet: &kubelet,
        pods: Api::namespaced(kubelet.client.clone(), &snapshot.namespace().unwrap_or_default()),
        pod: pod.clone(),
        uid: uid.clone(),
        start_time: start_time(&snapshot),
    };
    let deleting = tokio::select! {
        deleting = pod.wait_for(|pod| pod.metadata.deletion_timestamp.is_some()) => deleting.is_ok(),
        () = worker.live() => false,
    };
    if deleting {
        worker.confirm_deletion().await;
    }
    if let Ok(mut addresses) = kubelet.pod_addresses.lock()
        && let Some(addresses) = addresses.as_mut()
    {
        addresses.release(&uid);
    }
}

struct Worker<'a> {
    kubelet: &'a Kubelet,
    pods: Api<Pod>,
    pod: watch::Receiver<Pod>,
    uid: String,
    start_time: String,
}

impl Worker<'_> {
    /// From the first look to the end of its containers, or for ever.
    async fn live(&self) {
        let pod = self.current();
        let phase = pod.status.as_ref().and_then(|status| status.phase.clone()).unwrap_or_default();
        if phase == "Succeeded" || phase == "Failed" {
            return self.until_deleted().await;
        }
        let place = self.place(&pod).await;
        self.wait_for_needs(&pod, &place).await;
        let was_running = phase == "Running";
        let inits = pod.spec.as_ref().and_then(|spec| spec.init_containers.as_ref()).map_or(0, Vec::len);
        for running in if was_running { 0..0 } else { 0..inits } {
            self.report(&Stage::Initializing { running }, &place).await;
        }
        self.run_application(&pod, &place).await;
        self.until_deleted().await;
    }

    fn current(&self) -> Pod {
        self.pod.borrow().clone()
    }

    async fn until_deleted(&self) {
        std::future::pending().await
    }

    /// The addresses; a pod outside the host's network gets one when the node has a pod network.
    async fn place(&self, pod: &Pod) -> Place {
        let specification = &self.kubelet.context.specification;
        let host_address = node_addresses(&specification.configuration, &specification.addresses)
            .first()
            .copied()
            .unwrap_or(self.kubelet.context.address);
        let mut place = Place {
            host_address,
            pod_address: None,
            start_time: self.start_time.clone(),
            now: self.start_time.clone(),
        };
        if pod.spec.as_ref().and_then(|spec| spec.host_network).unwrap_or_default() {
            place.pod_address = Some(shadow(host_address));
            return place;
        }
        let mut network = self.kubelet.network_ready.subscribe();
        if !*network.borrow_and_update() {
            let message =
                "network is not ready: container runtime network not ready: cni plugin not initialized";
            self.report(&Stage::Waiting { reason: "ContainerCreating", message: String::new() }, &place)
                .await;
            self.event("Warning", "NetworkNotReady", message).await;
            if network.wait_for(|ready| *ready).await.is_err() {
                self.until_deleted().await;
            }
        }
        let kept = pod
            .status
            .as_ref()
            .and_then(|status| status.pod_ip.as_deref())
            .and_then(|text| text.parse().ok());
        loop {
            if let Ok(mut addresses) = self.kubelet.pod_addresses.lock()
                && let Some(addresses) = addresses.as_mut()
            {
                // An address that was reported once can't be changed: the API server refuses two of a family.
                if let Some(kept) = kept {
                    addresses.adopt(&self.uid, kept);
                }
                place.pod_address = addresses.assign(&self.uid);
            }
            if place.pod_address.is_some() {
                return place;
            }
            tokio::time::sleep(MISSING).await;
        }
    }

    async fn wait_for_needs(&self, pod: &Pod, place: &Place) {
        let needs = volumes::needs(pod);
        let namespace = pod.namespace().unwrap_or_default();
        let mut reported = None;
        while let Some(missing) = volumes::first_missing(self.kubelet, &namespace, &needs).await {
            if reported.as_ref() != Some(&missing) {
                let stage = Stage::Waiting { reason: missing.reason, message: String::new() };
                self.report(&stage, place).await;
                // The authorizer may lag the watch: what is missing in the very first look may be there already.
                if reported.is_some() {
                    self.event("Warning", missing.event, &missing.message).await;
                }
                reported = Some(missing);
            }
            tokio::time::sleep(MISSING).await;
        }
    }

    /// Runs the application as its fate wills it; returns when it ended for good.
    async fn run_application(&self, pod: &Pod, place: &Place) {
        let mut fates = self.kubelet.context.clusters.fates().subscribe();
        let workload = workload(pod);
        let ends = pod
            .spec
            .as_ref()
            .and_then(|spec| spec.restart_policy.as_deref())
            .is_some_and(|policy| policy != "Always");
        let never_restarts =
            pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()) == Some("Never");
        loop {
            let fate = fates.borrow_and_update().get(&workload).cloned().unwrap_or_default();
            let ended = tokio::select! {
                exit_code = self.meet(&fate, pod, place, ends, never_restarts) => Some(exit_code),
                _ = fates.wait_for(|all| all.get(&workload).cloned().unwrap_or_default() != fate) => None,
            };
            if let Some(exit_code) = ended {
                return self.report(&Stage::Finished { exit_code }, place).await;
            }
        }
    }

    /// Meets one fate; answers the exit code of an application that ended for good.
    async fn meet(&self, fate: &Fate, pod: &Pod, place: &Place, ends: bool, never_restarts: bool) -> i32 {
        match fate {
            Fate::Healthy if ends => {
                self.report(&Stage::Running(Application::Ready), place).await;
                0
            }
            Fate::Healthy => {
                self.network_runs(pod);
                self.run_healthy(pod, place).await;
                std::future::pending().await
            }
            Fate::NeverReady => {
                self.network_runs(pod);
                self.report(&Stage::Running(Application::NotReady), place).await;
                self.event("Warning", "Unhealthy", "Readiness probe failed").await;
                std::future::pending().await
            }
            Fate::ImagePullError => {
                self.report(&Stage::Running(Application::ImagePull), place).await;
                self.event("Warning", "Failed", "Failed to pull image: the image can't be pulled").await;
                std::future::pending().await
            }
            Fate::CrashLoop { exit_code } if ends && never_restarts => *exit_code,
            Fate::CrashLoop { exit_code } => {
                let mut pause = BACK_OFF;
                for restarts in 1.. {
                    self.report(
                        &Stage::Running(Application::CrashLoop { exit_code: *exit_code, restarts }),
                        place,
                    )
                    .await;
                    if restarts == 1 {
                        self.event("Warning", "BackOff", "Back-off restarting failed container").await;
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_BACK_OFF);
                }
                *exit_code
            }
        }
    }

    /// Runs a healthy application: plays its part where the simulator has one for it, else it just is ready.
    async fn run_healthy(&self, pod: &Pod, place: &Place) {
        let Some(play) = Play::of(pod) else {
            return self.report(&Stage::Running(Application::Ready), place).await;
        };
        self.report(&Stage::Running(Application::NotReady), place).await;
        let ready = watch::Sender::new(false);
        let mut readiness = ready.subscribe();
        let announce = async {
            if readiness.wait_for(|ready| *ready).await.is_ok() {
                self.report(&Stage::Running(Application::Ready), place).await;
            }
            std::future::pending::<()>().await;
        };
        let stage = crate::kubernetes::network::Stage {
            context: &self.kubelet.context,
            node: &self.kubelet.client,
            pod,
            address: place.pod_address,
        };
        tokio::select! {
            () = play.perform(&stage, &ready) => {}
            () = announce => {}
        }
    }

    /// A pod network's own pod leaves its configuration on the node.
    fn network_runs(&self, pod: &Pod) {
        let volumes = pod.spec.as_ref().and_then(|spec| spec.volumes.as_deref()).unwrap_or_default();
        let mounts = volumes.iter().filter_map(|volume| volume.host_path.as_ref());
        if mounts.into_iter().any(|path| path.path.trim_end_matches('/') == NETWORK_CONFIGURATION) {
            self.kubelet.network_ready.send_if_modified(|ready| !std::mem::replace(ready, true));
        }
    }

    /// Reports a stage until the API server has taken it or has no such pod any more.
    async fn report(&self, stage: &Stage, place: &Place) {
        let place = Place { now: now(), ..place.clone() };
        loop {
            let pod = self.current();
            let patch = Patch::Strategic(pod_status::patch(&pod, stage, &place));
            let (name, parameters) = (pod.name_any(), PatchParams::default());
            match self.kubelet.ask(self.pods.patch_status(&name, &parameters, &patch)).await {
                Ok(_) => return,
                Err(error) if is_not_found(&error) => return self.until_deleted().await,
                Err(error) => {
                    tracing::debug!(node = self.kubelet.node_name(), pod = pod.name_any(), %error, "report a pod");
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn event(&self, kind: &str, reason: &str, message: &str) {
        let pod = self.current();
        let namespace = pod.namespace().unwrap_or_default();
        let now = now();
        let event = json!({
            "metadata": { "generateName": format!("{}.", pod.name_any()), "namespace": namespace },
            "involvedObject": {
                "apiVersion": "v1", "kind": "Pod", "name": pod.name_any(), "namespace": namespace, "uid": self.uid,
            },
            "type": kind, "reason": reason, "message": message,
            "source": { "component": "kubelet", "host": self.kubelet.node_name() },
            "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        });
        let events: Api<Event> = Api::namespaced(self.kubelet.client.clone(), &namespace);
        let Ok(event) = serde_json::from_value::<Event>(event) else {
            return;
        };
        // An event that is lost changes nothing.
        if let Err(error) = self.kubelet.ask(events.create(&PostParams::default(), &event)).await {
            tracing::debug!(node = self.kubelet.node_name(), %error, "create an event");
        }
    }

    /// Tells the API server that the containers are gone, so that it removes the pod.
    async fn confirm_deletion(&self) {
        let preconditions = Preconditions { uid: Some(self.uid.clone()), resource_version: None };
        let parameters = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(preconditions),
            ..DeleteParams::default()
        };
        loop {
            let name = self.current().name_any();
            match self.kubelet.ask(self.pods.delete(&name, &parameters)).await {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if status.code == 404 || status.code == 409 => return,
                Err(error) => tracing::debug!(pod = name, %error, "confirm a pod's deletion"),
            }
            tokio::time::sleep(RETRY).await;
        }
    }
}

fn start_time(pod: &Pod) -> String {
    let known = pod.status.as_ref().and_then(|status| status.start_time.as_ref());
    known.map_or_else(now, |time| time.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
