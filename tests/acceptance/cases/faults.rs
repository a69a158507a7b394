//! Something dies half-way, and the next apply goes on.

use std::path::Path;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cases::cases_of;
use crate::cases::cluster::{ready, requests};
use crate::cluster::{Cluster, RESOURCE};
use crate::lab;
use crate::process::{Running, children, signal};
use crate::rig::{LONG, Rig};

/// How soon a client that was interrupted must have ended.
const SOON: Duration = Duration::from_secs(30);

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        (
            "fault_the_provider_is_killed_between_configuration_and_bootstrap",
            provider_killed_after_configuration,
        ),
        ("fault_the_provider_is_killed_between_bootstrap_and_cilium", provider_killed_after_bootstrap),
        ("fault_the_client_is_killed_and_its_provider_ends_too", client_killed),
        ("fault_an_interrupted_apply_ends_soon_and_the_next_one_goes_on", interrupted),
    ])
}

fn provider_killed_after_configuration(rig: &mut Rig) -> Result<(), Failed> {
    provider_killed(rig, "ApplyConfiguration")
}

fn provider_killed_after_bootstrap(rig: &mut Rig) -> Result<(), Failed> {
    provider_killed(rig, "Bootstrap")
}

fn provider_killed(rig: &mut Rig, method: &str) -> Result<(), Failed> {
    let (cluster, client) = started(rig, method)?;
    for provider in providers(client.id()?)? {
        rig.wait(signal(provider, "KILL"))?;
    }
    rig.wait(client.end(LONG))?.expect_code(1)?;
    assert!(rig.attributes(RESOURCE).is_err(), "a create that was cut off is not in the state");
    goes_on(rig, &cluster)
}

fn client_killed(rig: &mut Rig) -> Result<(), Failed> {
    let (cluster, client) = started(rig, "Bootstrap")?;
    let providers = providers(client.id()?)?;
    rig.wait(signal(client.id()?, "KILL"))?;
    rig.wait(client.end(SOON))?;
    for provider in providers {
        ended(rig, provider)?;
    }
    goes_on(rig, &cluster)
}

/// A terminal sends Ctrl-C to the client and to the provider.
fn interrupted(rig: &mut Rig) -> Result<(), Failed> {
    let (cluster, client) = started(rig, "Bootstrap")?;
    for process in providers(client.id()?)?.into_iter().chain([client.id()?]) {
        rig.wait(signal(process, "INT"))?;
    }
    rig.wait(client.end(SOON))?.expect_code(1)?;
    goes_on(rig, &cluster)
}

/// An apply that has come to a machine's answer to a method.
fn started(rig: &mut Rig, method: &str) -> Result<(Cluster, Running), Failed> {
    let cluster = Cluster::of(1, 1)?;
    cluster.simulate(rig)?;
    rig.module(&cluster.module(rig))?;
    let client = rig.start(&["apply", "-input=false", "-no-color", "-auto-approve"])?;
    let is_meant = |event: &Value| {
        event["event"] == "request"
            && event["code"] == "OK"
            && event["method"].as_str().is_some_and(|full| full.ends_with(&format!("/{method}")))
    };
    rig.simulator()?.event(LONG, is_meant)?;
    Ok((cluster, client))
}

/// The next apply reaches Ready with the etcd that there is.
fn goes_on(rig: &Rig, cluster: &Cluster) -> Result<(), Failed> {
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(requests(rig, "Bootstrap")?, 1, "one etcd cluster, ever");
    Ok(())
}

/// The provider processes that a client has started.
fn providers(client: u32) -> Result<Vec<u32>, Failed> {
    let provider = lab::provider().canonicalize()?;
    let runs_it =
        |id: &u32| Path::new(&format!("/proc/{id}/exe")).read_link().is_ok_and(|program| program == provider);
    let found: Vec<u32> = children(client)?.into_iter().filter(runs_it).collect();
    if found.is_empty() { Err("the client has no provider".into()) } else { Ok(found) }
}

/// Waits until a process that is not ours has ended.
fn ended(rig: &Rig, id: u32) -> Result<(), Failed> {
    let mut tail = tokio::process::Command::new("tail");
    tail.args(["-f", "/dev/null", "--pid", &id.to_string()]);
    rig.wait(async { Running::start(tail)?.end(SOON).await?.expect_code(0) })?;
    Ok(())
}
