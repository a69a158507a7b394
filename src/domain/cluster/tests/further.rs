//! The user's own addons: in waves, before or after the health check, and uninstalled when they are taken out.

use std::collections::BTreeSet;

use super::super::spec::FurtherAddon;
use super::*;

fn named(name: &str) -> Addon {
    Addon::named(&label(name))
}

fn further(name: &str, before_health: bool, depends_on: &[&str]) -> FurtherAddon {
    let depends_on: BTreeSet<_> = depends_on.iter().map(|name| named(name)).collect();
    FurtherAddon { addon: named(name), before_health, depends_on }
}

/// What the gates say of a cluster in which all is good but for the addons: each is absent, unhealthy or healthy.
fn says(mut spec: Spec, addons: Vec<FurtherAddon>, seen_as: &[(&str, &str)]) -> String {
    let mut seen = all_good(&spec);
    for (name, state) in seen_as {
        let installed = if *state == "absent" { Seen::Absent } else { Seen::Present(()) };
        let unhealthy = (*state == "unhealthy").then(|| "its pods are starting".to_owned());
        seen.addons.insert(named(name), AddonSeen { installed, unhealthy });
    }
    spec.addons = addons;
    decided(&spec, &seen)
}

#[test]
fn each_comes_once_all_that_it_depends_on_is_healthy_and_a_wave_together() {
    let addons = || {
        vec![
            further("a", false, &["cilium"]),
            further("b", false, &["cert-manager"]),
            further("c", false, &["a", "b"]),
        ]
    };
    let (none, a, both) = (
        [("a", "absent"), ("b", "absent"), ("c", "absent")],
        [("a", "healthy"), ("b", "unhealthy"), ("c", "absent")],
        [("a", "healthy"), ("b", "healthy"), ("c", "absent")],
    );
    assert_eq!(says(grown(1, 1), addons(), &none), "Addons: act install a, install b");
    assert_eq!(
        says(grown(1, 1), addons(), &a),
        "Addons: wait for b to become healthy: its pods are starting"
    );
    assert_eq!(says(grown(1, 1), addons(), &both), "Addons: act install c");
    let all = [("a", "healthy"), ("b", "healthy"), ("c", "healthy")];
    assert_eq!(says(grown(1, 1), addons(), &all), "all: done");
}

#[test]
fn one_that_the_health_rests_on_comes_right_after_the_network() {
    let mut new = grown(1, 1);
    new.bootstrapped = false;
    let addons = || vec![further("storage", true, &[]), further("app", false, &["storage"])];
    let states = [("storage", "absent"), ("app", "absent")];
    assert_eq!(says(new.clone(), addons(), &states), "EarlyAddons: act install storage");
    let states = [("storage", "unhealthy"), ("app", "absent")];
    assert_eq!(
        says(new.clone(), addons(), &states),
        "EarlyAddons: wait for storage to become healthy: its pods are starting"
    );
    let states = [("storage", "healthy"), ("app", "absent")];
    assert_eq!(says(new, addons(), &states), "Healthy: act remember health");
}

#[test]
fn what_was_taken_out_goes_one_after_the_other_before_anything_new_comes() {
    let mut spec = grown(1, 0);
    spec.leaving = vec![named("b"), named("a")];
    assert_eq!(says(spec, vec![further("c", true, &[])], &[("c", "absent")]), "EarlyAddons: act remove b");
}

#[test]
fn a_cluster_is_ready_only_with_all_its_addons() {
    use super::super::conditions::{READY, verdicts};
    let mut spec = grown(1, 1);
    let mut seen = all_good(&spec);
    spec.addons = vec![further("a", false, &[])];
    seen.addons.insert(named("a"), AddonSeen { installed: Seen::Absent, unhealthy: None });
    let evaluation = evaluate(&spec, &seen);
    let ready = |failure: Option<&str>| {
        let all = verdicts(&spec, &evaluation, failure);
        let ready = all.into_iter().find(|verdict| verdict.kind == READY).expect("it says so");
        format!("{}/{}", ready.status, ready.reason)
    };
    assert_eq!(ready(None), "False/AddonNotHealthy");
    assert_eq!(ready(Some("failed to apply")), "False/AddonInstallFailed");
}
