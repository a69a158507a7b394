//! The service `etcd` of a control plane: prepares, starts as the first member or joins, is watched, and is started
//! anew when it ends.

use std::sync::Arc;
use std::time::Duration;

use super::gateway::Gateway;
use super::join;
use crate::kubernetes::arguments::{self, EtcdStart};
use crate::kubernetes::context::Context;
use crate::kubernetes::https::Https;
use crate::kubernetes::process::{Process, last_words};
use crate::kubernetes::services::{ServiceId, ServiceState};
use crate::kubernetes::{clusters, files};

/// Pause before a member that ended is started anew.
const RESTART: Duration = Duration::from_secs(1);
/// Between looks at a member that doesn't answer yet.
const STARTING: Duration = Duration::from_millis(100);
/// Between looks at a member that answers.
const HEALTHY: Duration = Duration::from_secs(2);
/// Between tries to find a cluster to join.
const SEARCH: Duration = Duration::from_millis(500);

/// Runs etcd until the node stops.
pub(in crate::kubernetes) async fn run(context: Arc<Context>) {
    loop {
        let reason = once(&context).await;
        context.membership.set_etcd_running(false);
        context.etcd_healthy.send_replace(false);
        if context.stop.is_cancelled() {
            return context.services.enter(
                ServiceId::Etcd,
                ServiceState::Finished,
                "Service finished successfully",
            );
        }
        if *context.etcd_left.borrow() {
            context.services.enter(ServiceId::Etcd, ServiceState::Finished, "Service finished successfully");
            return context.stop.cancelled().await;
        }
        if let Err(reason) = reason {
            tracing::info!(node = context.hostname(), %reason, "etcd failed");
            context.services.enter(ServiceId::Etcd, ServiceState::Failed, &reason);
        }
        if !context.pause(RESTART).await {
            return;
        }
    }
}

/// A client of a member at this address, with the node's own certificate `talos`.
pub(in crate::kubernetes) fn gateway(
    context: &Context,
    address: std::net::IpAddr,
) -> Result<Gateway, String> {
    let read = |name: &str| {
        let path = context.secrets().join("etcd").join(name);
        std::fs::read_to_string(&path).map_err(|error| format!("read {}: {error}", path.display()))
    };
    let https = Https::new(&read("ca.crt")?, &read("admin.crt")?, &read("admin.key")?)?;
    Ok(Gateway::new(https, address))
}

async fn once(context: &Context) -> Result<(), String> {
    context.write(files::etcd)?;
    let Some(chosen) = choose_start(context).await? else {
        return Ok(());
    };
    let start = match &chosen {
        Start::Restart => EtcdStart::Restart,
        Start::New => EtcdStart::New,
        Start::Join(initial_cluster) => EtcdStart::Join { initial_cluster },
    };
    let (data, secrets) = (context.etcd_data(), context.secrets());
    let flags = arguments::etcd(
        context.configuration(),
        context.hostname(),
        context.address,
        &data,
        &secrets,
        &start,
    )
    .map_err(|denied| denied.to_string())?;
    let program = context.program("etcd", flags);
    context.services.enter(ServiceId::Etcd, ServiceState::Starting, "Creating service runner");
    let process = program.start().await.map_err(|error| format!("start etcd: {error}"))?;
    context.services.enter(ServiceId::Etcd, ServiceState::Running, "Started task etcd");
    attend(context, process).await.map_err(|status| format!("{status}: {}", last_words(&program.log)))
}

enum Start {
    Restart,
    New,
    Join(String),
}

/// How this member starts; none when the node stops meanwhile.
async fn choose_start(context: &Context) -> Result<Option<Start>, String> {
    if !crate::kubernetes::node::is_empty(&context.etcd_data()) {
        return Ok(Some(Start::Restart));
    }
    context.services.enter(ServiceId::Etcd, ServiceState::Preparing, "Running pre state");
    let mut bootstrap = context.bootstrap_requested.subscribe();
    let mut members = context.clusters.members();
    loop {
        if *bootstrap.borrow_and_update() {
            return Ok(Some(Start::New));
        }
        let others = fellows(context, &members.borrow_and_update());
        if let Some(&address) = others.first() {
            match join::initial_cluster(context, address).await {
                Ok(initial_cluster) => return Ok(Some(Start::Join(initial_cluster))),
                Err(reason) => {
                    let reason = format!("failed to build initial etcd cluster: {reason}");
                    tracing::debug!(node = context.hostname(), %reason, "join etcd");
                    context.services.enter(ServiceId::Etcd, ServiceState::Preparing, &reason);
                }
            }
        }
        tokio::select! {
            () = context.stop.cancelled() => return Ok(None),
            _ = bootstrap.changed() => {}
            _ = members.changed(), if others.is_empty() => {}
            () = tokio::time::sleep(SEARCH), if !others.is_empty() => {}
        }
    }
}

/// Where the other members of this node's cluster answer.
pub(super) fn fellows(context: &Context, members: &[clusters::Member]) -> Vec<std::net::IpAddr> {
    let own = clusters::MeetingPoint::of(context.configuration());
    members
        .iter()
        .filter(|member| {
            member.etcd_running && member.meeting_point == own && member.address != context.address
        })
        .map(|member| member.address)
        .collect()
}

/// Watches a running member until it ends, the node stops, or it has left. A learner is promoted as soon as the
/// leader accepts it.
async fn attend(context: &Context, mut process: Process) -> Result<(), String> {
    let gateway = gateway(context, context.address)?;
    let mut left = context.etcd_left.subscribe();
    let mut pause = Duration::ZERO;
    loop {
        tokio::select! {
            ended = process.ended() => {
                return Err(match ended {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                });
            }
            () = context.stop.cancelled() => break,
            _ = left.wait_for(|left| *left) => break,
            () = look(context, &gateway, pause) => {}
        }
        pause = if *context.etcd_healthy.borrow() { HEALTHY } else { STARTING };
    }
    context.services.enter(ServiceId::Etcd, ServiceState::Stopping, "Sending SIGTERM to task etcd");
    process.stop().await;
    Ok(())
}

async fn look(context: &Context, gateway: &Gateway, pause: Duration) {
    tokio::time::sleep(pause).await;
    let health = match gateway.status().await {
        Ok(status) if status.is_learner => {
            join::promote(context, status.member_id).await.map_err(|error| error.to_string())
        }
        Ok(status) if status.leader == 0 => Err("etcdserver: no leader".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    context
        .etcd_healthy
        .send_if_modified(|healthy| std::mem::replace(healthy, health.is_ok()) != health.is_ok());
    context.membership.set_etcd_running(health.is_ok());
    context.services.report_health(ServiceId::Etcd, health);
}
