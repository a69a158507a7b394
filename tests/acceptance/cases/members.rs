//! Machines that come late, never, or from another release of Talos.

use libtest_mimic::{Failed, Trial};

use crate::cases::cases_of;
use crate::cases::cluster::{node_count, ready, requests};
use crate::cluster::{Cluster, RESOURCE, kubectl};
use crate::golden;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("a_cluster_of_talos_1_12_passes_the_provider_s_own_health_checks", talos_1_12),
        ("a_worker_that_never_joins_is_a_warning_and_an_update_of_the_next_plan", absent_worker),
        ("a_pool_that_grows_reaches_the_cluster_in_the_same_apply", grown),
        ("a_virtual_address_is_the_endpoint_that_kubectl_uses", virtual_address),
        ("a_configured_machine_is_told_from_one_that_does_not_answer", configured),
    ])
}

fn talos_1_12(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 1)?;
    cluster.talos_version = "v1.12.4".to_owned();
    cluster.kubernetes_version = "1.35.4".to_owned();
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(node_count(rig)?, 2);
    assert_eq!(requests(rig, "HealthCheck")?, 0, "up to Talos 1.12 that check fails without flannel");
    Ok(())
}

fn absent_worker(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 1)?;
    cluster.arguments = "timeouts = { create = \"90s\" }".to_owned();
    cluster.simulate(rig)?;
    rig.wait(rig.simulator()?.command(&["fault", "w-1", "stay-down"]))?;
    rig.module(&cluster.module(rig))?;
    let applied = rig.apply(&["-json"])?.expect_code(0)?;
    golden::expect("absent-worker", &golden::diagnostics(rig, &applied))?;
    assert_eq!(rig.attributes(RESOURCE)?["ready"], true, "workers never gate Ready");
    assert_eq!(node_count(rig)?, 1);
    let planned = rig.plan(&[])?.expect_code(2)?;
    assert!(planned.said().contains("0 to add, 1 to change, 0 to destroy"), "{}", planned.said());

    rig.wait(rig.simulator()?.command(&["power", "on", "w-1"]))?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(node_count(rig)?, 2);
    Ok(())
}

fn grown(rig: &mut Rig) -> Result<(), Failed> {
    let all = Cluster::of(3, 0)?;
    all.simulate(rig)?;
    let one = Cluster { replicas: Some(1), ..all.clone() };
    one.apply(rig)?;
    ready(rig)?;
    assert_eq!(node_count(rig)?, 1);
    let applied = all.apply(rig)?;
    assert!(applied.said().contains("2 changed"), "{}", applied.said());
    ready(rig)?;
    assert_eq!(node_count(rig)?, 3);
    assert_eq!(requests(rig, "Bootstrap")?, 1, "one etcd cluster, ever");
    Ok(())
}

fn virtual_address(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 1)?;
    let shared = rig.address(50);
    cluster.arguments = format!("vip = \"{shared}\"");
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(rig.attributes(RESOURCE)?["endpoint"], format!("https://{shared}:6443"));
    let server = kubectl(rig, &["config", "view", "--output", "jsonpath={.clusters[0].cluster.server}"])?;
    assert_eq!(server.expect_code(0)?.stdout, format!("https://{shared}:6443"));
    Ok(())
}

fn configured(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = Cluster::of(1, 0)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    // Somebody else, with a state and an inventory of their own, takes the same address for a new machine.
    let inventory = rig.folder().join("other/inventory.db");
    rig.environment("KONTINUUM_INVENTORY", inventory.to_str());
    let (taken, dark) = (rig.address(11), rig.address(200));
    let instance = |name: &str, address: &dyn std::fmt::Display| {
        format!(
            "resource \"kontinuum_instance\" \"{name}\" {{\n  name = \"{name}\"\n  interfaces = [\"{address}\"]\n  \
             timeouts = {{ create = \"4s\" }}\n}}\n"
        )
    };
    rig.module(&format!("{}{}", instance("configured", &taken), instance("dark", &dark)))?;
    let applied = rig.apply(&["-json", "-state=other.tfstate"])?.expect_code(0)?;
    golden::expect("configured", &golden::diagnostics(rig, &applied))
}
