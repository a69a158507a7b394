//! Installing charts into a real API server, with real Helm as the judge of what it then sees.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kubernetes_rig;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use helm::release::{Record, Status};
use jiff::Timestamp;
use kontinuum::clients::charts::{Charts, Fetched, Limits};
use kontinuum::clients::kubernetes::{
    Cause, Client, FIELD_MANAGER, Filter, Installation, Object, Reference, Write,
};
use kontinuum::domain::addon::{Addon, Overrides, cert_manager, cilium};
use kubernetes_rig::{Rig, chart};
use serde_json::{Value, json};

#[tokio::test]
async fn cilium_is_installed_upgraded_and_taken_over_by_helm_and_back() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let fetched = fetch("cilium-1.20.2").await;
    let plain = installation(&cilium::addon(&Overrides::default(), 1).unwrap(), &fetched);

    // An object of that name that someone else made stops everything before anything is written.
    let foreign = object("v1", "ConfigMap", "kube-system", "cilium-config", json!({"data": {"a": "b"}}));
    client.create(&foreign, Write::Now).await.unwrap();
    let error = client.install(&plain).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::NotOurs(text) if text.contains("ConfigMap kube-system/cilium-config was made by someone else")),
        "{error:?}"
    );
    assert_eq!(client.installed("kube-system", "cilium").await.unwrap(), None);
    client.delete(foreign.reference(), None).await.unwrap();

    let installed = client.install(&plain).await.unwrap();
    assert!(installed.is_complete);
    assert_eq!((installed.revision, installed.version.as_str()), (1, "1.20.2"));
    for expected in [
        "DaemonSet kube-system/cilium",
        "DaemonSet kube-system/cilium-envoy",
        "Deployment kube-system/cilium-operator",
    ] {
        assert!(installed.objects.iter().any(|reference| reference.to_string() == expected), "{expected}");
    }
    let listed = helm_list(&rig, "kube-system");
    assert_eq!(listed["status"], "deployed");
    assert_eq!(listed["chart"], "cilium-1.20.2");
    assert_eq!(listed["revision"], "1");
    assert!(rig.run("helm", &["-n", "kube-system", "status", "cilium"]).contains("STATUS: deployed"));
    let values = rig.run("helm", &["-n", "kube-system", "get", "values", "cilium", "-o", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&values).unwrap(), plain.values);

    // The same again writes nothing.
    let before = written(&client, "kube-system").await;
    for expected in ["DaemonSet kube-system/cilium", "Secret kube-system/sh.helm.release.v1.cilium.v1"] {
        assert!(before.contains_key(expected), "{expected}");
    }
    let again = client.install(&plain).await.unwrap();
    assert_eq!(again, installed);
    assert_eq!(written(&client, "kube-system").await, before);

    // Other values: new objects come, certificates that templates look up stay, what left goes.
    let certificates = Reference::namespaced("v1", "Secret", "kube-system", "hubble-server-certs");
    let certificate = client.get(&certificates).await.unwrap().unwrap();
    let relay =
        Overrides { values: Some("hubble: {relay: {enabled: true}}".to_owned()), ..Overrides::default() };
    let with_relay = installation(&cilium::addon(&relay, 1).unwrap(), &fetched);
    assert_eq!(client.install(&with_relay).await.unwrap().revision, 2);
    let relay = Reference::namespaced("apps/v1", "Deployment", "kube-system", "hubble-relay");
    assert!(client.get(&relay).await.unwrap().is_some());
    let kept = client.get(&certificates).await.unwrap().unwrap();
    assert_eq!(kept.at(&["data"]), certificate.at(&["data"]));
    assert_eq!(client.install(&plain).await.unwrap().revision, 3);
    assert_eq!(client.get(&relay).await.unwrap(), None);
    let history = rig.run("helm", &["-n", "kube-system", "history", "cilium", "-o", "json"]);
    let history: Vec<Value> = serde_json::from_str(&history).unwrap();
    let statuses: Vec<_> = history.iter().map(|revision| revision["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["superseded", "superseded", "deployed"]);

    // Something that was deleted by hand comes back.
    let operator = Reference::namespaced("apps/v1", "Deployment", "kube-system", "cilium-operator");
    client.delete(&operator, None).await.unwrap();
    assert_eq!(client.install(&plain).await.unwrap().revision, 4);
    assert!(client.get(&operator).await.unwrap().is_some());

    // Helm goes on with our release, and we with Helm's.
    let archive = chart("cilium-1.20.2").display().to_string();
    rig.run(
        "helm",
        &[
            "-n",
            "kube-system",
            "upgrade",
            "cilium",
            &archive,
            "--reuse-values",
            "--set",
            "debug.enabled=true",
        ],
    );
    assert_eq!(helm_list(&rig, "kube-system")["revision"], "5");
    assert_eq!(client.install(&plain).await.unwrap().revision, 6);
    // Helm 3 writes by updates, as Helm 4 does when told to: still Helm, no one else.
    let client_side = ["--reuse-values", "--set", "debug.enabled=true", "--server-side=false"];
    rig.run("helm", &[&["-n", "kube-system", "upgrade", "cilium", &archive], &client_side[..]].concat());
    assert_eq!(client.install(&plain).await.unwrap().revision, 8);
    rig.run("helm", &["-n", "kube-system", "rollback", "cilium", "5"]);
    assert_eq!(client.install(&plain).await.unwrap().revision, 10);
    rig.run("helm", &["-n", "kube-system", "uninstall", "cilium"]);
    assert_eq!(client.installed("kube-system", "cilium").await.unwrap(), None);
    assert_eq!(client.get(&operator).await.unwrap(), None);
}

#[tokio::test]
async fn cert_manager_is_installed_after_deaths_at_any_moment() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let fetched = fetch("cert-manager-v1.21.2").await;
    let wanted = installation(&cert_manager::addon(&Overrides::default()).unwrap(), &fetched);

    let probe = client.probe_cert_manager("default").await.unwrap_err();
    assert!(matches!(probe.cause(), Cause::NoSuchKind { .. }), "{probe:?}");

    // Each attempt lives a little longer than the one before and is dropped where it is.
    let (mut deaths, mut life) = (0, Duration::from_millis(20));
    let installed = loop {
        match tokio::time::timeout(life, client.install(&wanted)).await {
            Ok(installed) => break installed.unwrap(),
            Err(_) => deaths += 1,
        }
        life += life / 3;
    };
    assert!(deaths > 3, "it died {deaths} times only");
    assert_eq!((installed.revision, installed.is_complete), (1, true));
    let listed = helm_list(&rig, "cert-manager");
    assert_eq!((&listed["status"], &listed["chart"]), (&json!("deployed"), &json!("cert-manager-v1.21.2")));
    for reference in &installed.objects {
        assert!(client.get(reference).await.unwrap().is_some(), "{reference}");
    }

    // The webhook has no pod yet, so that the API server cannot ask it.
    let probe = client.probe_cert_manager("default").await.unwrap_err();
    assert!(matches!(probe.cause(), Cause::Webhook(_)), "{probe:?}");
    assert!(probe.is_transient());

    // Definitions that leave the chart ask to be kept, and are.
    let without = Overrides { values: Some("crds: {enabled: false}".to_owned()), ..Overrides::default() };
    let without = installation(&cert_manager::addon(&without).unwrap(), &fetched);
    assert_eq!(client.install(&without).await.unwrap().revision, 2);
    let definition = Reference::cluster_wide(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "issuers.cert-manager.io",
    );
    assert!(client.get(&definition).await.unwrap().is_some());
    rig.run("helm", &["-n", "cert-manager", "uninstall", "cert-manager"]);
    assert_eq!(client.installed("cert-manager", "cert-manager").await.unwrap(), None);
}

#[tokio::test]
async fn a_release_is_uninstalled_after_deaths_at_any_moment_and_what_asks_to_be_kept_stays() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let kept = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}\n";
    let many: String = (0..40)
        .map(|number| format!("---\n{}", CONFIG_MAP.replace("name: a", &format!("name: a-{number}"))))
        .collect();
    let files = [("templates/many.yaml", many.as_str()), ("templates/kept.yaml", kept)];
    for revision in [1, 2] {
        let wanted = mini(&namespace, &files, json!({"key": revision.to_string()}));
        assert_eq!(client.install(&wanted).await.unwrap().revision, revision);
    }

    // Each attempt lives a little longer than the one before and is dropped where it is.
    let (mut deaths, mut life) = (0, Duration::from_millis(10));
    loop {
        match tokio::time::timeout(life, client.uninstall(&namespace, "mini", Timestamp::now())).await {
            Ok(uninstalled) => break uninstalled.unwrap(),
            Err(_) => deaths += 1,
        }
        life += life / 3;
    }
    assert!(deaths > 3, "it died {deaths} times only");
    let filter = Filter { namespace: Some(namespace.clone()), ..Filter::default() };
    let left = client.list("v1", "ConfigMap", &filter).await.unwrap();
    let ours: Vec<_> = left.iter().filter(|object| object.reference().name != "kube-root-ca.crt").collect();
    assert_eq!(ours.len(), 1, "{ours:?}");
    assert_eq!(ours[0].reference().name, "kept");
    let listed =
        rig.run("helm", &["-n", &namespace, "list", "--uninstalling", "--pending", "--failed", "-o", "json"]);
    assert_eq!(listed.trim(), "[]");
    assert_eq!(client.list("v1", "Secret", &filter).await.unwrap(), []);
    client.uninstall(&namespace, "mini", Timestamp::now()).await.unwrap();
}

#[tokio::test]
async fn a_release_that_someone_else_works_on_is_not_touched() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let wanted = mini(&namespace, &[("templates/a.yaml", CONFIG_MAP)], json!({}));
    client.install(&wanted).await.unwrap();

    let secret = Reference::namespaced("v1", "Secret", &namespace, "sh.helm.release.v1.mini.v1");
    let stored = client.get(&secret).await.unwrap().unwrap();
    client.delete(&secret, None).await.unwrap();
    let theirs = pending(stored);
    client.create(&theirs, Write::Now).await.unwrap();
    let error = client.install(&wanted).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Held(text) if text.contains("helm rollback mini")), "{error:?}");
    let error = client.uninstall(&namespace, "mini", Timestamp::now()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Held(text) if text.contains("helm rollback mini")), "{error:?}");
    let untouched = client.get(&secret).await.unwrap().unwrap();
    assert_eq!(untouched.at(&["data"]), theirs.at(&["data"]));
}

#[tokio::test]
async fn kinds_that_a_chart_defines_are_there_before_their_objects() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let in_folder = definition("gadgets", "Gadget");
    let in_templates = definition("gizmos", "Gizmo");
    let files = [
        ("crds/gadget.yaml", in_folder.as_str()),
        ("templates/definition.yaml", in_templates.as_str()),
        (
            "templates/objects.yaml",
            "{{ if .Capabilities.APIVersions.Has \"mini.example/v1/Gadget\" }}\napiVersion: mini.example/v1\nkind: Gadget\n\
             metadata: {name: a}\n{{ end }}\n---\napiVersion: mini.example/v1\nkind: Gizmo\nmetadata: {name: b}\n",
        ),
    ];
    let installed = client.install(&mini(&namespace, &files, json!({}))).await.unwrap();
    for (kind, name) in [("Gadget", "a"), ("Gizmo", "b")] {
        let reference = Reference::namespaced("mini.example/v1", kind, &namespace, name);
        assert!(installed.objects.contains(&reference), "{reference}: {:?}", installed.objects);
        assert!(client.get(&reference).await.unwrap().is_some(), "{reference}");
    }
}

#[tokio::test]
async fn a_foreign_field_and_a_broken_chart_fail_for_good_and_say_so_in_the_record() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    let wanted = mini(&namespace, &[("templates/a.yaml", CONFIG_MAP)], json!({}));
    client.install(&wanted).await.unwrap();
    rig.run(
        "kubectl",
        &["-n", &namespace, "patch", "configmap", "a", "--type=merge", "-p", r#"{"data":{"key":"theirs"}}"#],
    );
    let changed = mini(&namespace, &[("templates/a.yaml", CONFIG_MAP)], json!({"key": "other"}));
    let error = client.install(&changed).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::FieldConflicts(_)), "{error:?}");
    let listed = rig.run("helm", &["-n", &namespace, "list", "-o", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["status"], "failed");
    rig.run("kubectl", &["-n", &namespace, "delete", "configmap", "a"]);
    assert_eq!(client.install(&changed).await.unwrap().revision, 3);

    let failing = mini(&namespace, &[("templates/a.yaml", "{{ fail \"no such thing\" }}")], json!({}));
    let error = client.install(&failing).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Chart(text) if text.contains("no such thing")), "{error:?}");
    let job =
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, annotations: {helm.sh/hook: post-upgrade}}\n";
    let hooked = mini(&namespace, &[("templates/j.yaml", job)], json!({}));
    let error = client.install(&hooked).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::Chart(text) if text.contains("post-upgrade hook Job j")),
        "{error:?}"
    );
    assert_eq!(client.installed(&namespace, "mini").await.unwrap().unwrap().revision, 3);
}

#[tokio::test]
async fn only_ten_revisions_are_kept() {
    let rig = Rig::shared().await;
    let client = rig.client().await;
    let namespace = rig.namespace().await;
    for number in 0..12 {
        let wanted =
            mini(&namespace, &[("templates/a.yaml", CONFIG_MAP)], json!({"key": number.to_string()}));
        client.install(&wanted).await.unwrap();
    }
    let history = rig.run("helm", &["-n", &namespace, "history", "mini", "--max", "20", "-o", "json"]);
    let history: Vec<Value> = serde_json::from_str(&history).unwrap();
    assert_eq!(history.len(), 10);
    assert_eq!(history[9]["revision"], 12);
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: {{ .Values.key | default \"ours\" | quote }}}\n";

async fn fetch(name: &str) -> Arc<Fetched> {
    let charts = Charts::new(Limits::default()).unwrap();
    let chart_name = if name.starts_with("cilium") { "cilium" } else { "cert-manager" };
    charts.fetch(&chart(name).display().to_string(), chart_name, "").await.unwrap()
}

fn installation(addon: &Addon, fetched: &Fetched) -> Installation {
    Installation {
        release: addon.name.clone(),
        namespace: addon.namespace.clone(),
        namespace_labels: addon.namespace_labels.clone(),
        chart: Arc::clone(&fetched.chart),
        digest: fetched.digest.clone(),
        values: addon.values.clone(),
        now: Timestamp::now(),
    }
}

/// A small chart of these files, as release `mini`.
fn mini(namespace: &str, files: &[(&str, &str)], values: Value) -> Installation {
    let mut all =
        BTreeMap::from([("Chart.yaml".to_owned(), b"apiVersion: v2\nname: mini\nversion: 1.0.0\n".to_vec())]);
    all.extend(files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())));
    let digest = format!("{files:?}");
    Installation {
        release: "mini".to_owned(),
        namespace: namespace.to_owned(),
        namespace_labels: BTreeMap::new(),
        chart: Arc::new(helm::Chart::from_files(all).unwrap()),
        digest,
        values,
        now: Timestamp::now(),
    }
}

fn definition(plural: &str, kind: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.mini.example}}\n\
         spec:\n  group: mini.example\n  scope: Namespaced\n  names: {{kind: {kind}, plural: {plural}}}\n  versions:\n  \
         - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}\n"
    )
}

/// The stored record as Helm writes it while it upgrades.
fn pending(secret: Object) -> Object {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let mut json = secret.into_json();
    let text = base64.decode(json["data"]["release"].as_str().unwrap()).unwrap();
    let mut record = Record::decode(std::str::from_utf8(&text).unwrap()).unwrap();
    record.info.status = Status::PendingUpgrade;
    record.info.description = "Preparing upgrade".to_owned();
    json["data"]["release"] = json!(base64.encode(record.encode().unwrap()));
    json["metadata"] = json!({"name": json["metadata"]["name"], "namespace": json["metadata"]["namespace"],
        "labels": record.labels()});
    Object::new(json).unwrap()
}

fn object(api_version: &str, kind: &str, namespace: &str, name: &str, more: Value) -> Object {
    let mut json =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}});
    json.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Object::new(json).unwrap()
}

/// The one release of a namespace, as `helm list` shows it.
fn helm_list(rig: &Rig, namespace: &str) -> Value {
    let listed = rig.run("helm", &["-n", namespace, "list", "-o", "json"]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    listed[0].clone()
}

/// All that Helm wrote into a namespace: objects without what controllers keep writing to them.
async fn written(client: &Client, namespace: &str) -> BTreeMap<String, Value> {
    let filter = Filter { namespace: Some(namespace.to_owned()), ..Filter::default() };
    let mut written = BTreeMap::new();
    for (api_version, kind) in [
        ("v1", "Secret"),
        ("v1", "ConfigMap"),
        ("v1", "ServiceAccount"),
        ("v1", "Service"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1", "Deployment"),
    ] {
        for object in client.list(api_version, kind, &filter).await.unwrap() {
            let name = object.reference().to_string();
            let mut json = object.into_json();
            let metadata = json["metadata"].take();
            // What the API server keeps for itself has no fields that anyone manages.
            let entries = metadata["managedFields"].as_array().into_iter().flatten();
            let ours: Vec<&Value> = entries.filter(|entry| entry["manager"] == FIELD_MANAGER).collect();
            if ours.is_empty() {
                continue;
            }
            json["metadata"] = json!({"uid": metadata["uid"], "labels": metadata["labels"],
                "generation": metadata["generation"], "managedFields": ours});
            json.as_object_mut().unwrap().remove("status");
            written.insert(name, json);
        }
    }
    written
}
