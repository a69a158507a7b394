//! `kontinuum_instances`: what the inventory holds, and who claims it.

use std::collections::BTreeMap;

use super::Clients;
use super::condition::{self, Condition};
use super::report::inventory_failed;
use crate::clients::inventory::Stored;
use crate::domain::names::Uid;
use crate::domain::record::{InstanceRecord, PoolRecord, Work};
use crate::plugin::{Attr, DataSource, Diagnostics, List, Map, Model, Operation, Visitor, computed};

/// All machines.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    inventory: Attr<String>,
    instances: Attr<List<Listed>>,
}

impl Model for Listing {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("inventory", "Where the inventory is."), &mut self.inventory);
        v.attribute(computed("instances", "Its machines, sorted by name."), &mut self.instances);
    }
}

/// A machine of the inventory.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    name: Attr<String>,
    uid: Attr<String>,
    address: Attr<String>,
    talos_version: Attr<String>,
    uuid: Attr<String>,
    labels: Attr<Map<String>>,
    claimed_by: Attr<String>,
    stage: Attr<String>,
    conditions: Attr<List<Condition>>,
}

impl Model for Listed {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "Its name."), &mut self.name);
        v.attribute(computed("uid", "Its identity."), &mut self.uid);
        v.attribute(computed("address", "The address that answered."), &mut self.address);
        v.attribute(computed("talos_version", "The Talos version that it booted."), &mut self.talos_version);
        v.attribute(computed("uuid", "The SMBIOS UUID."), &mut self.uuid);
        v.attribute(
            computed(
                "labels",
                "Its labels; `kontinuum.sh/claimed-by` is the uid of the pool that claims it.",
            ),
            &mut self.labels,
        );
        v.attribute(computed("claimed_by", "The name of the pool that claims it."), &mut self.claimed_by);
        v.attribute(
            computed("stage", "`Free`, `Claimed`, `Configured`, or `Fenced` (let go, but not seen clean)."),
            &mut self.stage,
        );
        v.attribute(computed("conditions", condition::DESCRIPTION), &mut self.conditions);
    }
}

/// The data source.
#[derive(Debug)]
pub struct InstanceListing;

impl DataSource for InstanceListing {
    type Model = Listing;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_instances";
    const DESCRIPTION: &'static str = "What the inventory holds: every machine, and who claims it.";

    async fn read(
        &self,
        mut config: Listing,
        operation: &Operation<Clients>,
    ) -> Result<Listing, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let failed = |error| inventory_failed(Self::NAME, &error);
        let pools: BTreeMap<Uid, String> = inventory
            .list::<PoolRecord>()
            .await
            .map_err(failed)?
            .into_iter()
            .map(|pool| (pool.uid, pool.name))
            .collect();
        let machines = inventory.list::<InstanceRecord>().await.map_err(failed)?;
        config.inventory = inventory.location().path.display().to_string().into();
        config.instances = machines.into_iter().map(|machine| listed(machine, &pools)).collect();
        Ok(config)
    }
}

fn listed(machine: Stored<InstanceRecord>, pools: &BTreeMap<Uid, String>) -> Listed {
    let record = machine.body;
    let facts = record.facts.as_ref();
    let mut labels = record.labels.clone();
    if let Some(claim) = &record.claim {
        labels.insert("kontinuum.sh/claimed-by".to_owned(), claim.pool.to_string());
    }
    let stage = match (&record.work, &record.claim) {
        (Work::Configured { .. }, _) => "Configured",
        (Work::Fenced { .. }, _) => "Fenced",
        (Work::Untouched, Some(_)) => "Claimed",
        (Work::Untouched, None) => "Free",
    };
    Listed {
        name: machine.name.into(),
        uid: machine.uid.as_str().into(),
        address: facts.map(|facts| facts.address.to_string()).into(),
        talos_version: facts.map(|facts| facts.talos_version.clone()).into(),
        uuid: facts.map(|facts| facts.uuid.clone()).into(),
        labels: labels.into_iter().collect(),
        claimed_by: record.claim.and_then(|claim| pools.get(&claim.pool).cloned()).into(),
        stage: stage.into(),
        conditions: condition::listed(&record.conditions),
    }
}
