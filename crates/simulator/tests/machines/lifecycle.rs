//! From a blank machine to a cluster's first member and back.

use base64::Engine;
use serde_json::{Value, json};
use simulator::Stage;
use simulator::configuration::Secret;
use simulator::events::EventKind;

use crate::lab::{Rack, apply, client, generate, machines};

#[tokio::test]
async fn a_machine_installs_bootstraps_and_is_blank_again_after_a_reset() {
    let rack = Rack::start(machines(103, 1)).await;
    let address = "127.0.103.11";
    let generated = generate(address, "v1.13").await;
    rack.configure("a", address, &generated.control_plane).await;
    let admin = client(address, Some(&generated.talosconfig));

    let version = admin.call("version", Value::Null).await;
    assert_eq!(version.result["messages"][0]["features"]["rbac"], true, "{version:?}");
    let services = admin.call("services", Value::Null).await;
    assert_eq!(service(&services.result, "etcd")["state"], "Preparing");
    let members = admin.call("members", Value::Null).await;
    let expected = ("Unknown", "no controlplane endpoints discovered yet");
    assert_eq!((members.code.as_str(), members.text.as_str()), expected);
    let kubeconfig = admin.call("kubeconfig", Value::Null).await;
    assert!(kubeconfig.result.as_str().unwrap().contains("admin@simulated"), "{}", kubeconfig.code);

    let request = json!({"roles": ["os:reader"], "crt_ttl": "60s"});
    let made = admin.call("machine.MachineService/GenerateClientConfiguration", request).await;
    let talosconfig = made.result["messages"][0]["talosconfig"].as_str().unwrap();
    let talosconfig = base64::engine::general_purpose::STANDARD.decode(talosconfig).unwrap();
    let reader = client(address, Some(&Secret::new(String::from_utf8(talosconfig).unwrap())));
    assert_eq!(reader.call("version", Value::Null).await.code, "OK");
    assert_eq!(reader.call("kubeconfig", Value::Null).await.code, "PermissionDenied");

    assert_eq!(admin.call("bootstrap", Value::Null).await.code, "OK");
    rack.reaches("a", Stage::Running).await;
    let again = admin.call("bootstrap", Value::Null).await;
    assert_eq!(
        (again.code.as_str(), again.text.as_str()),
        ("AlreadyExists", "etcd data directory is not empty")
    );
    let members = admin.call("members", Value::Null).await;
    let member = &members.result["messages"][0]["members"][0];
    assert_eq!(member["peer_urls"], json!(["https://127.0.103.11:2380"]), "{members:?}");
    let services = admin.call("services", Value::Null).await;
    for id in ["etcd", "kubelet"] {
        assert_eq!(service(&services.result, id)["health"]["healthy"], true, "{id}");
    }
    let health = admin.call("health", json!({"wait_seconds": 25, "control_planes": [address]})).await;
    assert_eq!(health.code, "OK", "{health:?}");
    let skipped = json!("waiting for all k8s nodes to report ready: SKIP");
    assert!(health.result.as_array().unwrap().contains(&skipped), "{health:?}");

    let reset = json!({"reboot": true, "partitions": ["STATE", "EPHEMERAL"]});
    assert_eq!(admin.call("reset", reset).await.code, "OK");
    rack.reaches("a", Stage::Maintenance).await;
    let blank = client(address, None);
    assert_eq!(blank.call("status", Value::Null).await.result["Stage"], "maintenance");
    // META was kept: what is installed needs no installation.
    let before = rack.simulator.status()[0].boots;
    assert_eq!(blank.call("apply", apply(&generated.control_plane)).await.code, "OK");
    rack.listens_mutually("a", 3).await;
    assert_eq!(rack.simulator.status()[0].boots, before);
}

#[tokio::test]
async fn a_worker_gets_its_certificate_from_a_control_plane_of_its_cluster_only() {
    let rack = Rack::start(machines(104, 2)).await;
    let own = generate("127.0.104.11", "v1.13").await;
    let worker = client("127.0.104.12", None);
    assert_eq!(worker.call("apply", apply(&own.worker)).await.code, "OK");
    // Installed and booted, but nobody signs its certificate.
    let starts = |event: &simulator::events::Event| {
        let kubelet = matches!(&event.kind, EventKind::Service { id, .. } if id == "kubelet");
        event.machine == "b" && kubelet && rack.simulator.status()[1].boots == 2
    };
    crate::lab::patiently("the worker's boot", rack.simulator.events().wait_for(starts)).await;
    assert_eq!(rack.simulator.status()[1].listening, None);

    rack.configure("a", "127.0.104.11", &own.control_plane).await;
    rack.listens_mutually("b", 1).await;
    let admin = client("127.0.104.12", Some(&own.talosconfig));
    let bootstrap = admin.call("bootstrap", Value::Null).await;
    let refused = ("Unimplemented", "bootstrap is only available on control plane nodes");
    assert_eq!((bootstrap.code.as_str(), bootstrap.text.as_str()), refused);
}

#[tokio::test]
async fn machines_of_1_12_are_configured_in_the_modes_they_know() {
    let mut own = machines(105, 1);
    own[0].talos_version = "v1.12.4".parse().unwrap();
    let rack = Rack::start(own).await;
    let address = "127.0.105.11";
    let generated = generate(address, "v1.12").await;
    let blank = client(address, None);
    let mut arguments = apply(&generated.control_plane);
    arguments["mode"] = json!("STAGED");
    let staged = blank.call("apply", arguments).await;
    let refused = "apply configuration --mode='staged' is not supported in maintenance mode";
    assert_eq!((staged.code.as_str(), staged.text.as_str()), ("Unimplemented", refused));
    let broken = blank.call("apply", json!({"configuration": "[", "mode": "AUTO"})).await;
    assert_eq!(broken.code, "Unknown");
    assert!(broken.text.starts_with("failed to parse config: "), "{}", broken.text);
    rack.configure("a", address, &generated.control_plane).await;
    let admin = client(address, Some(&generated.talosconfig));
    let version = admin.call("version", Value::Null).await;
    assert_eq!(version.result["messages"][0]["version"]["tag"], "v1.12.9", "the installer's image decides");
}

#[tokio::test]
async fn a_simulator_that_is_started_again_finds_its_machines_as_they_were() {
    let rack = Rack::start(machines(106, 1)).await;
    let address = "127.0.106.11";
    let generated = generate(address, "v1.13").await;
    rack.configure("a", address, &generated.control_plane).await;
    let Rack { simulator, folder } = rack;
    simulator.shut_down().await;
    drop(simulator);
    let world =
        simulator::World { data: Some(folder.path().join("data")), ..simulator::World::of(machines(106, 1)) };
    let simulator = simulator::Simulator::start(world, None).unwrap();
    crate::lab::patiently("listening", simulator.listening()).await;
    let admin = client(address, Some(&generated.talosconfig));
    assert_eq!(admin.call("version", Value::Null).await.code, "OK");
}

fn service<'a>(list: &'a Value, id: &str) -> &'a Value {
    let services = list["messages"][0]["services"].as_array().unwrap();
    services.iter().find(|service| service["id"] == id).unwrap()
}
