//! Claims under race: pools that all want machines of one inventory at once.

use std::time::{Duration, Instant};

use kontinuum::clients::inventory::{Environment, Inventory, InventoryError, Location};
use kontinuum::domain::names::{Address, Uid};
use kontinuum::domain::record::{Claim, InstanceRecord, Work};

use super::table::Table;

const POOLS: usize = 64;
const MACHINES: usize = 10_000;
/// What each pool wants; together less than there is.
const WANTED: usize = 20;

pub(crate) fn measure(table: &mut Table) {
    let what = "64 pools claim of 10,000 machines";
    let budget = "no double claim";
    let measured =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(InventoryErrorText::of);
    let measured = measured.and_then(|runtime| runtime.block_on(race()));
    match measured {
        Ok((time, claimed)) => {
            let text = format!("{claimed} claims in {} ms", time.as_millis());
            table.row(what, text, format!("wanted {}", POOLS * WANTED), budget);
        }
        Err(InventoryErrorText(error)) => table.row(what, format!("failed: {error}"), String::new(), budget),
    }
}

struct InventoryErrorText(String);

impl InventoryErrorText {
    fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

async fn race() -> Result<(Duration, usize), InventoryErrorText> {
    let folder = tempfile::tempdir().map_err(InventoryErrorText::of)?;
    let path = folder.path().join("inventory.db");
    let open = || -> Result<Inventory, InventoryErrorText> {
        let text = path.to_str().ok_or_else(|| InventoryErrorText::of("the folder's name is no text"))?;
        Ok(Inventory::new(
            Location::choose(Some(text), &Environment::default()).map_err(InventoryErrorText::of)?,
        ))
    };
    let inventory = open()?;
    let mut uids = Vec::new();
    for index in 0..MACHINES {
        let uid = Uid::new(format!("m-{index}"));
        inventory.create(&format!("m-{index:05}"), &uid, machine()?).await.map_err(InventoryErrorText::of)?;
        uids.push(uid);
    }
    let start = Instant::now();
    let mut pools = tokio::task::JoinSet::new();
    for pool in 0..POOLS {
        let (inventory, uids) = (open()?, uids.clone());
        pools.spawn(async move { fill(&inventory, &Uid::new(format!("p-{pool}")), &uids).await });
    }
    let mut claimed = 0;
    while let Some(won) = pools.join_next().await {
        claimed += won.map_err(InventoryErrorText::of)?.map_err(InventoryErrorText::of)?;
    }
    Ok((start.elapsed(), claimed))
}

/// All pools walk the machines in the same order, so that they meet at every one.
async fn fill(inventory: &Inventory, pool: &Uid, machines: &[Uid]) -> Result<usize, InventoryError> {
    let mut won = 0;
    for uid in machines {
        if won == WANTED {
            break;
        }
        let Some(mut stored) = inventory.find_by_uid::<InstanceRecord>(uid).await? else { continue };
        if stored.body.claim.is_some() {
            continue;
        }
        stored.body.claim = Some(Claim { pool: pool.clone() });
        match inventory.update(stored).await {
            Ok(_) => won += 1,
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(won)
}

fn machine() -> Result<InstanceRecord, InventoryErrorText> {
    Ok(InstanceRecord {
        interfaces: vec![Address::parse("10.0.0.1").map_err(InventoryErrorText::of)?],
        hostname: None,
        labels: std::collections::BTreeMap::new(),
        install_disk: None,
        config_patches: Vec::new(),
        certificate_fingerprint: None,
        facts: None,
        conditions: Vec::new(),
        claim: None,
        work: Work::Untouched,
        acknowledged: false,
    })
}
