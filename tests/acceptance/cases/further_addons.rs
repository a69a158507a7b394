//! The user's own addons: applied in waves, upgraded in place, uninstalled when they are taken out.

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cases::cases_of;
use crate::cases::cluster::ready;
use crate::cluster::{Cluster, helm, kubectl};
use crate::golden;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("further_addons_are_installed_upgraded_and_uninstalled", lifecycle),
        ("further_addons_that_can_not_work_are_refused_by_the_plan", wrong),
    ])
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.example/web:1}]
";

const OFF: &str = "enabled = false";

const CERTIFICATES: &str = "cert-manager/cert-manager 1 deployed";

/// A cluster with Talos' own network, in which `addons` are.
fn with(cert_manager: &str, addons: &str) -> Result<Cluster, Failed> {
    let mut cluster = Cluster::of(1, 0)?;
    cluster.cilium = "enabled = false".to_owned();
    cluster.cert_manager = cert_manager.to_owned();
    cluster.arguments = format!("addons = {{\n{addons}\n}}");
    Ok(cluster)
}

fn objects(key: &str) -> String {
    format!(
        "objects = {{ manifests = yamlencode({{ apiVersion = \"v1\", kind = \"ConfigMap\", \
         metadata = {{ name = \"objects\" }}, data = {{ {key} = \"{{{{ not a template }}}}\" }} }}) }}"
    )
}

fn web(rig: &Rig, replicas: u8) -> Result<String, Failed> {
    let folder = rig.folder().join("web");
    std::fs::create_dir_all(folder.join("templates"))?;
    std::fs::write(folder.join("Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.2.3\n")?;
    std::fs::write(folder.join("templates/deployment.yaml"), DEPLOYMENT)?;
    Ok(format!(
        "web = {{ repository = \"{}\", namespace = \"web\", depends_on = [\"objects\"], \
         values = yamlencode({{ replicas = {replicas} }}) }}",
        folder.display()
    ))
}

fn lifecycle(rig: &mut Rig) -> Result<(), Failed> {
    let both = |rig: &Rig, key: &str, replicas: u8| {
        let on = Cluster::of(1, 0)?.cert_manager;
        with(&on, &format!("{}\n{}", objects(key), web(rig, replicas)?))
    };
    let cluster = both(rig, "first", 1)?;
    cluster.simulate(rig)?;
    cluster.apply(rig)?;
    ready(rig)?;
    assert_eq!(releases(rig)?, [CERTIFICATES, "default/objects 1 deployed", "web/web 1 deployed"]);
    assert_eq!(data(rig)?, "{\"first\":\"{{ not a template }}\"}");

    both(rig, "first", 2)?.apply(rig)?;
    ready(rig)?;
    assert_eq!(releases(rig)?, [CERTIFICATES, "default/objects 1 deployed", "web/web 2 deployed"]);
    let replicas =
        ["get", "deployment/web", "--namespace", "web", "--output", "jsonpath={.status.readyReplicas}"];
    assert_eq!(kubectl(rig, &replicas)?.expect_code(0)?.stdout, "2");

    with(OFF, &objects("second"))?.apply(rig)?;
    ready(rig)?;
    assert_eq!(releases(rig)?, ["default/objects 2 deployed"]);
    assert_eq!(data(rig)?, "{\"second\":\"{{ not a template }}\"}");
    let deleted = ["wait", "--for=delete", "deployment/web", "--namespace", "web", "--timeout=60s"];
    kubectl(rig, &deleted)?.expect_code(0)?;

    with(OFF, "")?.apply(rig)?;
    ready(rig)?;
    assert_eq!(releases(rig)?, [""; 0]);
    kubectl(rig, &["wait", "--for=delete", "configmap/objects", "--timeout=60s"])?.expect_code(0)?;
    Ok(())
}

fn releases(rig: &Rig) -> Result<Vec<String>, Failed> {
    let listed = helm(rig, &["list", "--all-namespaces", "--output", "json"])?.expect_code(0)?;
    let listed: Value = serde_json::from_str(&listed.stdout)?;
    let text = |release: &Value, field: &str| release[field].as_str().unwrap_or_default().to_owned();
    let mut releases: Vec<String> = listed
        .as_array()
        .into_iter()
        .flatten()
        .map(|release| {
            format!(
                "{}/{} {} {}",
                text(release, "namespace"),
                text(release, "name"),
                text(release, "revision"),
                text(release, "status")
            )
        })
        .collect();
    releases.sort();
    Ok(releases)
}

fn data(rig: &Rig) -> Result<String, Failed> {
    let data = ["get", "configmap/objects", "--output", "jsonpath={.data}"];
    Ok(kubectl(rig, &data)?.expect_code(0)?.stdout)
}

fn wrong(rig: &mut Rig) -> Result<(), Failed> {
    let addons = [
        "cilium = { repository = \"./x\" }",
        "neither = {}",
        "both = { repository = \"./x\", manifests = \"a: 1\" }",
        "strange = { manifests = \"a: 1\", values = \"b: 2\" }",
        "lost = { manifests = \"a: 1\", depends_on = [\"nowhere\"] }",
        "early = { manifests = \"a: 1\", before_health = true, depends_on = [\"late\"] }",
        "late = { manifests = \"a: 1\" }",
        "round = { manifests = \"a: 1\", depends_on = [\"trip\"] }",
        "trip = { manifests = \"a: 1\", depends_on = [\"round\"] }",
        "Big = { manifests = \"a: 1\" }",
        &format!("{} = {{ manifests = \"a: 1\" }}", "n".repeat(54)),
    ];
    let cluster = with(OFF, &addons.join("\n"))?;
    cluster.simulate(rig)?;
    rig.module(&cluster.module(rig))?;
    let planned = rig.plan(&["-json"])?.expect_code(1)?;
    golden::expect("addons/wrong", &golden::diagnostics(rig, &planned))?;

    let unreadable = with(OFF, "objects = { manifests = \"kind: ConfigMap\" }")?;
    rig.module(&unreadable.module(rig))?;
    let planned = rig.plan(&["-json"])?.expect_code(1)?;
    golden::expect("addons/unreadable", &golden::diagnostics(rig, &planned))
}
