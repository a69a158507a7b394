//! Machines are discovered through real clients.

use libtest_mimic::{Failed, Trial};
use serde_json::json;

use crate::cases::with;
use crate::client::Client;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    with(&Client::ALL, "two_machines_are_discovered_and_a_second_plan_is_empty", two_machines)
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
    rig.apply(&[])?.expect_code(0)?;

    let node = rig.attributes(r#"kontinuum_instance.node["a"]"#)?;
    assert_eq!(node["labels"], json!({ "role": "control-plane" }));
    assert_eq!(node["address"], first.to_string());
    assert_eq!(node["talos_version"], "v1.13.9");
    assert_eq!(node["uuid"], "4c4c4544-0038-4b10-8050-b6c04f313233");
    assert_eq!(node["serial_number"], "8KP0123");
    assert_eq!(node["processor_count"], 8);
    assert_eq!(node["memory_bytes"], 16_u64 << 30);
    assert_eq!(node["links"][0]["name"], "enp1s0");
    assert_eq!(node["links"][0]["mac_address"], "02:00:5e:10:00:11");
    assert_eq!(
        node["links"].as_array().map(Vec::len),
        Some(1),
        "only the machine's own link: {}",
        node["links"]
    );
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

    rig.plan(&[])?.expect_code(0)?;
    rig.plan(&["-refresh-only"])?.expect_code(0)?;
    rig.destroy(&[])?.expect_code(0)?;
    Ok(())
}
