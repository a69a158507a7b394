//! What the machines of a standing cluster run, against what they were given last.
//!
//! Read looks and says so; the next update puts it right. What can't be looked at is unknown, and no drift.

use std::collections::BTreeSet;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::super::access::Access;
use super::looks::{Dialled, dial};
use super::members::Machine;
use crate::clients::kubernetes;
use crate::clients::talos::{Admin, Credentials};
use crate::domain::cluster::observed::Stage;
use crate::domain::cluster::serving_certificates::{ServingRequest, approvable_of};
use crate::domain::cluster::spec::{Member, Role};
use crate::domain::machine_configuration::Secret;
use crate::domain::names::{Label, Uid};
use crate::domain::record::{ClusterRecord, MemberRecord};

/// How long a refresh waits for one machine; all are asked at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// One machine that is not as it was left.
#[derive(Debug)]
pub(super) struct Drift {
    pub(super) uid: Uid,
    pub(super) name: Label,
    pub(super) kind: Kind,
}

/// How a machine differs from how it was left.
#[derive(Debug)]
pub(super) enum Kind {
    /// It runs this configuration, which is not the one that it was given.
    Changed(Secret),
    /// Its own resource says something else than when it was configured.
    Outdated,
    /// Its kubelet waits for its serving certificate to be approved.
    Unapproved,
    /// It is in maintenance mode: somebody reset it, or its disk was exchanged.
    Reset,
    /// Another machine answers at its addresses.
    Exchanged { found: String },
    /// It answers with certificates of somebody else.
    Foreign,
    /// It doesn't answer.
    Silent { why: String },
}

impl Kind {
    /// Whether an update can put it right.
    pub(super) const fn is_mendable(&self) -> bool {
        matches!(self, Self::Changed(_) | Self::Outdated | Self::Unapproved | Self::Reset)
    }
}

impl std::fmt::Display for Drift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.name.as_str();
        match &self.kind {
            Kind::Changed(_) => write!(f, "machine {name:?} runs another configuration than it was given"),
            Kind::Outdated => {
                write!(
                    f,
                    "the kontinuum_instance of machine {name:?} was changed since the machine was configured"
                )
            }
            Kind::Unapproved => {
                write!(f, "the kubelet of machine {name:?} waits for its serving certificate to be approved")
            }
            Kind::Reset => write!(f, "machine {name:?} is back in maintenance mode: it was reset"),
            Kind::Exchanged { found } => {
                write!(f, "another machine answers at the addresses of {name:?}: {found}")
            }
            Kind::Foreign => write!(f, "machine {name:?} is configured by somebody else"),
            Kind::Silent { why } => write!(f, "machine {name:?} does not answer: {why}"),
        }
    }
}

/// Looks at all members at once, in their order.
pub(super) async fn look(
    machines: &[Machine],
    record: &ClusterRecord,
    credentials: &Credentials,
) -> Vec<Drift> {
    let mut looks = JoinSet::new();
    for (place, machine) in machines.iter().cloned().enumerate() {
        let member = record.members.get(&machine.member.uid).cloned();
        let credentials = credentials.clone();
        looks.spawn(async move {
            let look = tokio::time::timeout(PATIENCE, kind(&machine, &credentials, member.as_ref()));
            let kind = look.await.unwrap_or_else(|_| {
                Some(Kind::Silent { why: format!("no answer within {} s", PATIENCE.as_secs()) })
            })?;
            Some((place, Drift { uid: machine.member.uid, name: machine.member.name, kind }))
        });
    }
    let mut found: Vec<_> = looks.join_all().await.into_iter().flatten().collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, drift)| drift).collect()
}

/// The machines whose kubelets wait for an approval that the next apply would give. None where nobody can be asked.
pub(super) async fn unapproved(machines: &[Machine], access: &Access) -> Vec<Drift> {
    let asking = async {
        for machine in machines.iter().filter(|machine| machine.member.role == Role::ControlPlane) {
            let Some(address) = machine.address() else { continue };
            let server = Some(format!("https://{}", address.with_port(6443)));
            let options = kubernetes::Options { server, ..kubernetes::Options::default() };
            let client = kubernetes::Client::from_kubeconfig(access.kubeconfig.expose(), &options).await;
            let Ok(client) = client else { continue };
            if let Ok(requests) = client.serving_requests().await {
                return Some(requests);
            }
        }
        None
    };
    let Ok(Some(requests)) = tokio::time::timeout(PATIENCE, asking).await else { return Vec::new() };
    let members: Vec<Member> = machines.iter().map(|machine| machine.member.clone()).collect();
    let names: BTreeSet<&str> = approvable_of(&members, &requests).filter_map(ServingRequest::node).collect();
    let waiting = members.iter().filter(|member| names.contains(member.hostname.as_str()));
    waiting
        .map(|member| Drift { uid: member.uid.clone(), name: member.name.clone(), kind: Kind::Unapproved })
        .collect()
}

async fn kind(machine: &Machine, credentials: &Credentials, member: Option<&MemberRecord>) -> Option<Kind> {
    let given = member.and_then(|member| member.configuration.as_deref());
    let instance = member.and_then(|member| member.instance.as_ref());
    match dial(machine, credentials).await {
        Dialled::Admin(_) if instance.is_some_and(|then| *then != machine.record.configuration_digest()) => {
            Some(Kind::Outdated)
        }
        Dialled::Admin(admin) => changed(&admin, given).await.map(Kind::Changed),
        Dialled::Stage(stage) => match stage {
            Stage::Maintenance { .. } => Some(Kind::Reset),
            Stage::OtherMachine { found } => Some(Kind::Exchanged { found }),
            Stage::Foreign => Some(Kind::Foreign),
            Stage::ClockOff { why } | Stage::Unreachable { why, .. } => Some(Kind::Silent { why }),
            Stage::Installing { .. } | Stage::Running(_) => None,
        },
    }
}

/// The digest of what a member was given last.
pub(super) fn given(record: &ClusterRecord, uid: &Uid) -> Option<String> {
    record.members.get(uid).and_then(|member| member.configuration.clone())
}

/// What a machine runs, when that is known and something else than it was given. Talos keeps the bytes that it was sent.
pub(super) async fn changed(admin: &Admin, given: Option<&str>) -> Option<Secret> {
    let given = given?;
    let runs = admin.machine_configuration().await.ok().flatten()?;
    if digest(&runs) == given {
        return None;
    }
    // A change that is staged is not in use yet, and one that is only tried is none.
    let stored = admin.stored_configuration().await.ok().flatten()?;
    (digest(&stored) != given).then_some(runs)
}

/// The SHA-256 digest of a configuration, in hexadecimal.
pub(super) fn digest(text: &Secret) -> String {
    Sha256::digest(text.expose().as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
