//! What goes wrong on purpose, goes wrong as announced.

use std::net::IpAddr;

use jiff::SignedDuration;
use serde_json::{Value, json};
use simulator::Stage;
use simulator::events::{Event, EventKind};
use simulator::fault::Fault;

use crate::lab::{Rack, apply, client, generate, machines, patiently};

#[tokio::test]
async fn a_lost_reply_is_a_carried_out_call_and_a_broken_connection() {
    let rack = Rack::start(machines(111, 1)).await;
    let address = "127.0.111.11";
    let generated = generate(address, "v1.13").await;
    rack.simulator
        .fault("a", Fault::DropReply { method: "ApplyConfiguration".to_owned(), calls: 1 })
        .unwrap();
    let applied = client(address, None).call("apply", apply(&generated.control_plane)).await;
    assert_eq!(applied.code, "Unavailable", "{applied:?}");
    rack.listens_mutually("a", 2).await;
    let lost = rack.simulator.events().history().into_iter().find_map(|event| {
        let EventKind::Request { fault: Some(fault), code, .. } = event.kind else { return None };
        Some((fault, code.to_string()))
    });
    assert_eq!(lost, Some(("drop-reply", "OK".to_owned())));
}

#[tokio::test]
async fn calls_are_answered_with_a_code_or_not_at_all() {
    let rack = Rack::start(machines(112, 1)).await;
    let client = client("127.0.112.11", None);
    let method = "Version".to_owned();
    let code = "Unavailable".parse().unwrap();
    let answer = Fault::Answer { method: method.clone(), code, message: "try again".to_owned(), calls: 1 };
    rack.simulator.fault("a", answer).unwrap();
    let answered = client.call("machine.MachineService/Version", json!({})).await;
    assert_eq!((answered.code.as_str(), answered.text.as_str()), ("Unavailable", "try again"));
    rack.simulator.fault("a", Fault::Hang { method, calls: 1 }).unwrap();
    let hung = client.call_within(1.0, "machine.MachineService/Version", json!({})).await;
    assert_eq!(hung.code, "DeadlineExceeded");
    assert_eq!(client.call("version", Value::Null).await.code, "OK");
}

#[tokio::test]
async fn a_silent_machine_accepts_and_says_nothing() {
    let rack = Rack::start(machines(113, 1)).await;
    rack.simulator.fault("a", Fault::Silent {}).unwrap();
    let mut stream = tokio::net::TcpStream::connect("127.0.113.11:50000").await.unwrap();
    let mut byte = [0];
    let read = tokio::io::AsyncReadExt::read(&mut stream, &mut byte);
    let silent = tokio::time::timeout(std::time::Duration::from_millis(300), read).await;
    assert!(silent.is_err(), "{silent:?}");
}

#[tokio::test]
async fn a_failed_installation_ends_in_maintenance_mode_with_its_error_in_the_log() {
    let rack = Rack::start(machines(114, 1)).await;
    let address = "127.0.114.11";
    let generated = generate(address, "v1.13").await;
    let error = "failed to write the boot loader: no space left on device";
    rack.simulator.fault("a", Fault::FailInstall { error: error.to_owned(), times: 1 }).unwrap();
    let blank = client(address, None);
    assert_eq!(blank.call("apply", apply(&generated.control_plane)).await.code, "OK");
    patiently("the failure", rack.simulator.events().wait_for(|event| is_failure(event, error))).await;
    let back = |event: &Event| {
        matches!(event.kind, EventKind::Listening { mutual: false, .. })
            && rack.simulator.status()[0].boots == 2
    };
    patiently("maintenance mode", rack.simulator.events().wait_for(back)).await;
    rack.reaches("a", Stage::Maintenance).await;
    let log = blank.call("dmesg", Value::Null).await;
    assert!(log.result.as_str().unwrap().contains(error), "{log:?}");
    rack.configure("a", address, &generated.control_plane).await;
}

#[tokio::test]
async fn a_disk_that_is_not_there_fails_the_installation() {
    let mut own = machines(115, 1);
    own[0].disks = vec![simulator::world::Disk::blank("nvme0n1", "64GiB".parse().unwrap())];
    let rack = Rack::start(own).await;
    let generated = generate("127.0.115.11", "v1.13").await;
    let applied = client("127.0.115.11", None).call("apply", apply(&generated.control_plane)).await;
    assert_eq!(applied.code, "OK");
    let failed = |event: &Event| is_failure(event, "failed to open disk /dev/sda");
    patiently("the failure", rack.simulator.events().wait_for(failed)).await;
    rack.reaches("a", Stage::Maintenance).await;
}

#[tokio::test]
async fn a_machine_comes_back_elsewhere_or_not_at_all() {
    let rack = Rack::start(machines(116, 2)).await;
    let generated = generate("127.0.116.11", "v1.13").await;
    let moved = IpAddr::from([127, 0, 116, 21]);
    rack.simulator.fault("a", Fault::ComeBackAt { address: moved }).unwrap();
    assert_eq!(client("127.0.116.11", None).call("apply", apply(&generated.control_plane)).await.code, "OK");
    rack.listens_mutually("a", 2).await;
    assert_eq!(rack.simulator.status()[0].listening.map(|address| address.ip()), Some(moved));
    let admin = client("127.0.116.21", Some(&generated.talosconfig));
    assert_eq!(admin.call("version", Value::Null).await.code, "OK");

    rack.simulator.fault("b", Fault::StayDown {}).unwrap();
    assert_eq!(client("127.0.116.12", None).call("apply", apply(&generated.control_plane)).await.code, "OK");
    rack.reaches("b", Stage::Off).await;
    rack.simulator.power("b", true).unwrap();
    rack.listens_mutually("b", 2).await;
}

#[tokio::test]
async fn a_bootstrap_request_is_lost_by_a_reboot_and_can_be_sent_again() {
    let rack = Rack::start(machines(117, 1)).await;
    let address = "127.0.117.11";
    let generated = generate(address, "v1.13").await;
    rack.configure("a", address, &generated.control_plane).await;
    rack.simulator.fault("a", Fault::LoseBootstrap {}).unwrap();
    let admin = client(address, Some(&generated.talosconfig));
    assert_eq!(admin.call("bootstrap", Value::Null).await.code, "OK");
    rack.listens_mutually("a", 3).await;
    let services = admin.call("services", Value::Null).await;
    let services = services.result["messages"][0]["services"].as_array().unwrap().clone();
    let etcd = services.iter().find(|service| service["id"] == "etcd").unwrap();
    assert_ne!(etcd["state"], "Running", "{etcd}");
    assert_eq!(admin.call("bootstrap", Value::Null).await.code, "OK");
}

#[tokio::test]
async fn without_time_in_sync_nothing_is_bootstrapped() {
    let rack = Rack::start(machines(118, 1)).await;
    let address = "127.0.118.11";
    let generated = generate(address, "v1.13").await;
    rack.simulator.fault("a", Fault::TimeNotInSync {}).unwrap();
    rack.configure("a", address, &generated.control_plane).await;
    let admin = client(address, Some(&generated.talosconfig));
    let refused = admin.call("bootstrap", Value::Null).await;
    let expected = ("FailedPrecondition", "time is not in sync yet");
    assert_eq!((refused.code.as_str(), refused.text.as_str()), expected);
    let status = admin.call("status", Value::Null).await.result;
    assert_eq!([&status["Stage"], &status["Status"]["UnmetConditions"][0]["Name"]], ["booting", "time"]);
    rack.simulator.clear_faults("a").unwrap();
    let preparing = |event: &Event| matches!(&event.kind, EventKind::Service { id, state, .. } if id == "etcd" && state == "Preparing");
    patiently("etcd", rack.simulator.events().wait_for(preparing)).await;
    assert_eq!(admin.call("bootstrap", Value::Null).await.code, "OK");
}

#[tokio::test]
async fn etcd_data_of_an_earlier_cluster_forbids_a_bootstrap() {
    let rack = Rack::start(machines(119, 1)).await;
    let address = "127.0.119.11";
    let generated = generate(address, "v1.13").await;
    rack.simulator.fault("a", Fault::ForeignEtcdData {}).unwrap();
    rack.configure("a", address, &generated.control_plane).await;
    let admin = client(address, Some(&generated.talosconfig));
    let files = json!({"root": "/var/lib", "recurse": true, "recursion_depth": 2});
    let files = admin.call("machine.MachineService/List", files).await;
    let names: Vec<_> = files.result.as_array().unwrap().iter().map(|file| file["name"].clone()).collect();
    assert!(names.contains(&json!("/var/lib/etcd/member")), "{names:?}");
    assert_eq!(admin.call("bootstrap", Value::Null).await.code, "AlreadyExists");
}

#[tokio::test]
async fn an_installation_can_leave_another_version_than_asked_for() {
    let rack = Rack::start(machines(120, 1)).await;
    let address = "127.0.120.11";
    let generated = generate(address, "v1.13").await;
    rack.simulator.fault("a", Fault::InstallVersion { version: "v1.13.2".parse().unwrap() }).unwrap();
    rack.configure("a", address, &generated.control_plane).await;
    let version = client(address, Some(&generated.talosconfig)).call("version", Value::Null).await;
    assert_eq!(version.result["messages"][0]["version"]["tag"], "v1.13.2");
}

#[tokio::test]
async fn with_its_clock_behind_a_machine_takes_no_certificate_for_valid() {
    let rack = Rack::start(machines(121, 1)).await;
    let address = "127.0.121.11";
    let generated = generate(address, "v1.13").await;
    rack.simulator.fault("a", Fault::SkewClock { by: SignedDuration::from_hours(-48) }).unwrap();
    rack.configure("a", address, &generated.control_plane).await;
    let refused = client(address, Some(&generated.talosconfig)).call("version", Value::Null).await;
    assert_eq!(refused.code, "Unavailable", "{refused:?}");
    rack.simulator.clear_faults("a").unwrap();
    let calls = client(address, Some(&generated.talosconfig)).call("version", Value::Null).await;
    // Talos issues its own certificate anew when the time was set; the old one would have ended.
    assert_eq!(calls.code, "OK", "{calls:?}");
}

fn is_failure(event: &Event, text: &str) -> bool {
    matches!(&event.kind, EventKind::Failure { message } if message.contains(text))
}
