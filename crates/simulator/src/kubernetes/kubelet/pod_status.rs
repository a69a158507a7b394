//! A pod's status at each stage of its life, as the kubelet reports it; pure.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::{Container, Pod, PodCondition};
use serde_json::{Value, json};

/// How far a pod has come on its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Something that it needs isn't there; the containers wait for this reason.
    Waiting { reason: &'static str, message: String },
    /// The init container of this index runs; those before it ended.
    Initializing { running: usize },
    /// The application's containers were started.
    Running(Application),
    /// The application's containers ended for good.
    Finished { exit_code: i32 },
}

/// How the application of a pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Application {
    Ready,
    NotReady,
    /// The first container's image can't be had.
    ImagePull,
    /// The first container ends again and again, and waits now to be started anew.
    CrashLoop {
        exit_code: i32,
        restarts: i32,
    },
}

/// Where a pod runs, and since when.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) host_address: IpAddr,
    pub(super) pod_address: Option<IpAddr>,
    /// When the kubelet first saw the pod.
    pub(super) start_time: String,
    /// Now.
    pub(super) now: String,
}

/// The status to patch onto the pod.
pub(super) fn patch(pod: &Pod, stage: &Stage, place: &Place) -> Value {
    let spec = pod.spec.clone().unwrap_or_default();
    let inits = spec.init_containers.unwrap_or_default();
    let mut status = json!({
        "phase": phase(stage),
        "hostIP": place.host_address,
        "hostIPs": [{ "ip": place.host_address }],
        "startTime": place.start_time,
        "conditions": conditions(pod, stage, place),
        "containerStatuses": spec.containers.iter().enumerate().map(|(index, container)| {
            container_status(container, &container_state(index, stage, place))
        }).collect::<Vec<_>>(),
    });
    if !inits.is_empty() {
        status["initContainerStatuses"] = inits
            .iter()
            .enumerate()
            .map(|(index, container)| {
                container_status(container, &init_state(index, container, stage, place))
            })
            .collect();
    }
    if let Some(address) = place.pod_address {
        status["podIP"] = json!(address);
        status["podIPs"] = json!([{ "ip": address }]);
    }
    json!({ "metadata": { "uid": pod.metadata.uid }, "status": status })
}

fn phase(stage: &Stage) -> &'static str {
    match stage {
        Stage::Waiting { .. } | Stage::Initializing { .. } => "Pending",
        Stage::Running(Application::ImagePull) => "Pending",
        Stage::Running(Application::Ready | Application::NotReady | Application::CrashLoop { .. }) => {
            "Running"
        }
        Stage::Finished { exit_code: 0 } => "Succeeded",
        Stage::Finished { .. } => "Failed",
    }
}

fn conditions(pod: &Pod, stage: &Stage, place: &Place) -> Vec<Value> {
    let known = pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let ready = *stage == Stage::Running(Application::Ready);
    let initialized = matches!(stage, Stage::Running(_) | Stage::Finished { .. });
    let reason = match stage {
        Stage::Finished { exit_code: 0 } => "PodCompleted",
        Stage::Finished { .. } => "PodFailed",
        Stage::Waiting { .. } | Stage::Initializing { .. } | Stage::Running(_) => "ContainersNotReady",
    };
    let gates_open = readiness_gates_open(pod, known);
    let with_address = place.pod_address.is_some() && !matches!(stage, Stage::Finished { .. });
    vec![
        condition(known, "PodReadyToStartContainers", with_address, "", place),
        condition(known, "Initialized", initialized, "ContainersNotInitialized", place),
        condition(known, "ContainersReady", ready, reason, place),
        condition(
            known,
            "Ready",
            ready && gates_open,
            if ready { "ReadinessGatesNotReady" } else { reason },
            place,
        ),
    ]
}

fn readiness_gates_open(pod: &Pod, known: &[PodCondition]) -> bool {
    let gates = pod.spec.as_ref().and_then(|spec| spec.readiness_gates.as_deref()).unwrap_or_default();
    gates
        .iter()
        .all(|gate| known.iter().any(|seen| seen.type_ == gate.condition_type && seen.status == "True"))
}

fn condition(known: &[PodCondition], kind: &str, holds: bool, otherwise: &str, place: &Place) -> Value {
    let status = if holds { "True" } else { "False" };
    let kept = known.iter().find(|condition| condition.type_ == kind && condition.status == status);
    let since = kept.and_then(|condition| condition.last_transition_time.as_ref());
    let since = since.map_or_else(|| json!(place.now), |time| json!(time));
    let reason = if holds { Value::Null } else { json!(otherwise) };
    json!({ "type": kind, "status": status, "reason": reason, "lastTransitionTime": since })
}

struct ContainerState {
    state: Value,
    last: Value,
    ready: bool,
    started: bool,
    restarts: i32,
}

impl ContainerState {
    fn waiting(reason: &str, message: &str) -> Self {
        let message = if message.is_empty() { Value::Null } else { json!(message) };
        let state = json!({ "waiting": { "reason": reason, "message": message } });
        Self { state, last: json!({}), ready: false, started: false, restarts: 0 }
    }

    fn running(ready: bool, place: &Place) -> Self {
        let state = json!({ "running": { "startedAt": place.start_time } });
        Self { state, last: json!({}), ready, started: true, restarts: 0 }
    }

    fn terminated(exit_code: i32, ready: bool, place: &Place) -> Self {
        Self { state: terminated(exit_code, place), last: json!({}), ready, started: false, restarts: 0 }
    }
}

fn terminated(exit_code: i32, place: &Place) -> Value {
    let reason = if exit_code == 0 { "Completed" } else { "Error" };
    json!({ "terminated": {
        "exitCode": exit_code, "reason": reason, "startedAt": place.start_time, "finishedAt": place.now,
    }})
}

fn container_state(index: usize, stage: &Stage, place: &Place) -> ContainerState {
    match stage {
        Stage::Waiting { reason, message } => ContainerState::waiting(reason, message),
        Stage::Initializing { .. } => ContainerState::waiting("PodInitializing", ""),
        Stage::Running(Application::Ready) => ContainerState::running(true, place),
        Stage::Running(_) if index > 0 => ContainerState::running(true, place),
        Stage::Running(Application::NotReady) => ContainerState::running(false, place),
        Stage::Running(Application::ImagePull) => {
            ContainerState::waiting("ImagePullBackOff", "Back-off pulling image: the image can't be pulled")
        }
        Stage::Running(Application::CrashLoop { exit_code, restarts }) => ContainerState {
            last: terminated(*exit_code, place),
            restarts: *restarts,
            ..ContainerState::waiting("CrashLoopBackOff", "back-off restarting failed container")
        },
        Stage::Finished { exit_code } => ContainerState::terminated(*exit_code, false, place),
    }
}

fn init_state(index: usize, container: &Container, stage: &Stage, place: &Place) -> ContainerState {
    let sidecar = container.restart_policy.as_deref() == Some("Always");
    match stage {
        Stage::Waiting { .. } => ContainerState::waiting("PodInitializing", ""),
        Stage::Initializing { running } if index > *running => ContainerState::waiting("PodInitializing", ""),
        Stage::Initializing { running } if index == *running => ContainerState::running(false, place),
        Stage::Finished { .. } => ContainerState::terminated(0, true, place),
        Stage::Initializing { .. } | Stage::Running(_) if sidecar => ContainerState::running(true, place),
        Stage::Initializing { .. } | Stage::Running(_) => ContainerState::terminated(0, true, place),
    }
}

fn container_status(container: &Container, state: &ContainerState) -> Value {
    let image = container.image.as_deref().unwrap_or_default();
    json!({
        "name": container.name,
        "image": image,
        "imageID": if state.started { image } else { "" },
        "ready": state.ready,
        "started": state.started,
        "restartCount": state.restarts,
        "state": state.state,
        "lastState": state.last,
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn pod() -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "p", "uid": "u" },
            "spec": {
                "initContainers": [{ "name": "first", "image": "i" }, { "name": "side", "image": "i", "restartPolicy": "Always" }],
                "containers": [{ "name": "app", "image": "i" }, { "name": "more", "image": "i" }],
            },
        }))
        .unwrap()
    }

    fn place() -> Place {
        Place {
            host_address: "127.0.31.21".parse().unwrap(),
            pod_address: Some("10.244.1.2".parse().unwrap()),
            start_time: "2026-01-01T00:00:00Z".to_owned(),
            now: "2026-01-01T00:00:05Z".to_owned(),
        }
    }

    #[test]
    fn init_containers_run_one_after_the_other() {
        let status = patch(&pod(), &Stage::Initializing { running: 1 }, &place())["status"].clone();
        assert_eq!(status["phase"], "Pending");
        assert_eq!(status["initContainerStatuses"][0]["state"]["terminated"]["reason"], "Completed");
        assert!(status["initContainerStatuses"][1]["state"]["running"].is_object());
        assert_eq!(status["containerStatuses"][0]["state"]["waiting"]["reason"], "PodInitializing");
    }

    #[test]
    fn a_ready_pod_has_its_sidecar_running_and_every_container_ready() {
        let status = patch(&pod(), &Stage::Running(Application::Ready), &place())["status"].clone();
        assert!(status["initContainerStatuses"][1]["state"]["running"].is_object());
        assert_eq!(status["containerStatuses"][1]["ready"], true);
        let ready =
            status["conditions"].as_array().unwrap().iter().find(|found| found["type"] == "Ready").unwrap();
        assert_eq!(ready["status"], "True");
    }

    #[test]
    fn a_crash_loop_shows_its_last_exit_code() {
        let stage = Stage::Running(Application::CrashLoop { exit_code: 3, restarts: 2 });
        let status = patch(&pod(), &stage, &place())["status"].clone();
        let container = &status["containerStatuses"][0];
        assert_eq!(container["lastState"]["terminated"]["exitCode"], 3);
        assert_eq!(container["restartCount"], 2);
        assert_eq!(container["ready"], false);
    }

    #[test]
    fn a_condition_that_holds_on_keeps_its_time() {
        let mut pod = pod();
        let then = json!({ "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2025-01-01T00:00:00Z" }] });
        pod.status = Some(serde_json::from_value(then).unwrap());
        let status = patch(&pod, &Stage::Running(Application::Ready), &place())["status"].clone();
        let ready =
            status["conditions"].as_array().unwrap().iter().find(|found| found["type"] == "Ready").unwrap();
        assert_eq!(ready["lastTransitionTime"], "2025-01-01T00:00:00Z");
    }
}
