//! The lab's judges, and machines to judge.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use simulator::configuration::{Generated, GenerationOptions, Judge, Secret};
use simulator::world::Machine;
use simulator::{Simulator, Stage, World};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// How long anything in these tests may take; far above what it takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program of the lab.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = World::of(Vec::new()).lab_folder().join("bin").join(name);
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    path
}

/// Waits within the tests' patience.
pub(crate) async fn patiently<T>(what: &str, work: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, work).await;
    waited.unwrap_or_else(|_| panic!("{what} did not happen within {} s", PATIENCE.as_secs()))
}

/// A running world in a folder of its own.
pub(crate) struct Rack {
    pub(crate) simulator: Simulator,
    pub(crate) folder: tempfile::TempDir,
}

impl Rack {
    /// Starts machines and waits until they listen.
    pub(crate) async fn start(machines: Vec<Machine>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = World { data: Some(folder.path().join("data")), ..World::of(machines) };
        let simulator = Simulator::start(world, Some(&folder.path().join("events.jsonl"))).unwrap();
        patiently("listening", simulator.listening()).await;
        Self { simulator, folder }
    }

    /// Waits until a machine is in a stage.
    pub(crate) async fn reaches(&self, machine: &str, stage: Stage) {
        patiently(&format!("{machine} in stage {}", stage.as_str()), self.simulator.reaches(machine, stage))
            .await
            .unwrap();
    }

    /// Waits until the machine listens with mutual TLS for the given time in its life.
    pub(crate) async fn listens_mutually(&self, machine: &str, times: usize) {
        let listening = |event: &simulator::events::Event| {
            event.machine == machine
                && matches!(event.kind, simulator::events::EventKind::Listening { mutual: true, .. })
        };
        let enough = async {
            let events = self.simulator.events();
            loop {
                let history = events.history();
                if history.iter().filter(|event| listening(event)).count() >= times {
                    return;
                }
                events.grows_beyond(history.len()).await;
            }
        };
        patiently(&format!("{machine} with mutual TLS"), enough).await;
    }

    /// Applies a configuration in maintenance mode and waits for the installed machine.
    pub(crate) async fn configure(&self, machine: &str, address: &str, configuration: &Secret) {
        let applied = client(address, None).call("apply", apply(configuration)).await;
        assert_eq!(applied.code, "OK", "{applied:?}");
        // Once while it installs, once afterwards.
        self.listens_mutually(machine, 2).await;
    }
}

/// Machines called `a`, `b`, … at 127.0.<network>.11 and on, that need no time to boot and install.
pub(crate) fn machines(network: u8, count: u8) -> Vec<Machine> {
    (0..count)
        .map(|index| {
            let name = char::from(b'a' + index).to_string();
            let mut machine = Machine::new(&name, IpAddr::from([127, 0, network, 11 + index]));
            machine.boot_time = jiff::SignedDuration::ZERO;
            machine.install_time = jiff::SignedDuration::ZERO;
            machine
        })
        .collect()
}

/// Configurations for a cluster whose first machine is at this address, as Talos' own generator makes them.
pub(crate) async fn generate(address: &str, talos_version: &str) -> Generated {
    let judge = Judge::new(program("talos-configuration"));
    let options = GenerationOptions {
        cluster_name: "simulated".to_owned(),
        endpoint: format!("https://{address}:6443"),
        talos_version: talos_version.to_owned(),
        kubernetes_version: "1.36.3".to_owned(),
        install_disk: "/dev/sda".to_owned(),
        install_image: format!("ghcr.io/siderolabs/installer:{talos_version}.9"),
        cni: "none".to_owned(),
        ..GenerationOptions::default()
    };
    judge.generate(&options).await.unwrap()
}

/// Arguments of `apply`.
pub(crate) fn apply(configuration: &Secret) -> Value {
    json!({"configuration": configuration.expose(), "mode": "AUTO"})
}

/// Talos' own client for a machine: with a talosconfig, or without any certificate.
pub(crate) fn client(address: &str, talosconfig: Option<&Secret>) -> Client {
    let credentials = talosconfig.map(|text| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text.expose()).unwrap();
        file
    });
    Client { address: address.to_owned(), credentials }
}

pub(crate) struct Client {
    address: String,
    credentials: Option<tempfile::NamedTempFile>,
}

/// How a call came out.
#[derive(Debug, serde::Deserialize)]
pub(crate) struct Outcome {
    pub(crate) code: String,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) result: Value,
}

impl Client {
    /// One call through Talos' client.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Outcome {
        self.script(json!([{"call": name, "arguments": arguments}])).await.remove(0)
    }

    /// One call that may take only so many seconds.
    pub(crate) async fn call_within(&self, seconds: f64, name: &str, arguments: Value) -> Outcome {
        self.script(json!([{"call": name, "arguments": arguments, "seconds": seconds}])).await.remove(0)
    }

    /// A script of calls.
    pub(crate) async fn script(&self, calls: Value) -> Vec<Outcome> {
        let credentials =
            self.credentials.as_ref().map_or_else(|| "insecure".into(), |file| file.path().to_owned());
        let mut child = Command::new(program("talos-client"))
            .arg(&self.address)
            .arg(credentials)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(calls.to_string().as_bytes()).await.unwrap();
        drop(input);
        let output = patiently("talos-client", child.wait_with_output()).await.unwrap();
        assert!(output.status.success(), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
