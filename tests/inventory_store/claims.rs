//! Claims under race: what `domain::claim` decides, written by compare and swap.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kontinuum::clients::inventory::{Inventory, Stored};
use kontinuum::domain::claim::{Candidacy, Machine, judge};
use kontinuum::domain::condition::{Condition, Status};
use kontinuum::domain::machine::Facts;
use kontinuum::domain::names::{Address, Label, Uid};
use kontinuum::domain::record::{Claim, InstanceRecord, PoolRecord, Work};
use kontinuum::domain::selector::{Labels, Selector};

use super::{inventory, place, pool, uid};

const POOLS: usize = 64;
const REPLICAS: u32 = 2;
/// Fewer than all pools want together, so that they race to the last one.
const MACHINES: usize = 120;
/// How many of them stand under a second name, too.
const TWINS: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_pools_never_claim_a_machine_twice() {
    let (_folder, path) = place();
    let machines = inventory(&path);
    for index in 0..MACHINES {
        add(&machines, &format!("m-{index:03}"), index).await;
    }
    for index in 0..TWINS {
        add(&machines, &format!("twin-{index:03}"), index * 7).await;
    }
    let mut pools = tokio::task::JoinSet::new();
    for index in 0..POOLS {
        // A connection of its own, as another process has one.
        let inventory = inventory(&path);
        pools.spawn(async move { fill(&inventory, &uid(&format!("pool-{index}"))).await });
    }
    let won: Vec<String> = pools.join_all().await.into_iter().flatten().collect();

    let stored = machines.list::<InstanceRecord>().await.unwrap();
    let claimed: Vec<_> = stored.iter().filter(|stored| stored.body.claim.is_some()).collect();
    assert_eq!(claimed.len(), MACHINES, "every machine is claimed, under one of its names");
    let mut won_names = won.clone();
    won_names.sort();
    let names: Vec<_> = claimed.iter().map(|stored| stored.name.clone()).collect();
    assert_eq!(won_names, names, "each claim was won by one pool, and none was overwritten");
    let identities: std::collections::BTreeSet<_> =
        claimed.iter().filter_map(|stored| stored.body.facts.as_ref()?.identity()).collect();
    assert_eq!(identities.len(), MACHINES, "no machine under two names");
    let mut held: BTreeMap<&str, u32> = BTreeMap::new();
    for stored in &claimed {
        *held.entry(stored.body.claim.as_ref().map_or("", |claim| claim.pool.as_str())).or_default() += 1;
    }
    assert!(held.values().all(|count| *count <= REPLICAS), "{held:?}");
}

async fn add(inventory: &Inventory, name: &str, identity: usize) {
    inventory.create(name, &uid(&format!("uid-{name}")), discovered(identity)).await.unwrap();
}

/// A pass of a pool: the first free machines by name, each by get, check and conditional write, until it has enough or
/// nothing is free. The names that it won.
async fn fill(inventory: &Inventory, pool_uid: &Uid) -> Vec<String> {
    let selector = Selector::new(Labels::from([("role".to_owned(), "worker".to_owned())]), vec![]).unwrap();
    let spec = PoolRecord { selector: Some(selector), ..pool(REPLICAS) };
    let mut won = Vec::new();
    loop {
        let machines: Vec<Machine> =
            inventory.list::<InstanceRecord>().await.unwrap().into_iter().map(machine).collect();
        let judged = judge(pool_uid, &spec, &machines);
        let free = judged.into_iter().filter(|(_, candidacy)| *candidacy == Candidacy::Free);
        let mut free = free.map(|(name, _)| name).peekable();
        if won.len() as u32 >= spec.replicas || free.peek().is_none() {
            return won;
        }
        for name in free {
            if won.len() as u32 >= spec.replicas {
                break;
            }
            let Some(mut stored) = inventory.find::<InstanceRecord>(name.as_str()).await.unwrap() else {
                continue;
            };
            if stored.body.claim.is_some() {
                continue;
            }
            stored.body.claim = Some(Claim { pool: pool_uid.clone() });
            match inventory.update(stored).await {
                Ok(_) => won.push(name.to_string()),
                Err(error) => assert!(error.is_conflict(), "{error}"),
            }
        }
    }
}

fn machine(stored: Stored<InstanceRecord>) -> Machine {
    Machine { name: Label::parse(&stored.name).unwrap(), uid: stored.uid, record: stored.body }
}

fn discovered(identity: usize) -> InstanceRecord {
    let address = Address::parse(&format!("10.0.{}.{}", identity / 250, identity % 250 + 1)).unwrap();
    InstanceRecord {
        interfaces: vec![address.clone()],
        hostname: None,
        labels: Labels::from([("role".to_owned(), "worker".to_owned())]),
        install_disk: None,
        config_patches: vec![],
        certificate_fingerprint: None,
        facts: Some(Facts {
            address,
            talos_version: "v1.13.9".into(),
            uuid: format!("4c4c4544-0000-0000-0000-{:012x}", identity + 1),
            serial_number: String::new(),
            links: vec![],
            disks: vec![],
            processor_count: 4,
            memory_bytes: 8 << 30,
            secure_boot: false,
            schematic: String::new(),
        }),
        conditions: vec![Condition {
            kind: "Discovered".into(),
            status: Status::True,
            reason: "Discovered".into(),
            message: String::new(),
            last_transition_time: Timestamp::UNIX_EPOCH,
        }],
        claim: None,
        work: Work::Untouched,
        acknowledged: true,
    }
}
