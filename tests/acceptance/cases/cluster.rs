//! From machines to a Ready cluster, and back.

use std::collections::BTreeMap;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::cases::{cases_of, with};
use crate::charts::{ClassicRepository, Registry};
use crate::client::Client;
use crate::cluster::{Cluster, RESOURCE, conditions, helm, kubectl, logged_conditions};
use crate::rig::Rig;

/// What every cluster says of itself in the end.
const READY: [&str; 3] =
    ["Bootstrapped=True/Healthy", "ControlPlaneReady=True/Healthy", "Ready=True/AddonsInstalled"];

pub(crate) fn cases() -> Vec<Trial> {
    let mut cases = with(&Client::ALL, "three_control_planes_and_two_workers_become_ready", three_and_two);
    cases.extend(cases_of(&[
        ("a_single_machine_becomes_ready", single),
        ("charts_come_from_a_classic_repository_and_an_oci_registry", sources),
        ("without_any_member_the_cluster_fails_at_once", no_member),
        ("a_short_pool_gives_a_smaller_cluster_that_grows_later", short),
    ]));
    cases
}

fn three_and_two(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = Cluster::of(3, 2)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(
        logged_conditions(rig),
        [
            "ControlPlaneReady=False/Bootstrapping",
            "ControlPlaneReady=False/AddonNotHealthy",
            "Bootstrapped=True/Healthy",
            "ControlPlaneReady=True/Healthy",
            "Ready=False/AddonNotHealthy",
            "Ready=True/AddonsInstalled",
        ]
    );
    assert_eq!(requests(rig, "Bootstrap")?, 1, "one etcd cluster, ever");
    assert_eq!(node_count(rig)?, 5);

    let releases: Value = serde_json::from_str(
        &helm(rig, &["list", "--all-namespaces", "--output", "json"])?.expect_code(0)?.stdout,
    )?;
    let release = |index: usize| {
        let field = |name: &str| releases[index][name].as_str().unwrap_or_default().to_owned();
        format!("{}/{} {} {}", field("namespace"), field("name"), field("chart"), field("status"))
    };
    assert_eq!(release(0), "cert-manager/cert-manager cert-manager-v1.21.2 deployed");
    assert_eq!(release(1), "kube-system/cilium cilium-1.20.2 deployed");
    let manifest = helm(rig, &["get", "manifest", "cilium", "--namespace", "kube-system"])?.expect_code(0)?;
    assert!(manifest.stdout.contains("kind: DaemonSet"));

    destroyed(rig)
}

fn single(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = Cluster::of(1, 0)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    let operator = [
        "get",
        "deployment",
        "cilium-operator",
        "--namespace",
        "kube-system",
        "--output",
        "jsonpath={.spec.replicas}",
    ];
    assert_eq!(kubectl(rig, &operator)?.expect_code(0)?.stdout, "1");
    destroyed(rig)
}

fn sources(rig: &mut Rig) -> Result<(), Failed> {
    if !Registry::is_available() {
        return Err("docker-registry is missing: run `make lab` on a machine with apt-get".into());
    }
    let folder = rig.folder().join("repository");
    let classic = rig.wait(ClassicRepository::serve(rig.address(2), &folder, &["cilium-1.20.2"]))?;
    let registry = rig.wait(Registry::start(rig.address(3), &rig.folder().join("registry")))?;
    rig.wait(registry.push("cert-manager-v1.21.2"))?;
    let mut cluster = Cluster::of(1, 0)?;
    cluster.cilium = format!("repository = \"{}\"", classic.url());
    cluster.cert_manager = format!("repository = \"{}/cert-manager\"", registry.repository());
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert!(classic.requests().contains(&"/cilium-1.20.2.tgz".to_owned()), "{:?}", classic.requests());
    let state = rig.attributes(RESOURCE)?;
    assert_eq!(state["cilium"]["version"], "1.20.2", "the version taken at creation is kept");
    Ok(())
}

fn no_member(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(0, 1)?;
    cluster.replicas = Some(3);
    cluster.simulate(rig)?;
    rig.module(&cluster.module(rig))?;
    let applied = rig.apply(&[])?.expect_code(1)?;
    for words in ["WaitingForInstances", "0 of 3"] {
        assert!(applied.said().contains(words), "{}", applied.said());
    }
    assert!(rig.attributes(RESOURCE).is_err(), "a failed create is not in the state");
    Ok(())
}

fn short(rig: &mut Rig) -> Result<(), Failed> {
    let all = Cluster::of(3, 0)?;
    all.simulate(rig)?;
    let mut fewer = Cluster::of(1, 0)?;
    fewer.replicas = Some(3);
    let applied = fewer.apply(rig)?;
    assert!(applied.said().contains("Warning: a pool has too few machines"), "{}", applied.said());
    assert_eq!(conditions(rig)?, READY);
    assert_eq!(node_count(rig)?, 1);

    all.apply(rig)?;
    ready(rig)?;
    assert_eq!(node_count(rig)?, 3);
    assert_eq!(requests(rig, "Bootstrap")?, 1);
    Ok(())
}

/// Ready, known to real kubectl, and nothing left to do.
pub(super) fn ready(rig: &Rig) -> Result<(), Failed> {
    assert_eq!(conditions(rig)?, READY);
    assert_eq!(rig.attributes(RESOURCE)?["ready"], true);
    let wait = ["wait", "--for=condition=Ready", "nodes", "--all", "--timeout=10s"];
    kubectl(rig, &wait)?.expect_code(0)?;
    rig.is_settled()
}

/// How many calls of a method were carried out.
pub(super) fn requests(rig: &Rig, method: &str) -> Result<usize, Failed> {
    let is_meant = |event: &Value| {
        event["event"] == "request"
            && event["code"] == "OK"
            && event["method"].as_str().is_some_and(|full| full.ends_with(&format!("/{method}")))
    };
    Ok(rig.simulator()?.events().iter().filter(|event| is_meant(event)).count())
}

pub(super) fn node_count(rig: &Rig) -> Result<usize, Failed> {
    let nodes = kubectl(rig, &["get", "nodes", "--output", "json"])?.expect_code(0)?;
    let nodes: Value = serde_json::from_str(&nodes.stdout)?;
    Ok(nodes["items"].as_array().map_or(0, Vec::len))
}

/// Destroys all; every machine must be back in maintenance mode.
fn destroyed(rig: &Rig) -> Result<(), Failed> {
    rig.destroy(&[])?.expect_code(0)?;
    let mut stages = BTreeMap::new();
    for event in rig.simulator()?.events() {
        if event["event"] == "stage" {
            stages.insert(event["machine"].to_string(), event["stage"].clone());
        }
    }
    assert!(!stages.is_empty() && stages.values().all(|stage| *stage == json!("maintenance")), "{stages:?}");
    Ok(())
}
