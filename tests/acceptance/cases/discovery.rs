//! Machines are discovered through real clients.

use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::cases::{cases_of, with};
use crate::client::Client;
use crate::rig::Rig;

/// What one candidate that says nothing may cost: a probe's budget.
const BUDGET: Duration = Duration::from_secs(10);

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases =
        with(&Client::ALL, "two_machines_are_discovered_and_a_second_plan_is_empty", two_machines);
    cases.extend(cases_of(&[
        ("the_second_candidate_answers_when_the_first_is_dead_or_silent", second_candidate),
        ("a_machine_that_never_answers_is_recorded_with_a_warning", never_answers),
        ("what_the_user_may_edit_changes_in_place_and_a_name_replaces", edits),
    ]));
    cases
}

fn two_machines(rig: &mut Rig) -> Result<(), Failed> {
    let (first, second) = (rig.address(11), rig.address(12));
    rig.simulate(&[
        json!({
            "name": "first",
            "addresses": [first],
            "talos_version": "v1.13.9",
            "uuid": "4c4c4544-0038-4b10-8050-b6c04f313233",
            "serial_number": "8KP0123",
            "links": [{ "name": "enp1s0", "mac": "02:00:5e:10:00:11" }],
            "disks": [{
                "name": "nvme0n1", "size": "256GiB", "model": "EXAMPLE 256", "serial": "S1",
                "wwid": "eui.0000000000000011", "transport": "nvme",
            }],
            "processors": 8,
            "memory": "16GiB",
        }),
        json!({ "name": "second", "addresses": [second], "talos_version": "v1.12.4" }),
    ])?;
    rig.module(&format!(
        r#"
        resource "kontinuum_instance" "node" {{
          for_each   = {{ a = "{first}", b = "{second}" }}
          name       = each.key
          interfaces = [each.value]
          labels     = {{ role = "control-plane" }}
        }}
        "#
    ))?;
    rig.plan(&[])?.expect_code(2)?;
    assert!(!rig.inventory().exists(), "a plan creates no inventory");
    rig.apply(&[])?.expect_code(0)?;

    let node = rig.attributes(r#"kontinuum_instance.node["a"]"#)?;
    assert_eq!(node["labels"], json!({ "role": "control-plane" }));
    assert_eq!(node["hostname"], "a");
    assert_eq!(node["address"], first.to_string());
    assert_eq!(node["talos_version"], "v1.13.9");
    assert_eq!(node["uuid"], "4c4c4544-0038-4b10-8050-b6c04f313233");
    assert_eq!(node["serial_number"], "8KP0123");
    assert_eq!(node["processor_count"], 8);
    assert_eq!(node["memory_bytes"], 16_u64 << 30);
    assert_eq!(node["links"].as_array().map(Vec::len), Some(1), "only the physical link: {}", node["links"]);
    assert_eq!(node["links"][0]["name"], "enp1s0");
    assert_eq!(node["links"][0]["mac_address"], "02:00:5e:10:00:11");
    assert_eq!(node["disks"][0]["device_path"], "/dev/nvme0n1");
    assert_eq!(node["disks"][0]["size_bytes"], 256_u64 << 30);
    assert_eq!(node["disks"][0]["model"], "EXAMPLE 256");
    assert_eq!(node["disks"][0]["serial"], "S1");
    assert_eq!(node["disks"][0]["wwid"], "eui.0000000000000011");
    assert_eq!(node["disks"][0]["transport"], "nvme");
    assert_eq!(node["disks"][0]["rotational"], false);
    assert_eq!(node["conditions"][0]["type"], "Discovered");
    assert_eq!(node["conditions"][0]["status"], "True");

    let other = rig.attributes(r#"kontinuum_instance.node["b"]"#)?;
    assert_eq!(other["address"], second.to_string());
    assert_eq!(other["talos_version"], "v1.12.4");
    assert_ne!(other["uid"], node["uid"]);

    rig.is_settled()?;
    rig.destroy(&[])?.expect_code(0)?;
    Ok(())
}

fn second_candidate(rig: &mut Rig) -> Result<(), Failed> {
    let [dead, silent, good, other] = [10, 11, 12, 13].map(|host| rig.address(host));
    rig.simulate(&[
        json!({ "name": "silent", "addresses": [silent], "faults": [{ "fault": "silent" }] }),
        json!({ "name": "good", "addresses": [good] }),
        json!({ "name": "other", "addresses": [other] }),
    ])?;
    rig.module(&format!(
        r#"
        resource "kontinuum_instance" "dead_first" {{
          name       = "dead-first"
          interfaces = ["{dead}", "{good}"]
        }}
        resource "kontinuum_instance" "silent_first" {{
          name       = "silent-first"
          interfaces = ["{silent}", "{other}"]
        }}
        "#
    ))?;
    let applied = rig.apply(&[])?.expect_code(0)?;
    // Two would be twice as long.
    assert!(applied.took < 2 * BUDGET, "took {:?}", applied.took);
    assert_eq!(rig.attributes("kontinuum_instance.dead_first")?["address"], good.to_string());
    assert_eq!(rig.attributes("kontinuum_instance.silent_first")?["address"], other.to_string());
    rig.is_settled()
}

fn never_answers(rig: &mut Rig) -> Result<(), Failed> {
    rig.module(&format!(
        r#"
        resource "kontinuum_instance" "off" {{
          name       = "off"
          interfaces = ["{}"]
          timeouts   = {{ create = "3s" }}
        }}
        "#,
        rig.address(11)
    ))?;
    let applied = rig.apply(&[])?.expect_code(0)?;
    assert!(applied.said().contains("Warning: a machine does not answer"), "{}", applied.said());
    assert!(
        applied.said().contains("refused"),
        "the warning says what the address answered: {}",
        applied.said()
    );
    let off = rig.attributes("kontinuum_instance.off")?;
    assert_eq!(off["conditions"][0]["type"], "Discovered");
    assert_eq!(off["conditions"][0]["status"], "False");
    assert_eq!(off["talos_version"], json!(null));

    // It is switched on: the next apply finds it.
    rig.simulate(&[json!({ "name": "off", "addresses": [rig.address(11)], "talos_version": "v1.13.9" })])?;
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(rig.attributes("kontinuum_instance.off")?["talos_version"], "v1.13.9");
    rig.is_settled()
}

fn edits(rig: &mut Rig) -> Result<(), Failed> {
    let address = rig.address(11);
    rig.simulate(&[json!({ "name": "node", "addresses": [address] })])?;
    let module = |name: &str, labels: &str| {
        format!(
            r#"
            resource "kontinuum_instance" "node" {{
              name       = "{name}"
              interfaces = ["{address}"]
              labels     = {labels}
            }}
            "#
        )
    };
    rig.module(&module("a", r#"{ role = "worker" }"#))?;
    rig.apply(&[])?.expect_code(0)?;
    let uid = rig.attributes("kontinuum_instance.node")?["uid"].clone();

    rig.module(&module("a", r#"{ role = "control-plane", zone = "1" }"#))?;
    let planned = rig.plan(&[])?.expect_code(2)?;
    assert!(planned.said().contains("1 to change, 0 to destroy"), "{}", planned.said());
    rig.apply(&[])?.expect_code(0)?;
    let node = rig.attributes("kontinuum_instance.node")?;
    assert_eq!(node["labels"], json!({ "role": "control-plane", "zone": "1" }));
    assert_eq!(node["uid"], uid);
    rig.is_settled()?;

    rig.module(&module("b", "null"))?;
    let planned = rig.plan(&[])?.expect_code(2)?;
    assert!(planned.said().contains("# forces replacement"), "{}", planned.said());
    rig.apply(&[])?.expect_code(0)?;
    assert_ne!(rig.attributes("kontinuum_instance.node")?["uid"], uid);
    rig.is_settled()
}
