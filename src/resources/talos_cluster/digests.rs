//! What a cluster's attributes say of each machine's configuration, as one short text that changes when they do.
//!
//! A pure function of the attributes, so that a plan can show it: what a machine itself contributes (its disks, its own
//! patches) is not in it.

use sha2::{Digest as _, Sha256};

use super::model::{Cluster, Machine, PoolReference};
use crate::domain::record::InstanceRecord;
use crate::plugin::{Attr, List, Map};

impl Cluster {
    /// The digests by machine; unknown as long as anything about them is.
    pub(super) fn digests(&self) -> Attr<Map<String>> {
        self.try_digests().map_or(Attr::Unknown, |digests| digests.into_iter().collect())
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
            let digest = digest(&[common.clone(), own.to_vec()].concat());
            for name in names(pool)? {
                digests.push((name, digest.clone()));
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

/// A digest of what a machine's own resource contributes to its configuration.
pub(super) fn of_instance(record: &InstanceRecord) -> String {
    let patches = record.config_patches.clone();
    let names: Vec<String> = record.interfaces.iter().map(ToString::to_string).collect();
    let hostname = record.hostname.as_ref().map(ToString::to_string).unwrap_or_default();
    // A missing disk and one without criteria choose alike.
    let disk = record.install_disk.as_ref().map(|disk| format!("{disk:?}")).unwrap_or_default();
    digest(&[digest(&patches), digest(&names), hostname, disk])
}

/// `None` for what is unknown.
fn known<T: Clone>(attr: &Attr<T>) -> Option<Option<T>> {
    match attr {
        Attr::Unknown => None,
        Attr::Null => Some(None),
        Attr::Known(value) => Some(Some(value.clone())),
    }
}

fn names(pool: &Attr<PoolReference>) -> Option<Vec<String>> {
    let Some(pool) = known(pool)? else { return Some(Vec::new()) };
    let members = known(&pool.members)?.unwrap_or_default();
    let name = |member: &Attr<Machine>| known(&known(member)?.unwrap_or_default().name)?;
    members.iter().map(name).collect()
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

/// Sixteen hexadecimal digits of SHA-256: enough to tell, short enough to read.
fn digest(texts: &[String]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
