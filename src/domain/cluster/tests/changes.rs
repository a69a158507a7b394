//! Changed configurations: machine by machine, and no further than what is proven.

use super::tables::{judge, row, stage};
use super::*;

fn unmet(condition: &str, why: &str) -> Stage {
    let unmet = BTreeMap::from([(condition.to_owned(), why.to_owned())]);
    Stage::Running(Running { unmet, ..running(EtcdService::Started) })
}

#[test]
fn configured_a_changed_configuration_reaches_one_machine_at_a_time() {
    let base = grown(3, 0);
    let outdated = |seen: &mut Observed, name: &str| {
        let machine = Running { configuration_current: false, ..running(EtcdService::Started) };
        stage(seen, name, Stage::Running(machine));
    };
    let rows = vec![
        row(
            "all three are outdated",
            move |_, seen| ["cp-0", "cp-1", "cp-2"].iter().for_each(|name| outdated(seen, name)),
            "Configured: act reconfigure cp-0",
        ),
        row(
            "the first reboots with it: the second waits",
            move |_, seen| {
                let rebooting = Running { stage: "rebooting".into(), ..running(EtcdService::Started) };
                stage(seen, "cp-0", Stage::Running(rebooting));
                outdated(seen, "cp-1");
            },
            "Configured: wait for machine \"cp-0\" to finish its stage \"rebooting\"",
        ),
        row(
            "the first does not answer: the second waits",
            move |_, seen| {
                stage(seen, "cp-0", unreachable("timed out"));
                outdated(seen, "cp-1");
            },
            "Configured: wait for machine \"cp-0\" to answer: timed out",
        ),
        row(
            "the first is up with it and its node is not Ready yet: the second waits",
            move |spec, seen| {
                spec.members[0].unproven = true;
                stage(seen, "cp-0", unmet("nodeReady", "node \"cp-0\" status is not available yet"));
                outdated(seen, "cp-1");
            },
            "Configured: wait for machine \"cp-0\" to be ready before the next one is changed: nodeReady: node \"cp-0\" status is not available yet",
        ),
        row(
            "a node that is not Ready with a proven configuration holds up nobody: its network comes later",
            move |_, seen| {
                stage(seen, "cp-0", unmet("nodeReady", "cilium is not there"));
                outdated(seen, "cp-1");
            },
            "Configured: act reconfigure cp-1",
        ),
        row(
            "a service of another member is unhealthy",
            move |_, seen| {
                stage(seen, "cp-0", unmet("services", "kubelet not healthy"));
                outdated(seen, "cp-1");
            },
            "Configured: wait for machine \"cp-0\" to be ready before the next one is changed: services: kubelet not healthy",
        ),
        row(
            "another member does not vote in etcd",
            move |_, seen| {
                seen.etcd = etcd_of(&["cp-0", "cp-1"]);
                outdated(seen, "cp-0");
            },
            "Configured: wait for machine \"cp-2\" to join etcd",
        ),
        row(
            "a new member is no change, and goes first",
            move |_, seen| {
                outdated(seen, "cp-0");
                stage(seen, "cp-2", maintenance());
            },
            "Configured: act configure cp-2",
        ),
        row(
            "before etcd was seen there is nothing to lose",
            move |spec, seen| {
                (spec.etcd.seen, spec.bootstrapped) = (false, false);
                stage(seen, "cp-0", unreachable("timed out"));
                outdated(seen, "cp-1");
            },
            "Configured: act reconfigure cp-1",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn workers_a_changed_configuration_goes_on_once_the_last_one_is_proven() {
    let base = grown(1, 3);
    let outdated = |seen: &mut Observed, name: &str| {
        let machine = Running { configuration_current: false, ..running(EtcdService::Empty) };
        stage(seen, name, Stage::Running(machine));
    };
    // Member 0 is the control plane.
    let given = |spec: &mut Spec, worker: usize| spec.members[1 + worker].unproven = true;
    let rows = vec![
        row(
            "all are outdated",
            move |_, seen| ["w-0", "w-1", "w-2"].iter().for_each(|name| outdated(seen, name)),
            "Workers: act reconfigure w-0",
        ),
        row(
            "the first has it, and its node is not Ready with it",
            move |spec, seen| {
                given(spec, 0);
                stage(seen, "w-0", unmet("nodeReady", "container runtime is down"));
                outdated(seen, "w-1");
            },
            "Workers: wait for machine \"w-0\" to be ready before the next one is changed: nodeReady: container runtime is down",
        ),
        row(
            "a control plane has it, and its node is not Ready with it",
            move |spec, seen| {
                spec.members[0].unproven = true;
                stage(seen, "cp-0", unmet("nodeReady", "container runtime is down"));
                outdated(seen, "w-0");
            },
            "Workers: wait for machine \"cp-0\" to be ready before the next one is changed: nodeReady: container runtime is down",
        ),
        row(
            "the first has it, and was never heard of again",
            move |spec, seen| {
                given(spec, 0);
                stage(seen, "w-0", unreachable("timed out"));
                outdated(seen, "w-1");
            },
            "Workers: wait for machine \"w-0\" to answer: timed out",
        ),
        row(
            "one that was dead before holds up nobody",
            move |_, seen| {
                stage(seen, "w-0", unreachable("timed out"));
                outdated(seen, "w-1");
            },
            "Workers: act reconfigure w-1",
        ),
        row(
            "the one that is not proven may itself be changed again",
            move |spec, seen| {
                given(spec, 0);
                let broken = Running { configuration_current: false, ..running(EtcdService::Empty) };
                let unmet = BTreeMap::from([("nodeReady".to_owned(), "down".to_owned())]);
                stage(seen, "w-0", Stage::Running(Running { unmet, ..broken }));
            },
            "Workers: act reconfigure w-0",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}
