//! `kontinuum_instance_pool_candidates`: which machines a pool would claim next, and why each other one can't be.

use super::Clients;
use super::report::inventory_failed;
use crate::domain::claim::{Candidacy, Machine, judge};
use crate::domain::names::Label;
use crate::domain::record::{InstanceRecord, PoolRecord};
use crate::plugin::{
    Attr, DataSource, Diagnostic, Diagnostics, List, Model, Operation, Path, Visitor, computed, required,
};

/// A pool's candidates.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    pool: Attr<String>,
    next: Attr<List<String>>,
    machines: Attr<List<Judged>>,
}

impl Model for Candidates {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("pool", "The pool's name."), &mut self.pool);
        v.attribute(
            computed("next", "The machines that would be claimed next, in this order."),
            &mut self.next,
        );
        v.attribute(computed("machines", "Every machine of the inventory, judged."), &mut self.machines);
    }
}

/// A machine, judged for a pool.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    name: Attr<String>,
    claimable: Attr<bool>,
    verdict: Attr<String>,
}

impl Model for Judged {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "The machine's name."), &mut self.name);
        v.attribute(computed("claimable", "Whether it can be claimed now."), &mut self.claimable);
        v.attribute(
            computed("verdict", "Why, as the end of a sentence about the machine."),
            &mut self.verdict,
        );
    }
}

/// The data source.
#[derive(Debug)]
pub struct PoolCandidates;

impl DataSource for PoolCandidates {
    type Model = Candidates;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_instance_pool_candidates";
    const DESCRIPTION: &'static str =
        "Which machines a pool would claim next, and why each other one cannot be claimed.";

    async fn read(
        &self,
        mut config: Candidates,
        operation: &Operation<Clients>,
    ) -> Result<Candidates, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let failed = |error| inventory_failed(Self::NAME, &error);
        let name = config.pool.require(&Path::new("pool"))?.clone();
        let pool = inventory.find::<PoolRecord>(&name).await.map_err(failed)?.ok_or_else(|| {
            Diagnostic::error(
                format!("kontinuum_instance_pool {name:?} is not in the inventory"),
                format!("Looked in {}.", inventory.location().path.display()),
            )
            .at(Path::new("pool"))
        })?;
        let machines: Vec<Machine> = inventory
            .list::<InstanceRecord>()
            .await
            .map_err(failed)?
            .into_iter()
            .filter_map(|stored| {
                Some(Machine { name: Label::parse(&stored.name).ok()?, uid: stored.uid, record: stored.body })
            })
            .collect();
        let judged = judge(&pool.uid, &pool.body, &machines);
        config.next = judged
            .iter()
            .filter(|(_, candidacy)| *candidacy == Candidacy::Free)
            .map(|(name, _)| name.to_string())
            .collect();
        config.machines = judged
            .into_iter()
            .map(|(name, candidacy)| Judged {
                name: name.to_string().into(),
                claimable: (candidacy == Candidacy::Free).into(),
                verdict: candidacy.to_string().into(),
            })
            .collect();
        Ok(config)
    }
}
