//! The data source of machine configurations: byte for byte what Talos' own library makes, without any machine.

use std::io::Write as _;
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

use crate::cases::with;
use crate::client::Client;
use crate::lab;
use crate::rig::Rig;

pub(crate) fn cases() -> Vec<Trial> {
    let clients = [Client::OpenTofu, Client::Terraform];
    [
        with(&clients, "machine_configurations_are_those_of_talos_byte_for_byte", same_bytes),
        with(&clients, "a_machine_configuration_of_values_known_after_apply_is_read_then", known_later),
        with(&clients, "a_wrong_machine_configuration_is_refused_by_the_plan", refused),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Asks Talos' library.
fn judge(operation: &str, arguments: &Value) -> Result<Value, Failed> {
    let mut child = Command::new(lab::program("talos-configuration")?)
        .arg(operation)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("expected a pipe")?.write_all(arguments.to_string().as_bytes())?;
    Ok(serde_json::from_slice(&child.wait_with_output()?.stdout)?)
}

/// Writes a new bundle beside the module, and gives its text.
fn secrets(rig: &Rig) -> Result<String, Failed> {
    let answer = judge("secrets", &json!({ "talos_version": "1.13" }))?;
    let text = answer["secrets"].as_str().ok_or("expected a bundle")?.to_owned();
    std::fs::write(rig.folder().join("module/secrets.yaml"), &text)?;
    Ok(text)
}

fn module(name: &str, arguments: &str) -> String {
    format!(
        r#"
data "kontinuum_talos_machine_configuration" "{name}" {{
  cluster_name       = "prod"
  cluster_endpoint   = "https://10.0.0.10:6443"
  machine_secrets    = sensitive(file("${{path.module}}/secrets.yaml"))
  install_image      = "ghcr.io/siderolabs/installer:v1.13.9"
{arguments}
}}
"#
    )
}

/// What `talosctl gen config` gives for the same.
fn theirs(
    secrets: &str,
    role: &str,
    talos: &str,
    kubernetes: &str,
    patches: &[&str],
) -> Result<Value, Failed> {
    let arguments = json!({
        "cluster_name": "prod",
        "endpoint": "https://10.0.0.10:6443",
        "secrets": secrets,
        "role": role,
        "talos_version": talos,
        "kubernetes_version": kubernetes,
        "install_disk": "/dev/sda",
        "install_image": "ghcr.io/siderolabs/installer:v1.13.9",
        "patches": patches,
    });
    Ok(judge("case", &arguments)?["configuration"].clone())
}

const SYSCTLS: &str = "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n";
const HOSTNAME: &str = "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: \"off\"\nhostname: x\n";
const JSON_PATCH: &str = r#"[{"op": "add", "path": "/machine/certSANs/-", "value": "api.example"}]"#;

fn same_bytes(rig: &mut Rig) -> Result<(), Failed> {
    let secrets = secrets(rig)?;
    let machines = [
        ("first", "controlplane", "v1.13.9", "1.36.3", vec![]),
        ("second", "worker", "v1.13.9", "1.36.3", vec![SYSCTLS, HOSTNAME]),
        ("third", "controlplane", "v1.11.2", "1.34.0", vec![SYSCTLS, JSON_PATCH]),
        ("fourth", "worker", "v1.10.0", "1.33.1", vec![JSON_PATCH]),
    ];
    let texts: Vec<String> = machines
        .iter()
        .map(|(name, role, talos, kubernetes, patches)| {
            let patches = json!(patches);
            module(
                name,
                &format!(
                    "machine_type = \"{role}\"\ntalos_version = \"{talos}\"\nkubernetes_version = \"{kubernetes}\"\n\
                     config_patches = {patches}"
                ),
            )
        })
        .collect();
    rig.module(&texts.concat())?;
    rig.apply(&[])?.expect_code(0)?;
    for (name, role, talos, kubernetes, patches) in &machines {
        let address = format!("data.kontinuum_talos_machine_configuration.{name}");
        let ours = rig.attributes(&address)?["machine_configuration"].clone();
        if ours != theirs(&secrets, role, talos, kubernetes, patches)? {
            return Err(format!("{address} differs from what Talos makes").into());
        }
    }
    // Read anew at each plan, and the same each time.
    rig.is_settled()
}

fn known_later(rig: &mut Rig) -> Result<(), Failed> {
    let secrets = secrets(rig)?;
    let arguments = r#"
  machine_type       = "worker"
  talos_version      = "v1.13.9"
  kubernetes_version = "1.36.3"
  config_patches     = [templatefile("${path.module}/patch.tftpl", { value = terraform_data.later.output })]
"#;
    let later = "resource \"terraform_data\" \"later\" {\n  input = \"65535\"\n}\n";
    let template = SYSCTLS.replace("65535", "${value}");
    std::fs::write(rig.folder().join("module/patch.tftpl"), template)?;
    rig.module(&format!("{later}{}", module("later", arguments)))?;
    rig.apply(&[])?.expect_code(0)?;
    let ours = rig.attributes("data.kontinuum_talos_machine_configuration.later")?;
    if ours["machine_configuration"] != theirs(&secrets, "worker", "v1.13.9", "1.36.3", &[SYSCTLS])? {
        return Err("the patch that was known later is not applied as Talos applies it".into());
    }
    rig.is_settled()
}

fn refused(rig: &mut Rig) -> Result<(), Failed> {
    secrets(rig)?;
    let good = "machine_type = \"worker\"\nkubernetes_version = \"1.36.3\"\n";
    for (written, words) in [
        (
            "talos_version = \"v1.13.9\"\nconfig_patches = [\"debug: true\", \"machine:\\n  sysctl: {}\\n\"]",
            vec!["config_patches[1] can't be applied", "line 2: machine.sysctl: unknown key", "`sysctls`"],
        ),
        (
            "talos_version = \"v1.13.9\"\nconfig_patches = [jsonencode([{op = \"remove\", path = \"/machine/token\"}])]",
            vec!["config_patches[0] can't be applied", "{machine: {token: {$patch: delete}}}"],
        ),
        ("talos_version = \"v1.9.1\"", vec!["talos_version is not valid", "older than 1.10"]),
        (
            "talos_version = \"v1.13.9\"\nvip = { address = \"10.0.0.10\", link = \"eth0\" }",
            vec!["vip is not valid", "a worker holds no address"],
        ),
    ] {
        rig.module(&module("wrong", &format!("{good}{written}")))?;
        let planned = rig.plan(&["-json"])?;
        let errors: Vec<Value> = planned
            .stdout
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|message| message["type"] == "diagnostic")
            .map(|message| message["diagnostic"].clone())
            .collect();
        let says = |error: &Value| {
            let text = format!(
                "{} {}",
                error["summary"].as_str().unwrap_or_default(),
                error["detail"].as_str().unwrap_or_default()
            );
            words.iter().all(|word| text.contains(word))
        };
        if planned.code != Some(1) || !errors.iter().any(says) {
            return Err(format!("expected an error with {words:?} for {written}, but got {errors:?}").into());
        }
    }
    Ok(())
}
