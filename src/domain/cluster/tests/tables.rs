//! One look, one decision: a table a gate.

use super::*;

/// A scenario, what is asked of the look, and how its decision starts.
pub(super) type Row = (&'static str, Box<dyn Fn(&mut Spec, &mut Observed)>, &'static str);

pub(super) fn row(
    scenario: &'static str,
    change: impl Fn(&mut Spec, &mut Observed) + 'static,
    expected: &'static str,
) -> Row {
    (scenario, Box::new(change), expected)
}

/// Judges every row against a copy of one starting point.
pub(super) fn judge(base: &Spec, look: &Observed, rows: Vec<Row>) {
    for (scenario, change, expected) in rows {
        let (mut spec, mut seen) = (base.clone(), look.clone());
        change(&mut spec, &mut seen);
        let line = decided(&spec, &seen);
        assert_eq!(short(&line), expected, "{scenario}");
    }
}

pub(super) fn stage(seen: &mut Observed, name: &str, stage: Stage) {
    seen.machines.insert(uid(name), stage);
}

/// A new control plane of three whose machines are all in maintenance mode.
fn fresh() -> (Spec, Observed) {
    let spec = spec(3, 0);
    let machines = spec.members.iter().map(|member| (member.uid.clone(), maintenance())).collect();
    (spec, Observed { machines, ..Observed::default() })
}

/// A new control plane of three whose machines all took their configuration and wait for a bootstrap.
fn configured() -> (Spec, Observed) {
    let (mut spec, mut seen) = fresh();
    spec.members.iter_mut().for_each(|member| member.installs = 1);
    for name in ["cp-0", "cp-1", "cp-2"] {
        stage(&mut seen, name, up(EtcdService::Empty));
    }
    seen.etcd = unknown("no control plane runs etcd");
    (spec, seen)
}

#[test]
fn members_a_cluster_without_a_control_plane_fails_at_once() {
    let base = spec(0, 2);
    let rows = vec![
        row(
            "workers alone are no cluster",
            |spec, _| spec.wanted_control_planes = 3,
            "Members: blocked, no discovered control-plane machine is claimed: have 0, want 3",
        ),
        row(
            "nor are they after it stood",
            |spec, _| spec.bootstrapped = true,
            "Members: blocked, no discovered control-plane machine is claimed: have 0, want 0",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn configured_only_machines_in_maintenance_get_a_configuration() {
    let (base, look) = fresh();
    let rows = vec![
        row(
            "all in maintenance mode",
            |_, _| {},
            "Configured: act configure cp-0, configure cp-1, configure cp-2",
        ),
        row(
            "one is silent: the others go on",
            |_, seen| stage(seen, "cp-1", unreachable("timed out")),
            "Configured: act configure cp-0, configure cp-2",
        ),
        row(
            "one was not looked at",
            |_, seen| drop(seen.machines.remove(&uid("cp-2"))),
            "Configured: act configure cp-0, configure cp-1",
        ),
        row(
            "a second try after a failed installation",
            |spec, _| spec.members[0].tries = 2,
            "Configured: act configure cp-0, configure cp-1, configure cp-2",
        ),
        row(
            "three failed installations, and what the machine said of the last",
            |spec, seen| {
                spec.members[1].tries = 3;
                stage(seen, "cp-1", Stage::Maintenance { install_error: Some("no space left".into()) });
            },
            "Configured: blocked, machine \"cp-1\" came back in maintenance mode after each of 3 installations; its last error: no space left",
        ),
        row(
            "another machine at the address",
            |_, seen| stage(seen, "cp-1", Stage::OtherMachine { found: "UUID 2".into() }),
            "Configured: blocked, another machine answers at the addresses of \"cp-1\": UUID 2",
        ),
        row(
            "somebody else's machine",
            |_, seen| stage(seen, "cp-1", Stage::Foreign),
            "Configured: blocked, machine \"cp-1\" is configured by somebody else",
        ),
    ];
    judge(&base, &look, rows);
}

#[test]
fn configured_the_bootstrap_member_is_waited_for_in_its_own_words() {
    let (base, look) = configured();
    let first = |change: fn(&mut Running)| {
        move |_: &mut Spec, seen: &mut Observed| {
            let mut machine = running(EtcdService::Empty);
            change(&mut machine);
            stage(seen, "cp-0", Stage::Running(machine));
        }
    };
    let rows = vec![
        row(
            "installing",
            |_, seen| stage(seen, "cp-0", Stage::Installing { why: None }),
            "Configured: wait for machine \"cp-0\" to come up with its configuration",
        ),
        row(
            "silent",
            |_, seen| stage(seen, "cp-0", unreachable("connection refused")),
            "Configured: wait for machine \"cp-0\" to answer: connection refused",
        ),
        row(
            "silent for long",
            |_, seen| stage(seen, "cp-0", Stage::Unreachable { why: "timed out".into(), long: true }),
            "Configured: wait for machine \"cp-0\" to answer, for long now: timed out",
        ),
        row(
            "clock off",
            |_, seen| stage(seen, "cp-0", Stage::ClockOff { why: "certificate expired".into() }),
            "Configured: wait for the clock of machine \"cp-0\" to agree with the one here: certificate expired",
        ),
        row(
            "time not in sync",
            first(|machine| machine.time_in_sync = Some(false)),
            "Configured: wait for the time of machine \"cp-0\" to be in sync: check that it reaches its time servers (udp/123)",
        ),
        row(
            "still rebooting",
            first(|machine| machine.stage = "rebooting".into()),
            "Configured: wait for machine \"cp-0\" to finish its stage \"rebooting\"",
        ),
        row(
            "an older version came up",
            first(|machine| machine.version = version("1.12.4")),
            "Configured: blocked, machine \"cp-0\" runs Talos 1.12.4, not 1.13.9: it was installed before and takes a configuration without a new installation",
        ),
        row(
            "an older version that is about to install is no fault",
            first(|machine| (machine.version, machine.stage) = (version("1.12.4"), "installing".into())),
            "Configured: wait for machine \"cp-0\" to finish its stage \"installing\"",
        ),
        row(
            "a newer version was chosen by hand",
            first(|machine| machine.version = version("1.14.0")),
            "Bootstrapped: act bootstrap etcd on cp-0",
        ),
        row(
            "the recorded bootstrap member left, and etcd was never seen",
            |spec, _| spec.etcd.bootstrap_sent = Some(uid("gone")),
            "Configured: blocked, the machine on which etcd was bootstrapped is no longer among the control plane's members, and etcd was never seen",
        ),
        row(
            "it left, but the others run etcd",
            |spec, seen| {
                spec.etcd.bootstrap_sent = Some(uid("gone"));
                seen.etcd = etcd_of(&["cp-1", "cp-2"]);
            },
            "Bootstrapped: act remember etcd",
        ),
    ];
    judge(&base, &look, rows);
}

#[test]
fn bootstrapped_etcd_is_bootstrapped_once_and_never_blind() {
    let (base, look) = configured();
    let sent = |spec: &mut Spec| spec.etcd.bootstrap_sent = Some(uid("cp-0"));
    let rows = vec![
        row("absent, nothing sent", |_, _| {}, "Bootstrapped: act bootstrap etcd on cp-0"),
        row(
            "the other members may still be installing",
            |_, seen| {
                ["cp-1", "cp-2"].iter().for_each(|name| stage(seen, name, Stage::Installing { why: None }))
            },
            "Bootstrapped: act bootstrap etcd on cp-0",
        ),
        row(
            "the first member can't tell",
            |_, seen| stage(seen, "cp-0", up(EtcdService::Unknown("no answer".into()))),
            "Bootstrapped: wait for etcd to be observable: no answer",
        ),
        row(
            "lost by a reboot: all say empty, so it is sent again to the same member",
            move |spec, _| sent(spec),
            "Bootstrapped: act bootstrap etcd on cp-0",
        ),
        row(
            "sent to another than the first by name: that one again",
            |spec, _| spec.etcd.bootstrap_sent = Some(uid("cp-1")),
            "Bootstrapped: act bootstrap etcd on cp-1",
        ),
        row(
            "sent, and one configured member is silent: not again",
            move |spec, seen| {
                sent(spec);
                stage(seen, "cp-2", unreachable("timed out"));
            },
            "Bootstrapped: wait for etcd to be observable: machine \"cp-2\" can't be asked",
        ),
        row(
            "sent, and a member that was never configured is silent: it can hold nothing",
            move |spec, seen| {
                sent(spec);
                spec.members[2].installs = 0;
                stage(seen, "cp-2", unreachable("timed out"));
            },
            "Bootstrapped: act bootstrap etcd on cp-0",
        ),
        row(
            "sent, and it is starting",
            move |spec, seen| {
                sent(spec);
                stage(seen, "cp-0", up(EtcdService::Started));
            },
            "Bootstrapped: wait for etcd to be observable: no control plane runs etcd",
        ),
        row(
            "sent, and it is there",
            move |spec, seen| {
                sent(spec);
                seen.etcd = etcd_of(&["cp-0"]);
            },
            "Bootstrapped: act remember etcd",
        ),
        row(
            "data of an earlier cluster on the first member",
            |_, seen| stage(seen, "cp-0", up(EtcdService::Started)),
            "Bootstrapped: blocked, a control-plane machine holds etcd data of an earlier cluster, and this one was never bootstrapped",
        ),
        row(
            "data of an earlier cluster on another member",
            |_, seen| stage(seen, "cp-2", up(EtcdService::Started)),
            "Bootstrapped: blocked, a control-plane machine holds etcd data of an earlier cluster, and this one was never bootstrapped",
        ),
        row(
            "an etcd that nobody bootstrapped answers",
            |_, seen| seen.etcd = etcd_of(&["cp-0"]),
            "Bootstrapped: blocked, a control-plane machine holds etcd data of an earlier cluster, and this one was never bootstrapped",
        ),
        row(
            "seen once, unknown now: never again",
            |spec, seen| {
                spec.etcd.seen = true;
                stage(seen, "cp-1", unreachable("timed out"));
            },
            "Bootstrapped: wait for etcd to be observable: machine \"cp-1\" can't be asked",
        ),
        row(
            "seen once, absent everywhere now: lost",
            |spec, _| spec.etcd.seen = true,
            "Bootstrapped: blocked, etcd was seen before, and now every control plane says that it has no data",
        ),
    ];
    judge(&base, &look, rows);
}

#[test]
fn bootstrapped_given_secrets_take_a_cluster_over_and_never_split_it() {
    let (mut base, look) = configured();
    base.secrets_given = true;
    base.members.iter_mut().for_each(|member| member.installs = 0);
    let rows = vec![
        row("nothing stands", |_, _| {}, "Bootstrapped: act bootstrap etcd on cp-0"),
        row(
            "etcd answers to them",
            |_, seen| seen.etcd = etcd_of(&["cp-0"]),
            "Bootstrapped: act remember etcd",
        ),
        row(
            "etcd runs but can't be asked",
            |_, seen| stage(seen, "cp-1", up(EtcdService::Started)),
            "Bootstrapped: wait for etcd to be observable: no control plane runs etcd",
        ),
        row(
            "the record is lost, and a member that may hold the data is silent",
            |_, seen| stage(seen, "cp-1", unreachable("timed out")),
            "Bootstrapped: wait for etcd to be observable: machine \"cp-1\" can't be asked",
        ),
    ];
    judge(&base, &look, rows);
}

#[test]
fn control_planes_every_one_is_up_and_votes() {
    let mut base = grown(3, 0);
    base.bootstrapped = false;
    let rows = vec![
        row(
            "one installs",
            |_, seen| stage(seen, "cp-1", Stage::Installing { why: None }),
            "ControlPlanes: wait for machine \"cp-1\" to come up with its configuration",
        ),
        row(
            "one is silent",
            |_, seen| stage(seen, "cp-2", unreachable("timed out")),
            "ControlPlanes: wait for machine \"cp-2\" to answer: timed out",
        ),
        row(
            "one has not joined",
            |_, seen| seen.etcd = etcd_of(&["cp-0", "cp-2"]),
            "ControlPlanes: wait for machine \"cp-1\" to join etcd",
        ),
        row(
            "one learns",
            |_, seen| {
                let learner = |name: &str| EtcdMember { hostname: name.into(), learner: name == "cp-2" };
                seen.etcd = Some(Seen::Present(["cp-0", "cp-1", "cp-2"].map(learner).to_vec()));
            },
            "ControlPlanes: wait for machine \"cp-2\" to join etcd",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn api_server_a_member_answers_first_and_then_the_endpoint() {
    let base = grown(1, 0);
    let rows = vec![
        row(
            "nobody asked",
            |_, seen| seen.api_server = None,
            "ApiServer: wait for the API server to become ready: it was not asked yet",
        ),
        row(
            "it refuses",
            |_, seen| (seen.api_server, seen.endpoint) = (unknown("401"), unknown("401")),
            "ApiServer: wait for the API server to become ready: 401",
        ),
        row(
            "only the endpoint fails",
            |_, seen| seen.endpoint = unknown("no route"),
            "ApiServer: wait for the endpoint to answer, while the API servers of the members do: no route",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn addons_are_installed_where_absent_and_never_where_unknown() {
    let base = grown(1, 0);
    let seen_as = |addon: Addon, installed: Seen<()>, unhealthy: Option<&'static str>| {
        move |_: &mut Spec, seen: &mut Observed| {
            let found = AddonSeen { installed: installed.clone(), unhealthy: unhealthy.map(str::to_owned) };
            seen.addons.insert(addon.clone(), found);
        }
    };
    let rows = vec![
        row(
            "Cilium is absent",
            seen_as(Addon::Cilium, Seen::Absent, Some("nothing runs")),
            "NetworkInstalled: act install cilium",
        ),
        row(
            "Cilium is unknown",
            seen_as(Addon::Cilium, Seen::Unknown("timed out".into()), None),
            "NetworkInstalled: wait for cilium to be observable: timed out",
        ),
        row(
            "Cilium was not looked at",
            |_, seen| drop(seen.addons.remove(&Addon::Cilium)),
            "NetworkInstalled: wait for cilium to be observable: it was not looked at yet",
        ),
        row(
            "Cilium is unhealthy",
            seen_as(Addon::Cilium, Seen::Present(()), Some("1 of 3 agents is ready")),
            "NetworkHealthy: wait for cilium to become healthy: 1 of 3 agents is ready",
        ),
        row(
            "without Cilium its absence is nothing",
            |spec, seen| {
                spec.cilium = false;
                seen.addons.remove(&Addon::Cilium);
            },
            "all: done",
        ),
        row(
            "cert-manager is absent",
            seen_as(Addon::CertManager, Seen::Absent, None),
            "CertificatesInstalled: act install cert-manager",
        ),
        row(
            "cert-manager is unhealthy",
            seen_as(Addon::CertManager, Seen::Present(()), Some("its webhook refuses")),
            "CertificatesHealthy: wait for cert-manager to become healthy: its webhook refuses",
        ),
        row(
            "without cert-manager its absence is nothing",
            |spec, seen| {
                spec.cert_manager = false;
                seen.addons.remove(&Addon::CertManager);
            },
            "all: done",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn healthy_gates_a_new_cluster_and_never_the_repair_of_an_old_one() {
    let mut base = grown(1, 1);
    base.bootstrapped = false;
    let rows = vec![
        row("it passes for the first time", |_, _| {}, "Healthy: act remember health"),
        row(
            "it was not asked",
            |_, seen| seen.health = None,
            "Healthy: wait for the control plane to become healthy: the check has not run yet",
        ),
        row(
            "it fails: no worker yet",
            |_, seen| {
                seen.health = unknown("kubelet");
                stage(seen, "w-0", maintenance());
            },
            "Healthy: wait for the control plane to become healthy: kubelet",
        ),
        row(
            "it fails later: the worker is repaired all the same",
            |spec, seen| {
                spec.bootstrapped = true;
                seen.health = unknown("kubelet");
                stage(seen, "w-0", maintenance());
            },
            "Workers: act configure w-0",
        ),
        row(
            "it fails later, with all else done",
            |spec, seen| {
                spec.bootstrapped = true;
                seen.health = unknown("kubelet");
            },
            "Healthy: wait for the control plane to become healthy: kubelet",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn workers_never_stand_in_the_way() {
    let base = grown(1, 2);
    let rows = vec![
        row(
            "both in maintenance mode",
            |_, seen| ["w-0", "w-1"].iter().for_each(|name| stage(seen, name, maintenance())),
            "Workers: act configure w-0, configure w-1",
        ),
        row(
            "one failed three times: cert-manager comes all the same",
            |spec, seen| {
                spec.members[1].tries = 3;
                stage(seen, "w-0", maintenance());
                seen.addons
                    .get_mut(&Addon::CertManager)
                    .into_iter()
                    .for_each(|addon| addon.installed = Seen::Absent);
            },
            "CertificatesInstalled: act install cert-manager",
        ),
        row(
            "one is somebody else's: the last gate says so",
            |_, seen| stage(seen, "w-1", Stage::Foreign),
            "Everything: wait for machine \"w-1\" to answer: machine \"w-1\" is configured by somebody else",
        ),
        row(
            "one is silent",
            |_, seen| stage(seen, "w-1", unreachable("timed out")),
            "Everything: wait for machine \"w-1\" to answer: timed out",
        ),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn everything_is_every_node_and_the_remaining_workloads() {
    let base = grown(1, 1);
    let rows = vec![
        row(
            "the nodes are unknown",
            |_, seen| seen.nodes = unknown("timed out"),
            "Everything: wait for the cluster's workloads to become healthy: timed out",
        ),
        row(
            "a node is missing",
            |_, seen| {
                let nodes = BTreeMap::from([("cp-0".to_owned(), NodeSeen { not_ready: None })]);
                seen.nodes = Some(Seen::Present(nodes));
            },
            "Everything: wait for node \"w-0\" to become Ready: it has not registered with the API server",
        ),
        row(
            "a workload is missing",
            |_, seen| seen.rest_unhealthy = Some("CoreDNS".into()),
            "Everything: wait for the cluster's workloads to become healthy: CoreDNS",
        ),
        row("all is there", |_, _| {}, "all: done"),
    ];
    judge(&base, &all_good(&base), rows);
}

#[test]
fn only_the_last_gate_is_soft() {
    use crate::domain::cluster::gates::{Gate, order};
    let soft =
        |spec: &Spec| -> Vec<Gate> { order(spec).iter().copied().filter(|gate| gate.is_soft()).collect() };
    assert_eq!(soft(&spec(1, 1)), [Gate::Everything]);
    assert_eq!(soft(&grown(1, 1)), [Gate::Everything]);
}
