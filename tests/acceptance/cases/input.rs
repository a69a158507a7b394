//! Wrong input is refused by the plan, at the line that is wrong, with a text that says what is expected.

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::cases::with;
use crate::client::Client;
use crate::rig::Rig;

/// A mistake: what the user wrote, the line that the client has to point at, and words of the text.
struct Mistake {
    what: &'static str,
    written: &'static str,
    line: &'static str,
    words: &'static [&'static str],
}

const INSTANCES: &[Mistake] = &[
    Mistake {
        what: "a name that is no DNS label",
        written: "name = \"Node_1\"\ninterfaces = [\"192.0.2.1\"]",
        line: "name = \"Node_1\"",
        words: &["Node_1", "DNS label"],
    },
    Mistake {
        what: "no candidate at all",
        written: "name = \"a\"\ninterfaces = []",
        line: "interfaces = []",
        words: &["at least one"],
    },
    Mistake {
        what: "a candidate twice",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\", \"192.0.2.1\"]",
        line: "interfaces = [\"192.0.2.1\", \"192.0.2.1\"]",
        words: &["192.0.2.1", "twice"],
    },
    Mistake {
        what: "a candidate that is null",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\", null]",
        line: "interfaces = [\"192.0.2.1\", null]",
        words: &["interfaces[1] is null"],
    },
    Mistake {
        what: "a label's key",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\nlabels = { \"-role\" = \"x\" }",
        line: "labels = { \"-role\" = \"x\" }",
        words: &["-role"],
    },
    Mistake {
        what: "a label's value",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\nlabels = { role = \"a b\" }",
        line: "labels = { role = \"a b\" }",
        words: &["a b"],
    },
    Mistake {
        what: "a label under our own prefix",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\nlabels = { \"kontinuum.sh/claimed-by\" = \"me\" }",
        line: "labels = { \"kontinuum.sh/claimed-by\" = \"me\" }",
        words: &["kontinuum.sh/"],
    },
    Mistake {
        what: "a patch that is no YAML",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\nconfig_patches = [\"machine: [\"]",
        line: "config_patches = [\"machine: [\"]",
        words: &["YAML"],
    },
    Mistake {
        what: "a patch that is null",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\nconfig_patches = [null]",
        line: "config_patches = [null]",
        words: &["config_patches[0] is null"],
    },
    Mistake {
        what: "a time-out that is no duration",
        written: "name = \"a\"\ninterfaces = [\"192.0.2.1\"]\ntimeouts = { create = \"soon\" }",
        line: "timeouts = { create = \"soon\" }",
        words: &["soon", "45m"],
    },
];

const POOLS: &[Mistake] = &[
    Mistake {
        what: "a negative size",
        written: "name = \"p\"\nselector = { match_labels = { a = \"b\" } }\nreplicas = -1",
        line: "replicas = -1",
        words: &["-1"],
    },
    Mistake {
        what: "a part of a machine",
        written: "name = \"p\"\nselector = { match_labels = { a = \"b\" } }\nreplicas = 1.5",
        line: "replicas = 1.5",
        words: &["1.5", "whole number"],
    },
    Mistake {
        what: "an operator that Kubernetes has not",
        written: "name = \"p\"\nreplicas = 1\nselector = { match_expressions = [{ key = \"a\", operator = \"Like\", values = [\"b\"] }] }",
        line: "selector = { match_expressions = [{ key = \"a\", operator = \"Like\", values = [\"b\"] }] }",
        words: &["Like", "In, NotIn, Exists"],
    },
    Mistake {
        what: "values where the operator has none",
        written: "name = \"p\"\nreplicas = 1\nselector = { match_expressions = [{ key = \"a\", operator = \"Exists\", values = [\"b\"] }] }",
        line: "selector = { match_expressions = [{ key = \"a\", operator = \"Exists\", values = [\"b\"] }] }",
        words: &["Exists"],
    },
    Mistake {
        what: "an empty selector",
        written: "name = \"p\"\nreplicas = 1\nselector = {}",
        line: "selector = {}",
        words: &["selector"],
    },
];

const CLUSTERS: &[Mistake] = &[
    Mistake {
        what: "an endpoint without TLS",
        written: "endpoint = \"http://192.0.2.1:6443\"",
        line: "endpoint = \"http://192.0.2.1:6443\"",
        words: &["https"],
    },
    Mistake {
        what: "both an endpoint and a VIP",
        written: "endpoint = \"https://192.0.2.1:6443\"\nvip = \"192.0.2.1\"",
        line: "vip = \"192.0.2.1\"",
        words: &["endpoint", "vip"],
    },
    Mistake {
        what: "a Talos version that is none",
        written: "talos_version = \"latest\"",
        line: "talos_version = \"latest\"",
        words: &["latest"],
    },
    Mistake {
        what: "a Talos that nobody knows",
        written: "talos_version = \"1.99.0\"",
        line: "talos_version = \"1.99.0\"",
        words: &["1.99.0", "not supported"],
    },
    Mistake {
        what: "a new pool in two places",
        written: "workers = { w = { pool = kontinuum_instance_pool.p } }",
        line: "workers = { w = { pool = kontinuum_instance_pool.p } }",
        words: &["used twice"],
    },
    Mistake {
        what: "a chart's version that is none",
        written: "cilium = { version = \"abc\" }",
        line: "cilium = { version = \"abc\" }",
        words: &["cilium.version", "abc"],
    },
    Mistake {
        what: "a Kubernetes version that this Talos does not run",
        written: "kubernetes_version = \"1.12.0\"",
        line: "kubernetes_version = \"1.12.0\"",
        words: &["1.12.0"],
    },
    Mistake {
        what: "chart values that are no YAML",
        written: "cilium = { values = \"hubble: [\" }",
        line: "cilium = { values = \"hubble: [\" }",
        words: &["YAML"],
    },
    Mistake {
        what: "an apply mode that is none",
        written: "apply_mode = \"later\"",
        line: "apply_mode = \"later\"",
        words: &["apply_mode", "no_reboot", "later"],
    },
    Mistake {
        what: "an unknown key in a patch, with the one that was meant",
        written: "config_patches = [\"machine: {kubelets: {}}\"]",
        line: "config_patches = [\"machine: {kubelets: {}}\"]",
        words: &["config_patches[0]", "kubelet"],
    },
    Mistake {
        what: "a patch that exchanges the network that Cilium is",
        written: "config_patches = [yamlencode({ cluster = { network = { cni = { name = \"flannel\" } } } })]",
        line: "config_patches = [yamlencode({ cluster = { network = { cni = { name = \"flannel\" } } } })]",
        words: &["config_patches[0]", "cluster.network.cni", "cilium.enabled"],
    },
    Mistake {
        what: "a patch that names the machines",
        written: "config_patches = [\"machine: {sysctls: {a: b}}\", \"machine: {network: {hostname: x}}\"]",
        line: "config_patches = [\"machine: {sysctls: {a: b}}\", \"machine: {network: {hostname: x}}\"]",
        words: &["config_patches[1]", "hostname"],
    },
    Mistake {
        what: "a patch that moves the endpoint",
        written: "config_patches = [\"cluster: {controlPlane: {endpoint: https://192.0.2.9:6443}}\"]",
        line: "config_patches = [\"cluster: {controlPlane: {endpoint: https://192.0.2.9:6443}}\"]",
        words: &["config_patches[0]", "endpoint or vip"],
    },
    Mistake {
        what: "a patch that Talos' validation refuses",
        written: "config_patches = [\"machine: {network: {interfaces: [{interface: eth0, addresses: [x]}]}}\"]",
        line: "config_patches = [\"machine: {network: {interfaces: [{interface: eth0, addresses: [x]}]}}\"]",
        words: &["config_patches[0]", "addresses"],
    },
];

pub(crate) fn cases() -> Vec<Trial> {
    let clients = [Client::OpenTofu, Client::Terraform];
    [
        with(&clients, "wrong_input_of_an_instance_is_refused_at_its_line", |rig| {
            refused(rig, INSTANCES, |written| {
                format!("resource \"kontinuum_instance\" \"wrong\" {{\n{written}\n}}\n")
            })
        }),
        with(&clients, "wrong_input_of_a_pool_is_refused_at_its_line", |rig| {
            refused(rig, POOLS, |written| {
                format!("resource \"kontinuum_instance_pool\" \"wrong\" {{\n{written}\n}}\n")
            })
        }),
        with(&clients, "wrong_input_of_a_cluster_is_refused_at_its_line", |rig| {
            refused(rig, CLUSTERS, cluster)
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A cluster that is right but for what is written.
fn cluster(written: &str) -> String {
    let right = ["talos_version = \"v1.13.9\"", "kubernetes_version = \"1.36.3\""];
    let others: String = right
        .iter()
        .filter(|argument| !written.contains(argument.split(' ').next().unwrap_or_default()))
        .map(|argument| format!("{argument}\n"))
        .collect();
    format!(
        r#"
resource "kontinuum_instance_pool" "p" {{
  name     = "p"
  selector = {{ match_labels = {{ a = "b" }} }}
  replicas = 1
}}
resource "kontinuum_talos_cluster" "wrong" {{
name = "c"
control_plane = {{ pool = kontinuum_instance_pool.p }}
{others}{written}
}}
"#
    )
}

fn refused(rig: &mut Rig, mistakes: &[Mistake], module: impl Fn(&str) -> String) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for Mistake { what, written, line, words } in mistakes {
        rig.module(&module(written))?;
        let planned = rig.plan(&["-json"])?;
        let errors: Vec<Value> = planned
            .stdout
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["@level"] == "error" && message["type"] == "diagnostic")
            .map(|message| message["diagnostic"].clone())
            .collect();
        let says = |error: &Value| {
            let text = format!("{} {}", error["summary"], error["detail"]).replace("\\\"", "\"");
            let at = error["snippet"]["code"].as_str().unwrap_or_default().trim() == *line;
            at && words.iter().all(|word| text.contains(word))
        };
        if planned.code != Some(1) || !errors.iter().any(says) {
            let got = serde_json::to_string_pretty(&errors)?;
            wrong.push(format!("{what}: expected an error at `{line}` with {words:?}, but got {got}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n\n").into()) }
}
