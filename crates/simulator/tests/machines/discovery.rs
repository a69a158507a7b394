//! What a machine in maintenance mode shows.

use serde_json::{Value, json};
use simulator::World;

use crate::lab::{Rack, client, machines, program};

#[tokio::test]
async fn talos_own_client_discovers_a_machine() {
    let world = World::parse(
        r#"
machines:
  - name: a
    addresses: [127.0.101.11]
    uuid: 4c4c4544-0042-3510-8052-b4c04f4d4d32
    serial_number: B5RMM2
    secure_boot: true
    links:
      - {name: enp1s0, mac: "02:00:00:00:00:01"}
      - {name: enp2s0, mac: "02:00:00:00:00:02", up: false}
    disks:
      - {name: nvme0n1, size: 256GiB, model: EXAMPLE NVME, serial: S1, wwid: eui.01, transport: nvme}
      - {name: sda, size: 500GB, rotational: true, partitions: [{label: root, filesystem: ext4, size: 100GiB}]}
"#,
    )
    .unwrap();
    let _rack = Rack::start(world.machines).await;
    let client = client("127.0.101.11", None);
    let calls = ["versions", "system", "security", "status", "disks", "volumes", "links", "addresses"];
    let script: Vec<_> = calls.iter().map(|call| json!({"call": call})).collect();
    let outcomes = client.script(Value::from(script)).await;
    assert!(outcomes.iter().all(|outcome| outcome.code == "OK"), "{outcomes:?}");
    let result = |call: &str| &outcomes[calls.iter().position(|name| *name == call).unwrap()].result;

    assert_eq!(result("versions")["Version"], "v1.13.9");
    assert_eq!(result("system")["UUID"], "4c4c4544-0042-3510-8052-b4c04f4d4d32");
    assert_eq!(result("system")["SerialNumber"], "B5RMM2");
    assert_eq!(result("security")["SecureBoot"], true);
    assert_eq!(result("status")["Stage"], "maintenance");
    let nvme = &result("disks")["nvme0n1"];
    let seen = [&nvme["Size"], &nvme["Transport"], &nvme["Serial"], &nvme["WWID"], &nvme["Rotational"]];
    assert_eq!(
        seen,
        [&json!(274_877_906_944_u64), &json!("nvme"), &json!("S1"), &json!("eui.01"), &json!(false)]
    );
    assert_eq!(result("disks")["sda"]["Rotational"], true);
    assert_eq!(result("volumes")["sda"]["Name"], "gpt");
    assert_eq!(result("volumes")["sda1"]["Name"], "ext4");
    assert_eq!(result("volumes")["nvme0n1"]["Name"], "");
    let link = &result("links")["enp1s0"];
    let seen = [&link["HardwareAddr"], &link["OperationalState"], &link["Kind"], &link["Type"]];
    assert_eq!(seen, ["02:00:00:00:00:01", "up", "", "ether"]);
    assert_eq!(result("links")["enp2s0"]["OperationalState"], "down");
    assert_eq!(result("links")["lo"]["Type"], "loopback");
    let address = &result("addresses")["enp1s0/127.0.101.11/24"];
    assert_eq!([&address["Scope"], &address["LinkName"]], ["global", "enp1s0"]);
    assert_eq!(result("addresses")["lo/127.0.0.1/8"]["Scope"], "host");
}

#[tokio::test]
async fn a_machine_of_1_12_tells_its_version_by_its_resource_only() {
    let mut own = machines(102, 1);
    own[0].talos_version = "v1.12.4".parse().unwrap();
    let _rack = Rack::start(own).await;
    let client = client("127.0.102.11", None);
    let version = client.call("version", Value::Null).await;
    let expected = ("Unimplemented", "API is not implemented in maintenance mode");
    assert_eq!((version.code.as_str(), version.text.as_str()), expected);
    assert_eq!(client.call("versions", Value::Null).await.result["Version"], "v1.12.4");
}

#[tokio::test]
async fn the_kinds_of_resources_are_those_of_talos_library() {
    let output = tokio::process::Command::new(program("talos-client")).arg("kinds").output().await.unwrap();
    let talos: Value = serde_json::from_slice(&output.stdout).unwrap();
    let own: Value = serde_json::from_str(include_str!("../../src/resources/kinds.json")).unwrap();
    let by_type = |kinds: &Value| {
        let kinds = kinds.as_array().unwrap().iter();
        kinds
            .map(|kind| (kind["type"].to_string(), kind.clone()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let (talos, own) = (by_type(&talos), by_type(&own));
    assert_eq!(talos.keys().collect::<Vec<_>>(), own.keys().collect::<Vec<_>>());
    for (name, kind) in talos {
        assert_eq!(own[&name], kind, "{name}");
    }
}
