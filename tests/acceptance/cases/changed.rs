//! Changed configurations, machine by machine; and machines that somebody changed by hand.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::cases::cases_of;
use crate::cases::cluster::{node_count, ready};
use crate::cluster::{Cluster, RESOURCE};
use crate::golden;
use crate::lab;
use crate::process::Running;
use crate::rig::{QUICK, Rig};

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("changed_configurations_go_out_machine_by_machine_control_planes_first", rolled_out),
        ("changed_configurations_stop_at_a_machine_that_does_not_come_back", stopped),
        ("changed_configurations_keep_to_their_apply_mode", apply_mode),
        ("changed_instances_reach_their_machines_in_the_same_apply", instance_edited),
        ("a_machine_that_somebody_changed_or_reset_is_put_right", drifted),
        ("another_machine_at_a_machine_s_address_is_named_and_not_touched", exchanged),
    ])
}

/// Talos' own network: nothing of this hangs on an addon.
fn cluster(control_planes: u8, workers: u8) -> Result<Cluster, Failed> {
    let mut cluster = Cluster::of(control_planes, workers)?;
    cluster.cilium = "enabled = false".to_owned();
    cluster.cert_manager = "enabled = false".to_owned();
    Ok(cluster)
}

fn patched(cluster: &Cluster, patches: &[&str]) -> Cluster {
    let patches = patches.iter().map(|patch| format!("yamlencode({patch})")).collect::<Vec<_>>().join(", ");
    Cluster { arguments: format!("{}\nconfig_patches = [{patches}]", cluster.arguments), ..cluster.clone() }
}

fn rolled_out(rig: &mut Rig) -> Result<(), Failed> {
    let before = cluster(3, 2)?;
    before.simulate(rig)?;
    before.apply(rig)?;
    ready(rig)?;

    let mut patches = vec!["{ machine = { sysctls = { \"net.core.somaxconn\" = \"1024\" } } }"];
    changes(rig, &patched(&before, &patches), "changed/sysctl")?;
    patches.push("{ machine = { kubelet = { extraArgs = { v = \"4\" } } } }");
    changes(rig, &patched(&before, &patches), "changed/kubelet-argument")?;
    patches.push("{ machine = { certSANs = [\"talos.example.org\"] } }");
    changes(rig, &patched(&before, &patches), "changed/certificate-name")?;
    patches.push("{ machine = { install = { wipe = true } } }");
    changes(rig, &patched(&before, &patches), "changed/installation")
}

/// Plans and applies a change: each machine gets it once, in order, and nothing is left to do.
fn changes(rig: &Rig, changed: &Cluster, name: &str) -> Result<(), Failed> {
    rig.module(&changed.module(rig))?;
    let planned = rig.plan(&["-json"])?.expect_code(2)?;
    golden::expect(name, &golden::diagnostics(rig, &planned))?;
    assert!(rig.plan(&[])?.said().contains("configuration_digests"), "a plan shows whom it concerns");
    let so_far = rig.simulator()?.events().len();
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(configured(rig, so_far)?, ["cp-1", "cp-2", "cp-3", "w-1", "w-2"]);
    ready(rig)
}

/// The machines that took a configuration after that many events, in order.
fn configured(rig: &Rig, so_far: usize) -> Result<Vec<String>, Failed> {
    let is_apply = |event: &&Value| {
        event["event"] == "request" && event["method"] == "machine.MachineService/ApplyConfiguration"
    };
    let name = |event: &Value| event["machine"].as_str().unwrap_or_default().to_owned();
    Ok(rig.simulator()?.events()[so_far..].iter().filter(is_apply).map(name).collect())
}

fn stopped(rig: &mut Rig) -> Result<(), Failed> {
    let mut before = cluster(1, 2)?;
    before.simulate(rig)?;
    before.apply(rig)?;
    ready(rig)?;

    before.arguments = "timeouts = { update = \"45s\" }".to_owned();
    // A change that takes a reboot, from which the first worker doesn't come back.
    let changed = patched(&before, &["{ machine = { sysctls = { \"vm.swappiness\" = \"10\" } } }", REBOOT]);
    rig.wait(rig.simulator()?.command(&["fault", "w-1", "stay-down"]))?;
    let so_far = rig.simulator()?.events().len();
    rig.module(&changed.module(rig))?;
    let applied = rig.apply(&["-json"])?.expect_code(1)?;
    golden::expect("changed/stopped", &golden::diagnostics(rig, &applied))?;
    assert_eq!(configured(rig, so_far)?, ["cp-1", "w-1"], "w-2 keeps what it has");

    // The next apply goes on from there, and no further as long as the machine is away.
    let so_far = rig.simulator()?.events().len();
    rig.apply(&[])?.expect_code(1)?;
    assert_eq!(configured(rig, so_far)?, [""; 0]);
    rig.wait(rig.simulator()?.command(&["power", "on", "w-1"]))?;
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(configured(rig, so_far)?, ["w-2"]);
    ready(rig)
}

fn apply_mode(rig: &mut Rig) -> Result<(), Failed> {
    let before = cluster(1, 1)?;
    before.simulate(rig)?;
    before.apply(rig)?;
    ready(rig)?;

    let mut changed = patched(&before, &[REBOOT]);
    let arguments = changed.arguments.clone();
    changed.arguments = format!("{arguments}\napply_mode = \"no_reboot\"");
    rig.module(&changed.module(rig))?;
    let planned = rig.plan(&["-json"])?.expect_code(1)?;
    golden::expect("changed/no-reboot", &golden::diagnostics(rig, &planned))?;

    let so_far = rig.simulator()?.events().len();
    changed.arguments = format!("{arguments}\napply_mode = \"staged\"");
    changed.apply(rig)?;
    assert_eq!(configured(rig, so_far)?, ["cp-1", "w-1"]);
    let reboots = |event: &&Value| event["stage"] == "rebooting";
    assert_eq!(rig.simulator()?.events()[so_far..].iter().filter(reboots).count(), 0);
    // What is staged is what was given, before the machines' next boot and after it.
    ready(rig)?;
    talos(rig, 21, &json!([{ "call": "reboot" }]))?;
    rig.simulator()?.event(QUICK, |event| event["machine"] == "w-1" && event["stage"] == "rebooting")?;
    rig.apply(&[])?.expect_code(0)?;
    ready(rig)
}

fn instance_edited(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = cluster(1, 2)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;

    let labels = "labels     = { role = each.value.role }\n";
    let patch = "yamlencode({ machine = { sysctls = { \"vm.swappiness\" = \"10\" } } })";
    let edited = format!("{labels}  config_patches = each.key == \"w-2\" ? [{patch}] : null\n");
    rig.module(&cluster.module(rig).replacen(labels, &edited, 1))?;
    let planned = rig.plan(&["-json"])?.expect_code(2)?;
    golden::expect("changed/instance", &golden::diagnostics(rig, &planned))?;
    let so_far = rig.simulator()?.events().len();
    rig.apply(&[])?.expect_code(0)?;
    assert_eq!(configured(rig, so_far)?, ["w-2"]);
    ready(rig)
}

/// A change that Talos up to 1.13 makes by a reboot.
const REBOOT: &str = "{ machine = { udev = { rules = [\"# none\"] } } }";

fn drifted(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = cluster(1, 2)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;

    let configuration =
        std::fs::read_to_string(rig.folder().join("simulator/machines/w-1/state/config.yaml"))?;
    let by_hand = configuration.replacen("machine:\n", "machine:\n    sysctls: {vm.swappiness: \"10\"}\n", 1);
    talos(rig, 21, &json!([{ "call": "apply", "arguments": { "configuration": by_hand, "mode": "AUTO" } }]))?;
    let so_far = rig.simulator()?.events().len();
    let partitions = ["STATE", "EPHEMERAL"];
    talos(rig, 22, &json!([{ "call": "reset", "arguments": { "reboot": true, "partitions": partitions } }]))?;
    // Back in maintenance mode: on its way there it is silent, which is another thing.
    let listens = format!("{}:50000", rig.address(22));
    rig.simulator()?
        .event_after(so_far, QUICK, |event| event["machine"] == "w-2" && event["address"] == listens)?;

    let so_far = rig.simulator()?.events().len();
    let planned = rig.plan(&["-json"])?.expect_code(2)?;
    golden::expect("changed/drift", &golden::diagnostics(rig, &planned))?;
    rig.apply(&[])?.expect_code(0)?;
    let mut configured = configured(rig, so_far)?;
    configured.dedup();
    configured.sort();
    assert_eq!(configured, ["w-1", "w-2"]);
    ready(rig)?;
    assert_eq!(node_count(rig)?, 3);
    Ok(())
}

fn exchanged(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = cluster(1, 1)?;
    let machine = |name: &str, host: u8| json!({ "name": name, "addresses": [rig.address(host)] });
    let machines = [machine("cp-1", 11), machine("w-1", 21), machine("spare", 30)];
    rig.simulate(&machines)?;
    cluster.apply(rig)?;
    ready(rig)?;

    let taken = rig.address(21).to_string();
    for step in [
        ["power", "off", "w-1"].as_slice(),
        &["fault", "spare", "come-back-at", "--address", &taken],
        &["power", "off", "spare"],
        &["power", "on", "spare"],
    ] {
        rig.wait(rig.simulator()?.command(step))?;
    }
    let so_far = rig.simulator()?.events().len();
    let listens = |event: &Value| event["machine"] == "spare" && event["address"] == format!("{taken}:50000");
    rig.simulator()?.event(QUICK, listens)?;
    let planned = rig.plan(&["-json"])?;
    golden::expect("changed/exchanged", &golden::diagnostics(rig, &planned))?;
    assert_eq!(planned.code, Some(0), "no apply can put it right");
    assert_eq!(configured(rig, so_far)?, [""; 0]);
    Ok(())
}

/// Calls a machine with Talos' own client and the talosconfig of the state.
fn talos(rig: &Rig, host: u8, calls: &Value) -> Result<(), Failed> {
    let (talosconfig, script) = (rig.folder().join("talosconfig"), rig.folder().join("calls.json"));
    let cluster = rig.attributes(RESOURCE)?;
    std::fs::write(
        &talosconfig,
        cluster["talosconfig"].as_str().ok_or("expected a talosconfig in the state")?,
    )?;
    std::fs::write(&script, calls.to_string())?;
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" \"$1\" \"$2\" < \"$3\""])
        .arg(lab::program("talos-client")?)
        .arg(rig.address(host).to_string())
        .args([talosconfig, script]);
    let ended = rig.wait(async { Running::start(command)?.end(QUICK).await })?.expect_code(0)?;
    assert!(ended.stdout.contains("\"code\":\"OK\""), "{}", ended.stdout);
    Ok(())
}
