//! The inventory outlives states and processes, and several states share it.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::cases::cases_of;
use crate::rig::{QUICK, Rig};

/// Another state beside the rig's own, of the same module and inventory.
const OTHER: &str = "-state=other.tfstate";

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("data_sources_show_the_inventory_and_why_a_machine_is_no_candidate", data_sources),
        ("what_one_state_owns_another_can_only_import", other_state),
        ("a_lost_inventory_is_written_again_from_the_state", lost_inventory),
        ("a_replaced_machine_reaches_its_pool_in_the_same_apply", replaced),
        ("automation_must_say_where_the_inventory_is", automation),
        ("two_applies_at_once_share_the_machines", two_applies),
    ])
}

fn machine(name: &str, address: impl std::fmt::Display) -> String {
    format!(
        r#"
        resource "kontinuum_instance" "{name}" {{
          name       = "{name}"
          interfaces = ["{address}"]
          labels     = {{ role = "{name}" }}
        }}
        "#
    )
}

fn simulate(rig: &mut Rig, names: &[&str]) -> Result<String, Failed> {
    let addresses: Vec<_> = names.iter().zip(11..).map(|(name, host)| (*name, rig.address(host))).collect();
    let world: Vec<Value> =
        addresses.iter().map(|(name, address)| json!({ "name": name, "addresses": [address] })).collect();
    rig.simulate(&world)?;
    Ok(addresses.iter().map(|(name, address)| machine(name, address)).collect())
}

fn data_sources(rig: &mut Rig) -> Result<(), Failed> {
    let instances = simulate(rig, &["a", "b"])?;
    let pool = r#"
        resource "kontinuum_instance_pool" "pool" {
          name      = "pool"
          instances = { a = kontinuum_instance.a, b = kontinuum_instance.b }
          selector  = { match_labels = { role = "a" } }
          replicas  = 1
        }
    "#;
    rig.module(&format!("{instances}{pool}"))?;
    rig.apply(&[])?.expect_code(0)?;
    rig.module(&format!(
        r#"{instances}{pool}
        data "kontinuum_instances" "all" {{}}
        data "kontinuum_instance_pool_candidates" "pool" {{
          pool = "pool"
        }}
        "#
    ))?;
    rig.apply(&[])?.expect_code(0)?;
    let all = rig.attributes("data.kontinuum_instances.all")?;
    assert_eq!(all["inventory"], rig.inventory().display().to_string());
    let shown = |index: usize, field: &str| all["instances"][index][field].clone();
    assert_eq!([shown(0, "name"), shown(0, "claimed_by"), shown(0, "stage")], ["a", "pool", "Claimed"]);
    assert_eq!([shown(1, "name"), shown(1, "stage")], ["b", "Free"]);
    assert_eq!(shown(1, "claimed_by"), json!(null));
    let pool = rig.attributes("kontinuum_instance_pool.pool")?;
    assert_eq!(shown(0, "labels")["kontinuum.sh/claimed-by"], pool["uid"]);
    // No claim shows on the instance itself: what is upstream never changes through what is downstream.
    assert_eq!(rig.attributes("kontinuum_instance.a")?["labels"], json!({ "role": "a" }));

    let candidates = rig.attributes("data.kontinuum_instance_pool_candidates.pool")?;
    assert_eq!(candidates["next"], json!([]));
    assert_eq!(candidates["machines"][1]["name"], "b");
    assert_eq!(candidates["machines"][1]["claimable"], false);
    assert!(
        candidates["machines"][1]["verdict"].as_str().is_some_and(|why| why.contains("`selector`")),
        "the verdict says why not: {candidates}"
    );
    Ok(())
}

fn other_state(rig: &mut Rig) -> Result<(), Failed> {
    let module = simulate(rig, &["a"])?;
    rig.module(&module)?;
    rig.apply(&[])?.expect_code(0)?;
    let uid = rig.attributes("kontinuum_instance.a")?["uid"].clone();
    // A state has shown this record by a refresh at the latest.
    rig.is_settled()?;

    let refused = rig.apply(&[OTHER])?.expect_code(1)?;
    for words in ["kontinuum_instance \"a\" exists already", "Import it"] {
        assert!(refused.said().contains(words), "{}", refused.said());
    }
    rig.command(QUICK, &["import", "-input=false", "-no-color", OTHER, "kontinuum_instance.a", "a"])?
        .expect_code(0)?;
    rig.plan(&[OTHER])?.expect_code(0)?;
    let imported: Value =
        serde_json::from_str(&std::fs::read_to_string(rig.folder().join("module/other.tfstate"))?)?;
    assert_eq!(imported["resources"][0]["instances"][0]["attributes"]["uid"], uid);
    Ok(())
}

fn lost_inventory(rig: &mut Rig) -> Result<(), Failed> {
    let module = simulate(rig, &["a"])?;
    rig.module(&module)?;
    rig.apply(&[])?.expect_code(0)?;
    let before = rig.attributes("kontinuum_instance.a")?;
    std::fs::remove_dir_all(rig.inventory().parent().ok_or("expected a folder")?)?;

    let applied = rig.apply(&[])?.expect_code(0)?;
    assert!(applied.said().contains("Warning: the inventory did not know an object"), "{}", applied.said());
    assert_eq!(rig.attributes("kontinuum_instance.a")?["uid"], before["uid"]);
    assert!(rig.inventory().exists());
    rig.is_settled()
}

fn replaced(rig: &mut Rig) -> Result<(), Failed> {
    let instances = simulate(rig, &["a", "b"])?;
    rig.module(&format!(
        r#"{instances}
        resource "kontinuum_instance_pool" "pool" {{
          name      = "pool"
          instances = {{ a = kontinuum_instance.a, b = kontinuum_instance.b }}
          replicas  = 2
        }}
        "#
    ))?;
    rig.apply(&[])?.expect_code(0)?;
    let before = rig.attributes("kontinuum_instance_pool.pool")?;
    rig.apply(&["-replace=kontinuum_instance.a"])?.expect_code(0)?;
    let after = rig.attributes("kontinuum_instance_pool.pool")?;
    assert_eq!(after["uid"], before["uid"]);
    assert_ne!(after["members"][0]["uid"], before["members"][0]["uid"]);
    assert_eq!(after["members"][0]["uid"], rig.attributes("kontinuum_instance.a")?["uid"]);
    assert_eq!(after["members"][1], before["members"][1]);
    rig.is_settled()
}

fn automation(rig: &mut Rig) -> Result<(), Failed> {
    let module = simulate(rig, &["a"])?;
    rig.module(&module)?;
    rig.environment("KONTINUUM_INVENTORY", None);
    rig.environment("TF_IN_AUTOMATION", Some("1"));
    let refused = rig.apply(&[])?.expect_code(1)?;
    for words in ["TF_IN_AUTOMATION", "KONTINUUM_INVENTORY"] {
        assert!(refused.said().contains(words), "{}", refused.said());
    }
    let path = rig.inventory().display().to_string();
    rig.environment("KONTINUUM_INVENTORY", Some(&path));
    rig.apply(&[])?.expect_code(0)?;
    Ok(())
}

/// Two clients with states of their own, at once, each wanting two of three machines by their label.
fn two_applies(rig: &mut Rig) -> Result<(), Failed> {
    let instances = simulate(rig, &["a", "b", "c"])?;
    let alike = ["a", "b", "c"]
        .iter()
        .fold(instances, |module, name| module.replace(&format!("role = \"{name}\""), "role = \"x\""));
    rig.module(&alike)?;
    rig.apply(&[])?.expect_code(0)?;
    let module = r#"
        variable "name" {}
        resource "kontinuum_instance_pool" "pool" {
          name     = var.name
          selector = { match_labels = { role = "x" } }
          replicas = 2
        }
    "#;
    rig.module(module)?;
    let apply = |name| {
        let (state, variable) = (format!("-state={name}.tfstate"), format!("-var=name={name}"));
        rig.start(&["apply", "-input=false", "-no-color", "-auto-approve", &state, &variable])
    };
    let started = [apply("one")?, apply("two")?];
    for client in started {
        rig.wait(client.end(QUICK))?.expect_code(0)?;
    }
    let mut claimed = Vec::new();
    for name in ["one", "two"] {
        let state = std::fs::read_to_string(rig.folder().join(format!("module/{name}.tfstate")))?;
        let state: Value = serde_json::from_str(&state)?;
        let members = &state["resources"][0]["instances"][0]["attributes"]["members"];
        claimed.extend(members.as_array().into_iter().flatten().map(|member| member["name"].to_string()));
    }
    claimed.sort();
    assert_eq!(claimed, ["\"a\"", "\"b\"", "\"c\""], "each machine has one owner");
    Ok(())
}
