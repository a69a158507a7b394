//! The control plane's static pods: what the node runs by itself, shown to the API server as mirror pods with
//! Talos' labels.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use super::addresses::shadow;
use super::node_object::image_version;
use super::pod_status::{self, Application, Place, Stage};
use super::{Kubelet, RETRY, already_exists, is_not_found};
use crate::kubernetes::{Component, Components};

/// Between looks at mirror pods when nothing changes.
const LOOK: Duration = Duration::from_secs(10);

/// Keeps the mirror pods as the components are.
pub(super) async fn run(kubelet: &Kubelet, node: &Node) {
    if !kubelet.context.is_control_plane() {
        return;
    }
    let pods: Api<Pod> = Api::namespaced(kubelet.client.clone(), "kube-system");
    let mut components = kubelet.context.components.subscribe();
    let mut times: Vec<(&'static str, String)> = Vec::new();
    loop {
        let now = *components.borrow_and_update();
        let mut pause = LOOK;
        for (name, state, image) in parts(kubelet, now) {
            let started = start_of(&mut times, name, state);
            if let Err(error) = show(kubelet, node, &pods, name, image, state, &started).await {
                tracing::debug!(node = kubelet.node_name(), component = name, %error, "show a static pod");
                pause = RETRY;
            }
        }
        tokio::select! {
            _ = components.changed() => {}
            () = kubelet.mirror_pod_deleted.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

fn parts(kubelet: &Kubelet, components: Components) -> Vec<(&'static str, Component, &str)> {
    let cluster = &kubelet.context.configuration().cluster;
    let mut parts = vec![("kube-apiserver", components.api_server, cluster.api_server.image.as_str())];
    for (name, state, part) in [
        ("kube-controller-manager", components.controller_manager, &cluster.controller_manager),
        ("kube-scheduler", components.scheduler, &cluster.scheduler),
    ] {
        if !part.disabled {
            parts.push((name, state, part.image.as_str()));
        }
    }
    parts
}

/// When a component was started, by the first look that saw it.
fn start_of(times: &mut Vec<(&'static str, String)>, name: &'static str, state: Component) -> String {
    if state == Component::Absent {
        times.retain(|(known, _)| *known != name);
        return now();
    }
    if let Some((_, time)) = times.iter().find(|(known, _)| *known == name) {
        return time.clone();
    }
    let time = now();
    times.push((name, time.clone()));
    time
}

async fn show(
    kubelet: &Kubelet,
    node: &Node,
    pods: &Api<Pod>,
    component: &'static str,
    image: &str,
    state: Component,
    start_time: &str,
) -> Result<(), kube::Error> {
    let wanted: Pod =
        serde_json::from_value(mirror_pod(node, component, image)).map_err(kube::Error::SerdeError)?;
    let name = wanted.name_any();
    // A node may list its own pods; asking for one by a name that isn't there is refused, not "not found".
    let own =
        ListParams::default().fields(&format!("spec.nodeName={},metadata.name={name}", kubelet.node_name()));
    let found = kubelet.ask(pods.list(&own)).await?.items.into_iter().next();
    let pod = match found {
        Some(pod) if pod.annotations().get(HASH) == wanted.annotations().get(HASH) => pod,
        Some(_) => {
            // Another image: the old picture goes, and the next look shows the new one.
            let gone = kubelet.ask(pods.delete(&name, &DeleteParams::default().grace_period(0))).await;
            return match gone {
                Ok(_) => {
                    kubelet.mirror_pod_deleted.notify_one();
                    Ok(())
                }
                Err(error) if is_not_found(&error) => Ok(()),
                Err(error) => Err(error),
            };
        }
        None => match kubelet.ask(pods.create(&PostParams::default(), &wanted)).await {
            Ok(pod) => pod,
            Err(error) if already_exists(&error) => kubelet.ask(pods.get(&name)).await?,
            Err(error) => return Err(error),
        },
    };
    let address = kubelet.context.address;
    let place = Place {
        host_address: address,
        pod_address: Some(shadow(address)),
        start_time: start_time.to_owned(),
        now: now(),
    };
    let stage = Stage::Running(match state {
        Component::Ready => Application::Ready,
        Component::Absent | Component::Starting => Application::NotReady,
    });
    let patch = pod_status::patch(&pod, &stage, &place);
    if is_shown(&pod, state) {
        return Ok(());
    }
    kubelet.ask(pods.patch_status(&name, &PatchParams::default(), &Patch::Strategic(patch))).await.map(drop)
}

fn is_shown(pod: &Pod, state: Component) -> bool {
    let status = pod.status.as_ref();
    let running = status.and_then(|status| status.phase.as_deref()) == Some("Running");
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let ready = conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    running && ready == (state == Component::Ready)
}

const HASH: &str = "kubernetes.io/config.hash";

fn mirror_pod(node: &Node, component: &str, image: &str) -> Value {
    let (node_name, uid) = (node.name_any(), node.uid());
    let version = image_version(image).trim_start_matches('v');
    json!({
        "metadata": {
            "name": format!("{component}-{node_name}"),
            "namespace": "kube-system",
            "labels": {
                "tier": "control-plane",
                "k8s-app": component,
                "component": component,
                "app.kubernetes.io/name": component,
                "app.kubernetes.io/version": version,
                "app.kubernetes.io/component": "control-plane",
                "app.kubernetes.io/managed-by": "Talos",
            },
            "annotations": {
                "kubernetes.io/config.mirror": image,
                HASH: image,
                "kubernetes.io/config.source": "file",
                "talos.dev/config-version": "1",
            },
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Node", "name": node_name, "uid": uid, "controller": true,
            }],
        },
        "spec": {
            "nodeName": node_name,
            "hostNetwork": true,
            "priorityClassName": "system-cluster-critical",
            "tolerations": [{ "operator": "Exists", "effect": "NoExecute" }],
            "containers": [{
                "name": component,
                "image": image,
                "command": [format!("/usr/local/bin/{component}")],
                "resources": { "requests": { "cpu": "10m", "memory": "64Mi" } },
            }],
        },
    })
}

fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
