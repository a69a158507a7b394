//! The Kubernetes client against a real API server and its controllers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kubernetes_rig;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kontinuum::clients::kubernetes::{
    Cause, Client, Deadlines, Filter, Object, Options, Readiness, Reference, Watched, Write,
};
use kontinuum::domain::addon::AddonHealth;
use kubernetes_rig::{Identity, Rig, eventually};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

/// How long nothing happens where nothing should.
const SILENCE: Duration = Duration::from_millis(500);

#[tokio::test]
async fn wrong_credentials_missing_permission_and_readiness_are_told_apart() {
    let rig = Rig::shared().await;
    rig.client().await.ready().await.unwrap();

    let impostor = rig.client_of(&Identity::Impostor).await;
    assert!(matches!(impostor.ready().await.unwrap_err().cause(), Cause::Unauthorized(_)));

    let stranger = rig.client_of(&Identity::Stranger).await;
    let error = stranger.nodes().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Forbidden(_)), "{error:?}");
    assert!(!error.is_transient());
}

#[test]
fn a_proxy_for_the_internet_is_not_used_for_machines() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "wrong_credentials_missing_permission_and_readiness_are_told_apart"]);
    // Nobody listens there.
    let output = again.env("HTTPS_PROXY", "http://127.0.0.1:9").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}

#[tokio::test]
async fn a_server_that_is_off_silent_or_someone_elses_is_told_apart() {
    let rig = Rig::shared().await;
    let kubeconfig = rig.kubeconfig(&Identity::Administrator);
    let at = async |server: String| {
        let deadlines = Deadlines { probe: Duration::from_millis(500), ..Deadlines::default() };
        let options = Options { server: Some(server), deadlines, ..Options::default() };
        Client::from_kubeconfig(&kubeconfig, &options).await.unwrap().ready().await.unwrap_err()
    };

    let off = at(format!("https://{}:6444", rig.address)).await;
    assert!(matches!(off.cause(), Cause::Unreachable { .. }), "{off:?}");
    assert!(off.is_transient());

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = at(format!("https://{}", silent.local_addr().unwrap())).await;
    assert!(matches!(error.cause(), Cause::TimedOut { .. } | Cause::Unreachable { .. }), "{error:?}");
    assert!(error.is_transient());

    let elsewhere = kubeconfig.replace(&rig.server(), "https://localhost:1");
    let options = Options { server: Some(rig.server()), ..Options::default() };
    Client::from_kubeconfig(&elsewhere, &options).await.unwrap().ready().await.unwrap();
    let other = rig.kubeconfig_of_another_cluster();
    let error =
        Client::from_kubeconfig(&other, &Options::default()).await.unwrap().ready().await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Untrusted { .. }), "{error:?}");
    assert!(!error.is_transient());
}

#[tokio::test]
async fn the_kinds_that_it_finds_are_those_that_kubectl_finds() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let kinds = client.refresh_kinds().await.unwrap();
    let ours: BTreeSet<_> =
        kinds.api_versions().iter().filter(|version| !has_kind(version)).cloned().collect();
    let theirs: BTreeSet<_> = rig.run("kubectl", &["api-versions"]).lines().map(str::to_owned).collect();
    assert_eq!(ours, theirs);
    for expected in ["v1/Pod", "apps/v1/Deployment", "v1/Eviction", "policy/v1/PodDisruptionBudget"] {
        assert!(kinds.api_versions().contains(expected), "{expected}");
    }
    let version = client.version().await.unwrap();
    assert!(rig.run("kubectl", &["version"]).contains(&version.git_version));
}

fn has_kind(api_version: &str) -> bool {
    api_version.rsplit('/').next().is_some_and(|last| last.starts_with(char::is_uppercase))
}

#[tokio::test]
async fn applying_again_changes_nothing_and_a_foreign_field_is_named() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let wanted = config_map(&namespace, "a", json!({"key": "ours"}));

    let first = client.apply(&wanted, Write::Now).await.unwrap();
    let second = client.apply(&wanted, Write::Now).await.unwrap();
    assert_eq!(first.resource_version(), second.resource_version());

    rig.run(
        "kubectl",
        &["-n", &namespace, "patch", "configmap", "a", "--type=merge", "-p", r#"{"data":{"key":"theirs"}}"#],
    );
    let error = client.apply(&wanted, Write::Now).await.unwrap_err();
    let Cause::FieldConflicts(conflicts) = error.cause() else { panic!("{error:?}") };
    assert_eq!(conflicts[0].field, ".data.key");
    assert!(conflicts[0].manager.contains("kubectl-patch"), "{conflicts:?}");
    let kept = client.get(wanted.reference()).await.unwrap().unwrap();
    assert_eq!(kept.text_at(&["data", "key"]), Some("theirs"), "a conflict changes nothing");
}

#[tokio::test]
async fn a_misspelt_field_is_refused_and_a_dry_run_leaves_nothing() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let mut misspelt = config_map(&namespace, "a", json!({})).into_json();
    misspelt["dtaa"] = json!({});
    let error = client.apply(&Object::new(misspelt).unwrap(), Write::Now).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Invalid(message) if message.contains("dtaa")), "{error:?}");

    let dry = config_map(&namespace, "b", json!({}));
    client.create(&dry, Write::DryRun).await.unwrap();
    assert_eq!(client.get(dry.reference()).await.unwrap(), None);
}

#[tokio::test]
async fn a_kind_is_absent_until_its_definition_is_applied() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let wanted = Object::new(json!({"apiVersion": "lab.example/v1", "kind": "Widget",
        "metadata": {"name": "a", "namespace": namespace}, "spec": {"size": 3}}))
    .unwrap();
    assert_eq!(client.get(wanted.reference()).await.unwrap(), None);
    let error = client.apply(&wanted, Write::Now).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::NoSuchKind { .. }), "{error:?}");

    client.apply(&widget_definition(), Write::Now).await.unwrap();
    let applied =
        eventually("the kind is served", LIMIT, async || client.apply(&wanted, Write::Now).await.ok()).await;
    assert_eq!(applied.at(&["spec", "size"]), Some(&json!(3)));
}

#[tokio::test]
async fn nodes_are_labelled_cordoned_and_deleted_by_identity() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    create_node(&rig, &client, "w-labels").await;
    let role = "node-role.kubernetes.io/worker".to_owned();
    client.set_node_labels("w-labels", &BTreeMap::from([(role.clone(), Some(String::new()))])).await.unwrap();
    client.cordon("w-labels").await.unwrap();
    let node = client.node("w-labels").await.unwrap().unwrap();
    assert!(node.labels.contains_key(&role));
    assert!(node.cordoned);
    assert_eq!(node.readiness, Readiness::Ready);
    client.set_node_labels("w-labels", &BTreeMap::from([(role.clone(), None)])).await.unwrap();
    client.uncordon("w-labels").await.unwrap();
    let node = client.node("w-labels").await.unwrap().unwrap();
    assert!(!node.labels.contains_key(&role) && !node.cordoned);

    let error =
        client.delete_node("w-labels", Some("00000000-0000-0000-0000-000000000000")).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Stale), "{error:?}");
    client.delete_node("w-labels", Some(&node.uid)).await.unwrap();
    client.delete_node("w-labels", Some(&node.uid)).await.unwrap();
    assert_eq!(client.node("w-labels").await.unwrap(), None);
}

#[tokio::test]
async fn draining_respects_a_budget_and_goes_on_when_it_allows() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    create_node(&rig, &client, "w-drain").await;
    for name in ["held", "free"] {
        create_pod(&rig, &client, &namespace, name, "w-drain").await;
    }
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "held", "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "held"}}}});
    let budget = Object::new(budget).unwrap();
    client.apply(&budget, Write::Now).await.unwrap();

    let held = format!("{namespace}/held");
    let drained = client.drain("w-drain").await.unwrap();
    assert_eq!(drained.held.iter().map(|(pod, _)| pod).collect::<Vec<_>>(), [&held]);
    assert!(drained.held[0].1.contains("disruption budget"), "{drained:?}");
    assert_eq!(drained.leaving, [format!("{namespace}/free")]);
    assert!(!drained.is_complete());
    assert!(client.node("w-drain").await.unwrap().unwrap().cordoned);

    client.delete(budget.reference(), None).await.unwrap();
    // Without a kubelet a pod that is leaving stays until someone deletes it for good: the test does.
    for name in ["held", "free"] {
        client.drain("w-drain").await.unwrap();
        rig.run("kubectl", &["-n", &namespace, "delete", "pod", name, "--force", "--grace-period=0"]);
    }
    assert!(client.drain("w-drain").await.unwrap().is_complete());
    client.delete_node("w-drain", None).await.unwrap();
}

#[tokio::test]
async fn a_change_wakes_and_none_is_missed_between_two_calls() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    // By label, since controllers write ConfigMaps of their own into a new namespace.
    let labels = Some("app=lab".to_owned());
    let filter = Filter { namespace: Some(namespace.clone()), labels, ..Filter::default() };
    client.apply(&config_map(&namespace, "first", json!({})), Write::Now).await.unwrap();
    let mut wakeups = client.wakeups(vec![Watched::new("v1", "ConfigMap", filter)]);
    tokio::time::timeout(LIMIT, wakeups.changed()).await.unwrap();
    let silence = tokio::time::timeout(SILENCE, wakeups.changed()).await;
    assert!(silence.is_err(), "nothing changed, so nothing wakes");

    client.apply(&config_map(&namespace, "second", json!({})), Write::Now).await.unwrap();
    tokio::time::timeout(LIMIT, wakeups.changed()).await.unwrap();
    let silence = tokio::time::timeout(SILENCE, wakeups.changed()).await;
    assert!(silence.is_err(), "nothing changed, so nothing wakes");
}

#[tokio::test]
async fn lists_are_complete_beyond_one_page() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    for number in 0..520 {
        client.create(&config_map(&namespace, &format!("m-{number}"), json!({})), Write::Now).await.unwrap();
    }
    let filter =
        Filter { namespace: Some(namespace), labels: Some("app=lab".to_owned()), ..Filter::default() };
    let all = client.list("v1", "ConfigMap", &filter).await.unwrap();
    assert_eq!(all.len(), 520);
}

#[tokio::test]
async fn a_deployment_is_judged_from_creation_over_a_crash_to_health() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let deployment = deployment(&namespace, "web", "w-web", json!({}));
    let reference = [deployment.reference().clone()];
    assert!(judge(&client, &reference).await.unwrap_err().ends_with("to exist"));

    client.apply(&deployment, Write::Now).await.unwrap();
    // Its controller tells of the replica after the scheduler has told of the pod, or before: both are waited for.
    judged(&client, &reference, "to be ready").await;
    let unscheduled = judged(&client, &reference, "Unschedulable").await;
    assert!(
        unscheduled.starts_with(&format!("Deployment {namespace}/web to be ready: pod web-")),
        "{unscheduled}"
    );

    create_node(&rig, &client, "w-web").await;
    let pod = scheduled_pod(&client, &namespace, "w-web").await;
    report(&rig, &pod, false, json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}));
    let crashing = judged(&client, &reference, "CrashLoopBackOff").await;
    assert!(
        crashing.contains("on node w-web: container web (example.org/web:1) waits: CrashLoopBackOff"),
        "{crashing}"
    );

    report(&rig, &pod, true, json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}));
    eventually("it is healthy", LIMIT, async || judge(&client, &reference).await.ok()).await;

    // A new template makes it unhealthy at once, although the old pod still serves.
    let template = json!({"spec": {"template": {"metadata": {"labels": {"new": "yes"}}}}});
    client.merge(&reference[0], &template).await.unwrap();
    assert!(judge(&client, &reference).await.is_err());
    client.delete(&reference[0], None).await.unwrap();
    client.delete_node("w-web", None).await.unwrap();
}

#[tokio::test]
async fn a_pod_that_admission_refuses_is_the_reason() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let level = BTreeMap::from([("pod-security.kubernetes.io/enforce".to_owned(), "baseline".to_owned())]);
    client.ensure_namespace(&namespace, &level).await.unwrap();
    let privileged = deployment(&namespace, "web", "w-refused", json!({"privileged": true}));
    client.apply(&privileged, Write::Now).await.unwrap();
    let daemon_set = json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": namespace},
    "spec": privileged.clone().into_json()["spec"].as_object().map(|spec| {
        let mut spec = spec.clone();
        spec.remove("replicas");
        spec
    })});
    create_node(&rig, &client, "w-refused").await;
    let daemon_set = client.apply(&Object::new(daemon_set).unwrap(), Write::Now).await.unwrap();
    for reference in [privileged.reference(), daemon_set.reference()] {
        judged(&client, std::slice::from_ref(reference), "violates PodSecurity").await;
    }
    client.delete(daemon_set.reference(), None).await.unwrap();
    client.delete_node("w-refused", None).await.unwrap();
}

/// The verdict: healthy, or what is waited for.
async fn judge(client: &Client, references: &[Reference]) -> Result<(), String> {
    match AddonHealth::of(&client.workloads(references).await.unwrap()) {
        AddonHealth::Healthy => Ok(()),
        AddonHealth::Waiting(text) => Err(text),
    }
}

async fn judged(client: &Client, references: &[Reference], part: &str) -> String {
    let look = async || judge(client, references).await.err().filter(|text| text.contains(part));
    eventually(&format!("the verdict says {part}"), LIMIT, look).await
}

async fn scheduled_pod(client: &Client, namespace: &str, node: &str) -> Reference {
    let filter = Filter {
        namespace: Some(namespace.to_owned()),
        fields: Some(format!("spec.nodeName={node}")),
        ..Filter::default()
    };
    let look =
        async || client.list("v1", "Pod", &filter).await.unwrap().first().map(|pod| pod.reference().clone());
    eventually("a pod is scheduled", LIMIT, look).await
}

/// Plays the kubelet.
fn report(rig: &Rig, pod: &Reference, ready: bool, state: Value) {
    let ready_text = if ready { "True" } else { "False" };
    let status = json!({"status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": ready_text}, {"type": "ContainersReady", "status": ready_text}],
        "containerStatuses": [{"name": "web", "image": "x", "imageID": "", "ready": ready, "restartCount": 1, "state": state}]}});
    patch_status(rig, pod, &status);
}

fn patch_status(rig: &Rig, object: &Reference, patch: &Value) {
    let namespace = object.namespace.as_deref().unwrap_or("default");
    let patch = patch.to_string();
    rig.run(
        "kubectl",
        &["-n", namespace, "patch", &object.kind, &object.name, "--subresource=status", "-p", &patch],
    );
}

fn config_map(namespace: &str, name: &str, data: Value) -> Object {
    let json = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": "lab"}}, "data": data});
    Object::new(json).unwrap()
}

/// One pod, on the node of that label only: tests share the cluster.
fn deployment(namespace: &str, name: &str, node: &str, security: Value) -> Object {
    let json = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"nodeSelector": {"lab": node}, "containers": [{"name": name, "image": format!("example.org/{name}:1"), "securityContext": security}]}}}});
    Object::new(json).unwrap()
}

fn widget_definition() -> Object {
    let json = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.lab.example"},
        "spec": {"group": "lab.example", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}}]}});
    Object::new(json).unwrap()
}

async fn create_node(rig: &Rig, client: &Client, name: &str) {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"lab": name}}, "spec": {}});
    client.create(&Object::new(node).unwrap(), Write::Now).await.unwrap();
    let ready = json!({"status": {
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "capacity": {"pods": "10", "cpu": "4", "memory": "4Gi"},
        "allocatable": {"pods": "10", "cpu": "4", "memory": "4Gi"}}});
    patch_status(rig, &Reference::cluster_wide("v1", "Node", name), &ready);
    // The server taints a new node; the controller takes the taint away once it is ready.
    let untainted = async || client.node(name).await.unwrap().filter(|node| node.taints.is_empty());
    eventually("the node's taint is gone", LIMIT, untainted).await;
}

async fn create_pod(rig: &Rig, client: &Client, namespace: &str, name: &str, node: &str) {
    let account = Reference::namespaced("v1", "ServiceAccount", namespace, "default");
    eventually("the service account is there", LIMIT, async || client.get(&account).await.unwrap()).await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"nodeName": node, "containers": [{"name": name, "image": "example.org/a:1"}]}});
    client.create(&Object::new(pod).unwrap(), Write::Now).await.unwrap();
    let running =
        json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    patch_status(rig, &Reference::namespaced("v1", "Pod", namespace, name), &running);
}
