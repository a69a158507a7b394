//! The conditions of a cluster, as the gates stand. They are shown and never steer.

use super::gates::{Evaluation, Gate, order};
use super::spec::Spec;
use super::step::{Action, Step};
use crate::domain::condition::{Status, Verdict};

/// The condition types of a cluster.
pub const CONTROL_PLANE_READY: &str = "ControlPlaneReady";
/// etcd stands and the cluster was healthy once.
pub const BOOTSTRAPPED: &str = "Bootstrapped";
/// The addons are installed and healthy.
pub const READY: &str = "Ready";

/// What a cluster's conditions are, in the order in which they come about. A condition that the flow has not come to
/// yet is not there. `failure` is the text of the act that failed last, while its gate is not passed.
#[must_use]
pub fn verdicts(spec: &Spec, evaluation: &Evaluation, failure: Option<&str>) -> Vec<Verdict> {
    let control_plane_ready = control_plane_ready(evaluation, failure);
    if !healthy_once(spec, evaluation) {
        return vec![control_plane_ready];
    }
    let bootstrapped = Verdict::new(BOOTSTRAPPED, Status::True, "Healthy", "etcd is bootstrapped");
    vec![bootstrapped, control_plane_ready, ready(spec, evaluation, failure)]
}

/// The health check passed, now or earlier: that it has to be remembered yet is no concern of the user's.
fn healthy_once(spec: &Spec, evaluation: &Evaluation) -> bool {
    spec.bootstrapped || passed(spec, evaluation, Gate::Healthy) || is_to_be_remembered(evaluation)
}

fn is_to_be_remembered(evaluation: &Evaluation) -> bool {
    matches!(&evaluation.step, Step::Act(actions) if actions.contains(&Action::RememberBootstrapped))
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

fn control_plane_ready(evaluation: &Evaluation, failure: Option<&str>) -> Verdict {
    let unready =
        |reason| Verdict::new(CONTROL_PLANE_READY, Status::False, reason, text(evaluation, failure));
    match evaluation.gate {
        Some(Gate::Members) => unready("WaitingForInstances"),
        Some(Gate::NetworkInstalled) if failure.is_some() => unready("CiliumInstallFailed"),
        Some(Gate::EarlyAddons) if failure.is_some() => unready("AddonInstallFailed"),
        Some(Gate::NetworkHealthy | Gate::EarlyAddons) => unready("AddonNotHealthy"),
        Some(Gate::Healthy) if is_to_be_remembered(evaluation) => healthy(),
        Some(
            Gate::Configured
            | Gate::Bootstrapped
            | Gate::ControlPlanes
            | Gate::ApiServer
            | Gate::NetworkInstalled
            | Gate::Healthy,
        ) => unready("Bootstrapping"),
        Some(
            Gate::Workers
            | Gate::CertificatesInstalled
            | Gate::CertificatesHealthy
            | Gate::Addons
            | Gate::Everything,
        )
        | None => healthy(),
    }
}

fn healthy() -> Verdict {
    Verdict::new(CONTROL_PLANE_READY, Status::True, "Healthy", "the control plane is healthy")
}

fn ready(spec: &Spec, evaluation: &Evaluation, failure: Option<&str>) -> Verdict {
    let unready = |reason| Verdict::new(READY, Status::False, reason, text(evaluation, failure));
    if passed(spec, evaluation, Gate::Addons) {
        return Verdict::new(READY, Status::True, "AddonsInstalled", "all addons are installed and healthy");
    }
    match evaluation.gate {
        Some(Gate::CertificatesInstalled | Gate::EarlyAddons | Gate::Addons) if failure.is_some() => {
            unready("AddonInstallFailed")
        }
        Some(Gate::NetworkInstalled) if failure.is_some() => unready("CiliumInstallFailed"),
        _ => unready("AddonNotHealthy"),
    }
}
