//! Bootstrap and what is asked of etcd.

use std::sync::Arc;

use talos_api::machine::{
    Bootstrap, BootstrapRequest, BootstrapResponse, EtcdAlarm, EtcdAlarmListResponse, EtcdForfeitLeadership,
    EtcdForfeitLeadershipResponse, EtcdLeaveCluster, EtcdLeaveClusterResponse, EtcdMember,
    EtcdMemberListResponse, EtcdMemberStatus, EtcdMembers, EtcdRemoveMemberById,
    EtcdRemoveMemberByIdResponse, EtcdStatus, EtcdStatusResponse,
};
use tonic::{Code, Status};

use crate::kubernetes::{BootstrapError, EtcdError, Node};
use crate::machine::{Boot, Command, Stage};
use crate::resources::cluster::Role;
use crate::world::TalosVersion;

/// What a bootstrap is judged by.
#[derive(Clone, Copy, Debug)]
struct Situation {
    version: TalosVersion,
    /// The container runtime of Kubernetes is up and no installation is under way.
    available: bool,
    role: Role,
    time_in_sync: bool,
    etcd_data_is_empty: bool,
}

/// Starts etcd as a new cluster of one member.
pub(super) fn bootstrap(boot: &Arc<Boot>, request: &BootstrapRequest) -> Result<BootstrapResponse, Status> {
    let machine = &boot.machine;
    let node = boot.node();
    let up = matches!(boot.stage(), Stage::Booting | Stage::Running);
    judge(Situation {
        version: boot.version,
        available: up && (node.is_some() || !boot.time_in_sync()),
        role: boot.role(),
        time_in_sync: boot.time_in_sync(),
        etcd_data_is_empty: machine.disk().etcd_data_is_empty(),
    })?;
    if request.recover_etcd {
        return Err(super::not_simulated("the recovery of etcd from a snapshot"));
    }
    let node = node.ok_or_else(|| Status::failed_precondition(NOT_AVAILABLE))?;
    if machine.faults.take_lose_bootstrap() {
        machine.command(Command::Reboot);
    } else {
        node.bootstrap().map_err(|error| match error {
            BootstrapError::AlreadyExists => Status::already_exists(error.to_string()),
            BootstrapError::NotControlPlane => Status::unimplemented(error.to_string()),
        })?;
    }
    Ok(BootstrapResponse { messages: vec![Bootstrap { metadata: None }] })
}

/// What Talos' own client of etcd fails with before etcd was set up.
const NO_ETCD_CERTIFICATE: &str = "failed to create etcd client: error building etcd client TLS config: open /system/secrets/etcd/admin.crt: no such file or directory";
const NOT_AVAILABLE: &str = "bootstrap is not available yet";

/// Talos' checks in their order. Pure.
fn judge(situation: Situation) -> Result<(), Status> {
    if !situation.available {
        return Err(Status::failed_precondition(NOT_AVAILABLE));
    }
    if situation.role != Role::ControlPlane {
        // 1.12's text shares its code with "not yet", which is a trap that clients must know.
        return Err(if situation.version.apid_in_maintenance() {
            Status::unimplemented("bootstrap is only available on control plane nodes")
        } else {
            Status::failed_precondition("bootstrap can only be performed on a control plane node")
        });
    }
    if !situation.time_in_sync {
        return Err(Status::failed_precondition("time is not in sync yet"));
    }
    if !situation.etcd_data_is_empty {
        return Err(Status::already_exists("etcd data directory is not empty"));
    }
    Ok(())
}

/// The members.
pub(super) async fn members(boot: &Boot) -> Result<EtcdMemberListResponse, Status> {
    let node = control_plane(boot, "member list")?;
    let members = node.etcd_members().await.map_err(|error| {
        if matches!(error, EtcdError::NotRunning { .. }) {
            return Status::unknown("no controlplane endpoints discovered yet");
        }
        status_of(error)
    })?;
    let members: Vec<_> = members
        .into_iter()
        .map(|member| EtcdMember {
            id: member.id,
            hostname: member.name,
            peer_urls: member.peer_urls,
            client_urls: member.client_urls,
            is_learner: member.is_learner,
        })
        .collect();
    let legacy_members = members.iter().map(|member| member.hostname.clone()).collect();
    Ok(EtcdMemberListResponse { messages: vec![EtcdMembers { metadata: None, legacy_members, members }] })
}

/// The machine's own member.
pub(super) async fn status(boot: &Boot) -> Result<EtcdStatusResponse, Status> {
    let node = control_plane(boot, "etcd status")?;
    let status = node.etcd_status().await.map_err(|error| {
        if matches!(error, EtcdError::NotRunning { .. }) {
            return Status::unknown(NO_ETCD_CERTIFICATE);
        }
        status_of(error)
    })?;
    let member_status = EtcdMemberStatus {
        protocol_version: status.version,
        db_size: status.database_bytes,
        db_size_in_use: status.database_in_use_bytes,
        leader: status.leader,
        raft_index: status.raft_index,
        raft_term: status.raft_term,
        raft_applied_index: status.raft_applied_index,
        errors: status.errors,
        is_learner: status.is_learner,
        member_id: status.member_id,
        storage_version: status.storage_version,
    };
    Ok(EtcdStatusResponse {
        messages: vec![EtcdStatus { metadata: None, member_status: Some(member_status) }],
    })
}

/// Alarms: simulated disks never fill up, so there are none while etcd answers.
pub(super) async fn alarms(boot: &Boot) -> Result<EtcdAlarmListResponse, Status> {
    let node = control_plane(boot, "etcd alarm list")?;
    node.etcd_status().await.map_err(status_of)?;
    Ok(EtcdAlarmListResponse { messages: vec![EtcdAlarm { metadata: None, member_alarms: Vec::new() }] })
}

/// Removes another member.
pub(super) async fn remove_member(boot: &Boot, id: u64) -> Result<EtcdRemoveMemberByIdResponse, Status> {
    let node = control_plane(boot, "etcd member removal")?;
    node.etcd_remove_member(id).await.map_err(status_of)?;
    Ok(EtcdRemoveMemberByIdResponse { messages: vec![EtcdRemoveMemberById { metadata: None }] })
}

/// Hands the leadership over.
pub(super) async fn forfeit_leadership(boot: &Boot) -> Result<EtcdForfeitLeadershipResponse, Status> {
    let node = control_plane(boot, "etcd leadership forfeiting")?;
    let leader = node.etcd_forfeit_leadership().await.map_err(status_of)?;
    let member = leader.map_or_else(String::new, |leader| leader.name);
    Ok(EtcdForfeitLeadershipResponse { messages: vec![EtcdForfeitLeadership { metadata: None, member }] })
}

/// Leaves the cluster.
pub(super) async fn leave(boot: &Boot) -> Result<EtcdLeaveClusterResponse, Status> {
    let node = control_plane(boot, "etcd leave")?;
    node.etcd_leave().await.map_err(status_of)?;
    Ok(EtcdLeaveClusterResponse { messages: vec![EtcdLeaveCluster { metadata: None }] })
}

/// The node, if the machine is a control plane whose Kubernetes was started.
fn control_plane(boot: &Boot, what: &str) -> Result<Node, Status> {
    if boot.role() != Role::ControlPlane {
        return Err(Status::unimplemented(format!("{what} is only available on control plane nodes")));
    }
    boot.node().ok_or_else(|| Status::unavailable("etcd is not running yet"))
}

fn status_of(error: EtcdError) -> Status {
    match error {
        // etcd's own code for a member that it doesn't know.
        EtcdError::Refused { code, message } => {
            let code = Code::from_i32(code);
            Status::new(if code == Code::Ok { Code::Unknown } else { code }, message)
        }
        EtcdError::NotRunning { .. } | EtcdError::Unreachable { .. } => {
            Status::unavailable(error.to_string())
        }
        EtcdError::NoSuccessor => Status::failed_precondition(error.to_string()),
        EtcdError::Data { .. } => Status::unknown(format!("failed to {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn fine() -> Situation {
        Situation {
            version: TalosVersion::default(),
            available: true,
            role: Role::ControlPlane,
            time_in_sync: true,
            etcd_data_is_empty: true,
        }
    }

    #[test]
    fn bootstrap_is_refused_in_the_order_of_talos_own_checks() {
        assert!(judge(fine()).is_ok());
        let full = Situation { etcd_data_is_empty: false, ..fine() };
        assert_eq!(judge(full).unwrap_err().code(), Code::AlreadyExists);
        let unsynced = Situation { time_in_sync: false, ..full };
        assert_eq!(judge(unsynced).unwrap_err().message(), "time is not in sync yet");
        let worker = Situation { role: Role::Worker, ..unsynced };
        assert_eq!(judge(worker).unwrap_err().code(), Code::Unimplemented);
        let starting = Situation { available: false, ..worker };
        assert_eq!(judge(starting).unwrap_err().message(), NOT_AVAILABLE);
    }

    #[test]
    fn a_worker_of_1_12_refuses_with_the_code_of_not_yet() {
        let old = Situation { version: "v1.12.4".parse().unwrap(), role: Role::Worker, ..fine() };
        let refused = judge(old).unwrap_err();
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert!(refused.message().contains("control plane node"));
    }
}
