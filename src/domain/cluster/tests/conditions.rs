//! What the conditions say at single looks; how they change over a whole run stands in the walks.

use super::*;
use crate::domain::cluster::conditions::verdicts;

/// All conditions as `Type=Status/Reason`, and the message of the first that is not True.
fn said(spec: &Spec, seen: &Observed, failure: Option<&str>) -> (String, String) {
    let verdicts = verdicts(spec, &evaluate(spec, seen), failure);
    let texts: Vec<_> = verdicts
        .iter()
        .map(|verdict| format!("{}={}/{}", verdict.kind, verdict.status, verdict.reason))
        .collect();
    let bad = verdicts.iter().find(|verdict| verdict.status != crate::domain::condition::Status::True);
    (texts.join(" "), bad.map(|verdict| verdict.message.clone()).unwrap_or_default())
}

#[test]
fn a_condition_that_the_flow_has_not_come_to_is_not_there() {
    let (text, message) = said(&spec(1, 0), &Observed::default(), None);
    assert_eq!(text, "ControlPlaneReady=False/Bootstrapping");
    assert_eq!(message, "waiting for machine \"cp-0\" to answer: it was not looked at yet");
}

#[test]
fn a_cluster_without_members_waits_for_instances() {
    let (text, message) = said(&spec(0, 0), &Observed::default(), None);
    assert_eq!(text, "ControlPlaneReady=False/WaitingForInstances");
    assert_eq!(message, "no discovered control-plane machine is claimed: have 0, want 0");
}

#[test]
fn an_addon_that_the_api_server_refuses_is_told_with_its_message() {
    let without = |addon| {
        move |seen: &mut Observed| {
            seen.addons.get_mut(&addon).into_iter().for_each(|found| found.installed = Seen::Absent);
        }
    };
    let at = |spec: &Spec, change: &dyn Fn(&mut Observed)| {
        let mut seen = all_good(spec);
        change(&mut seen);
        said(spec, &seen, Some("failed to apply: spec.x is unknown"))
    };
    let mut new = grown(1, 0);
    new.bootstrapped = false;
    let refused = "failed to apply: spec.x is unknown".to_owned();
    assert_eq!(
        at(&new, &without(Addon::Cilium)),
        ("ControlPlaneReady=False/CiliumInstallFailed".to_owned(), refused.clone())
    );
    let (text, message) = at(&grown(1, 0), &without(Addon::CertManager));
    assert_eq!(
        text,
        "Bootstrapped=True/Healthy ControlPlaneReady=True/Healthy Ready=False/AddonInstallFailed"
    );
    assert_eq!(message, refused);
}

#[test]
fn a_cluster_that_stood_keeps_bootstrapped_whatever_breaks() {
    let spec = grown(3, 1);
    let mut seen = all_good(&spec);
    seen.machines.insert(uid("cp-1"), unreachable("timed out"));
    let (text, message) = said(&spec, &seen, None);
    assert_eq!(
        text,
        "Bootstrapped=True/Healthy ControlPlaneReady=False/Bootstrapping Ready=False/AddonNotHealthy"
    );
    assert_eq!(message, "waiting for machine \"cp-1\" to answer: timed out");
}

#[test]
fn a_missing_worker_leaves_the_cluster_ready() {
    let spec = grown(1, 1);
    let mut seen = all_good(&spec);
    seen.machines.insert(uid("w-0"), unreachable("timed out"));
    let (text, _) = said(&spec, &seen, None);
    assert_eq!(text, "Bootstrapped=True/Healthy ControlPlaneReady=True/Healthy Ready=True/AddonsInstalled");
}
