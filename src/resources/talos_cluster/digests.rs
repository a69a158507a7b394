//! What a cluster's attributes say of each machine's configuration, as one short text that changes when they do.
//!
//! A pure function of the attributes, so that a plan can show it. What a machine's own resource says is in it as far as its
//! pool lists it in `instances`; what the machine itself contributes (its disks) is not.

use std::collections::BTreeMap;

use super::model::{Cluster, Machine, PoolReference};
use crate::domain::digest::short as digest;
use crate::plugin::{Attr, List, Map};

impl Cluster {
    /// The digests by machine; unknown as long as anything about them is.
    pub(super) fn digests(&self) -> Attr<Map<String>> {
        self.try_digests().map_or(Attr::Unknown, |digests| digests.into_iter().collect())
    }

    /// What the machines' own resources say of their configurations, by machine, as far as their pools know it.
    pub(super) fn instance_digests(&self) -> BTreeMap<String, Attr<String>> {
        let plane = self.control_plane.known().map(|plane| &plane.pool);
        let workers = self.workers.known().into_iter().flat_map(|workers| workers.values());
        let pools = plane.into_iter().chain(workers.filter_map(|entry| Some(&entry.known()?.pool)));
        let members = pools.filter_map(|pool| pool.known()?.members.known()).flatten();
        members
            .filter_map(|member| {
                let member = member.known()?;
                Some((member.name.known()?.clone(), member.configuration_digest.clone()))
            })
            .collect()
    }

    fn try_digests(&self) -> Option<Vec<(String, String)>> {
        let cilium = match &self.cilium {
            Attr::Known(addon) => known(&addon.enabled)?.unwrap_or(true),
            Attr::Null => true,
            Attr::Unknown => return None,
        };
        let version =
            |attr: &Attr<String>| Some(known(attr)?.unwrap_or_default().trim_start_matches('v').to_owned());
        let mut common = vec![
            version(&self.talos_version)?,
            version(&self.kubernetes_version)?,
            known(&self.vip)?.unwrap_or_default(),
            cilium.to_string(),
            texts(&self.config_patches)?,
        ];
        // Said only where it is on: a cluster from before there was this choice has the same digest.
        if known(&self.approve_kubelet_serving_certificates)?.unwrap_or(false) {
            common.push("serving certificates".to_owned());
        }
        let mut digests = Vec::new();
        let mut add = |pool: &Attr<PoolReference>, own: &[String]| -> Option<()> {
            let shared = [common.clone(), own.to_vec()].concat();
            for (name, instance) in members(pool)? {
                let texts: Vec<&String> = shared.iter().chain(&instance).collect();
                digests.push((name, digest(&texts)));
            }
            Some(())
        };
        match &self.control_plane {
            Attr::Unknown => return None,
            Attr::Null => {}
            Attr::Known(plane) => {
                add(
                    &plane.pool,
                    &["control-plane".to_owned(), texts(&plane.config_patches)?, plane.image.text()?],
                )?;
            }
        }
        match &self.workers {
            Attr::Unknown => return None,
            Attr::Null => {}
            Attr::Known(workers) => {
                for entry in workers.values() {
                    let entry = known(entry)?.unwrap_or_default();
                    let own = [
                        "worker".to_owned(),
                        texts(&entry.config_patches)?,
                        pairs(&entry.node_labels)?,
                        pairs(&entry.node_taints)?,
                        entry.image.text()?,
                    ];
                    add(&entry.pool, &own)?;
                }
            }
        }
        Some(digests)
    }
}

/// `None` for what is unknown.
fn known<T: Clone>(attr: &Attr<T>) -> Option<Option<T>> {
    match attr {
        Attr::Unknown => None,
        Attr::Null => Some(None),
        Attr::Known(value) => Some(Some(value.clone())),
    }
}

/// A pool's machines, each with the digest of what its own resource says, where the pool knows that.
fn members(pool: &Attr<PoolReference>) -> Option<Vec<(String, Option<String>)>> {
    let Some(pool) = known(pool)? else { return Some(Vec::new()) };
    let members = known(&pool.members)?.unwrap_or_default();
    let member = |member: &Attr<Machine>| {
        let member = known(member)?.unwrap_or_default();
        Some((known(&member.name)?.unwrap_or_default(), known(&member.configuration_digest)?))
    };
    members.iter().map(member).collect()
}

fn texts(list: &Attr<List<String>>) -> Option<String> {
    let items = known(list)?.unwrap_or_default();
    let items: Option<Vec<String>> =
        items.iter().map(|item| Some(known(item)?.unwrap_or_default())).collect();
    Some(digest(&items?))
}

fn pairs(map: &Attr<Map<String>>) -> Option<String> {
    let items = known(map)?.unwrap_or_default();
    let items: Option<Vec<String>> = items
        .iter()
        .map(|(key, value)| Some(format!("{key}={}", known(value)?.unwrap_or_default())))
        .collect();
    Some(digest(&items?))
}
