//! Whether an addon's workloads do their work, and if not, the one thing that a person should look at.
//!
//! A workload is judged by what its own controller reports of the newest template: pods that are left over from
//! before, or belong to someone else, decide nothing. Pods only explain. Texts complete "waiting for …" and hold no
//! counts or times, since they become condition messages, which must not change by themselves.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::workload::{Container, ContainerState, Exit, Pod, Progress, Workload, WorkloadKind};

/// The verdict on an addon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddonHealth {
    /// All workloads run as they should.
    Healthy,
    /// Not yet; the text completes "waiting for …".
    Waiting(String),
}

impl AddonHealth {
    /// The verdict on all workloads of an addon: the first one that is not healthy, in the order given.
    #[must_use]
    pub fn of(workloads: &[Workload]) -> Self {
        let first = workloads.iter().map(Self::of_workload).find(|health| *health != Self::Healthy);
        first.unwrap_or(Self::Healthy)
    }

    /// The verdict on one workload.
    #[must_use]
    pub fn of_workload(workload: &Workload) -> Self {
        let Some(progress) = &workload.progress else {
            return Self::Waiting(format!("{} to exist", workload.name));
        };
        let Some(lacking) = lacking(workload.name.kind, progress) else { return Self::Healthy };
        let mut text = format!("{} {lacking}", workload.name);
        let reason = progress.refusal.clone().or_else(|| explain(&workload.pods));
        if let Some(reason) = reason {
            let _ = write!(text, ": {reason}");
        }
        Self::Waiting(text)
    }

    /// The verdict on a workload of which one pod is enough, as for a controller whose replicas only stand by.
    #[must_use]
    pub fn of_available(workload: &Workload) -> Self {
        match &workload.progress {
            Some(progress) if progress.observed && progress.available > 0 => Self::Healthy,
            Some(_) | None => Self::of_workload(workload),
        }
    }

    /// The verdict on a DaemonSet on certain nodes only, as for agents without which a node has no network.
    ///
    /// Other nodes decide nothing: a worker that is off must not hold up the control plane.
    #[must_use]
    pub fn of_agents(workload: &Workload, nodes: &BTreeSet<String>) -> Self {
        if workload.progress.is_none() {
            return Self::Waiting(format!("{} to exist", workload.name));
        }
        let lacking = nodes.iter().find(|node| !workload.pods.iter().any(|pod| serves(pod, node)));
        let Some(node) = lacking else { return Self::Healthy };
        let mut text = format!("{} to be ready on node {node}", workload.name);
        let on_node: Vec<Pod> =
            workload.pods.iter().filter(|pod| pod.node.as_deref() == Some(node)).cloned().collect();
        let refusal = workload.progress.as_ref().and_then(|progress| progress.refusal.clone());
        let reason = explain(&on_node).or(refusal).unwrap_or_else(|| "no pod of it is there yet".to_owned());
        let _ = write!(text, ": {reason}");
        Self::Waiting(text)
    }
}

fn serves(pod: &Pod, node: &str) -> bool {
    pod.node.as_deref() == Some(node) && pod.ready && !pod.leaving && pod.current != Some(false)
}

/// What is still to happen, or nothing. The rules are those of `kubectl rollout status`
/// (<https://github.com/kubernetes/kubectl/blob/master/pkg/polymorphichelpers/rollout_status.go>).
fn lacking(kind: WorkloadKind, progress: &Progress) -> Option<&'static str> {
    if !progress.observed {
        return Some("to be taken up by its controller");
    }
    let complete = progress.available >= progress.desired;
    match kind {
        WorkloadKind::Job => (!complete).then_some("to complete"),
        WorkloadKind::DaemonSet | WorkloadKind::Deployment | WorkloadKind::StatefulSet => {
            if progress.updated < progress.desired || progress.outdated > 0 {
                Some("to be updated")
            } else {
                (!complete).then_some("to be ready")
            }
        }
    }
}

/// The pod that a person should look at first, and why it is not ready.
fn explain(pods: &[Pod]) -> Option<String> {
    let unready = pods.iter().filter(|pod| !pod.leaving && !pod.ready && pod.current != Some(false));
    let worst =
        unready.filter(|pod| pod.phase != "Succeeded").min_by_key(|pod| (severity(pod), pod.name.clone()))?;
    let mut text = format!("pod {}", worst.name);
    if let Some(node) = &worst.node {
        let _ = write!(text, " on node {node}");
    }
    let reason = culprit(worst).map(describe_container).or_else(|| worst.trouble.clone());
    let _ = write!(text, ": {}", reason.unwrap_or_else(|| format!("it is {}", worst.phase)));
    Some(text)
}

/// Low is bad: what does not heal by itself comes first.
fn severity(pod: &Pod) -> u8 {
    match culprit(pod).map(|container| &container.state) {
        Some(ContainerState::Ended(_)) => 0,
        Some(ContainerState::Waiting { reason, .. })
            if reason != "PodInitializing" && reason != "ContainerCreating" =>
        {
            1
        }
        None if pod.trouble.is_some() => 2,
        Some(ContainerState::Waiting { .. } | ContainerState::Running | ContainerState::Unreported) => 3,
        None => 4,
    }
}

/// The first container that keeps the pod from being ready: init containers run first and one after the other.
fn culprit(pod: &Pod) -> Option<&Container> {
    let blocks = |container: &&Container| match &container.state {
        ContainerState::Ended(exit) => !(container.init && exit.code == 0),
        ContainerState::Waiting { .. } => true,
        ContainerState::Running => !container.ready,
        ContainerState::Unreported => false,
    };
    // While init containers run, the others wait for them: that explains nothing.
    let init = pod.containers.iter().filter(|container| container.init).find(blocks);
    init.or_else(|| pod.containers.iter().filter(|container| !container.init).find(blocks))
}

fn describe_container(container: &Container) -> String {
    let role = if container.init { "init container" } else { "container" };
    let mut text = format!("{role} {} ({}) ", container.name, container.image);
    match &container.state {
        // Its message counts seconds; how the container ended says more.
        ContainerState::Waiting { reason, .. } if reason == "CrashLoopBackOff" => {
            text.push_str(&joined("waits", &[reason]));
        }
        ContainerState::Waiting { reason, message } => text.push_str(&joined("waits", &[reason, message])),
        ContainerState::Running if container.init => text.push_str("runs"),
        ContainerState::Running => text.push_str("runs and is not ready"),
        ContainerState::Ended(exit) => text.push_str(&describe_exit("exited with", exit)),
        ContainerState::Unreported => text.push_str("is not reported yet"),
    }
    if let Some(exit) = &container.last_exit {
        let _ = write!(text, "; {}", describe_exit("its last exit was", exit));
    }
    text
}

fn describe_exit(verb: &str, exit: &Exit) -> String {
    joined(&format!("{verb} {}", exit.code), &[&exit.reason, &exit.message])
}

fn joined(start: &str, parts: &[&str]) -> String {
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.fold(start.to_owned(), |text, part| format!("{text}: {part}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::addon::workload::WorkloadName;

    fn workload(kind: WorkloadKind, progress: Progress, pods: Vec<Pod>) -> Workload {
        let name = WorkloadName { kind, namespace: "kube-system".to_owned(), name: "cilium".to_owned() };
        Workload { name, progress: Some(progress), pods }
    }

    fn progress(desired: u32, updated: u32, outdated: u32, available: u32) -> Progress {
        Progress { observed: true, desired, updated, outdated, available, refusal: None }
    }

    fn pod(name: &str, node: &str, state: ContainerState) -> Pod {
        let ready = state == ContainerState::Running;
        let container = Container {
            name: "agent".to_owned(),
            image: "example.org/agent:1".to_owned(),
            init: false,
            ready,
            state,
            last_exit: None,
        };
        Pod {
            name: name.to_owned(),
            node: Some(node.to_owned()),
            phase: "Running".to_owned(),
            ready,
            containers: vec![container],
            ..Pod::default()
        }
    }

    fn waiting(reason: &str) -> ContainerState {
        ContainerState::Waiting { reason: reason.to_owned(), message: "no such image".to_owned() }
    }

    fn text(health: AddonHealth) -> String {
        match health {
            AddonHealth::Healthy => "healthy".to_owned(),
            AddonHealth::Waiting(text) => text,
        }
    }

    #[test]
    fn a_workload_whose_newest_pods_are_available_is_healthy() {
        for kind in [WorkloadKind::DaemonSet, WorkloadKind::Deployment, WorkloadKind::StatefulSet] {
            let health = AddonHealth::of_workload(&workload(kind, progress(2, 2, 0, 2), Vec::new()));
            assert_eq!(health, AddonHealth::Healthy, "{kind:?}");
        }
    }

    #[test]
    fn old_pods_that_still_serve_do_not_make_an_update_complete() {
        let updating = workload(WorkloadKind::Deployment, progress(1, 1, 1, 1), Vec::new());
        assert_eq!(text(AddonHealth::of_workload(&updating)), "Deployment kube-system/cilium to be updated");
    }

    #[test]
    fn numbers_of_an_older_specification_decide_nothing() {
        let stale = Progress { observed: false, ..progress(1, 1, 0, 1) };
        let health = AddonHealth::of_workload(&workload(WorkloadKind::Deployment, stale, Vec::new()));
        assert_eq!(text(health), "Deployment kube-system/cilium to be taken up by its controller");
    }

    #[test]
    fn what_does_not_exist_is_waited_for() {
        let mut missing = workload(WorkloadKind::DaemonSet, Progress::default(), Vec::new());
        missing.progress = None;
        assert_eq!(text(AddonHealth::of(&[missing])), "DaemonSet kube-system/cilium to exist");
    }

    #[test]
    fn the_reason_names_pod_node_container_image_state_and_last_exit() {
        let mut crashing = pod("cilium-x", "cp-0", waiting("CrashLoopBackOff"));
        crashing.containers[0].last_exit =
            Some(Exit { code: 1, reason: "Error".to_owned(), message: "no route".to_owned() });
        let health = AddonHealth::of_workload(&workload(
            WorkloadKind::DaemonSet,
            progress(1, 1, 0, 0),
            vec![crashing],
        ));
        assert_eq!(
            text(health),
            "DaemonSet kube-system/cilium to be ready: pod cilium-x on node cp-0: container agent \
             (example.org/agent:1) waits: CrashLoopBackOff; its last exit was 1: Error: no route"
        );
    }

    #[test]
    fn the_worst_pod_explains_and_left_over_pods_do_not() {
        let creating = pod("a", "cp-0", waiting("ContainerCreating"));
        let pulling = pod("b", "cp-1", waiting("ImagePullBackOff"));
        let mut old = pod("0", "cp-2", waiting("CrashLoopBackOff"));
        old.current = Some(false);
        let pods = vec![creating, pulling, old];
        let health =
            text(AddonHealth::of_workload(&workload(WorkloadKind::DaemonSet, progress(2, 2, 0, 0), pods)));
        assert!(health.contains("pod b on node cp-1"), "{health}");
    }

    #[test]
    fn an_init_container_explains_before_the_containers_that_wait_for_it() {
        let mut starting = pod("a", "cp-0", waiting("PodInitializing"));
        let init = Container {
            name: "config".to_owned(),
            image: "example.org/init:1".to_owned(),
            init: true,
            ready: false,
            state: ContainerState::Ended(Exit {
                code: 2,
                reason: "Error".to_owned(),
                message: String::new(),
            }),
            last_exit: None,
        };
        starting.containers.insert(0, init);
        let health = text(AddonHealth::of_workload(&workload(
            WorkloadKind::DaemonSet,
            progress(1, 1, 0, 0),
            vec![starting],
        )));
        assert!(
            health.ends_with("init container config (example.org/init:1) exited with 2: Error"),
            "{health}"
        );
    }

    #[test]
    fn agents_are_asked_for_on_the_named_nodes_only() {
        let pods =
            vec![pod("a", "cp-0", ContainerState::Running), pod("b", "w-0", waiting("ImagePullBackOff"))];
        let agents = workload(WorkloadKind::DaemonSet, progress(2, 2, 0, 1), pods);
        let control_plane = BTreeSet::from(["cp-0".to_owned()]);
        assert_eq!(AddonHealth::of_agents(&agents, &control_plane), AddonHealth::Healthy);
        let all = BTreeSet::from(["cp-0".to_owned(), "w-0".to_owned()]);
        let health = text(AddonHealth::of_agents(&agents, &all));
        assert!(
            health.starts_with("DaemonSet kube-system/cilium to be ready on node w-0: pod b"),
            "{health}"
        );
    }

    #[test]
    fn a_node_without_a_pod_is_not_served() {
        let agents = workload(WorkloadKind::DaemonSet, progress(0, 0, 0, 0), Vec::new());
        let nodes = BTreeSet::from(["cp-0".to_owned()]);
        assert_eq!(
            text(AddonHealth::of_agents(&agents, &nodes)),
            "DaemonSet kube-system/cilium to be ready on node cp-0: no pod of it is there yet"
        );
    }

    #[test]
    fn a_job_is_done_when_enough_pods_succeeded_and_tells_why_it_failed() {
        assert_eq!(
            AddonHealth::of_workload(&workload(WorkloadKind::Job, progress(1, 0, 0, 1), Vec::new())),
            AddonHealth::Healthy
        );
        let failed = Progress { refusal: Some("BackoffLimitExceeded".to_owned()), ..progress(1, 0, 0, 0) };
        assert_eq!(
            text(AddonHealth::of_workload(&workload(WorkloadKind::Job, failed, Vec::new()))),
            "Job kube-system/cilium to complete: BackoffLimitExceeded"
        );
    }
}
