//! The answers that Talos' own server code gave, asked again of a simulated machine.

mod configurations;
mod credentials;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use simulator::Stage;
use simulator::events::{Event, EventKind};
use simulator::world::{Disk, Machine, Transport};

use crate::lab::{Outcome, Rack, client, generate, machines, patiently};
use credentials::Authority;

/// Answers by call; null where nothing was recorded.
type Answers = BTreeMap<String, Option<String>>;

/// A caller's part of the table.
#[derive(Debug, Deserialize)]
struct Caller {
    /// Answers as this other caller, but for the named calls.
    like: Option<String>,
    /// Every known method but these is denied.
    denied_but: Option<Vec<String>>,
    #[serde(flatten)]
    answers: Answers,
}

/// An answer that is another than Talos' on purpose.
#[derive(Debug, Deserialize)]
struct Difference {
    callers: Vec<String>,
    call: String,
    instead: String,
    because: String,
}

#[tokio::test]
async fn a_machine_in_maintenance_mode_answers_as_recorded() {
    let _rack = Rack::start(recorded_machines(151)).await;
    replay("maintenance", "127.0.151.11", None).await;
}

#[tokio::test]
async fn a_configured_machine_answers_each_role_as_recorded() {
    let rack = Rack::start(recorded_machines(152)).await;
    let own = generate("127.0.152.11", "v1.13").await;
    rack.configure("a", "127.0.152.11", &own.control_plane).await;
    let waits_for_bootstrap = |event: &Event| matches!(&event.kind, EventKind::Service { id, state, .. } if id == "etcd" && state == "Preparing");
    patiently("etcd", rack.simulator.events().wait_for(waits_for_bootstrap)).await;
    let healthy = |event: &Event| matches!(&event.kind, EventKind::Service { id, healthy: true, .. } if id == "kubelet");
    patiently("the kubelet", rack.simulator.events().wait_for(healthy)).await;
    let authority = Authority::of(&own.control_plane).await;
    let roles = [
        ("admin", "os:admin"),
        ("operator", "os:operator"),
        ("reader", "os:reader"),
        ("etcd-backup", "os:etcd:backup"),
        ("impersonator", "os:impersonator"),
        ("without-role", ""),
    ];
    for (caller, role) in roles {
        let credentials = authority.talosconfig(role, 0..24);
        replay(caller, "127.0.152.11", Some(&credentials)).await;
    }
    let other = generate("127.0.152.11", "v1.13").await;
    let foreign =
        Authority::of(&other.control_plane).await.talosconfig_trusting(&authority, "os:admin", 0..24);
    replay("foreign", "127.0.152.11", Some(&foreign)).await;
    replay("expired", "127.0.152.11", Some(&authority.talosconfig("os:admin", -48..-24))).await;
    replay("not-yet-valid", "127.0.152.11", Some(&authority.talosconfig("os:admin", 24..48))).await;
}

#[tokio::test]
async fn a_worker_answers_an_administrator_as_recorded() {
    let rack = Rack::start(recorded_machines(153)).await;
    let own = generate("127.0.153.11", "v1.13").await;
    rack.configure("a", "127.0.153.11", &own.control_plane).await;
    rack.configure("b", "127.0.153.12", &own.worker).await;
    rack.reaches("b", Stage::Running).await;
    replay("worker", "127.0.153.12", Some(&own.talosconfig)).await;
}

/// Machines as they were recorded: a SATA and an NVMe disk.
fn recorded_machines(network: u8) -> Vec<Machine> {
    let mut machines = machines(network, 2);
    for machine in &mut machines {
        let mut sata = Disk::blank("sda", "64GiB".parse().unwrap());
        sata.serial = "S1".to_owned();
        let mut nvme = Disk::blank("nvme0n1", "256GiB".parse().unwrap());
        nvme.transport = Transport::Nvme;
        machine.disks = vec![nvme, sata];
    }
    machines
}

/// Makes every call of the table as a caller, and compares.
async fn replay(caller: &str, address: &str, credentials: Option<&simulator::configuration::Secret>) {
    let calls: BTreeMap<String, Value> = serde_saphyr::from_str(include_str!("probe/calls.yaml")).unwrap();
    let differences: Vec<Difference> =
        serde_saphyr::from_str(include_str!("probe/differences.yaml")).unwrap();
    let answers = answers(caller, &calls);
    let asked: Vec<_> = answers.keys().collect();
    let script = asked.iter().map(|name| {
        let mut call = calls[name.as_str()].clone();
        call["seconds"] = json!(10);
        call
    });
    let outcomes = client(address, credentials).script(script.collect()).await;
    let mut wrong = Vec::new();
    for (name, outcome) in asked.into_iter().zip(outcomes) {
        let summary = summary(name, &outcome);
        let difference = differences
            .iter()
            .find(|other| other.call == *name && other.callers.iter().any(|other| other == caller));
        let recorded = &answers[name];
        match difference {
            Some(difference) => {
                assert!(!difference.because.is_empty());
                assert!(!summary.starts_with(recorded), "{caller} {name} differs no longer");
                if !summary.starts_with(&difference.instead) {
                    wrong.push(format!(
                        "{caller} {name}\n  expected {}\n  got      {summary}",
                        difference.instead
                    ));
                }
            }
            None if !summary.starts_with(recorded.as_str()) => {
                wrong.push(format!("{caller} {name}\n  recorded {recorded}\n  got      {summary}"));
            }
            None => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The answers recorded for a caller.
fn answers(caller: &str, calls: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let table: BTreeMap<String, Caller> = serde_saphyr::from_str(include_str!("probe/answers.yaml")).unwrap();
    let own = &table[caller];
    let mut answers: Answers = BTreeMap::new();
    let mut line = vec![own];
    while let Some(like) = line.last().and_then(|last| last.like.as_ref()) {
        line.push(&table[like]);
    }
    for caller in line.iter().rev() {
        answers.extend(caller.answers.clone());
    }
    let mut answers: BTreeMap<_, _> =
        answers.into_iter().filter_map(|(call, answer)| Some((call, answer?))).collect();
    if let Some(allowed) = &own.denied_but {
        for (call, answer) in &mut answers {
            let known =
                !["unknown-method", "unknown-service", "grpc-health", "reflection", "gen-configuration"]
                    .contains(&call.as_str());
            if known && !allowed.contains(call) {
                *answer = denied(calls[call]["call"].as_str().unwrap());
            }
        }
    }
    answers
}

fn denied(method: &str) -> String {
    let denied = "PermissionDenied \"not authorized\"";
    match method {
        "cosi.resource.State/List" => format!("0:  THEN {denied}"),
        method if counts_items(method) => format!("0 items THEN {denied}"),
        _ => denied.to_owned(),
    }
}

fn counts_items(method: &str) -> bool {
    ["HealthCheck", "Kubeconfig", "Logs"].iter().any(|name| method.ends_with(name))
}

/// An outcome in the recording's notation.
fn summary(name: &str, outcome: &Outcome) -> String {
    let failed = format!("{} {:?}", outcome.code, outcome.text);
    let items = outcome.result.as_array().map(Vec::as_slice).unwrap_or_default();
    let ok = outcome.code == "OK";
    match name {
        _ if outcome.code == "Unavailable" => "Unavailable".to_owned(),
        "health-zero" | "kubeconfig" | "logs-unknown" if !ok => {
            format!("{} items THEN {failed}", items.len())
        }
        _ if name.starts_with("list-") => {
            let ids = items.iter().map(|item| text(&item["resource"]["metadata"]["id"]));
            let list = format!("{}: {}", items.len(), ids.collect::<Vec<_>>().join(" "));
            if ok { format!("OK {list}") } else { format!("{list} THEN {failed}") }
        }
        _ if !ok => failed,
        _ if name.starts_with("watch-") => format!("OK {}", watched(items)),
        _ if name.starts_with("get-") => format!("OK {}", resource(&outcome.result["resource"])),
        "services" => format!("OK {}", services(&outcome.result)),
        "version" => {
            let message = &outcome.result["messages"][0];
            let platform = &message["platform"];
            let rbac = message["features"]["rbac"]
                .as_bool()
                .map_or_else(|| "unset".to_owned(), |rbac| rbac.to_string());
            let tag = text(&message["version"]["tag"]);
            format!(
                "OK tag={tag} platform={}/{} rbac={rbac}",
                text(&platform["name"]),
                text(&platform["mode"])
            )
        }
        "hostname" => format!("OK {}", text(&outcome.result["messages"][0]["hostname"])),
        "disks-legacy" => {
            let disks = outcome.result["messages"][0]["disks"].as_array().unwrap().iter();
            let disks = disks.map(|disk| format!("{}:{}", text(&disk["device_name"]), text(&disk["size"])));
            format!("OK {}", disks.collect::<Vec<_>>().join(" "))
        }
        _ => format!("OK {}", outcome.result),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn resource(resource: &Value) -> String {
    use base64::Engine;
    let (metadata, spec) = (&resource["metadata"], &resource["spec"]);
    let proto = base64::engine::general_purpose::STANDARD.decode(text(&spec["proto_spec"])).unwrap();
    let (version, owner, yaml) =
        (text(&metadata["version"]), text(&metadata["owner"]), text(&spec["yaml_spec"]));
    format!("version={version} owner={owner} proto={} bytes yaml={yaml:?}", proto.len())
}

fn watched(items: &[Value]) -> String {
    let event = |event: &Value| {
        use base64::Engine;
        let metadata = &event["resource"]["metadata"];
        let bookmark =
            base64::engine::general_purpose::STANDARD.decode(text(&event["bookmark"])).unwrap().len();
        let kind = event["event_type"].as_str().unwrap_or("CREATED");
        let (kind_of, id, version) =
            (text(&metadata["type"]), text(&metadata["id"]), text(&metadata["version"]));
        format!("{kind} {kind_of}/{id}@{version} bookmark={bookmark} old={}", !event["old"].is_null())
    };
    let item = |item: &Value| match item["event"].as_array() {
        None => "empty".to_owned(),
        Some(events) => events.iter().map(event).collect::<Vec<_>>().join(" + "),
    };
    let items: Vec<_> = items.iter().map(item).collect();
    items.join(" | ").replacen(" | ", ", ", 1)
}

fn services(result: &Value) -> String {
    let services = result["messages"][0]["services"].as_array().unwrap().iter();
    let service = services.map(|service| {
        let health = &service["health"];
        let is = |key: &str| health[key].as_bool().unwrap_or(false);
        let (id, state) = (text(&service["id"]), text(&service["state"]));
        format!("{id}={state}(unknown={} healthy={})", is("unknown"), is("healthy"))
    });
    service.collect::<Vec<_>>().join(" ")
}
