//! etcd, through the machine on which it runs.

use talos_api::machine::{
    BootstrapRequest, EtcdForfeitLeadershipRequest, EtcdLeaveClusterRequest, EtcdMemberListRequest,
    EtcdRemoveMemberByIdRequest, ListRequest,
};
use tonic::Code;

use super::deadline::{CALL, ETCD, LOGS};
use super::error::{Error, Fault};
use super::session::Session;

/// Where etcd keeps its data on every machine, one level below a folder that is there since the disk was set up.
const DATA_PARENT: &str = "/var/lib";
const DATA: &str = "/var/lib/etcd/";

/// What became of a request to bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bootstrapped {
    /// The machine starts etcd now.
    Started,
    /// It has data already: of this cluster, or of an earlier one.
    AlreadyHasData,
}

/// A member as etcd lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdMember {
    /// etcd's own id.
    pub id: u64,
    /// The machine's host name.
    pub hostname: String,
    /// URLs at which the other members reach it.
    pub peer_urls: Vec<String>,
    /// Whether it only learns yet, and does not vote.
    pub is_learner: bool,
}

/// One member's view of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdStatus {
    /// Its own id.
    pub member_id: u64,
    /// The leader's id; `None` while there is none.
    pub leader: Option<u64>,
    /// Whether it only learns yet.
    pub is_learner: bool,
    /// Size of its data in bytes.
    pub data_bytes: u64,
    /// Alarms and the like, in etcd's words.
    pub errors: Vec<String>,
}

impl Session {
    pub(super) async fn bootstrap(&self) -> Result<Bootstrapped, Error> {
        let request = BootstrapRequest::default();
        match self.call("Bootstrap", CALL, self.machine().bootstrap(request)).await {
            Ok(_) => Ok(Bootstrapped::Started),
            Err(error) if error.code() == Some(Code::AlreadyExists) => Ok(Bootstrapped::AlreadyHasData),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn etcd_members(&self) -> Result<Vec<EtcdMember>, Error> {
        let mut machine = self.machine();
        let answer = machine.etcd_member_list(EtcdMemberListRequest::default());
        let list = self.call_one("EtcdMemberList", ETCD, answer, |reply| reply.messages).await?;
        let members = list.members.into_iter().map(|member| EtcdMember {
            id: member.id,
            hostname: member.hostname,
            peer_urls: member.peer_urls,
            is_learner: member.is_learner,
        });
        Ok(members.collect())
    }

    pub(super) async fn etcd_status(&self) -> Result<EtcdStatus, Error> {
        let mut machine = self.machine();
        let answer = machine.etcd_status(());
        let status = self.call_one("EtcdStatus", ETCD, answer, |reply| reply.messages).await?;
        let missing = || self.error("EtcdStatus", Fault::Malformed("no member status".to_owned()));
        let status = status.member_status.ok_or_else(missing)?;
        Ok(EtcdStatus {
            member_id: status.member_id,
            leader: (status.leader != 0).then_some(status.leader),
            is_learner: status.is_learner,
            data_bytes: u64::try_from(status.db_size).unwrap_or_default(),
            errors: status.errors,
        })
    }

    /// Whether the data folder holds anything. Absence is only ever said after the folder above was read.
    pub(super) async fn has_etcd_data(&self) -> Result<bool, Error> {
        let request = ListRequest {
            root: DATA_PARENT.to_owned(),
            recurse: true,
            recursion_depth: 2,
            ..ListRequest::default()
        };
        let files = self.collect("List", LOGS, self.machine().list(request)).await?;
        let unreadable = files.iter().find(|file| !file.error.is_empty() && is_on_the_way(&file.name));
        match unreadable {
            Some(file) => {
                let text = format!("{}: {}", file.name, file.error);
                Err(self.error("List", Fault::Malformed(text)))
            }
            None => Ok(files.iter().any(|file| file.name.starts_with(DATA))),
        }
    }

    pub(super) async fn etcd_remove_member(&self, member_id: u64) -> Result<bool, Error> {
        let mut machine = self.machine();
        let answer = machine.etcd_remove_member_by_id(EtcdRemoveMemberByIdRequest { member_id });
        match self.call("EtcdRemoveMemberByID", ETCD, answer).await {
            Ok(_) => Ok(true),
            Err(error) if error.code() == Some(Code::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn etcd_forfeit_leadership(&self) -> Result<Option<String>, Error> {
        let mut machine = self.machine();
        let answer = machine.etcd_forfeit_leadership(EtcdForfeitLeadershipRequest {});
        let reply = self.call_one("EtcdForfeitLeadership", ETCD, answer, |reply| reply.messages).await?;
        Ok((!reply.member.is_empty()).then_some(reply.member))
    }

    pub(super) async fn etcd_leave_cluster(&self) -> Result<(), Error> {
        let mut machine = self.machine();
        self.call("EtcdLeaveCluster", ETCD, machine.etcd_leave_cluster(EtcdLeaveClusterRequest {})).await?;
        Ok(())
    }
}

/// Whether not being able to read this means not knowing whether there is data.
fn is_on_the_way(name: &str) -> bool {
    name.is_empty() || name.starts_with(DATA) || DATA.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_read_on_the_way_to_the_data_is_not_absence() {
        for name in ["", "/var/lib", "/var/lib/etcd", "/var/lib/etcd/member"] {
            assert!(is_on_the_way(name), "{name}");
        }
        assert!(!is_on_the_way("/var/lib/kubelet"));
    }
}
