//! What goes wrong on real metal while control planes are configured and bootstrapped, and what is said of it; the next
//! apply, with the fault gone, goes on.

use libtest_mimic::{Failed, Trial};

use crate::cases::cases_of;
use crate::cases::cluster::{ready, requests};
use crate::cluster::{Cluster, RESOURCE};
use crate::golden;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("metal_an_installation_that_fails_is_tried_thrice_and_quoted", failed_install),
        ("metal_a_machine_that_comes_back_elsewhere_is_found_once_its_address_is_listed", elsewhere),
        ("metal_a_machine_that_boots_an_older_version_is_named", another_version),
        ("metal_a_clock_that_is_off_is_told_from_a_foreign_machine", clock),
        ("metal_time_that_is_not_in_sync_is_waited_for", time),
        ("metal_data_of_an_earlier_etcd_is_never_joined", earlier_data),
        ("metal_a_bootstrap_that_a_reboot_lost_is_sent_again_to_the_same_machine", lost_bootstrap),
    ])
}

fn failed_install(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "")?;
    fault(rig, &["fail-install", "--times", "3", "--error", "failed to pull the installer: 503"])?;
    fails(rig, &cluster, "failed-install")?;
    // The first is the preflight's dry run.
    assert_eq!(requests(rig, "ApplyConfiguration")?, 1 + 3);
    goes_on(rig, &cluster)
}

fn elsewhere(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "45s")?;
    let new = rig.address(99).to_string();
    fault(rig, &["come-back-at", "--address", &new])?;
    fails(rig, &cluster, "elsewhere")?;
    // The endpoint was to be the first member's address.
    let patient = Cluster { arguments: format!("endpoint = \"https://{new}:6443\""), ..cluster };
    let listed =
        patient.module(rig).replace("[each.value.address]", &format!("[each.value.address, \"{new}\"]"));
    rig.module(&listed)?;
    rig.apply(&[])?.expect_code(0)?;
    ready(rig)
}

fn another_version(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "")?;
    fault(rig, &["install-version", "--version", "v1.13.2"])?;
    fails(rig, &cluster, "another-version")?;
    // The second remedy of the text.
    rig.module(&cluster.module(rig).replace("\"v1.13.9\"", "\"v1.13.2\""))?;
    rig.apply(&[])?.expect_code(0)?;
    ready(rig)
}

fn clock(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "45s")?;
    fault(rig, &["skew-clock", "--by", "-48h"])?;
    fails(rig, &cluster, "clock")?;
    healed(rig)?;
    goes_on(rig, &cluster)
}

fn time(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "45s")?;
    fault(rig, &["time-not-in-sync"])?;
    fails(rig, &cluster, "time-not-in-sync")?;
    healed(rig)?;
    goes_on(rig, &cluster)
}

fn earlier_data(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "")?;
    fault(rig, &["foreign-etcd-data"])?;
    fails(rig, &cluster, "earlier-data")?;
    assert_eq!(requests(rig, "Bootstrap")?, 0, "nothing is bootstrapped beside data");
    Ok(())
}

fn lost_bootstrap(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = single(rig, "")?;
    fault(rig, &["lose-bootstrap"])?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(requests(rig, "Bootstrap")?, 2, "it is sent again, since no etcd was seen");
    Ok(())
}

/// One control plane, with that long for its creation.
fn single(rig: &mut Rig, limit: &str) -> Result<Cluster, Failed> {
    let mut cluster = Cluster::of(1, 0)?;
    if !limit.is_empty() {
        cluster.arguments = format!("timeouts = {{ create = \"{limit}\" }}");
    }
    cluster.simulate(rig)?;
    Ok(cluster)
}

fn fault(rig: &Rig, fault: &[&str]) -> Result<(), Failed> {
    rig.wait(rig.simulator()?.command(&[&["fault", "cp-1"], fault].concat()))?;
    Ok(())
}

fn healed(rig: &Rig) -> Result<(), Failed> {
    rig.wait(rig.simulator()?.command(&["clear-faults", "cp-1"]))?;
    Ok(())
}

fn fails(rig: &Rig, cluster: &Cluster, name: &str) -> Result<(), Failed> {
    rig.module(&cluster.module(rig))?;
    let applied = rig.apply(&["-json"])?.expect_code(1)?;
    assert!(rig.attributes(RESOURCE).is_err(), "a failed create is not in the state");
    golden::expect(name, &golden::diagnostics(rig, &applied))
}

fn goes_on(rig: &Rig, cluster: &Cluster) -> Result<(), Failed> {
    let patient = Cluster { arguments: String::new(), ..cluster.clone() };
    patient.apply(rig)?;
    ready(rig)?;
    assert_eq!(requests(rig, "Bootstrap")?, 1, "one etcd cluster, ever");
    Ok(())
}
