//! One pod, read into the facts on which `domain::addon` judges.

use k8s_openapi::api::core::v1 as core;

use crate::domain::addon::{Container, ContainerState, Exit, Pod};

/// Reads a pod; `current` tells whether it was made from its owner's newest template.
pub(super) fn read(pod: &core::Pod, current: Option<bool>) -> Pod {
    let spec = pod.spec.as_ref();
    let status = pod.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    Pod {
        name: pod.metadata.name.clone().unwrap_or_default(),
        node: spec.and_then(|spec| spec.node_name.clone()),
        phase: status.and_then(|status| status.phase.clone()).unwrap_or_else(|| "Unknown".to_owned()),
        ready: conditions.iter().any(|condition| condition.type_ == "Ready" && condition.status == "True"),
        leaving: pod.metadata.deletion_timestamp.is_some(),
        current,
        trouble: trouble(conditions),
        containers: containers(spec, status),
    }
}

/// The first condition that is not true and has words of its own. `Ready` and `ContainersReady` only say again what
/// the containers say.
fn trouble(conditions: &[core::PodCondition]) -> Option<String> {
    let untrue = conditions.iter().filter(|condition| condition.status != "True");
    let telling = untrue
        .filter(|condition| !matches!(condition.type_.as_str(), "Ready" | "ContainersReady" | "Initialized"));
    let condition = telling.into_iter().find(|condition| condition.message.is_some())?;
    let parts = [Some(&condition.type_), condition.reason.as_ref(), condition.message.as_ref()];
    Some(parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(": "))
}

fn containers(spec: Option<&core::PodSpec>, status: Option<&core::PodStatus>) -> Vec<Container> {
    let Some(spec) = spec else { return Vec::new() };
    let reported = |statuses: Option<&Vec<core::ContainerStatus>>, name: &str| {
        statuses.into_iter().flatten().find(|status| status.name == name).cloned()
    };
    let init = spec.init_containers.iter().flatten().map(|container| {
        let statuses = status.and_then(|status| status.init_container_statuses.as_ref());
        // A restartable init container is a sidecar: it stays, and is judged like the others.
        let sidecar = container.restart_policy.as_deref() == Some("Always");
        read_container(container, !sidecar, reported(statuses, &container.name))
    });
    let others = spec.containers.iter().map(|container| {
        let statuses = status.and_then(|status| status.container_statuses.as_ref());
        read_container(container, false, reported(statuses, &container.name))
    });
    init.chain(others).collect()
}

fn read_container(
    container: &core::Container,
    init: bool,
    status: Option<core::ContainerStatus>,
) -> Container {
    let ready = status.as_ref().is_some_and(|status| status.ready);
    let (state, last) = match status {
        Some(status) => (status.state.unwrap_or_default(), status.last_state.unwrap_or_default()),
        None => Default::default(),
    };
    Container {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        init,
        ready,
        state: read_state(state),
        last_exit: last.terminated.map(exit),
    }
}

fn read_state(state: core::ContainerState) -> ContainerState {
    if let Some(ended) = state.terminated {
        ContainerState::Ended(exit(ended))
    } else if state.running.is_some() {
        ContainerState::Running
    } else if let Some(waiting) = state.waiting {
        ContainerState::Waiting {
            reason: waiting.reason.unwrap_or_default(),
            message: waiting.message.unwrap_or_default(),
        }
    } else {
        ContainerState::Unreported
    }
}

fn exit(ended: core::ContainerStateTerminated) -> Exit {
    Exit {
        code: ended.exit_code,
        reason: ended.reason.unwrap_or_default(),
        message: ended.message.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::{Value, json};

    use super::*;

    fn pod(spec: Value, status: Value) -> Pod {
        let json = json!({"metadata": {"name": "a"}, "spec": spec, "status": status});
        read(&serde_json::from_value(json).unwrap(), None)
    }

    #[test]
    fn an_unschedulable_pod_says_why() {
        let pod = pod(
            json!({"containers": [{"name": "c", "image": "i"}]}),
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                "reason": "Unschedulable", "message": "0/1 nodes are available"}]}),
        );
        assert_eq!(pod.trouble.as_deref(), Some("PodScheduled: Unschedulable: 0/1 nodes are available"));
        assert_eq!(pod.containers[0].state, ContainerState::Unreported);
    }

    #[test]
    fn states_and_the_last_exit_come_with_the_image_that_was_asked_for() {
        let pod = pod(
            json!({"containers": [{"name": "c", "image": "wanted"}]}),
            json!({"phase": "Running", "containerStatuses": [{"name": "c", "image": "resolved", "imageID": "",
                "ready": false, "restartCount": 3,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}),
        );
        let container = &pod.containers[0];
        assert_eq!(container.image, "wanted");
        assert_eq!(
            container.last_exit.as_ref().map(|exit| (exit.code, exit.reason.as_str())),
            Some((137, "OOMKilled"))
        );
    }

    #[test]
    fn a_sidecar_is_no_init_container() {
        let pod = pod(
            json!({"initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}], "containers": [{"name": "c"}]}),
            json!({}),
        );
        assert_eq!(
            pod.containers.iter().map(|container| container.init).collect::<Vec<_>>(),
            [false, true, false]
        );
    }
}
