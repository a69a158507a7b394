//! Whole runs through the simulated world, as text.

use super::world::{Faults, World};
use super::*;

fn assert_walk(world: &World, expected: &[&str]) {
    assert_eq!(world.trace, expected, "the walk was\n{}", world.trace.join("\n"));
}

#[test]
fn one_and_one_become_ready() {
    let world = World::new(spec(1, 1), Faults::default()).walk();
    assert_walk(
        &world,
        &[
            "Configured: act configure cp-0",
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
            "Configured: wait for machine \"cp-0\" to answer: connection refused",
            "Bootstrapped: act bootstrap etcd on cp-0",
            "Bootstrapped: act remember etcd",
            "NetworkInstalled: act install cilium",
            "NetworkHealthy: wait for cilium to become healthy: pods are starting",
            "Healthy: act remember health",
            "Workers: act configure w-0",
            "CertificatesInstalled: act install cert-manager",
            "CertificatesHealthy: wait for cert-manager to become healthy: pods are starting",
            "Everything: wait for machine \"w-0\" to answer: connection refused",
            "all: done",
        ],
    );
    assert_eq!(world.formed, 1);
}

#[test]
fn conditions_change_in_the_order_of_the_flow_chart() {
    let world = World::new(spec(3, 2), Faults::default()).walk();
    assert_eq!(
        world.conditions,
        [
            "ControlPlaneReady False/Bootstrapping",
            "ControlPlaneReady False/AddonNotHealthy",
            "Bootstrapped True/Healthy",
            "ControlPlaneReady True/Healthy",
            "Ready False/AddonNotHealthy",
            "Ready True/AddonsInstalled",
        ]
    );
}

#[test]
fn three_and_two_become_ready() {
    let world = World::new(spec(3, 2), Faults::default()).walk();
    assert_walk(
        &world,
        &[
            "Configured: act configure cp-0, configure cp-1, configure cp-2",
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
            "Configured: wait for machine \"cp-0\" to answer: connection refused",
            "Bootstrapped: act bootstrap etcd on cp-0",
            "Bootstrapped: act remember etcd",
            "ControlPlanes: wait for machine \"cp-1\" to join etcd",
            "NetworkInstalled: act install cilium",
            "NetworkHealthy: wait for cilium to become healthy: pods are starting",
            "Healthy: act remember health",
            "Workers: act configure w-0, configure w-1",
            "CertificatesInstalled: act install cert-manager",
            "CertificatesHealthy: wait for cert-manager to become healthy: pods are starting",
            "Everything: wait for machine \"w-0\" to answer: connection refused",
            "all: done",
        ],
    );
    assert_eq!(world.formed, 1);
}

#[test]
fn an_install_that_fails_twice_is_tried_a_third_time() {
    let faults = Faults { failing_installs: BTreeMap::from([(uid("cp-0"), 2)]), ..Faults::default() };
    let world = World::new(spec(1, 0), faults).walk();
    let tries = world.acts.iter().filter(|act| matches!(act, Action::Configure(_))).count();
    assert_eq!((tries, world.trace.last().map(String::as_str)), (3, Some("all: done")));
}

#[test]
fn an_install_that_fails_three_times_ends_with_what_the_machine_said() {
    let faults = Faults { failing_installs: BTreeMap::from([(uid("cp-0"), 3)]), ..Faults::default() };
    let world = World::new(spec(1, 1), faults).walk();
    assert_walk(
        &world,
        &[
            "Configured: act configure cp-0",
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
            "Configured: act configure cp-0",
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
            "Configured: act configure cp-0",
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
            "Configured: blocked, machine \"cp-0\" came back in maintenance mode after each of 3 installations; its last error: no image",
        ],
    );
    assert_eq!((world.formed, world.spec.etcd), (0, EtcdRecord::default()));
}

#[test]
fn a_lost_bootstrap_request_is_sent_again_to_the_same_machine() {
    let faults = Faults { lost_bootstraps: 2, ..Faults::default() };
    let world = World::new(spec(3, 0), faults).walk();
    let sent: Vec<_> = world.acts.iter().filter(|act| matches!(act, Action::BootstrapEtcd(_))).collect();
    let expected = Action::BootstrapEtcd(uid("cp-0"));
    assert_eq!(sent, [&expected, &expected, &expected]);
    assert_eq!((world.formed, world.trace.last().map(String::as_str)), (1, Some("all: done")));
}

#[test]
fn a_worker_that_never_answers_is_all_that_is_missing() {
    let faults = Faults { silent: [uid("w-1")].into(), ..Faults::default() };
    let world = World::new(spec(1, 2), faults).walk();
    assert_eq!(world.conditions.last().map(String::as_str), Some("Ready True/AddonsInstalled"));
    assert_eq!(
        world.trace[world.trace.len() - 2..],
        ["Everything: wait for machine \"w-1\" to answer: connection refused", "(nothing moves any more)"]
    );
}

#[test]
fn a_control_plane_that_never_answers_is_waited_for_before_any_worker() {
    let faults = Faults { silent: [uid("cp-2")].into(), ..Faults::default() };
    let world = World::new(spec(3, 2), faults).walk();
    assert_eq!(
        world.trace[world.trace.len() - 2..],
        [
            "ControlPlanes: wait for machine \"cp-2\" to answer: connection refused",
            "(nothing moves any more)"
        ]
    );
    assert!(!world.acts.contains(&Action::Configure(uid("w-0"))), "{:?}", world.acts);
}
