//! What holds of every decision, whatever was seen.

use proptest::prelude::*;

use super::arbitrary::{any_look, any_spec, nearly_done, passing_faults};
use super::world::World;
use super::*;
use crate::domain::cluster::gates::{Gate, INSTALL_TRIES, order, shortcomings};

fn actions(spec: &Spec, seen: &Observed) -> Vec<Action> {
    match evaluate(spec, seen).step {
        Step::Act(actions) => actions,
        Step::Wait(_) | Step::Blocked(_) | Step::Done => Vec::new(),
    }
}

fn role(spec: &Spec, uid: &Uid) -> Option<Role> {
    spec.members.iter().find(|member| member.uid == *uid).map(|member| member.role)
}

fn etcd_says(seen: &Observed, uid: &Uid) -> Option<EtcdService> {
    let Stage::Running(running) = seen.machines.get(uid)? else { return None };
    Some(running.etcd.clone())
}

/// Whether a look leaves nothing to be done or waited for, said without the gates.
fn is_all_there(spec: &Spec, seen: &Observed) -> bool {
    let there = |look: &Option<Seen<()>>| matches!(look, Some(Seen::Present(())));
    let good = |wanted: bool, addon: Addon| {
        let found = seen.addons.get(&addon);
        !wanted
            || found.is_some_and(|found| found.installed == Seen::Present(()) && found.unhealthy.is_none())
    };
    let votes = |member: &Member| {
        let members = seen.etcd.as_ref().and_then(Seen::present);
        let by_name = |etcd: &EtcdMember| etcd.hostname == member.hostname.as_str() && !etcd.learner;
        members.is_some_and(|members| members.iter().any(by_name))
    };
    let runs = |member: &Member| {
        matches!(seen.machines.get(&member.uid), Some(Stage::Running(running))
            if running.configuration_current
                && running.version >= spec.talos_version
                && matches!(running.stage.as_str(), "running" | "booting")
                && running.time_in_sync != Some(false))
    };
    let nodes = seen.nodes.as_ref().and_then(Seen::present);
    let ready = |member: &Member| {
        nodes
            .and_then(|nodes| nodes.get(member.hostname.as_str()))
            .is_some_and(|node| node.not_ready.is_none())
    };
    spec.control_planes().next().is_some()
        && spec.etcd.seen
        && spec.bootstrapped
        && spec.control_planes().all(votes)
        && spec.members.iter().all(|member| runs(member) && ready(member))
        && there(&seen.api_server)
        && there(&seen.endpoint)
        && there(&seen.health)
        && good(spec.cilium, Addon::Cilium)
        && good(spec.cert_manager, Addon::CertManager)
        && seen.rest_unhealthy.is_none()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_bootstraps_blind(spec in any_spec(), seen in any_look()) {
        for action in actions(&spec, &seen) {
            let Action::BootstrapEtcd(uid) = action else { continue };
            prop_assert!(!spec.etcd.seen, "after etcd was seen");
            prop_assert!(seen.etcd.as_ref().and_then(Seen::present).is_none(), "while etcd answers");
            prop_assert_eq!(etcd_says(&seen, &uid), Some(EtcdService::Empty));
            prop_assert_eq!(role(&spec, &uid), Some(Role::ControlPlane));
            prop_assert!(spec.etcd.bootstrap_sent.as_ref().is_none_or(|sent| *sent == uid), "on another machine");
            let others = spec.control_planes().map(|member| (member, etcd_says(&seen, &member.uid)));
            for (member, says) in others {
                prop_assert_ne!(&says, &Some(EtcdService::Started), "{:?} has data", member.name);
                // Once a request may have got through, a configured machine's silence proves nothing.
                let proof = spec.etcd.bootstrap_sent.is_some() && member.installs > 0 || spec.secrets_given;
                prop_assert!(!proof || says == Some(EtcdService::Empty), "{:?} is not known", member.name);
            }
        }
    }

    #[test]
    fn etcd_that_was_seen_is_never_bootstrapped_again(mut spec in any_spec(), seen in any_look()) {
        spec.etcd.seen = true;
        let bootstraps = actions(&spec, &seen).into_iter().any(|action| matches!(action, Action::BootstrapEtcd(_)));
        prop_assert!(!bootstraps);
    }

    #[test]
    fn only_a_machine_in_maintenance_mode_is_configured(spec in any_spec(), seen in any_look()) {
        for action in actions(&spec, &seen) {
            match action {
                Action::Configure(uid) => {
                    let in_maintenance = matches!(seen.machines.get(&uid), Some(Stage::Maintenance { .. }));
                    prop_assert!(in_maintenance, "{:?}", seen.machines.get(&uid));
                    let tries = spec.members.iter().find(|member| member.uid == uid).map(|member| member.tries);
                    prop_assert!(tries.is_some_and(|tries| tries < INSTALL_TRIES));
                }
                Action::Reconfigure(uid) => {
                    let is_running = matches!(seen.machines.get(&uid), Some(Stage::Running(running))
                        if !running.configuration_current && running.version >= spec.talos_version);
                    prop_assert!(is_running, "{:?}", seen.machines.get(&uid));
                }
                Action::BootstrapEtcd(_) | Action::RememberEtcd | Action::InstallAddon(_)
                | Action::RemoveAddon(_) | Action::RememberBootstrapped | Action::ApproveServingCertificates(_) => {}
            }
        }
    }

    #[test]
    fn running_machines_change_one_at_a_time(spec in any_spec(), seen in any_look()) {
        let actions = actions(&spec, &seen);
        let changes = actions.iter().filter(|action| matches!(action, Action::Reconfigure(_))).count();
        prop_assert!(changes == 0 || actions.len() == 1, "{actions:?}");
    }

    #[test]
    fn no_worker_comes_before_the_control_plane_is_healthy(mut spec in any_spec(), seen in any_look()) {
        spec.bootstrapped = false;
        for action in actions(&spec, &seen) {
            if let Action::Configure(uid) | Action::Reconfigure(uid) = action {
                prop_assert_eq!(role(&spec, &uid), Some(Role::ControlPlane));
            }
        }
    }

    #[test]
    fn an_addon_is_installed_only_where_it_is_absent(
        (spec, seen) in prop_oneof![(any_spec(), any_look()), nearly_done()],
    ) {
        for action in actions(&spec, &seen) {
            if let Action::InstallAddon(addon) = action {
                prop_assert!(seen.addons.get(&addon).is_some_and(|found| found.installed.is_absent()));
            }
        }
    }

    #[test]
    fn an_act_is_never_empty((spec, seen) in prop_oneof![(any_spec(), any_look()), nearly_done()]) {
        if let Step::Act(actions) = evaluate(&spec, &seen).step {
            prop_assert!(!actions.is_empty());
        }
    }

    #[test]
    fn done_exactly_when_all_is_there((spec, seen) in prop_oneof![(any_spec(), any_look()), nearly_done()]) {
        let evaluation = evaluate(&spec, &seen);
        prop_assert_eq!(evaluation.step == Step::Done, is_all_there(&spec, &seen), "{:?}", &evaluation);
        prop_assert_eq!(evaluation.step == Step::Done, evaluation.gate.is_none());
    }

    #[test]
    fn what_ends_softly_has_a_shortcoming_to_name((spec, seen) in nearly_done()) {
        let gate = evaluate(&spec, &seen).gate;
        prop_assert!(gate != Some(Gate::Everything) || !shortcomings(&spec, &seen).is_empty());
        prop_assert!(gate.is_none_or(|gate| order(&spec).contains(&gate)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_walk_ends_with_exactly_one_bootstrap(
        control_planes in 1..=3_u32, workers in 0..=2_u32, faults in passing_faults(),
    ) {
        let world = World::new(spec(control_planes, workers), faults).walk();
        let trace = world.trace.join("\n");
        prop_assert_eq!(world.trace.last().map(String::as_str), Some("all: done"), "{}", trace);
        prop_assert_eq!(world.formed, 1, "{}", trace);
    }
}
