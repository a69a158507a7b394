//! What a pod's volumes and environment need to exist before its containers can be made.

use k8s_openapi::api::core::v1::{ConfigMap, Container, Pod, Secret};
use kube::api::Api;

use super::Kubelet;

/// An object that a pod can't start without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    kind: Kind,
    name: String,
    /// Keys that must be in it.
    keys: Vec<String>,
    /// The volume that mounts it; none where the environment takes it.
    volume: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    ConfigMap,
    Secret,
}

/// Something that a pod needs and that isn't there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// The reason that the containers wait for.
    pub(super) reason: &'static str,
    /// The reason of the event.
    pub(super) event: &'static str,
    pub(super) message: String,
}

/// All that a pod can't start without; what is optional is left out.
pub(super) fn needs(pod: &Pod) -> Vec<Need> {
    let Some(spec) = &pod.spec else {
        return Vec::new();
    };
    let mut needs = Vec::new();
    for volume in spec.volumes.iter().flatten() {
        let mut add = |kind, name: &str, optional: Option<bool>, keys: Vec<String>| {
            if optional != Some(true) {
                needs.push(Need { kind, name: name.to_owned(), keys, volume: Some(volume.name.clone()) });
            }
        };
        if let Some(source) = &volume.config_map {
            let keys = source.items.iter().flatten().map(|item| item.key.clone()).collect();
            add(Kind::ConfigMap, &source.name, source.optional, keys);
        }
        if let Some(source) = &volume.secret {
            let keys = source.items.iter().flatten().map(|item| item.key.clone()).collect();
            add(Kind::Secret, source.secret_name.as_deref().unwrap_or_default(), source.optional, keys);
        }
        for source in volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten()) {
            if let Some(source) = &source.config_map {
                let keys = source.items.iter().flatten().map(|item| item.key.clone()).collect();
                add(Kind::ConfigMap, &source.name, source.optional, keys);
            }
            if let Some(source) = &source.secret {
                let keys = source.items.iter().flatten().map(|item| item.key.clone()).collect();
                add(Kind::Secret, &source.name, source.optional, keys);
            }
        }
    }
    for container in spec.init_containers.iter().flatten().chain(&spec.containers) {
        needs.extend(environment_needs(container));
    }
    needs
}

fn environment_needs(container: &Container) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut add = |kind, name: &str, optional: Option<bool>, key: Option<&str>| {
        if optional != Some(true) {
            let keys = key.map(str::to_owned).into_iter().collect();
            needs.push(Need { kind, name: name.to_owned(), keys, volume: None });
        }
    };
    for source in container.env_from.iter().flatten() {
        if let Some(reference) = &source.config_map_ref {
            add(Kind::ConfigMap, &reference.name, reference.optional, None);
        }
        if let Some(reference) = &source.secret_ref {
            add(Kind::Secret, &reference.name, reference.optional, None);
        }
    }
    for source in container.env.iter().flatten().filter_map(|variable| variable.value_from.as_ref()) {
        if let Some(reference) = &source.config_map_key_ref {
            add(Kind::ConfigMap, &reference.name, reference.optional, Some(&reference.key));
        }
        if let Some(reference) = &source.secret_key_ref {
            add(Kind::Secret, &reference.name, reference.optional, Some(&reference.key));
        }
    }
    needs
}

/// The first need of a pod that isn't met, asked with the node's own credentials.
pub(super) async fn first_missing(kubelet: &Kubelet, namespace: &str, needs: &[Need]) -> Option<Missing> {
    for need in needs {
        if let Err(reason) = look(kubelet, namespace, need).await {
            return Some(missing(need, &reason));
        }
    }
    None
}

async fn look(kubelet: &Kubelet, namespace: &str, need: &Need) -> Result<(), String> {
    let client = kubelet.client.clone();
    let keys: Vec<String> = match need.kind {
        Kind::ConfigMap => {
            let object = kubelet.ask(Api::<ConfigMap>::namespaced(client, namespace).get(&need.name)).await;
            let object = object.map_err(|error| words(&error))?;
            object
                .data
                .into_iter()
                .flatten()
                .map(|(key, _)| key)
                .chain(object.binary_data.into_iter().flatten().map(|(key, _)| key))
                .collect()
        }
        Kind::Secret => {
            let object = kubelet.ask(Api::<Secret>::namespaced(client, namespace).get(&need.name)).await;
            object.map_err(|error| words(&error))?.data.into_iter().flatten().map(|(key, _)| key).collect()
        }
    };
    match need.keys.iter().find(|key| !keys.contains(key)) {
        Some(key) => Err(format!("references non-existent config key: {key}")),
        None => Ok(()),
    }
}

fn words(error: &kube::Error) -> String {
    if let kube::Error::Api(status) = error {
        return status.message.clone();
    }
    error.to_string()
}

fn missing(need: &Need, reason: &str) -> Missing {
    match &need.volume {
        Some(volume) => Missing {
            reason: "ContainerCreating",
            event: "FailedMount",
            message: format!("MountVolume.SetUp failed for volume {volume:?} : {reason}"),
        },
        None => Missing {
            reason: "CreateContainerConfigError",
            event: "Failed",
            message: format!("Error: {reason}"),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_optional_is_no_need() {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": { "name": "p" },
            "spec": {
                "containers": [{ "name": "app", "env": [
                    { "name": "A", "valueFrom": { "configMapKeyRef": { "name": "needed", "key": "k" } } },
                    { "name": "B", "valueFrom": { "configMapKeyRef": { "name": "not", "key": "k", "optional": true } } },
                ]}],
                "volumes": [
                    { "name": "v", "secret": { "secretName": "s", "items": [{ "key": "ca.crt", "path": "ca.crt" }] } },
                    { "name": "w", "configMap": { "name": "also-not", "optional": true } },
                ],
            },
        }))
        .unwrap();
        let names: Vec<_> = needs(&pod).into_iter().map(|need| (need.name, need.keys)).collect();
        assert_eq!(
            names,
            [("s".to_owned(), vec!["ca.crt".to_owned()]), ("needed".to_owned(), vec!["k".to_owned()]),]
        );
    }
}
