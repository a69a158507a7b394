//! Pools claim machines through real clients.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::cases::{cases_of, with};
use crate::client::Client;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = with(&Client::ALL, "two_pools_share_machines_by_their_labels", two_pools);
    cases.extend(cases_of(&[
        ("a_pool_larger_than_its_machines_warns_and_takes_what_comes", short_pool),
        ("a_pool_that_requires_its_capacity_fails_without_it", required_capacity),
        ("a_pool_grows_and_shrinks_by_the_highest_names", size),
        ("a_renamed_pool_keeps_its_claims", renamed),
        ("racing_pools_never_claim_a_machine_twice", race),
    ]));
    cases
}

/// Machines `m-1` … as instances `node["m-1"]` …, of which the first ones have the role of a control plane.
fn machines(rig: &mut Rig, count: u8, control_planes: u8) -> Result<String, Failed> {
    let machine = |number: u8| (format!("m-{number}"), rig.address(10 + number));
    let all: Vec<_> = (1..=count).map(machine).collect();
    let world: Vec<Value> =
        all.iter().map(|(name, address)| json!({ "name": name, "addresses": [address] })).collect();
    rig.simulate(&world)?;
    let nodes: String = all
        .iter()
        .zip(1..)
        .map(|((name, address), number)| {
            let role = if number <= control_planes { "control-plane" } else { "worker" };
            format!("            {name} = {{ address = \"{address}\", role = \"{role}\" }}\n")
        })
        .collect();
    Ok(format!(
        r#"
        resource "kontinuum_instance" "node" {{
          for_each = {{
{nodes}
          }}
          name       = each.key
          interfaces = [each.value.address]
          labels     = {{ role = each.value.role }}
        }}
        "#
    ))
}

fn pool(resource: &str, arguments: &str) -> String {
    format!(
        r#"
        resource "kontinuum_instance_pool" "{resource}" {{
          instances = kontinuum_instance.node
          {arguments}
        }}
        "#
    )
}

fn members(rig: &Rig, resource: &str) -> Result<Vec<String>, Failed> {
    let pool = rig.attributes(&format!("kontinuum_instance_pool.{resource}"))?;
    let members = pool["members"].as_array().ok_or("expected members in the state")?;
    Ok(members.iter().filter_map(|member| member["name"].as_str().map(str::to_owned)).collect())
}

fn condition(rig: &Rig, resource: &str) -> Result<Value, Failed> {
    let pool = rig.attributes(&format!("kontinuum_instance_pool.{resource}"))?;
    let mut conditions = pool["conditions"].as_array().into_iter().flatten();
    let found = conditions.find(|condition| condition["type"] == "InsufficientCapacity");
    found
        .map(|condition| condition["status"].clone())
        .ok_or_else(|| format!("no such condition in {pool}").into())
}

fn two_pools(rig: &mut Rig) -> Result<(), Failed> {
    let instances = machines(rig, 4, 2)?;
    rig.module(&format!(
        "{instances}{}{}",
        pool(
            "control_plane",
            r#"
            name     = "cp"
            replicas = 2
            selector = { match_labels = { role = "control-plane" } }
            "#
        ),
        pool(
            "workers",
            r#"
            name     = "workers"
            replicas = 1
            selector = { match_expressions = [{ key = "role", operator = "NotIn", values = ["control-plane"] }] }
            "#
        ),
    ))?;
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(members(rig, "control_plane")?, ["m-1", "m-2"]);
    assert_eq!(members(rig, "workers")?, ["m-3"]);
    assert_eq!(condition(rig, "control_plane")?, "False");
    assert_eq!(rig.attributes("kontinuum_instance_pool.control_plane")?["ready_replicas"], 2);
    rig.is_settled()?;
    rig.destroy(&[])?.expect_code(0)?;
    Ok(())
}

fn short_pool(rig: &mut Rig) -> Result<(), Failed> {
    let wanted = pool("all", "name = \"all\"\nreplicas = 3");
    let instances = machines(rig, 3, 3)?;
    // The third machine is not described yet.
    let fewer: String = instances
        .lines()
        .filter(|line| !line.trim().starts_with("m-3"))
        .map(|line| format!("{line}\n"))
        .collect();
    rig.module(&format!("{fewer}{wanted}"))?;
    let applied = rig.apply(&[])?.expect_code(0)?;
    assert!(applied.said().contains("Warning: a pool has too few machines"), "{}", applied.said());
    assert_eq!(members(rig, "all")?, ["m-1", "m-2"]);
    assert_eq!(condition(rig, "all")?, "True");
    // Nothing can be done about it: that is no change, but said again.
    let planned = rig.plan(&[])?.expect_code(0)?;
    assert!(planned.said().contains("Warning: a pool has too few machines"), "{}", planned.said());

    rig.module(&format!("{instances}{wanted}"))?;
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(members(rig, "all")?, ["m-1", "m-2", "m-3"]);
    assert_eq!(condition(rig, "all")?, "False");
    rig.is_settled()
}

fn required_capacity(rig: &mut Rig) -> Result<(), Failed> {
    let instances = machines(rig, 1, 1)?;
    rig.module(&format!(
        "{instances}{}",
        pool("all", "name = \"all\"\nreplicas = 2\nrequire_capacity = true")
    ))?;
    let applied = rig.apply(&[])?.expect_code(1)?;
    let said = applied.stderr.lines().find(|line| line.contains("Error: ")).unwrap_or_default();
    assert!(
        said.contains("kontinuum_instance_pool \"all\""),
        "the summary names the object: {}",
        applied.said()
    );
    // A failed create is not in the state, and the next one goes on.
    assert!(rig.attributes("kontinuum_instance_pool.all").is_err());
    rig.module(&format!(
        "{instances}{}",
        pool("all", "name = \"all\"\nreplicas = 1\nrequire_capacity = true")
    ))?;
    rig.apply(&[])?.expect_code(0)?;
    rig.is_settled()
}

fn size(rig: &mut Rig) -> Result<(), Failed> {
    let instances = machines(rig, 3, 3)?;
    let mut uids = BTreeSet::new();
    for (replicas, expected) in
        [(1, vec!["m-1"]), (3, vec!["m-1", "m-2", "m-3"]), (2, vec!["m-1", "m-2"]), (0, vec![])]
    {
        rig.module(&format!(
            "{instances}{}",
            pool("all", &format!("name = \"all\"\nreplicas = {replicas}"))
        ))?;
        rig.apply(&[])?.expect_code(0)?;
        assert_eq!(members(rig, "all")?, expected);
        uids.insert(rig.attributes("kontinuum_instance_pool.all")?["uid"].to_string());
        rig.is_settled()?;
    }
    assert_eq!(uids.len(), 1);
    Ok(())
}

fn renamed(rig: &mut Rig) -> Result<(), Failed> {
    let instances = machines(rig, 2, 2)?;
    rig.module(&format!("{instances}{}", pool("all", "name = \"before\"\nreplicas = 2")))?;
    rig.apply(&[])?.expect_code(0)?;
    let before = rig.attributes("kontinuum_instance_pool.all")?;
    rig.module(&format!("{instances}{}", pool("all", "name = \"after\"\nreplicas = 2")))?;
    rig.apply(&[])?.expect_code(0)?;
    let after = rig.attributes("kontinuum_instance_pool.all")?;
    assert_eq!(after["name"], "after");
    assert_eq!((&after["uid"], &after["members"]), (&before["uid"], &before["members"]));
    rig.is_settled()
}

/// Eight pools of one over six machines, created side by side by one client.
fn race(rig: &mut Rig) -> Result<(), Failed> {
    let instances = machines(rig, 6, 6)?;
    let racing = r#"
        resource "kontinuum_instance_pool" "racing" {
          count     = 8
          name      = "racing-${count.index}"
          instances = kontinuum_instance.node
          replicas  = 1
        }
    "#;
    rig.module(&format!("{instances}{racing}"))?;
    rig.apply(&[])?.expect_code(0)?;
    let mut claimed = Vec::new();
    for index in 0..8 {
        claimed.extend(members(rig, &format!("racing[{index}]"))?);
    }
    let distinct: BTreeSet<&String> = claimed.iter().collect();
    assert_eq!((claimed.len(), distinct.len()), (6, 6), "each machine has one owner: {claimed:?}");
    rig.is_settled()
}
