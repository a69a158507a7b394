//! The gates between machines in maintenance mode and a Ready cluster, in their order.
//!
//! The list *is* the state machine: the next step is that of the first gate which is not passed.

use super::observed::{AddonSeen, EtcdMember, EtcdService, Observed, Running, Stage};
use super::serving_certificates;
use super::spec::{Addon, Member, Role, Spec};
use super::step::{Action, Blocker, Step, Waiting};
use crate::domain::names::Uid;
use crate::domain::seen::Seen;

/// How often an installation is tried before the machine is given up: once, and two more times.
pub const INSTALL_TRIES: u32 = 3;

/// A gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// At least one control-plane machine is claimed and Discovered.
    Members,
    /// Control planes have their configuration, and the bootstrap member is up with it.
    Configured,
    /// etcd was seen.
    Bootstrapped,
    /// Every control plane is up, runs its version and is a voting member of etcd.
    ControlPlanes,
    /// A member's API server and the endpoint answer.
    ApiServer,
    /// Cilium is applied. Before any health check: no node turns Ready without it.
    NetworkInstalled,
    /// Cilium is healthy on the control plane.
    NetworkHealthy,
    /// The user's own addons without which the control plane is not healthy are applied and healthy, and those that are
    /// not wanted any more are gone.
    EarlyAddons,
    /// The health check passes.
    Healthy,
    /// Workers have their configuration. After the control plane: a worker must not race etcd.
    Workers,
    /// cert-manager is applied.
    CertificatesInstalled,
    /// cert-manager is healthy and its webhook answers.
    CertificatesHealthy,
    /// The user's own addons are applied, each after those it depends on, and healthy.
    Addons,
    /// Every node is Ready with its agent. Soft: a worker that does not join is a warning.
    Everything,
}

/// The gates of a cluster that was never healthy yet.
const FIRST: [Gate; 14] = [
    Gate::Members,
    Gate::Configured,
    Gate::Bootstrapped,
    Gate::ControlPlanes,
    Gate::ApiServer,
    Gate::NetworkInstalled,
    Gate::NetworkHealthy,
    Gate::EarlyAddons,
    Gate::Healthy,
    Gate::Workers,
    Gate::CertificatesInstalled,
    Gate::CertificatesHealthy,
    Gate::Addons,
    Gate::Everything,
];

/// The gates of a cluster that was healthy once: the health check comes last, never in the way of repair.
const LATER: [Gate; 14] = [
    Gate::Members,
    Gate::Configured,
    Gate::Bootstrapped,
    Gate::ControlPlanes,
    Gate::ApiServer,
    Gate::NetworkInstalled,
    Gate::NetworkHealthy,
    Gate::EarlyAddons,
    Gate::Workers,
    Gate::CertificatesInstalled,
    Gate::CertificatesHealthy,
    Gate::Addons,
    Gate::Everything,
    Gate::Healthy,
];

impl Gate {
    /// Whether the end of the operation's time at this gate is a warning and no failure.
    #[must_use]
    pub fn is_soft(self) -> bool {
        self == Self::Everything
    }
}

/// Where a cluster stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The first gate that is not passed; `None` when all are.
    pub gate: Option<Gate>,
    /// What to do about it.
    pub step: Step,
}

/// The order of the gates for a cluster.
#[must_use]
pub fn order(spec: &Spec) -> &'static [Gate; 14] {
    if spec.bootstrapped { &LATER } else { &FIRST }
}

/// The next step of a cluster.
#[must_use]
pub fn evaluate(spec: &Spec, seen: &Observed) -> Evaluation {
    order(spec)
        .iter()
        .find_map(|gate| judge(*gate, spec, seen).map(|step| Evaluation { gate: Some(*gate), step }))
        .unwrap_or(Evaluation { gate: None, step: Step::Done })
}

/// The step that a gate asks for; `None` when it is passed.
fn judge(gate: Gate, spec: &Spec, seen: &Observed) -> Option<Step> {
    match gate {
        Gate::Members => members(spec),
        Gate::Configured => configured(spec, seen),
        Gate::Bootstrapped => bootstrapped(spec, seen),
        Gate::ControlPlanes => control_planes(spec, seen),
        Gate::ApiServer => api_server(seen),
        Gate::NetworkInstalled => spec.cilium.then(|| installed(&Addon::Cilium, seen)).flatten(),
        Gate::NetworkHealthy => spec.cilium.then(|| healthy(&Addon::Cilium, seen)).flatten(),
        Gate::EarlyAddons => leaving(spec).or_else(|| addons(true, spec, seen)),
        Gate::Addons => addons(false, spec, seen),
        Gate::Healthy => health(spec, seen),
        Gate::Workers => workers(spec, seen),
        Gate::CertificatesInstalled => {
            spec.cert_manager.then(|| installed(&Addon::CertManager, seen)).flatten()
        }
        Gate::CertificatesHealthy => spec.cert_manager.then(|| healthy(&Addon::CertManager, seen)).flatten(),
        Gate::Everything => everything(spec, seen),
    }
}

fn members(spec: &Spec) -> Option<Step> {
    if spec.control_planes().next().is_some() {
        return None;
    }
    let wanted = spec.wanted_control_planes;
    Some(Step::Blocked(Blocker::new(
        format!("no discovered control-plane machine is claimed: have 0, want {wanted}"),
        "Nothing in this apply can change it. Boot machines into Talos maintenance mode, see in the pool's conditions \
         and in the data source kontinuum_instance_pool_candidates why none could be claimed, then apply again.",
    )))
}

fn configured(spec: &Spec, seen: &Observed) -> Option<Step> {
    let mut actions = Vec::new();
    for member in spec.control_planes() {
        match configuration_step(spec, seen, member) {
            Some(Step::Act(more)) => actions.extend(more),
            Some(blocked @ Step::Blocked(_)) => return Some(blocked),
            Some(Step::Wait(_) | Step::Done) | None => {}
        }
    }
    if !actions.is_empty() {
        let actions = one_change_at_a_time(actions);
        let underway = changing(&actions).and_then(|changed| others_underway(spec, seen, changed));
        return Some(underway.map_or(Step::Act(actions), Step::Wait));
    }
    if spec.etcd.seen || seen.etcd.as_ref().is_some_and(|etcd| etcd.present().is_some()) {
        return None;
    }
    let Some(first) = spec.bootstrap_member() else {
        return Some(Step::Blocked(Blocker::new(
            "the machine on which etcd was bootstrapped is no longer among the control plane's members, and etcd was \
             never seen",
            "Put that machine back into the pool, or destroy the cluster and create it anew.",
        )));
    };
    waiting_to_run(seen, first).map(Step::Wait)
}

/// New configurations go out together; changed ones machine by machine.
fn one_change_at_a_time(actions: Vec<Action>) -> Vec<Action> {
    let (changes, mut news): (Vec<_>, Vec<_>) =
        actions.into_iter().partition(|action| matches!(action, Action::Reconfigure(_)));
    if news.is_empty() {
        news.extend(changes.into_iter().take(1));
    }
    news
}

/// The machine whose running configuration would be changed.
fn changing(actions: &[Action]) -> Option<&Uid> {
    actions.iter().find_map(|action| match action {
        Action::Reconfigure(uid) => Some(uid),
        Action::Configure(_)
        | Action::BootstrapEtcd(_)
        | Action::RememberEtcd
        | Action::InstallAddon(_)
        | Action::RemoveAddon(_)
        | Action::RememberBootstrapped
        | Action::ApproveServingCertificates(_) => None,
    })
}

/// A changed configuration may reboot its machine: while etcd has data to lose, the other control planes are up, ready
/// and voting first.
fn others_underway(spec: &Spec, seen: &Observed, changed: &Uid) -> Option<Waiting> {
    if !spec.etcd.seen {
        return None;
    }
    let voting = seen.etcd.as_ref().and_then(Seen::present);
    spec.control_planes().filter(|member| member.uid != *changed).find_map(|member| {
        let joins = || {
            let votes = voting.is_some_and(|voting| votes(voting, member));
            (!votes).then(|| Waiting::EtcdJoin { name: member.name.clone() })
        };
        waiting_to_run(seen, member).or_else(|| waiting_to_be_ready(seen, member)).or_else(joins)
    })
}

fn votes(members: &[EtcdMember], member: &Member) -> bool {
    members.iter().any(|etcd| etcd.hostname == member.hostname.as_str() && !etcd.learner)
}

/// What Talos finds unmet on a machine that is up. That its node is not Ready may have to do with the network, which
/// comes later: it counts only against a configuration that was not proven yet.
fn waiting_to_be_ready(seen: &Observed, member: &Member) -> Option<Waiting> {
    let Some(Stage::Running(running)) = seen.machines.get(&member.uid) else { return None };
    let counts = |condition: &str| member.unproven || condition != "nodeReady";
    let unmet = running.unmet.iter().filter(|(condition, _)| counts(condition));
    let why: Vec<String> = unmet.map(|(condition, why)| format!("{condition}: {why}")).collect();
    (!why.is_empty()).then(|| Waiting::Ready { name: member.name.clone(), why: why.join("; ") })
}

/// The machine with the new configuration that was not seen ready with it: until then the roll-out goes no further. One
/// that fell silent for another reason holds nobody up.
fn unproven(spec: &Spec, seen: &Observed, changed: &Uid) -> Option<Waiting> {
    spec.members
        .iter()
        .filter(|member| member.unproven && member.uid != *changed)
        .find_map(|member| waiting_to_run(seen, member).or_else(|| waiting_to_be_ready(seen, member)))
}

/// What a machine needs so that it runs its configuration; `None` when it is on its way or there.
fn configuration_step(spec: &Spec, seen: &Observed, member: &Member) -> Option<Step> {
    match seen.machines.get(&member.uid)? {
        Stage::Maintenance { install_error } if member.tries >= INSTALL_TRIES => {
            Some(Step::Blocked(install_failed(member, install_error.as_deref())))
        }
        Stage::Maintenance { .. } => Some(Step::Act(vec![Action::Configure(member.uid.clone())])),
        Stage::OtherMachine { found } => Some(Step::Blocked(Blocker::new(
            format!("another machine answers at the addresses of {:?}: {found}", member.name.as_str()),
            "Check the addresses of both instances. If the machine was replaced, replace the instance: \
             `-replace` its kontinuum_instance.",
        ))),
        Stage::Foreign => Some(Step::Blocked(Blocker::new(
            format!("machine {:?} is configured by somebody else", member.name.as_str()),
            "Its certificates come from another cluster's authority. Reset it (talosctl reset, or boot the \
             installation medium and wipe the disk) so that it comes up in maintenance mode, then apply again.",
        ))),
        Stage::Running(running) if older(spec, running) => Some(Step::Blocked(Blocker::new(
            format!(
                "machine {:?} runs Talos {}, not {}: it was installed before and takes a configuration without a new \
                 installation",
                member.name.as_str(),
                running.version,
                spec.talos_version
            ),
            "Reset it so that it is installed anew, upgrade it with talosctl, or set talos_version to what it runs.",
        ))),
        Stage::Running(running) if !running.configuration_current && is_up(running) => {
            Some(Step::Act(vec![Action::Reconfigure(member.uid.clone())]))
        }
        Stage::Running(_) | Stage::Installing { .. } | Stage::ClockOff { .. } | Stage::Unreachable { .. } => {
            None
        }
    }
}

fn install_failed(member: &Member, error: Option<&str>) -> Blocker {
    let said =
        error.map_or_else(|| "it told no error".to_owned(), |error| format!("its last error: {error}"));
    Blocker::new(
        format!(
            "machine {:?} came back in maintenance mode after each of {INSTALL_TRIES} installations; {said}",
            member.name.as_str()
        ),
        "Check that it reaches the image factory (factory.talos.dev, tcp/443) or your mirror, that the install disk \
         can be written, and that the firmware boots from it. Then apply again.",
    )
}

/// An installer older than what is asked for is never right; a newer one was chosen by hand and is left alone.
fn older(spec: &Spec, running: &Running) -> bool {
    running.version < spec.talos_version && running.stage != "installing" && running.stage != "rebooting"
}

fn is_up(running: &Running) -> bool {
    matches!(running.stage.as_str(), "booting" | "running")
}

/// What is missing until a machine is up with its configuration.
fn waiting_to_run(seen: &Observed, member: &Member) -> Option<Waiting> {
    let name = member.name.clone();
    let Some(stage) = seen.machines.get(&member.uid) else {
        return Some(Waiting::Silent { name, why: "it was not looked at yet".to_owned() });
    };
    match stage {
        Stage::Running(running) if !is_up(running) => {
            Some(Waiting::Stage { name, stage: running.stage.clone() })
        }
        Stage::Running(running) if running.time_in_sync == Some(false) => Some(Waiting::TimeSync { name }),
        Stage::Running(_) => None,
        Stage::ClockOff { why } => Some(Waiting::Clock { name, why: why.clone() }),
        Stage::Unreachable { why, long: true } => Some(Waiting::LongSilent { name, why: why.clone() }),
        Stage::Unreachable { why, long: false } => Some(Waiting::Silent { name, why: why.clone() }),
        Stage::Installing { why } => Some(Waiting::Installing { name, why: why.clone() }),
        Stage::Maintenance { .. } | Stage::OtherMachine { .. } | Stage::Foreign => {
            Some(Waiting::Installing { name, why: None })
        }
    }
}

fn bootstrapped(spec: &Spec, seen: &Observed) -> Option<Step> {
    let ours = spec.etcd.bootstrap_sent.is_some() || spec.secrets_given || spec.etcd.seen;
    if let Some(Seen::Present(_)) = &seen.etcd {
        return match (ours, spec.etcd.seen) {
            (false, _) => Some(Step::Blocked(earlier_data())),
            (true, false) => Some(Step::Act(vec![Action::RememberEtcd])),
            (true, true) => None,
        };
    }
    // Given secrets may belong to a cluster that stands: then a machine that this record never configured may hold its
    // etcd, too.
    let concerns = |member: &&Member| {
        spec.secrets_given || member.installs > 0 || seen.machines.get(&member.uid).is_some_and(is_running)
    };
    let services: Vec<_> =
        spec.control_planes().filter(concerns).map(|member| etcd_service(seen, member)).collect();
    let all_empty = !services.is_empty() && services.iter().all(|service| *service == EtcdService::Empty);
    if spec.etcd.seen {
        return Some(if all_empty {
            Step::Blocked(etcd_lost())
        } else {
            Step::Wait(etcd_unknown(seen, &services))
        });
    }
    let first = spec.bootstrap_member()?;
    // Before any request was recorded, no etcd of this cluster can exist anywhere: the first member's word is enough.
    let may = if ours { all_empty } else { etcd_service(seen, first) == EtcdService::Empty };
    if !ours && services.contains(&EtcdService::Started) {
        return Some(Step::Blocked(earlier_data()));
    }
    Some(if may {
        Step::Act(vec![Action::BootstrapEtcd(first.uid.clone())])
    } else {
        Step::Wait(etcd_unknown(seen, &services))
    })
}

fn is_running(stage: &Stage) -> bool {
    matches!(stage, Stage::Running(_))
}

fn etcd_service(seen: &Observed, member: &Member) -> EtcdService {
    match seen.machines.get(&member.uid) {
        Some(Stage::Running(running)) => running.etcd.clone(),
        _ => EtcdService::Unknown(format!("machine {:?} can't be asked", member.name.as_str())),
    }
}

fn etcd_unknown(seen: &Observed, services: &[EtcdService]) -> Waiting {
    let said = services.iter().find_map(|service| match service {
        EtcdService::Unknown(why) => Some(why.clone()),
        EtcdService::Started | EtcdService::Empty => None,
    });
    let why = said.or_else(|| match &seen.etcd {
        Some(Seen::Unknown(why)) => Some(why.clone()),
        Some(Seen::Present(_) | Seen::Absent) | None => None,
    });
    Waiting::EtcdUnknown { why: why.unwrap_or_else(|| "it is starting".to_owned()) }
}

fn earlier_data() -> Blocker {
    Blocker::new(
        "a control-plane machine holds etcd data of an earlier cluster, and this one was never bootstrapped",
        "Reset that machine with its EPHEMERAL partition (talosctl reset --system-labels-to-wipe STATE,EPHEMERAL \
         --reboot), or give the earlier cluster's `machine_secrets` to take it over. Nothing was bootstrapped.",
    )
}

fn etcd_lost() -> Blocker {
    Blocker::new(
        "etcd was seen before, and now every control plane says that it has no data",
        "It is not bootstrapped a second time, since that would start an empty cluster under the same name. Recover \
         it from a snapshot (talosctl bootstrap --recover-from), or destroy the cluster and create it anew.",
    )
}

fn control_planes(spec: &Spec, seen: &Observed) -> Option<Step> {
    let waiting = spec.control_planes().find_map(|member| waiting_to_run(seen, member));
    if let Some(waiting) = waiting {
        return Some(Step::Wait(waiting));
    }
    let members = seen.etcd.as_ref().and_then(Seen::present)?;
    spec.control_planes()
        .find(|member| !votes(members, member))
        .map(|member| Step::Wait(Waiting::EtcdJoin { name: member.name.clone() }))
}

fn api_server(seen: &Observed) -> Option<Step> {
    let missing = |look: &Option<Seen<()>>| match look {
        Some(Seen::Present(())) => None,
        Some(Seen::Unknown(why)) => Some(why.clone()),
        Some(Seen::Absent) | None => Some("it was not asked yet".to_owned()),
    };
    if let Some(why) = missing(&seen.api_server) {
        return Some(Step::Wait(Waiting::ApiServer { why }));
    }
    missing(&seen.endpoint).map(|why| Step::Wait(Waiting::Endpoint { why }))
}

fn addon<'a>(addon: &Addon, seen: &'a Observed) -> Result<&'a AddonSeen, Step> {
    seen.addons.get(addon).ok_or_else(|| {
        let why = "it was not looked at yet".to_owned();
        Step::Wait(Waiting::AddonUnknown { addon: addon.clone(), why })
    })
}

fn installed(which: &Addon, seen: &Observed) -> Option<Step> {
    match addon(which, seen) {
        Err(step) => Some(step),
        Ok(found) => match &found.installed {
            Seen::Present(()) => None,
            Seen::Absent => Some(Step::Act(vec![Action::InstallAddon(which.clone())])),
            Seen::Unknown(why) => {
                Some(Step::Wait(Waiting::AddonUnknown { addon: which.clone(), why: why.clone() }))
            }
        },
    }
}

fn healthy(which: &Addon, seen: &Observed) -> Option<Step> {
    match addon(which, seen) {
        Err(step) => Some(step),
        Ok(found) => found
            .unhealthy
            .as_ref()
            .map(|why| Step::Wait(Waiting::AddonHealth { addon: which.clone(), why: why.clone() })),
    }
}

/// One after the other: what depends on an addon goes before it.
fn leaving(spec: &Spec) -> Option<Step> {
    spec.leaving.first().map(|addon| Step::Act(vec![Action::RemoveAddon(addon.clone())]))
}

/// The user's own addons, in waves: each as soon as all that it depends on is healthy, those of one wave together.
fn addons(early: bool, spec: &Spec, seen: &Observed) -> Option<Step> {
    let missing = |addon: &Addon| installed(addon, seen).or_else(|| healthy(addon, seen));
    let mut actions = Vec::new();
    let mut waiting = None;
    for further in spec.addons.iter().filter(|further| further.before_health == early) {
        let step = match further.depends_on.iter().find_map(missing) {
            // What it depends on is applied at its own turn.
            Some(Step::Act(_)) => continue,
            Some(step) => Some(step),
            None => missing(&further.addon),
        };
        match step {
            Some(Step::Act(more)) => actions.extend(more),
            Some(step) => drop(waiting.get_or_insert(step)),
            None => {}
        }
    }
    if actions.is_empty() { waiting } else { Some(Step::Act(actions)) }
}

fn health(spec: &Spec, seen: &Observed) -> Option<Step> {
    match &seen.health {
        Some(Seen::Present(())) if spec.bootstrapped => None,
        Some(Seen::Present(())) => Some(Step::Act(vec![Action::RememberBootstrapped])),
        Some(Seen::Unknown(why)) => Some(Step::Wait(Waiting::Health { why: why.clone() })),
        Some(Seen::Absent) | None => {
            Some(Step::Wait(Waiting::Health { why: "the check has not run yet".to_owned() }))
        }
    }
}

/// Configures workers; one that can't be is no obstacle here, but shows at the last gate.
fn workers(spec: &Spec, seen: &Observed) -> Option<Step> {
    let actions: Vec<_> = spec
        .workers()
        .filter_map(|member| match configuration_step(spec, seen, member) {
            Some(Step::Act(actions)) => Some(actions),
            Some(Step::Blocked(_) | Step::Wait(_) | Step::Done) | None => None,
        })
        .flatten()
        .collect();
    if actions.is_empty() {
        return None;
    }
    let actions = one_change_at_a_time(actions);
    let waiting = changing(&actions).and_then(|changed| unproven(spec, seen, changed));
    Some(waiting.map_or(Step::Act(actions), Step::Wait))
}

fn everything(spec: &Spec, seen: &Observed) -> Option<Step> {
    let approvable = serving_certificates::approvable(spec, seen);
    if !approvable.is_empty() {
        return Some(Step::Act(vec![Action::ApproveServingCertificates(approvable)]));
    }
    shortcomings(spec, seen).into_iter().next().map(Step::Wait)
}

/// What is missing until every expected node is Ready: the last gate's wait, and the warnings when time is up.
#[must_use]
pub fn shortcomings(spec: &Spec, seen: &Observed) -> Vec<Waiting> {
    let mut missing: Vec<Waiting> = Vec::new();
    for member in spec.members.iter().filter(|member| member.role == Role::Worker) {
        match configuration_step(spec, seen, member) {
            Some(Step::Blocked(blocker)) => {
                missing.push(Waiting::Silent { name: member.name.clone(), why: blocker.cause });
            }
            Some(Step::Act(_) | Step::Wait(_) | Step::Done) | None => {
                missing.extend(waiting_to_run(seen, member));
            }
        }
    }
    match &seen.nodes {
        Some(Seen::Present(nodes)) => missing.extend(spec.members.iter().filter_map(|member| {
            let why = match nodes.get(member.hostname.as_str()) {
                None => Some("it has not registered with the API server".to_owned()),
                Some(node) => node.not_ready.clone(),
            };
            why.map(|why| Waiting::Node { hostname: member.hostname.clone(), why })
        })),
        Some(Seen::Unknown(why)) => missing.push(Waiting::Workloads { why: why.clone() }),
        Some(Seen::Absent) | None => {
            missing.push(Waiting::Workloads { why: "the nodes were not looked at yet".to_owned() });
        }
    }
    missing.extend(serving_certificates::shortcomings(spec, seen));
    missing.extend(seen.rest_unhealthy.iter().map(|why| Waiting::Workloads { why: why.clone() }));
    missing
}
