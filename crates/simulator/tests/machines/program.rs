//! The program: one line when all listen, a socket to steer it, an event log without secrets.

use std::process::Stdio;

use serde_json::Value;
use simulator::control::{self, Answer, Request};
use simulator::fault::Fault;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::lab::{apply, client, generate, patiently};

#[tokio::test]
async fn a_world_runs_until_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let world = "data: data\nmachines: [{name: a, addresses: [127.0.131.11]}, {name: b, addresses: [127.0.131.12], powered: false}]\n";
    std::fs::write(folder.path().join("world.yaml"), world).unwrap();
    let events = folder.path().join("events.jsonl");
    let mut program = Command::new(env!("CARGO_BIN_EXE_kontinuum-simulator"))
        .arg("run")
        .arg(folder.path().join("world.yaml"))
        .arg("--events")
        .arg(&events)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = patiently("the first line", output.next_line()).await.unwrap().unwrap();
    assert!(line.starts_with("simulating 2 machines"), "{line}");

    let data = folder.path().join("data");
    let stages = || async {
        let Answer::Status(machines) = control::ask(&data, &Request::Status).await.unwrap() else {
            panic!("no status");
        };
        machines.into_iter().map(|machine| machine.stage.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(stages().await, ["maintenance", "off"]);
    let fault = Request::Fault {
        machine: "a".to_owned(),
        with: Fault::Answer {
            method: "Version".to_owned(),
            code: "Aborted".parse().unwrap(),
            message: "no".to_owned(),
            calls: 1,
        },
    };
    assert!(matches!(control::ask(&data, &fault).await.unwrap(), Answer::Done));
    let client = client("127.0.131.11", None);
    assert_eq!(client.call("machine.MachineService/Version", serde_json::json!({})).await.code, "Aborted");
    let unknown = Request::Power { machine: "z".to_owned(), on: true };
    let Answer::Refused(why) = control::ask(&data, &unknown).await.unwrap() else { panic!("accepted") };
    assert!(why.contains("(a, b)"), "{why}");

    let generated = generate("127.0.131.11", "v1.13").await;
    assert_eq!(client.call("apply", apply(&generated.control_plane)).await.code, "OK");
    let id = program.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().await.unwrap().success());
    assert!(patiently("the end", program.wait()).await.unwrap().success());
    assert!(!data.join("control.sock").exists());

    let log = std::fs::read_to_string(&events).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let applied = lines
        .iter()
        .find(|line| line["method"] == "machine.MachineService/ApplyConfiguration" && line["code"] == "OK");
    assert_eq!(applied.unwrap()["roles"], serde_json::json!(["os:reader"]));
    assert!(lines.iter().any(|line| line["event"] == "stage" && line["stage"] == "maintenance"));
    let text = generated.control_plane.expose();
    let token = text.lines().find_map(|line| line.trim().strip_prefix("token: ")).unwrap();
    assert!(text.contains(token) && !log.contains(token), "the machine's token is in the event log");
}
