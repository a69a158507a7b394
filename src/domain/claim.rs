//! Which machines a pool takes, and which it gives back.

use std::collections::BTreeMap;

use super::machine::Identity;
use super::names::{Label, Uid};
use super::record::{InstanceRecord, PoolRecord, Work};

/// A machine as the inventory holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The record's name.
    pub name: Label,
    /// The record's uid.
    pub uid: Uid,
    /// The record's body.
    pub record: InstanceRecord,
}

/// Whether a pool can take a machine, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidacy {
    /// It can be claimed now.
    Free,
    /// It belongs to this pool already.
    Member,
    /// It matches, but has not answered yet.
    Undiscovered,
    /// It is not among the pool's candidates.
    NotListed,
    /// Its labels don't match.
    NotSelected,
    /// Another pool holds it.
    ClaimedBy(Uid),
    /// It was let go and not yet seen clean.
    Fenced(String),
    /// It is the same machine as another record.
    SameMachineAs(Label),
}

impl std::fmt::Display for Candidacy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Free => f.write_str("can be claimed"),
            Self::Member => f.write_str("is claimed by this pool"),
            Self::Undiscovered => f.write_str("has not answered in Talos maintenance mode yet"),
            Self::NotListed => f.write_str("is not among the pool's `instances`"),
            Self::NotSelected => f.write_str("has labels that the pool's `selector` does not match"),
            Self::ClaimedBy(pool) => write!(f, "is claimed by another pool (uid {pool})"),
            Self::Fenced(left) => {
                write!(f, "is fenced until it is seen in Talos maintenance mode again: {left}")
            }
            Self::SameMachineAs(other) => write!(f, "is the same machine as instance {other:?}"),
        }
    }
}

/// Judges every machine for one pool, sorted by name.
#[must_use]
pub fn judge(pool: &Uid, spec: &PoolRecord, machines: &[Machine]) -> Vec<(Label, Candidacy)> {
    let owners = owners_by_identity(machines);
    let mut judged: Vec<_> = machines
        .iter()
        .map(|machine| (machine.name.clone(), judge_one(pool, spec, machine, &owners)))
        .collect();
    judged.sort_by(|a, b| a.0.cmp(&b.0));
    judged
}

fn judge_one(pool: &Uid, spec: &PoolRecord, machine: &Machine, owners: &Owners) -> Candidacy {
    let record = &machine.record;
    if let Some(claim) = &record.claim {
        let ours = claim.pool == *pool;
        return if ours { Candidacy::Member } else { Candidacy::ClaimedBy(claim.pool.clone()) };
    }
    let listed = spec.instances.as_ref().is_none_or(|listed| listed.get(&machine.name) == Some(&machine.uid));
    if !listed {
        return Candidacy::NotListed;
    }
    if spec.selector.as_ref().is_some_and(|selector| !selector.matches(&record.labels)) {
        return Candidacy::NotSelected;
    }
    if let Work::Fenced { left_behind } = &record.work {
        return Candidacy::Fenced(left_behind.clone());
    }
    let identity = record.facts.as_ref().and_then(|facts| facts.identity());
    let first = identity.and_then(|identity| owners.get(&identity).cloned());
    if let Some(first) = first.filter(|first| *first != machine.name) {
        return Candidacy::SameMachineAs(first);
    }
    if spec.require_discovered && !is_discovered(record) { Candidacy::Undiscovered } else { Candidacy::Free }
}

type Owners = BTreeMap<Identity, Label>;

/// Which record speaks for a machine that stands under several names: the claimed one, else the first by name.
fn owners_by_identity(machines: &[Machine]) -> Owners {
    let mut sorted: Vec<&Machine> = machines.iter().collect();
    sorted.sort_by_key(|machine| (machine.record.claim.is_none(), machine.name.clone()));
    let mut owners = Owners::new();
    for machine in sorted {
        if let Some(identity) = machine.record.facts.as_ref().and_then(|facts| facts.identity()) {
            owners.entry(identity).or_insert_with(|| machine.name.clone());
        }
    }
    owners
}

/// Whether the machine's last look found it in maintenance mode, or it was found so before it was claimed.
#[must_use]
pub fn is_discovered(record: &InstanceRecord) -> bool {
    record.facts.is_some()
        && record.conditions.iter().any(|condition| {
            condition.kind == "Discovered" && condition.status == super::condition::Status::True
        })
}

/// Which members a pool gives back when it wants fewer: the highest names.
#[must_use]
pub fn surplus(members: &[Label], replicas: u32) -> Vec<Label> {
    let mut sorted = members.to_vec();
    sorted.sort();
    sorted.split_off((replicas as usize).min(sorted.len()))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::condition::{Condition, Status};
    use super::super::machine::Facts;
    use super::super::names::Address;
    use super::super::record::Claim;
    use super::super::selector::{Labels, Selector};
    use super::*;

    fn machine(name: &str, uuid: Option<&str>) -> Machine {
        let facts = uuid.map(|uuid| Facts {
            address: Address::parse("10.0.0.1").unwrap(),
            talos_version: "v1.13.9".into(),
            uuid: uuid.into(),
            serial_number: String::new(),
            links: vec![],
            disks: vec![],
            processor_count: 1,
            memory_bytes: 1,
            secure_boot: false,
            schematic: String::new(),
        });
        let conditions = facts.iter().map(|_| Condition {
            kind: "Discovered".into(),
            status: Status::True,
            reason: "Discovered".into(),
            message: String::new(),
            last_transition_time: jiff::Timestamp::UNIX_EPOCH,
        });
        let record = InstanceRecord {
            interfaces: vec![Address::parse("10.0.0.1").unwrap()],
            hostname: None,
            labels: Labels::from([("role".to_owned(), "cp".to_owned())]),
            install_disk: None,
            config_patches: vec![],
            certificate_fingerprint: None,
            conditions: conditions.collect(),
            facts,
            claim: None,
            work: Work::Untouched,
            acknowledged: true,
        };
        Machine { name: Label::parse(name).unwrap(), uid: Uid::new(format!("uid-{name}")), record }
    }

    fn pool() -> PoolRecord {
        let selector = Selector::new(Labels::from([("role".to_owned(), "cp".to_owned())]), vec![]).unwrap();
        PoolRecord {
            instances: None,
            selector: Some(selector),
            replicas: 3,
            require_discovered: true,
            conditions: vec![],
            acknowledged: false,
        }
    }

    fn verdict(spec: &PoolRecord, machines: &[Machine], name: &str) -> Candidacy {
        let judged = judge(&Uid::new("p"), spec, machines);
        judged.into_iter().find(|(label, _)| label.as_str() == name).unwrap().1
    }

    #[test]
    fn a_discovered_machine_with_matching_labels_is_free() {
        assert_eq!(verdict(&pool(), &[machine("a", Some("u1"))], "a"), Candidacy::Free);
    }

    #[test]
    fn a_silent_machine_waits_unless_the_pool_takes_undiscovered_ones() {
        let machines = [machine("a", None)];
        assert_eq!(verdict(&pool(), &machines, "a"), Candidacy::Undiscovered);
        let spec = PoolRecord { require_discovered: false, ..pool() };
        assert_eq!(verdict(&spec, &machines, "a"), Candidacy::Free);
    }

    #[test]
    fn a_foreign_claim_and_a_fence_are_respected() {
        let mut claimed = machine("a", Some("1f"));
        claimed.record.claim = Some(Claim { pool: Uid::new("other") });
        let mut fenced = machine("b", Some("2f"));
        fenced.record.work = Work::Fenced { left_behind: "etcd data".into() };
        let machines = [claimed, fenced];
        assert_eq!(verdict(&pool(), &machines, "a"), Candidacy::ClaimedBy(Uid::new("other")));
        assert_eq!(verdict(&pool(), &machines, "b"), Candidacy::Fenced("etcd data".into()));
    }

    #[test]
    fn a_claim_outlives_a_change_of_labels() {
        let mut member = machine("a", Some("1f"));
        member.record.claim = Some(Claim { pool: Uid::new("p") });
        member.record.labels.clear();
        assert_eq!(verdict(&pool(), &[member], "a"), Candidacy::Member);
    }

    #[test]
    fn one_machine_under_two_names_is_claimed_once() {
        let mut machines = [machine("a", Some("1f")), machine("b", Some("1F"))];
        assert_eq!(verdict(&pool(), &machines, "a"), Candidacy::Free);
        assert!(
            matches!(verdict(&pool(), &machines, "b"), Candidacy::SameMachineAs(other) if other.as_str() == "a")
        );
        machines[1].record.claim = Some(Claim { pool: Uid::new("other") });
        assert!(
            matches!(verdict(&pool(), &machines, "a"), Candidacy::SameMachineAs(other) if other.as_str() == "b")
        );
    }

    #[test]
    fn a_listed_name_with_another_uid_is_another_machine() {
        let listed = BTreeMap::from([(Label::parse("a").unwrap(), Uid::new("old"))]);
        let spec = PoolRecord { instances: Some(listed), selector: None, ..pool() };
        assert_eq!(verdict(&spec, &[machine("a", Some("1f"))], "a"), Candidacy::NotListed);
    }

    #[test]
    fn the_highest_names_go_first() {
        let names: Vec<Label> = ["b", "c", "a"].iter().map(|name| Label::parse(name).unwrap()).collect();
        let gone: Vec<_> = surplus(&names, 1).iter().map(ToString::to_string).collect();
        assert_eq!(gone, ["b", "c"]);
        assert!(surplus(&names, 9).is_empty());
    }
}
