//! The conditions of a cluster, as the gates stand. They are shown and never steer.

use super::gates::{Evaluation, Gate, order};
use super::spec::Spec;
use super::step::Step;
use crate::domain::condition::{Status, Verdict};

/// The condition types of a cluster.
pub const CONTROL_PLANE_READY: &str = "ControlPlaneReady";
/// etcd stands and the cluster was healthy once.
pub const BOOTSTRAPPED: &str = "Bootstrapped";
/// The addons are installed and healthy.
pub const READY: &str = "Ready";

/// What a cluster's conditions are. A condition that the flow has not come to yet is not there. `failure` is the text
/// of the act that failed last, while its gate is not passed.
#[must_use]
pub fn verdicts(spec: &Spec, evaluation: &Evaluation, failure: Option<&str>) -> Vec<Verdict> {
    let mut verdicts = vec![control_plane_ready(spec, evaluation, failure)];
    let healthy_once = spec.bootstrapped || passed(spec, evaluation, Gate::Healthy);
    if healthy_once {
        verdicts.push(Verdict::new(BOOTSTRAPPED, Status::True, "Healthy", "etcd is bootstrapped"));
    }
    if healthy_once {
        verdicts.push(ready(spec, evaluation, failure));
    }
    verdicts
}

fn passed(spec: &Spec, evaluation: &Evaluation, gate: Gate) -> bool {
    let position = |gate: Gate| order(spec).iter().position(|other| *other == gate);
    evaluation.gate.is_none_or(|open| position(gate) < position(open))
}

fn text(evaluation: &Evaluation, failure: Option<&str>) -> String {
    match (&evaluation.step, failure) {
        (Step::Blocked(blocker), _) => blocker.to_string(),
        (Step::Wait(waiting), None) => format!("waiting for {waiting}"),
        (Step::Act(_) | Step::Wait(_), Some(failure)) => failure.to_owned(),
        (Step::Act(_), None) => "working on it".to_owned(),
        (Step::Done, _) => String::new(),
    }
}

fn control_plane_ready(spec: &Spec, evaluation: &Evaluation, failure: Option<&str>) -> Verdict {
    let unready =
        |reason| Verdict::new(CONTROL_PLANE_READY, Status::False, reason, text(evaluation, failure));
    match evaluation.gate {
        Some(Gate::Members) => unready("WaitingForInstances"),
        Some(Gate::NetworkInstalled) if failure.is_some() => unready("CiliumInstallFailed"),
        Some(Gate::NetworkHealthy) => unready("AddonNotHealthy"),
        Some(
            Gate::Configured
            | Gate::Bootstrapped
            | Gate::ControlPlanes
            | Gate::ApiServer
            | Gate::NetworkInstalled
            | Gate::Healthy,
        ) => unready("Bootstrapping"),
        Some(Gate::Workers | Gate::CertificatesInstalled | Gate::CertificatesHealthy | Gate::Everything)
        | None => {
            debug_assert!(
                spec.bootstrapped || passed(spec, evaluation, Gate::Healthy),
                "workers come after health"
            );
            Verdict::new(CONTROL_PLANE_READY, Status::True, "Healthy", "the control plane is healthy")
        }
    }
}

fn ready(spec: &Spec, evaluation: &Evaluation, failure: Option<&str>) -> Verdict {
    let unready = |reason| Verdict::new(READY, Status::False, reason, text(evaluation, failure));
    if passed(spec, evaluation, Gate::CertificatesHealthy) {
        return Verdict::new(READY, Status::True, "AddonsInstalled", "all addons are installed and healthy");
    }
    match evaluation.gate {
        Some(Gate::CertificatesInstalled) if failure.is_some() => unready("AddonInstallFailed"),
        Some(Gate::NetworkInstalled) if failure.is_some() => unready("CiliumInstallFailed"),
        _ => unready("AddonNotHealthy"),
    }
}
