//! Addons that cannot be rendered, are refused, or never become healthy; the next apply goes on.

use libtest_mimic::{Failed, Trial};

use crate::cases::cases_of;
use crate::cases::cluster::{ready, requests};
use crate::cluster::{Cluster, RESOURCE};
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("fault_values_that_do_not_render_are_an_error_of_the_plan", unrendered),
        ("fault_values_that_the_api_server_refuses_fail_the_install", refused),
        ("fault_a_cilium_agent_that_crashes_is_named_with_its_last_exit", cilium_crashes),
        ("fault_a_cert_manager_image_that_cannot_be_pulled_is_named", cert_manager_image),
    ])
}

fn unrendered(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 0)?;
    cluster.cilium +=
        "\n values = yamlencode({ hubble = { relay = { enabled = false }, ui = { enabled = true } } })";
    cluster.simulate(rig)?;
    rig.module(&cluster.module(rig))?;
    let planned = rig.plan(&[])?.expect_code(1)?;
    assert!(
        planned.stderr.contains("Hubble UI requires .Values.hubble.relay.enabled=true"),
        "{}",
        planned.stderr
    );
    assert!(planned.said().contains("cilium"), "{}", planned.said());
    Ok(())
}

fn refused(rig: &mut Rig) -> Result<(), Failed> {
    let right = Cluster::of(1, 0)?;
    let mut wrong = right.clone();
    wrong.cilium += "\n values = yamlencode({ updateStrategy = { type = \"Sideways\" } })";
    fails_then_goes_on(rig, &wrong, &right, &["CiliumInstallFailed", "updateStrategy", "Sideways"])
}

fn cilium_crashes(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 0)?;
    cluster.arguments = "timeouts = { create = \"75s\" }".to_owned();
    let crash = ["fate", "kube-system/cilium", "crash-loop", "--exit-code", "3"];
    fails_while(rig, &cluster, &crash, &["AddonNotHealthy", "cilium-agent", "its last exit was 3"])
}

fn cert_manager_image(rig: &mut Rig) -> Result<(), Failed> {
    let mut cluster = Cluster::of(1, 0)?;
    cluster.arguments = "timeouts = { create = \"100s\" }".to_owned();
    let no_image = ["fate", "cert-manager/cert-manager-webhook", "image-pull-error"];
    fails_while(rig, &cluster, &no_image, &["AddonNotHealthy", "cert-manager-webhook", "ImagePullBackOff"])
}

/// Pods meet their fate: the apply fails with these words; healed, the next one reaches Ready.
fn fails_while(rig: &mut Rig, cluster: &Cluster, fate: &[&str], words: &[&str]) -> Result<(), Failed> {
    cluster.simulate(rig)?;
    rig.wait(rig.simulator()?.command(fate))?;
    fails(rig, cluster, words)?;
    let workload = fate[1];
    rig.wait(rig.simulator()?.command(&["fate", workload, "healthy"]))?;
    goes_on(rig, cluster)
}

fn fails_then_goes_on(rig: &mut Rig, wrong: &Cluster, right: &Cluster, words: &[&str]) -> Result<(), Failed> {
    wrong.simulate(rig)?;
    fails(rig, wrong, words)?;
    goes_on(rig, right)
}

fn fails(rig: &Rig, cluster: &Cluster, words: &[&str]) -> Result<(), Failed> {
    rig.module(&cluster.module(rig))?;
    let applied = rig.apply(&[])?.expect_code(1)?;
    let said = applied.said();
    for word in words {
        assert!(said.contains(word), "expected {word:?} in: {said}");
    }
    assert!(rig.attributes(RESOURCE).is_err(), "a failed create is not in the state");
    Ok(())
}

fn goes_on(rig: &Rig, cluster: &Cluster) -> Result<(), Failed> {
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(requests(rig, "Bootstrap")?, 1, "one etcd cluster, ever");
    Ok(())
}
