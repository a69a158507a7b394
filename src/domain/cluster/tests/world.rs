//! A small world in which actions take effect, and take their time.

use std::collections::BTreeSet;

use super::*;
use crate::domain::cluster::conditions::verdicts;

/// How often a walk looks at most: more is a loop without end.
const TURNS: usize = 200;

/// What goes wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    /// How many installations of a machine fail.
    pub(super) failing_installs: BTreeMap<Uid, u32>,
    /// How many bootstrap requests are lost by a reboot.
    pub(super) lost_bootstraps: u32,
    /// Machines that are never heard again after they took their configuration.
    pub(super) silent: BTreeSet<Uid>,
    /// The turns in which nothing but the machines in maintenance mode can be looked at.
    pub(super) blind: BTreeSet<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Machine {
    Maintenance,
    Installing,
    Rebooting,
    Up,
    Silent,
}

/// The world, and what was seen and done in it.
pub(super) struct World {
    pub(super) spec: Spec,
    pub(super) trace: Vec<String>,
    pub(super) conditions: Vec<String>,
    /// How many etcd clusters came to be.
    pub(super) formed: u32,
    /// Everything that was done, in its order.
    pub(super) acts: Vec<Action>,
    faults: Faults,
    machines: BTreeMap<Uid, Machine>,
    etcd: BTreeSet<Uid>,
    addons: BTreeMap<Addon, bool>,
    failed_installs: BTreeMap<Uid, u32>,
}

impl World {
    pub(super) fn new(spec: Spec, faults: Faults) -> Self {
        let machines = spec.members.iter().map(|member| (member.uid.clone(), Machine::Maintenance)).collect();
        Self {
            spec,
            trace: Vec::new(),
            conditions: Vec::new(),
            formed: 0,
            acts: Vec::new(),
            faults,
            machines,
            etcd: BTreeSet::new(),
            addons: BTreeMap::new(),
            failed_installs: BTreeMap::new(),
        }
    }

    /// Looks, decides and acts until done or blocked, or until a wait that nothing ends.
    pub(super) fn walk(mut self) -> Self {
        for turn in 0..TURNS {
            let evaluation = evaluate(&self.spec, &self.look(turn));
            self.note(&evaluation);
            match evaluation.step {
                Step::Done | Step::Blocked(_) => return self,
                Step::Act(actions) => actions.into_iter().for_each(|action| self.act(action)),
                Step::Wait(_) => {
                    let before = self.clock_hands();
                    self.advance();
                    if before == self.clock_hands() && self.faults.blind.range(turn..).next().is_none() {
                        self.trace.push("(nothing moves any more)".to_owned());
                        return self;
                    }
                }
            }
        }
        self.trace.push("(no end)".to_owned());
        self
    }

    fn clock_hands(&self) -> (BTreeMap<Uid, Machine>, BTreeSet<Uid>, BTreeMap<Addon, bool>) {
        (self.machines.clone(), self.etcd.clone(), self.addons.clone())
    }

    fn note(&mut self, evaluation: &Evaluation) {
        let line = line(evaluation);
        let line = short(&line).to_owned();
        if self.trace.last() != Some(&line) {
            self.trace.push(line);
        }
        for verdict in verdicts(&self.spec, evaluation, None) {
            let text = format!("{} {}/{}", verdict.kind, verdict.status, verdict.reason);
            let last =
                self.conditions.iter().rev().find(|said| said.starts_with(&format!("{} ", verdict.kind)));
            if last != Some(&text) {
                self.conditions.push(text);
            }
        }
    }

    fn look(&self, turn: usize) -> Observed {
        let blind = self.faults.blind.contains(&turn);
        let machines =
            self.machines.iter().map(|(uid, machine)| (uid.clone(), self.stage(uid, machine, blind)));
        let names = |uids: &BTreeSet<Uid>| -> Vec<String> {
            self.spec
                .members
                .iter()
                .filter(|member| uids.contains(&member.uid))
                .map(|m| m.hostname.to_string())
                .collect()
        };
        let etcd_names = names(&self.etcd);
        let etcd = if blind || etcd_names.is_empty() {
            unknown("no control plane runs etcd")
        } else {
            etcd_of(&etcd_names.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let answers = || {
            if blind || self.etcd.is_empty() {
                unknown("connection refused")
            } else {
                Some(Seen::Present(()))
            }
        };
        let healthy = |addon| self.addons.get(&addon) == Some(&true);
        let seen_as = |addon| {
            let installed = match (blind, self.addons.contains_key(&addon)) {
                (true, _) => Seen::Unknown("timed out".to_owned()),
                (false, true) => Seen::Present(()),
                (false, false) => Seen::Absent,
            };
            AddonSeen { installed, unhealthy: (!healthy(addon)).then(|| "pods are starting".to_owned()) }
        };
        let control_planes_up = self.spec.control_planes().all(|member| self.etcd.contains(&member.uid))
            && healthy(Addon::Cilium);
        let health =
            if control_planes_up && !blind { Some(Seen::Present(())) } else { unknown("kubelet is not up") };
        Observed {
            machines: machines.collect(),
            etcd,
            api_server: answers(),
            endpoint: answers(),
            addons: [Addon::Cilium, Addon::CertManager].map(|addon| (addon.clone(), seen_as(addon))).into(),
            health,
            nodes: if blind { unknown("timed out") } else { Some(Seen::Present(self.nodes())) },
            serving_requests: None,
            rest_unhealthy: None,
        }
    }

    fn stage(&self, uid: &Uid, machine: &Machine, blind: bool) -> Stage {
        let etcd = if self.etcd.contains(uid) { EtcdService::Started } else { EtcdService::Empty };
        match machine {
            Machine::Maintenance => {
                let failed = self.failed_installs.contains_key(uid);
                Stage::Maintenance { install_error: failed.then(|| "no image".to_owned()) }
            }
            Machine::Installing => Stage::Installing { why: None },
            Machine::Rebooting | Machine::Silent => unreachable("connection refused"),
            Machine::Up if blind => unreachable("timed out"),
            Machine::Up => up(etcd),
        }
    }

    fn nodes(&self) -> BTreeMap<String, NodeSeen> {
        let up = |member: &&Member| self.machines.get(&member.uid) == Some(&Machine::Up);
        let network = self.addons.contains_key(&Addon::Cilium);
        let node = |member: &Member| {
            let not_ready = (!network).then(|| "no network".to_owned());
            (member.hostname.to_string(), NodeSeen { not_ready })
        };
        self.spec.members.iter().filter(up).map(node).collect()
    }

    /// Memory first, then the act, as whoever carries it out must do.
    fn act(&mut self, action: Action) {
        self.acts.push(action.clone());
        match action {
            Action::Configure(uid) => {
                self.spec.members.iter_mut().filter(|member| member.uid == uid).for_each(|m| {
                    m.installs += 1;
                    m.tries += 1;
                });
                self.machines.insert(uid, Machine::Installing);
            }
            Action::Reconfigure(_) => {}
            Action::BootstrapEtcd(uid) => {
                self.spec.etcd.bootstrap_sent = Some(uid.clone());
                if self.faults.lost_bootstraps > 0 {
                    self.faults.lost_bootstraps -= 1;
                    self.machines.insert(uid, Machine::Rebooting);
                } else {
                    self.formed += 1;
                    self.etcd = BTreeSet::from([uid]);
                }
            }
            Action::RememberEtcd => self.spec.etcd.seen = true,
            Action::InstallAddon(addon) => drop(self.addons.insert(addon, false)),
            Action::RemoveAddon(addon) => self.spec.leaving.retain(|leaving| *leaving != addon),
            Action::RememberBootstrapped => self.spec.bootstrapped = true,
            Action::ApproveServingCertificates(_) => {}
        }
    }

    /// Time passes: whatever is under way gets one step further.
    fn advance(&mut self) {
        let joining: Vec<Uid> = if self.etcd.is_empty() {
            Vec::new()
        } else {
            let up = |member: &&Member| self.machines.get(&member.uid) == Some(&Machine::Up);
            self.spec.control_planes().filter(up).map(|member| member.uid.clone()).collect()
        };
        self.etcd.extend(joining);
        self.addons.values_mut().for_each(|healthy| *healthy = true);
        for (uid, machine) in &mut self.machines {
            *machine = match machine {
                Machine::Installing if self.faults.silent.contains(uid) => Machine::Silent,
                Machine::Installing => match self.faults.failing_installs.get_mut(uid) {
                    Some(left) if *left > 0 => {
                        *left -= 1;
                        *self.failed_installs.entry(uid.clone()).or_default() += 1;
                        Machine::Maintenance
                    }
                    Some(_) | None => Machine::Rebooting,
                },
                Machine::Rebooting | Machine::Up => Machine::Up,
                Machine::Maintenance => Machine::Maintenance,
                Machine::Silent => Machine::Silent,
            };
        }
    }
}
