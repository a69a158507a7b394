//! A cluster for cases: its machines, its module, and what can be asked of it once it stands.

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::lab;
use crate::process::{Ended, Running};
use crate::rig::{QUICK, Rig};

/// The cluster's address in every module.
pub(crate) const RESOURCE: &str = "kontinuum_talos_cluster.cluster";

/// How many machines of each kind there are and wanted, and what else the cluster says.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) control_planes: u8,
    pub(crate) workers: u8,
    /// Wanted control planes, when not all that there are.
    pub(crate) replicas: Option<u8>,
    pub(crate) cilium: String,
    pub(crate) cert_manager: String,
    pub(crate) talos_version: String,
    pub(crate) kubernetes_version: String,
    /// Further arguments.
    pub(crate) arguments: String,
}

impl Cluster {
    /// Cilium and cert-manager from the lab's archives.
    pub(crate) fn of(control_planes: u8, workers: u8) -> Result<Self, Failed> {
        let chart = |name| -> Result<String, Failed> {
            Ok(format!("repository = \"{}\"", lab::chart(name)?.display()))
        };
        Ok(Self {
            control_planes,
            workers,
            replicas: None,
            cilium: chart("cilium-1.20.2")?,
            cert_manager: chart("cert-manager-v1.21.2")?,
            talos_version: "v1.13.9".to_owned(),
            kubernetes_version: "1.36.3".to_owned(),
            arguments: String::new(),
        })
    }

    /// Starts its machines, `cp-1` … and `w-1` …
    pub(crate) fn simulate(&self, rig: &mut Rig) -> Result<(), Failed> {
        let machines: Vec<Value> = self
            .machines()
            .map(|(name, host, _)| json!({ "name": name, "addresses": [rig.address(host)], "talos_version": self.talos_version }))
            .collect();
        rig.simulate(&machines)?;
        Ok(())
    }

    /// The root module.
    pub(crate) fn module(&self, rig: &Rig) -> String {
        let nodes: String = self
            .machines()
            .map(|(name, host, role)| {
                format!("    {name} = {{ address = \"{}\", role = \"{role}\" }}\n", rig.address(host))
            })
            .collect();
        let (workers, worker_pool) = match self.workers {
            0 => (String::new(), String::new()),
            count => (
                "workers = { general = { pool = kontinuum_instance_pool.worker, node_labels = { tier = \"general\" } } }"
                    .to_owned(),
                pool("worker", count),
            ),
        };
        format!(
            r#"
resource "kontinuum_instance" "node" {{
  for_each = {{
{nodes}  }}
  name       = each.key
  interfaces = [each.value.address]
  labels     = {{ role = each.value.role }}
}}
{}{worker_pool}
resource "kontinuum_talos_cluster" "cluster" {{
  name               = "lab"
  talos_version      = "{}"
  kubernetes_version = "{}"
  control_plane      = {{ pool = kontinuum_instance_pool.control-plane }}
  {workers}
  cilium       = {{ {} }}
  cert_manager = {{ {} }}
  {}
}}
"#,
            pool("control-plane", self.replicas.unwrap_or(self.control_planes)),
            self.talos_version,
            self.kubernetes_version,
            self.cilium,
            self.cert_manager,
            self.arguments,
        )
    }

    /// Writes the module and applies it; it must succeed.
    pub(crate) fn apply(&self, rig: &Rig) -> Result<Ended, Failed> {
        rig.module(&self.module(rig))?;
        rig.apply(&[])?.expect_code(0)
    }

    fn machines(&self) -> impl Iterator<Item = (String, u8, &'static str)> {
        let control_planes =
            (1..=self.control_planes).map(|number| (format!("cp-{number}"), 10 + number, "control-plane"));
        control_planes.chain((1..=self.workers).map(|number| (format!("w-{number}"), 20 + number, "worker")))
    }
}

fn pool(role: &str, replicas: u8) -> String {
    format!(
        r#"
resource "kontinuum_instance_pool" "{role}" {{
  name      = "{role}"
  instances = kontinuum_instance.node
  selector  = {{ match_labels = {{ role = "{role}" }} }}
  replicas  = {replicas}
}}
"#
    )
}

/// The conditions in the state, as `Ready=True/AddonsInstalled`.
pub(crate) fn conditions(rig: &Rig) -> Result<Vec<String>, Failed> {
    let cluster = rig.attributes(RESOURCE)?;
    let conditions = cluster["conditions"].as_array().ok_or("expected conditions in the state")?;
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    Ok(conditions
        .iter()
        .map(|condition| {
            format!("{}={}/{}", text(condition, "type"), text(condition, "status"), text(condition, "reason"))
        })
        .collect())
}

/// The changes of conditions that the last command logged, in their order, as `Ready=True/AddonsInstalled`.
pub(crate) fn logged_conditions(rig: &Rig) -> Vec<String> {
    let log = rig.logs();
    let field = |line: &str, name: &str| {
        let rest = line.split_once(&format!(" {name}="))?.1;
        Some(rest.split([' ', '\n']).next().unwrap_or_default().trim_matches('"').to_owned())
    };
    log.lines()
        .filter(|line| line.contains("[INFO]") && line.contains("kontinuum_talos_cluster"))
        .filter_map(|line| {
            Some(format!(
                "{}={}/{}",
                field(line, "condition")?,
                field(line, "status")?,
                field(line, "reason")?
            ))
        })
        .collect()
}

/// Runs the lab's kubectl with the cluster's kubeconfig.
pub(crate) fn kubectl(rig: &Rig, arguments: &[&str]) -> Result<Ended, Failed> {
    with_kubeconfig(rig, "kubectl", arguments)
}

/// Runs the lab's Helm with the cluster's kubeconfig.
pub(crate) fn helm(rig: &Rig, arguments: &[&str]) -> Result<Ended, Failed> {
    with_kubeconfig(rig, "helm", arguments)
}

fn with_kubeconfig(rig: &Rig, program: &str, arguments: &[&str]) -> Result<Ended, Failed> {
    let kubeconfig = rig.folder().join("kubeconfig");
    let cluster = rig.attributes(RESOURCE)?;
    std::fs::write(&kubeconfig, cluster["kubeconfig"].as_str().ok_or("expected a kubeconfig in the state")?)?;
    let mut command = Command::new(lab::program(program)?);
    command.args(arguments).env("KUBECONFIG", kubeconfig).env("HOME", rig.folder().join("home"));
    rig.wait(async { Running::start(command)?.end(QUICK).await })
}
