//! Tests of the gates: tables of single looks, walks through a simulated world, properties of arbitrary looks.

mod arbitrary;
mod changes;
mod conditions;
mod further;
mod properties;
mod serving;
mod tables;
mod walks;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use super::gates::{Evaluation, evaluate};
use super::observed::{AddonSeen, EtcdMember, EtcdService, NodeSeen, Observed, Running, Stage};
use super::spec::{Addon, Member, Role, Spec};
use super::step::{Action, Step};
use crate::domain::names::{Label, Uid};
use crate::domain::record::EtcdRecord;
use crate::domain::seen::Seen;
use crate::domain::version::Version;

#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn label(text: &str) -> Label {
    Label::parse(text).unwrap()
}

#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
fn version(text: &str) -> Version {
    Version::parse(text, "v1.13.9").unwrap()
}

fn uid(name: &str) -> Uid {
    Uid::new(format!("uid-{name}"))
}

/// A member whose host name is its name.
fn member(name: &str, role: Role) -> Member {
    let pool = if role == Role::Worker { "general" } else { "" };
    Member {
        uid: uid(name),
        name: label(name),
        hostname: label(name),
        role,
        pool: pool.into(),
        installs: 0,
        tries: 0,
        unproven: false,
        addresses: BTreeSet::new(),
        asks_for_certificate: false,
    }
}

/// A new cluster of `cp-0 …` and `w-0 …`, nothing done yet.
fn spec(control_planes: u32, workers: u32) -> Spec {
    let named = |prefix: &'static str, role, count| {
        (0..count).map(move |index| member(&format!("{prefix}-{index}"), role))
    };
    Spec {
        name: label("prod"),
        talos_version: version("1.13.9"),
        members: named("cp", Role::ControlPlane, control_planes)
            .chain(named("w", Role::Worker, workers))
            .collect(),
        wanted_control_planes: control_planes,
        cilium: true,
        cert_manager: true,
        addons: Vec::new(),
        leaving: Vec::new(),
        serving_certificates: false,
        etcd: EtcdRecord::default(),
        secrets_given: false,
        bootstrapped: false,
    }
}

/// The same cluster after its machines were configured, etcd was seen and the health check passed.
fn grown(control_planes: u32, workers: u32) -> Spec {
    let mut spec = spec(control_planes, workers);
    spec.members.iter_mut().for_each(|member| member.installs = 1);
    spec.etcd = EtcdRecord { bootstrap_sent: Some(uid("cp-0")), seen: true };
    spec.bootstrapped = true;
    spec
}

fn running(etcd: EtcdService) -> Running {
    Running {
        version: version("1.13.9"),
        stage: "running".into(),
        time_in_sync: Some(true),
        configuration_current: true,
        unmet: BTreeMap::new(),
        etcd,
    }
}

fn up(etcd: EtcdService) -> Stage {
    Stage::Running(running(etcd))
}

fn maintenance() -> Stage {
    Stage::Maintenance { install_error: None }
}

fn unreachable(why: &str) -> Stage {
    Stage::Unreachable { why: why.into(), long: false }
}

fn unknown<T>(why: &str) -> Option<Seen<T>> {
    Some(Seen::Unknown(why.into()))
}

fn etcd_of(names: &[&str]) -> Option<Seen<Vec<EtcdMember>>> {
    let voter = |name: &&str| EtcdMember { hostname: (*name).into(), learner: false };
    Some(Seen::Present(names.iter().map(voter).collect()))
}

/// A look at a cluster in which everything is as it should be.
fn all_good(spec: &Spec) -> Observed {
    let etcd = |role| if role == Role::ControlPlane { EtcdService::Started } else { EtcdService::Empty };
    let good = AddonSeen { installed: Seen::Present(()), unhealthy: None };
    let control_planes: Vec<_> = spec.control_planes().map(|member| member.hostname.as_str()).collect();
    let nodes = spec.members.iter().map(|member| (member.hostname.to_string(), NodeSeen { not_ready: None }));
    Observed {
        machines: spec.members.iter().map(|member| (member.uid.clone(), up(etcd(member.role)))).collect(),
        etcd: etcd_of(&control_planes),
        api_server: Some(Seen::Present(())),
        endpoint: Some(Seen::Present(())),
        addons: BTreeMap::from([(Addon::Cilium, good.clone()), (Addon::CertManager, good)]),
        health: Some(Seen::Present(())),
        nodes: Some(Seen::Present(nodes.collect())),
        serving_requests: None,
        rest_unhealthy: None,
    }
}

/// What is decided, as one line that a person can read.
fn decided(spec: &Spec, seen: &Observed) -> String {
    line(&evaluate(spec, seen))
}

fn line(evaluation: &Evaluation) -> String {
    let gate = evaluation.gate.map_or_else(|| "all".to_owned(), |gate| format!("{gate:?}"));
    match &evaluation.step {
        Step::Act(actions) => {
            let actions: Vec<_> = actions.iter().map(described).collect();
            format!("{gate}: act {}", actions.join(", "))
        }
        Step::Wait(waiting) => format!("{gate}: wait for {waiting}"),
        Step::Blocked(blocker) => format!("{gate}: blocked, {blocker}"),
        Step::Done => format!("{gate}: done"),
    }
}

fn described(action: &Action) -> String {
    let name = |uid: &Uid| uid.as_str().trim_start_matches("uid-").to_owned();
    match action {
        Action::Configure(uid) => format!("configure {}", name(uid)),
        Action::Reconfigure(uid) => format!("reconfigure {}", name(uid)),
        Action::BootstrapEtcd(uid) => format!("bootstrap etcd on {}", name(uid)),
        Action::RememberEtcd => "remember etcd".to_owned(),
        Action::InstallAddon(addon) => format!("install {addon}"),
        Action::RemoveAddon(addon) => format!("remove {addon}"),
        Action::RememberBootstrapped => "remember health".to_owned(),
        Action::ApproveServingCertificates(requests) => {
            let names: Vec<_> = requests.iter().map(ToString::to_string).collect();
            format!("approve {}", names.join(", "))
        }
    }
}

/// How a wait's long remedy is left out of a table: up to the first of its sentences.
fn short(line: &str) -> &str {
    line.split_once(". ").map_or(line, |(first, _)| first)
}
