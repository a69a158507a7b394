//! How a member leaves its cluster for good.

use std::time::Duration;

use super::gateway::Gateway;
use super::model::EtcdError;
use super::service::{fellows, gateway};
use crate::kubernetes::context::Context;
use crate::kubernetes::services::{ServiceId, ServiceState};

/// How long a cluster that isn't healthy is waited for, as in Talos 1.13.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// Between two tries.
const RETRY: Duration = Duration::from_secs(1);
/// How long the process may take to end.
const STOP: Duration = Duration::from_secs(10);

/// Removes this member, stops its process and empties its data: a removed member's data is good for nothing.
pub(in crate::kubernetes) async fn leave(context: &Context, gateway: &Gateway) -> Result<(), EtcdError> {
    let id = gateway.status().await?.member_id;
    let started = tokio::time::Instant::now();
    while let Err(error) = gateway.remove(id).await {
        match weigh(&error) {
            Refusal::AlreadyGone => break,
            // The member ends with its removal, and may not have had the time to say so.
            Refusal::Unclear if is_gone(context, id).await => break,
            Refusal::Passing | Refusal::Unclear if started.elapsed() < PATIENCE => {
                tokio::time::sleep(RETRY).await
            }
            Refusal::Passing | Refusal::Unclear | Refusal::Final => return Err(error),
        }
    }
    context.etcd_left.send_replace(true);
    let mut services = context.services.subscribe();
    let finished = services.wait_for(|all| {
        all.iter().any(|service| service.id == ServiceId::Etcd && service.state == ServiceState::Finished)
    });
    if tokio::time::timeout(STOP, finished).await.is_err() {
        tracing::warn!(node = context.hostname(), "etcd didn't end in time after it left");
    }
    let data = context.etcd_data();
    match tokio::fs::remove_dir_all(&data).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(EtcdError::Data { path: data, source: error })
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Whether another member lists this one no more.
async fn is_gone(context: &Context, id: u64) -> bool {
    let fellows = fellows(context, &context.clusters.members().borrow());
    for address in fellows {
        let Ok(gateway) = gateway(context, address) else { continue };
        if let Ok(members) = gateway.members().await {
            return members.iter().all(|member| member.id != id);
        }
    }
    false
}

enum Refusal {
    /// No answer came.
    Unclear,
    /// The cluster has too few connections just now.
    Passing,
    AlreadyGone,
    Final,
}

fn weigh(error: &EtcdError) -> Refusal {
    match error {
        EtcdError::Refused { message, .. } if message.contains("unhealthy cluster") => Refusal::Passing,
        EtcdError::Refused { message, .. } if message.contains("server stopped") => Refusal::Passing,
        EtcdError::Refused { message, .. } if message.contains("member not found") => Refusal::AlreadyGone,
        EtcdError::Unreachable { .. } => Refusal::Unclear,
        EtcdError::Refused { .. }
        | EtcdError::NotRunning { .. }
        | EtcdError::NoSuccessor
        | EtcdError::Data { .. } => Refusal::Final,
    }
}
