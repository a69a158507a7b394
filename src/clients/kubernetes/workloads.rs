//! Workloads and the pods that they own, gathered into the facts on which `domain::addon` judges.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::{try_join_all, try_join3};
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::batch::v1 as batch;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::client::Client;
use super::error::Result;
use super::nodes::typed;
use super::object::{Object, Reference};
use super::pods;
use super::resources::Filter;
use crate::domain::addon::{Pod, Progress, Workload, WorkloadKind, WorkloadName};

/// The annotation and the pod label by which a DaemonSet's newest template is known; both are kept by the API server
/// and the DaemonSet controller (`k8s.io/api/apps/v1`, `DeprecatedTemplateGeneration`).
const DAEMON_SET_GENERATION: (&str, &str) =
    ("deprecated.daemonset.template.generation", "pod-template-generation");
/// The label by which a StatefulSet's pods tell their revision.
const STATEFUL_SET_REVISION: &str = "controller-revision-hash";
/// The annotation by which ReplicaSets of one Deployment are ordered.
const DEPLOYMENT_REVISION: &str = "deployment.kubernetes.io/revision";

impl Client {
    /// The workloads among `references`, in their order, with what their controllers report and their pods.
    ///
    /// References of other kinds are left out; a workload that does not exist has no progress.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn workloads(&self, references: &[Reference]) -> Result<Vec<Workload>> {
        let names: Vec<_> = references.iter().filter_map(workload_name).collect();
        let namespaces: BTreeSet<_> = names.iter().map(|(_, name)| name.namespace.clone()).collect();
        let mut surroundings = BTreeMap::new();
        for namespace in namespaces {
            let surrounding = self.surrounding(&namespace).await?;
            surroundings.insert(namespace, surrounding);
        }
        let objects = try_join_all(names.iter().map(|(reference, _)| self.get(reference))).await?;
        let pairs = names.into_iter().zip(objects);
        let workloads = pairs.map(|((_, name), object)| match (object, surroundings.get(&name.namespace)) {
            (Some(object), Some(surrounding)) => read(object, name, surrounding),
            (Some(_) | None, _) => Ok(Workload { name, progress: None, pods: Vec::new() }),
        });
        workloads.collect()
    }

    async fn surrounding(&self, namespace: &str) -> Result<Surrounding> {
        let filter = Filter { namespace: Some(namespace.to_owned()), ..Filter::default() };
        let warnings =
            Filter { fields: Some("type=Warning,reason=FailedCreate".to_owned()), ..filter.clone() };
        let pods = self.list("v1", "Pod", &filter);
        let replica_sets = self.list("apps/v1", "ReplicaSet", &filter);
        let events = self.list("v1", "Event", &warnings);
        let (pods, replica_sets, events) = try_join3(pods, replica_sets, events).await?;
        Ok(Surrounding {
            pods: pods.into_iter().map(typed).collect::<Result<_>>()?,
            replica_sets: replica_sets.into_iter().map(typed).collect::<Result<_>>()?,
            refusals: events.into_iter().map(typed).collect::<Result<_>>()?,
        })
    }
}

/// What stands around the workloads of one namespace.
#[derive(Debug)]
struct Surrounding {
    pods: Vec<core::Pod>,
    replica_sets: Vec<apps::ReplicaSet>,
    /// Events of pods that could not even be created.
    refusals: Vec<core::Event>,
}

impl Surrounding {
    /// The pods whose controller has this identity.
    fn owned_by(
        &self,
        uid: &str,
        is_current: impl Fn(&BTreeMap<String, String>) -> Option<bool>,
    ) -> Vec<Pod> {
        let owned = self.pods.iter().filter(|pod| controller(&pod.metadata) == Some(uid));
        owned
            .map(|pod| pods::read(pod, is_current(pod.metadata.labels.as_ref().unwrap_or(&BTreeMap::new()))))
            .collect()
    }

    /// The newest word on why pods of the object of this identity cannot be created.
    fn refusal(&self, uid: &str) -> Option<String> {
        let about = self.refusals.iter().filter(|event| event.involved_object.uid.as_deref() == Some(uid));
        about.max_by_key(|event| event.last_timestamp.as_ref().map(|time| time.0))?.message.clone()
    }
}

fn workload_name(reference: &Reference) -> Option<(&Reference, WorkloadName)> {
    let kind = WorkloadKind::parse(&reference.kind)?;
    let group = if kind == WorkloadKind::Job { "batch" } else { "apps" };
    let namespace = reference.namespace.clone().filter(|_| reference.group() == group)?;
    Some((reference, WorkloadName { kind, namespace, name: reference.name.clone() }))
}

fn read(object: Object, name: WorkloadName, around: &Surrounding) -> Result<Workload> {
    let uid = object.uid().unwrap_or_default().to_owned();
    let (mut progress, pods) = match name.kind {
        WorkloadKind::DaemonSet => daemon_set(typed(object)?, &uid, around),
        WorkloadKind::Deployment => deployment(typed(object)?, &uid, around),
        WorkloadKind::StatefulSet => stateful_set(typed(object)?, &uid, around),
        WorkloadKind::Job => job(typed(object)?, &uid, around),
    };
    // An old refusal is no news once there are enough pods.
    if progress.refusal.is_none()
        && pods.iter().filter(|pod| !pod.leaving).count() < progress.desired as usize
    {
        progress.refusal = around.refusal(&uid);
    }
    Ok(Workload { name, progress: Some(progress), pods })
}

fn daemon_set(set: apps::DaemonSet, uid: &str, around: &Surrounding) -> (Progress, Vec<Pod>) {
    let status = set.status.unwrap_or_default();
    let (annotation, label) = DAEMON_SET_GENERATION;
    let newest = set.metadata.annotations.as_ref().and_then(|annotations| annotations.get(annotation));
    let progress = Progress {
        observed: is_observed(&set.metadata, status.observed_generation),
        desired: count(Some(status.desired_number_scheduled)),
        updated: count(status.updated_number_scheduled),
        outdated: 0,
        available: count(status.number_available),
        refusal: None,
    };
    (progress, around.owned_by(uid, |labels| Some(labels.get(label)? == newest?)))
}

fn deployment(deployment: apps::Deployment, uid: &str, around: &Surrounding) -> (Progress, Vec<Pod>) {
    let status = deployment.status.unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let refused = conditions
        .into_iter()
        .find(|condition| condition.type_ == "ReplicaFailure" && condition.status == "True");
    let progress = Progress {
        observed: is_observed(&deployment.metadata, status.observed_generation),
        desired: deployment.spec.and_then(|spec| spec.replicas).map_or(1, |replicas| count(Some(replicas))),
        updated: count(status.updated_replicas),
        outdated: count(status.replicas).saturating_sub(count(status.updated_replicas)),
        available: count(status.available_replicas),
        refusal: refused.and_then(|condition| condition.message),
    };
    let mut sets: Vec<_> =
        around.replica_sets.iter().filter(|set| controller(&set.metadata) == Some(uid)).collect();
    sets.sort_by_key(|set| std::cmp::Reverse(revision(&set.metadata)));
    let pods = sets.iter().enumerate().flat_map(|(age, set)| {
        let uid = set.metadata.uid.as_deref().unwrap_or_default();
        around.owned_by(uid, |_| Some(age == 0))
    });
    let pods = pods.collect();
    (progress, pods)
}

fn stateful_set(set: apps::StatefulSet, uid: &str, around: &Surrounding) -> (Progress, Vec<Pod>) {
    let status = set.status.unwrap_or_default();
    let desired = set.spec.and_then(|spec| spec.replicas).map_or(1, |replicas| count(Some(replicas)));
    let complete = status.update_revision.is_none() || status.update_revision == status.current_revision;
    let progress = Progress {
        observed: is_observed(&set.metadata, status.observed_generation),
        desired,
        updated: if complete { desired } else { count(status.updated_replicas) },
        outdated: 0,
        available: count(status.available_replicas),
        refusal: None,
    };
    let newest = status.update_revision;
    (progress, around.owned_by(uid, |labels| Some(labels.get(STATEFUL_SET_REVISION)? == newest.as_ref()?)))
}

fn job(job: batch::Job, uid: &str, around: &Surrounding) -> (Progress, Vec<Pod>) {
    let status = job.status.unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let failed =
        conditions.iter().find(|condition| condition.type_ == "Failed" && condition.status == "True");
    let complete =
        conditions.iter().any(|condition| condition.type_ == "Complete" && condition.status == "True");
    let desired =
        job.spec.and_then(|spec| spec.completions).map_or(1, |completions| count(Some(completions)));
    let progress = Progress {
        observed: true,
        desired,
        updated: 0,
        outdated: 0,
        available: if complete { desired } else { count(status.succeeded).min(desired.saturating_sub(1)) },
        refusal: failed.map(|condition| {
            let parts = [condition.reason.clone(), condition.message.clone()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
        }),
    };
    (progress, around.owned_by(uid, |_| None))
}

fn controller(metadata: &ObjectMeta) -> Option<&str> {
    let owners = metadata.owner_references.iter().flatten();
    owners.into_iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.as_str())
}

fn revision(metadata: &ObjectMeta) -> u64 {
    let annotation =
        metadata.annotations.as_ref().and_then(|annotations| annotations.get(DEPLOYMENT_REVISION));
    annotation.and_then(|revision| revision.parse().ok()).unwrap_or_default()
}

fn is_observed(metadata: &ObjectMeta, observed: Option<i64>) -> bool {
    observed.unwrap_or_default() >= metadata.generation.unwrap_or_default()
}

fn count(number: Option<i32>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}
