//! The order in which kinds are installed.

use std::cmp::Ordering;

/// Kinds in the order in which Helm installs them; all others follow, by name.
const INSTALL: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];

/// Which of two kinds is installed first. Sorting by it must be stable.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let position = |kind: &str| INSTALL.iter().position(|&known| known == kind);
    match (position(left), position(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_kinds_come_last_and_by_name() {
        let mut kinds = ["Widget", "Deployment", "Gadget", "Namespace", "Service", ""];
        kinds.sort_by(|left, right| compare(left, right));
        assert_eq!(kinds, ["Namespace", "Service", "Deployment", "", "Gadget", "Widget"]);
    }
}
