//! What a cluster's state says.

use super::super::condition;
use super::members::Machine;
use super::model::{Cluster, ClusterMember, ControlPlane, Machine as PoolMachine, PoolReference, Workers};
use crate::clients::inventory::Stored;
use crate::domain::condition::Status;
use crate::domain::machine_configuration::Secret as DomainSecret;
use crate::domain::names::Uid;
use crate::domain::record::{ClusterRecord, InstanceRecord, PoolRecord};
use crate::plugin::{Attr, Secret};

impl Cluster {
    /// Shows what the record and the machines say.
    pub(super) fn shown(mut self, record: &Stored<ClusterRecord>, machines: &[Machine]) -> Self {
        self.configuration_digests = self.digests();
        self.uid = record.uid.as_str().into();
        self.endpoint = record.body.endpoint.clone().into();
        self.conditions = condition::listed(&record.body.conditions);
        self.ready = record
            .body
            .conditions
            .iter()
            .any(|condition| condition.kind == "Ready" && condition.status == Status::True)
            .into();
        self.members = machines.iter().map(member).collect();
        if !matches!(self.machine_secrets, Attr::Known(_)) {
            self.machine_secrets = record.body.secrets.clone().map(Secret::from).into();
        }
        self
    }

    /// What is imported: what the record says, with its pools and their claims as they are.
    pub(super) fn imported(
        record: &Stored<ClusterRecord>,
        pools: &[Stored<PoolRecord>],
        machines: &[Stored<InstanceRecord>],
    ) -> Self {
        let reference = |uid: &Uid| pool(uid, pools, machines);
        let workers =
            record.body.workers.iter().map(|(key, uid)| {
                (key.clone(), Workers { pool: reference(uid).into(), ..Workers::default() })
            });
        let plane =
            ControlPlane { pool: reference(&record.body.control_plane).into(), ..ControlPlane::default() };
        let cluster = Self {
            name: record.name.clone().into(),
            vip: record.body.vip.clone().into(),
            talos_version: record.body.talos_version.clone().into(),
            kubernetes_version: record.body.kubernetes_version.clone().into(),
            control_plane: plane.into(),
            workers: if record.body.workers.is_empty() { Attr::Null } else { workers.collect() },
            ..Self::default()
        };
        cluster.shown(record, &[])
    }

    /// Shows new files of access.
    pub(super) fn with_access(mut self, (kubeconfig, talosconfig): (DomainSecret, DomainSecret)) -> Self {
        self.kubeconfig = Secret::new(kubeconfig.expose()).into();
        self.talosconfig = Secret::new(talosconfig.expose()).into();
        self
    }
}

fn pool(uid: &Uid, pools: &[Stored<PoolRecord>], machines: &[Stored<InstanceRecord>]) -> PoolReference {
    let claimed =
        machines.iter().filter(|machine| machine.body.claim.as_ref().is_some_and(|claim| claim.pool == *uid));
    PoolReference {
        name: pools.iter().find(|pool| pool.uid == *uid).map(|pool| pool.name.clone()).into(),
        uid: uid.as_str().into(),
        members: claimed
            .map(|machine| PoolMachine {
                name: machine.name.clone().into(),
                uid: machine.uid.as_str().into(),
                configuration_digest: Attr::Null,
            })
            .collect(),
    }
}

fn member(machine: &Machine) -> ClusterMember {
    ClusterMember {
        name: machine.member.name.as_str().into(),
        uid: machine.member.uid.as_str().into(),
        hostname: machine.member.hostname.as_str().into(),
        address: machine.address().map(ToString::to_string).into(),
        role: machine.member.role.to_string().into(),
        pool: machine.member.pool.as_str().into(),
    }
}
