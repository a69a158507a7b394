//! Arbitrary clusters and arbitrary looks at them, also such as never come together.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use super::world::Faults;
use super::*;

/// The machines that arbitrary clusters are made of.
const CONTROL_PLANES: [&str; 3] = ["cp-0", "cp-1", "cp-2"];
const WORKERS: [&str; 2] = ["w-0", "w-1"];

pub(super) fn any_spec() -> impl Strategy<Value = Spec> {
    let memory = (option::of(0..4_usize), any::<bool>(), any::<bool>(), any::<bool>());
    let addons = (any::<bool>(), any::<bool>());
    (0..=3_u32, 0..=2_u32, vec(0..5_u32, 5), memory, addons).prop_map(
        |(
            control_planes,
            workers,
            installs,
            (sent, seen, secrets_given, bootstrapped),
            (cilium, cert_manager),
        )| {
            let mut spec = spec(control_planes, workers);
            spec.members.iter_mut().zip(installs).for_each(|(member, installs)| member.installs = installs);
            // The fourth is a machine that left.
            let bootstrap_sent = sent.map(|index| uid(&format!("cp-{index}")));
            spec.etcd = EtcdRecord { bootstrap_sent, seen };
            Spec { secrets_given, bootstrapped, cilium, cert_manager, ..spec }
        },
    )
}

pub(super) fn any_look() -> impl Strategy<Value = Observed> {
    let machines =
        btree_map(prop::sample::select([&CONTROL_PLANES[..], &WORKERS[..]].concat()), any_stage(), 0..=5);
    let addons = btree_map(prop_oneof![Just(Addon::Cilium), Just(Addon::CertManager)], any_addon(), 0..=2);
    let checks = (any_check(), any_check(), any_check());
    let rest = (option::of(any_nodes()), option::weighted(0.2, Just("CoreDNS".to_owned())));
    (machines, option::of(any_etcd()), checks, addons, rest).prop_map(
        |(machines, etcd, (api_server, endpoint, health), addons, (nodes, rest_unhealthy))| Observed {
            machines: machines.into_iter().map(|(name, stage)| (uid(name), stage)).collect(),
            etcd,
            api_server,
            endpoint,
            addons,
            health,
            nodes,
            serving_requests: None,
            rest_unhealthy,
        },
    )
}

/// A cluster and a look in which little or nothing is missing: among arbitrary ones hardly any gets far.
pub(super) fn nearly_done() -> impl Strategy<Value = (Spec, Observed)> {
    (1..=3_u32, 0..=2_u32, any::<bool>(), any_look(), vec(any::<bool>(), 8)).prop_map(
        |(control_planes, workers, bootstrapped, worse, keep)| {
            let spec = Spec { bootstrapped, ..grown(control_planes, workers) };
            let mut seen = all_good(&spec);
            let mut takes = keep.into_iter().enumerate().map(|(index, keep)| keep || index % 2 == 0);
            let mut take = move || !takes.next().unwrap_or(true);
            if take() {
                seen.health = worse.health
            }
            if take() {
                seen.api_server = worse.api_server
            }
            if take() {
                seen.etcd = worse.etcd
            }
            if take() {
                seen.addons = worse.addons
            }
            if take() {
                seen.endpoint = worse.endpoint
            }
            if take() {
                seen.nodes = worse.nodes
            }
            if take() {
                seen.rest_unhealthy = worse.rest_unhealthy
            }
            if take() {
                seen.machines.extend(worse.machines)
            }
            (spec, seen)
        },
    )
}

/// Faults that a run gets over: no machine fails for good.
pub(super) fn passing_faults() -> impl Strategy<Value = Faults> {
    let failing =
        btree_map(prop::sample::select([&CONTROL_PLANES[..], &WORKERS[..]].concat()), 0..=2_u32, 0..=5);
    (failing, 0..=3_u32, prop::collection::btree_set(0..40_usize, 0..20)).prop_map(
        |(failing, lost, blind)| Faults {
            failing_installs: failing.into_iter().map(|(name, count)| (uid(name), count)).collect(),
            lost_bootstraps: lost,
            blind,
            ..Faults::default()
        },
    )
}

fn any_stage() -> impl Strategy<Value = Stage> {
    let unreachable = any::<bool>().prop_map(|long| Stage::Unreachable { why: "timed out".into(), long });
    prop_oneof![
        2 => option::of(Just("no space".to_owned())).prop_map(|install_error| Stage::Maintenance { install_error }),
        1 => Just(Stage::OtherMachine { found: "UUID 2".into() }),
        1 => Just(Stage::Installing { why: None }),
        6 => any_running().prop_map(Stage::Running),
        1 => Just(Stage::Foreign),
        1 => Just(Stage::ClockOff { why: "expired".into() }),
        1 => unreachable,
    ]
}

fn any_running() -> impl Strategy<Value = Running> {
    let versions = prop::sample::select(vec!["1.12.4", "1.13.9", "1.13.9", "1.13.9", "1.14.0"]);
    let stages = prop::sample::select(vec!["running", "running", "booting", "rebooting", "installing"]);
    let etcd = prop_oneof![
        Just(EtcdService::Empty),
        Just(EtcdService::Started),
        Just(EtcdService::Unknown("no answer".into())),
    ];
    let unmet = btree_map(
        prop::sample::select(vec!["services".to_owned(), "nodeReady".to_owned()]),
        Just("not yet".to_owned()),
        0..=2,
    );
    (versions, stages, option::of(any::<bool>()), any::<bool>(), etcd, unmet).prop_map(
        |(talos, stage, time_in_sync, configuration_current, etcd, unmet)| Running {
            unmet,
            version: version(talos),
            stage: stage.into(),
            time_in_sync,
            configuration_current,
            etcd,
        },
    )
}

fn any_etcd() -> impl Strategy<Value = Seen<Vec<EtcdMember>>> {
    let member = (prop::sample::select(CONTROL_PLANES.to_vec()), any::<bool>())
        .prop_map(|(name, learner)| EtcdMember { hostname: name.into(), learner });
    any_seen(vec(member, 1..=3))
}

fn any_check() -> impl Strategy<Value = Option<Seen<()>>> {
    option::of(any_seen(Just(())))
}

fn any_addon() -> impl Strategy<Value = AddonSeen> {
    (any_seen(Just(())), option::of(Just("pods".to_owned())))
        .prop_map(|(installed, unhealthy)| AddonSeen { installed, unhealthy })
}

fn any_nodes() -> impl Strategy<Value = Seen<BTreeMap<String, NodeSeen>>> {
    let node = option::of(Just("no network".to_owned())).prop_map(|not_ready| NodeSeen { not_ready });
    let names = prop::sample::select([&CONTROL_PLANES[..], &WORKERS[..]].concat());
    any_seen(btree_map(names.prop_map(str::to_owned), node, 0..=5))
}

fn any_seen<T: std::fmt::Debug + Clone>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Seen<T>> {
    prop_oneof![
        3 => value.prop_map(Seen::Present),
        1 => Just(Seen::Absent),
        1 => Just(Seen::Unknown("timed out".into())),
    ]
}
