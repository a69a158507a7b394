//! What a changed pool will look like: known where it shrinks or stays, unknown where it may grow.

use std::collections::BTreeMap;

use super::model::{Member, Pool};
use crate::domain::claim::surplus;
use crate::domain::names::Label;
use crate::plugin::{Attr, List};

/// What a plan says of the members.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Planned {
    /// They stay as they are.
    Unchanged,
    /// These stay, the others are released.
    Shrunk(Vec<Member>),
    /// It may grow, or a member may be another machine.
    Open,
}

/// Judges a change. `free`: whether Read saw a machine that a short pool could claim.
pub(super) fn members(prior: &Pool, planned: &Pool, free: bool) -> Planned {
    let Some(current) = prior.members.known_items() else { return Planned::Open };
    let current: Vec<Member> = current.into_iter().cloned().collect();
    let Some(replicas) = planned.replicas.known().and_then(|count| u32::try_from(*count).ok()) else {
        return Planned::Open;
    };
    if replaced(&current, planned) {
        return Planned::Open;
    }
    let count = u32::try_from(current.len()).unwrap_or(u32::MAX);
    if replicas > count {
        let asked = prior.replicas != planned.replicas
            || prior.instances != planned.instances
            || prior.selector != planned.selector
            || prior.require_discovered != planned.require_discovered;
        return if asked || free { Planned::Open } else { Planned::Unchanged };
    }
    if replicas == count {
        return Planned::Unchanged;
    }
    let names: Vec<Label> =
        current.iter().filter_map(|member| Label::parse(member.name.known()?).ok()).collect();
    let going = surplus(&names, replicas);
    let stays = |member: &Member| {
        member.name.known().is_some_and(|name| !going.iter().any(|label| label.as_str() == name))
    };
    Planned::Shrunk(current.into_iter().filter(stays).collect())
}

/// Whether a member is, or may become, another machine: its entry in `instances` has another uid, or none yet.
fn replaced(current: &[Member], planned: &Pool) -> bool {
    let entries = match &planned.instances {
        Attr::Null => return false,
        Attr::Unknown => return true,
        Attr::Known(entries) => entries,
    };
    let mut listed: BTreeMap<&str, Option<&String>> = BTreeMap::new();
    for entry in entries.values() {
        let Some(reference) = entry.known() else { return true };
        let Some(name) = reference.name.known() else { return true };
        listed.insert(name, reference.uid.known());
    }
    current.iter().any(|member| {
        let name = member.name.known().map(String::as_str).unwrap_or_default();
        match listed.get(name) {
            // No longer a candidate: a claim is sticky as long as its machine exists, which apply will see.
            None => true,
            Some(uid) => *uid != member.uid.known(),
        }
    })
}

/// Writes the judgement into the planned object.
pub(super) fn apply(judged: Planned, planned: &mut Pool) {
    let with_digests = |members: Vec<Member>, planned: &Pool| -> Attr<List<Member>> {
        let digest =
            |member: &Member| member.name.known().map(|name| planned.digest_of(name)).unwrap_or_default();
        members.into_iter().map(|member| Member { configuration_digest: digest(&member), ..member }).collect()
    };
    match judged {
        Planned::Unchanged => {
            if let Some(members) = planned.members.known_items() {
                let members = members.into_iter().cloned().collect();
                planned.members = with_digests(members, planned);
            }
        }
        Planned::Shrunk(members) => {
            planned.members = with_digests(members, planned);
            planned.ready_replicas = Attr::Unknown;
            planned.conditions = Attr::Unknown;
        }
        Planned::Open => {
            planned.members = Attr::Unknown;
            planned.ready_replicas = Attr::Unknown;
            planned.conditions = Attr::Unknown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::Reference;
    use super::*;

    fn member(name: &str) -> Member {
        Member {
            name: name.into(),
            uid: format!("uid-{name}").as_str().into(),
            configuration_digest: format!("digest-{name}").as_str().into(),
        }
    }

    fn pool(replicas: i64, members: &[&str]) -> Pool {
        let instances = members.iter().map(|name| {
            (
                (*name).to_owned(),
                Reference {
                    name: (*name).into(),
                    uid: format!("uid-{name}").as_str().into(),
                    configuration_digest: format!("digest-{name}").as_str().into(),
                },
            )
        });
        Pool {
            name: "p".into(),
            replicas: replicas.into(),
            instances: instances.collect(),
            members: members.iter().map(|name| member(name)).collect(),
            ..Pool::default()
        }
    }

    #[test]
    fn a_shrinking_pool_says_who_stays() {
        let (prior, planned) = (pool(3, &["a", "b", "c"]), pool(1, &["a", "b", "c"]));
        assert_eq!(members(&prior, &planned, false), Planned::Shrunk(vec![member("a")]));
    }

    #[test]
    fn a_growing_pool_is_open() {
        assert_eq!(members(&pool(1, &["a"]), &pool(3, &["a"]), false), Planned::Open);
    }

    #[test]
    fn a_short_pool_plans_an_update_only_when_there_is_a_free_machine() {
        let short = pool(3, &["a"]);
        assert_eq!(members(&short, &short, false), Planned::Unchanged);
        assert_eq!(members(&short, &short, true), Planned::Open);
    }

    #[test]
    fn a_replaced_machine_opens_the_members() {
        let prior = pool(1, &["a"]);
        let mut planned = pool(1, &["a"]);
        if let Some(entries) = planned.instances.known_mut() {
            for entry in entries.values_mut() {
                *entry = Reference { name: "a".into(), uid: Attr::Unknown, ..Reference::default() }.into();
            }
        }
        assert_eq!(members(&prior, &planned, false), Planned::Open);
    }
}
