//! One byte of a configuration is another one when it reaches its machine: where the cluster fails, and what is said.
//!
//! Each value that machines must agree on is here. A cluster that came up all the same would show that nothing looked;
//! where nothing can look, the reason stands beside the value. Talos' own network is used: what is altered shows before
//! any addon, or in none.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::cases::cases_of;
use crate::golden;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    cases_of(&[
        ("altered_values_of_the_first_machine_fail_at_their_gate", first_fails),
        ("altered_tokens_of_the_first_machine_keep_the_worker_out", first_warns),
        ("altered_values_of_the_first_machine_that_nobody_compares_break_nothing", first_harmless),
        ("altered_values_of_the_second_control_plane_keep_it_out_of_etcd", second_fails),
        (
            "an_altered_authority_key_of_the_second_control_plane_keeps_its_pods_from_being_ready",
            second_authority,
        ),
        ("an_altered_service_account_key_of_the_second_control_plane_is_noticed", second_service_accounts),
        ("altered_values_of_workers_keep_them_out", workers),
    ])
}

/// A value, and which byte of it; its middle where that is as good as any.
type Place = (&'static str, Option<usize>);

/// A cluster with something altered on one of its machines, `cp-1` … and `w-1` …
struct Altered {
    name: &'static str,
    control_planes: u8,
    workers: u8,
    values: &'static [(&'static str, Place)],
}

const fn first(name: &'static str, values: &'static [(&'static str, Place)]) -> Altered {
    Altered { name, control_planes: 1, workers: 0, values }
}

const fn second(name: &'static str, values: &'static [(&'static str, Place)]) -> Altered {
    Altered { name, control_planes: 2, workers: 0, values }
}

/// Gate Configured: nobody speaks to a machine whose certificate authority is another one. Gate Bootstrapped: etcd does
/// not start, and takes the machine's stage with it. Gate ApiServer: the API server does not start.
fn first_fails(rig: &mut Rig) -> Result<(), Failed> {
    let clusters = [
        first("machine-ca-crt", &[("cp-1", ("machine.ca.crt", None))]),
        first("machine-ca-key", &[("cp-1", ("machine.ca.key", None))]),
        first("etcd-ca-crt", &[("cp-1", ("cluster.etcd.ca.crt", None))]),
        first("etcd-ca-key", &[("cp-1", ("cluster.etcd.ca.key", None))]),
        first("cluster-ca-crt", &[("cp-1", ("cluster.ca.crt", None))]),
        first("cluster-ca-key", &[("cp-1", ("cluster.ca.key", None))]),
        first("aggregator-ca-crt", &[("cp-1", ("cluster.aggregatorCA.crt", None))]),
        first("aggregator-ca-key", &[("cp-1", ("cluster.aggregatorCA.key", None))]),
        first("service-account-key", &[("cp-1", ("cluster.serviceAccount.key", None))]),
    ];
    fails(rig, &clusters, "75s", "first")
}

/// The worker's certificate is signed by the first machine for the token, and its kubelet registers with the other.
fn first_warns(rig: &mut Rig) -> Result<(), Failed> {
    let of = |name, values| Altered { name, control_planes: 1, workers: 1, values };
    let clusters = [
        of("machine-token", &[("cp-1", ("machine.token", None))]),
        of("cluster-token", &[("cp-1", ("cluster.token", None))]),
    ];
    warns(rig, &clusters, "120s", "first-tokens")
}

/// Nothing compares these with what other machines have.
fn first_harmless(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = Altered {
        name: "harmless",
        control_planes: 1,
        workers: 1,
        values: &[
            // Talos and the API server add the machine's own addresses themselves.
            ("cp-1", ("machine.certSANs[0]", None)),
            ("cp-1", ("cluster.apiServer.certSANs[0]", None)),
            // For the discovery service alone, which a cluster is healthy without.
            ("cp-1", ("cluster.id", None)),
            ("cp-1", ("cluster.secret", None)),
            // Its own components use the API server beside them.
            ("cp-1", ("cluster.controlPlane.endpoint", None)),
            // It alone gives subnets to nodes and services.
            ("cp-1", ("cluster.network.podSubnets[0]", Some(5))),
            ("cp-1", ("cluster.network.serviceSubnets[0]", Some(0))),
            // It alone encrypts, and reads back what it encrypted.
            ("cp-1", ("cluster.secretboxEncryptionSecret", None)),
        ],
    };
    simulate(rig, std::slice::from_ref(&cluster))?;
    rig.module(&module(rig, &[cluster], "4m"))?;
    let applied = rig.apply(&["-json"])?.expect_code(0)?;
    assert_eq!(golden::diagnostics(rig, &applied), "", "nothing is said of what breaks nothing");
    // What a machine runs is compared with what it was given, though: the next plan would put it right.
    let planned = rig.plan(&["-json"])?.expect_code(2)?;
    golden::expect("altered/harmless", &golden::diagnostics(rig, &planned))
}

fn second_fails(rig: &mut Rig) -> Result<(), Failed> {
    let clusters = [
        second("machine-ca-key", &[("cp-2", ("machine.ca.key", None))]),
        second("etcd-ca-crt", &[("cp-2", ("cluster.etcd.ca.crt", None))]),
        second("etcd-ca-key", &[("cp-2", ("cluster.etcd.ca.key", None))]),
    ];
    fails(rig, &clusters, "100s", "second")
}

fn second_authority(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = second("cluster-ca-key", &[("cp-2", ("cluster.ca.key", None))]);
    fails(rig, &[cluster], "100s", "second-authority")
}

fn second_service_accounts(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = second("service-account-key", &[("cp-2", ("cluster.serviceAccount.key", None))]);
    fails(rig, &[cluster], "100s", "second-service-accounts")
}

/// One control plane, and each worker with something else altered.
fn workers(rig: &mut Rig) -> Result<(), Failed> {
    let cluster = Altered {
        name: "workers",
        control_planes: 1,
        workers: 6,
        values: &[
            // No certificate from the control plane.
            ("w-1", ("machine.token", None)),
            ("w-2", ("machine.ca.crt", None)),
            // No certificate for its kubelet, or none that it trusts.
            ("w-3", ("cluster.token", None)),
            ("w-4", ("cluster.ca.crt", None)),
            // KubePrism knows the API servers by more than the endpoint.
            ("w-5", ("cluster.controlPlane.endpoint", None)),
            // The machine's own addresses are added anyway.
            ("w-6", ("machine.certSANs[0]", None)),
            // For the discovery service alone.
            ("w-6", ("cluster.id", None)),
            ("w-6", ("cluster.secret", None)),
            // Nodes get their subnets from the control plane; the service subnet decides the pods' name server, of which
            // no health check asks.
            ("w-6", ("cluster.network.podSubnets[0]", Some(5))),
            ("w-6", ("cluster.network.serviceSubnets[0]", Some(0))),
        ],
    };
    warns(rig, &[cluster], "120s", "workers")
}

/// Every cluster fails, with these texts.
fn fails(rig: &mut Rig, clusters: &[Altered], limit: &str, name: &str) -> Result<(), Failed> {
    simulate(rig, clusters)?;
    rig.module(&module(rig, clusters, limit))?;
    let applied = rig.apply(&["-json"])?.expect_code(1)?;
    golden::expect(&format!("altered/{name}"), &golden::diagnostics(rig, &applied))?;
    for cluster in clusters {
        assert!(rig.attributes(&address(cluster)).is_err(), "{} stands", cluster.name);
    }
    Ok(())
}

/// Every cluster is Ready, and these texts say what is missing.
fn warns(rig: &mut Rig, clusters: &[Altered], limit: &str, name: &str) -> Result<(), Failed> {
    simulate(rig, clusters)?;
    rig.module(&module(rig, clusters, limit))?;
    let applied = rig.apply(&["-json", "-consolidate-warnings=false"])?.expect_code(0)?;
    golden::expect(&format!("altered/{name}"), &golden::diagnostics(rig, &applied))?;
    for cluster in clusters {
        assert_eq!(rig.attributes(&address(cluster))?["ready"], true, "{}", cluster.name);
    }
    Ok(())
}

fn address(cluster: &Altered) -> String {
    format!("kontinuum_talos_cluster.{}", cluster.name)
}

/// Starts the machines of all clusters and sets their faults.
fn simulate(rig: &mut Rig, clusters: &[Altered]) -> Result<(), Failed> {
    let mut machines: Vec<Value> = Vec::new();
    for (place, cluster) in clusters.iter().enumerate() {
        for (machine, host) in cluster.machines(place) {
            let faults: Vec<Value> = cluster
                .values
                .iter()
                .filter(|(altered, _)| *altered == machine)
                .map(|(_, (path, index))| json!({ "fault": "alter-configuration", "path": path, "index": index }))
                .collect();
            machines.push(json!({
                "name": format!("{}-{machine}", cluster.name),
                "addresses": [rig.address(host)],
                "faults": faults,
            }));
        }
    }
    rig.simulate(&machines)?;
    Ok(())
}

impl Altered {
    /// Its machines with their addresses' last number.
    fn machines(&self, place: usize) -> Vec<(String, u8)> {
        let base = 10 * (1 + u8::try_from(place).unwrap_or(u8::MAX / 10 - 1));
        let control_planes =
            (1..=self.control_planes).map(move |number| (format!("cp-{number}"), base + number));
        let workers = (1..=self.workers).map(move |number| (format!("w-{number}"), base + 2 + number));
        control_planes.chain(workers).collect()
    }
}

fn module(rig: &Rig, clusters: &[Altered], limit: &str) -> String {
    clusters.iter().enumerate().map(|(place, cluster)| one(rig, place, cluster, limit)).collect()
}

fn one(rig: &Rig, place: usize, cluster: &Altered, limit: &str) -> String {
    let name = cluster.name;
    let pool = |role: &str, prefix: &str, count: u8| {
        let instances: String = cluster
            .machines(place)
            .iter()
            .filter(|(machine, _)| machine.starts_with(prefix))
            .map(|(machine, host)| format!("{machine} = \"{}\"\n", rig.address(*host)))
            .collect();
        format!(
            r#"
resource "kontinuum_instance" "{name}-{role}" {{
  for_each   = {{
{instances}}}
  name       = "{name}-${{each.key}}"
  interfaces = [each.value]
}}

resource "kontinuum_instance_pool" "{name}-{role}" {{
  name      = "{name}-{role}"
  instances = kontinuum_instance.{name}-{role}
  replicas  = {count}
}}
"#
        )
    };
    let (workers, worker_pool) = match cluster.workers {
        0 => (String::new(), String::new()),
        count => (
            format!("workers = {{ general = {{ pool = kontinuum_instance_pool.{name}-worker }} }}"),
            pool("worker", "w-", count),
        ),
    };
    format!(
        r#"{}{worker_pool}
resource "kontinuum_talos_cluster" "{name}" {{
  name               = "{name}"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  control_plane      = {{ pool = kontinuum_instance_pool.{name}-control-plane }}
  {workers}
  cilium             = {{ enabled = false }}
  cert_manager       = {{ enabled = false }}
  timeouts           = {{ create = "{limit}" }}
}}
"#,
        pool("control-plane", "cp-", cluster.control_planes),
    )
}
