//! One machine's configuration: generated, patched, judged, written; beside it Talos' own library, asked for the same.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kontinuum::clients::talos::pki::{SystemRandom, generate_secrets_blocking};
use kontinuum::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, Managed, Patch, Role, generate, installer_image, validate,
};

use super::table::{Table, lab, spread};

const RUNS: usize = 200;

pub(crate) fn measure(table: &mut Table) {
    let what = "machine configuration";
    let budget = "< 1 ms a machine";
    let start = Instant::now();
    let secrets = match generate_secrets_blocking(Timestamp::now(), &mut SystemRandom::default()) {
        Ok(secrets) => secrets,
        Err(error) => return table.row(what, format!("failed: {error}"), String::new(), budget),
    };
    let keys = start.elapsed();
    let mut inputs = Inputs::new(Role::ControlPlane, "bench", "https://10.0.0.10:6443", "1.36.3");
    inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
    inputs.installer_image = installer_image("", false, "v1.13.9");
    inputs.hostname = Some("cp-1".to_owned());
    let patches = [PATCH];
    let managed = Managed { network_plugin: false, hostname: true };
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        let made = generate(&inputs, &secrets, Contract::V1_13).ok().and_then(|configuration| {
            let patches = Patch::parse_all(&patches).ok()?;
            let patched = managed.patch(&configuration, &patches).ok()?;
            let good = validate(&patched.configuration, false).is_acceptable();
            good.then(|| patched.configuration.to_yaml())
        });
        times.push(start.elapsed());
        if made.is_none() {
            return table.row(what, "failed".to_owned(), String::new(), budget);
        }
    }
    let theirs = judge(secrets.to_yaml().expose()).map_or_else(|| "not built".to_owned(), spread);
    table.row(what, spread(times), format!("Talos' library: {theirs}"), budget);
    table.row("a cluster's keys", format!("{} ms", keys.as_millis()), String::new(), "");
}

const PATCH: &str = "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n";

/// What the lab's program on Talos' library takes for the same: a question, generation, the patch, and the answer.
fn judge(secrets: &str) -> Option<Vec<Duration>> {
    let mut child = Command::new(lab("bin/talos-configuration"))
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut questions = child.stdin.take()?;
    let mut answers = BufReader::new(child.stdout.take()?).lines();
    let question = serde_json::json!({ "op": "case", "arguments": {
        "cluster_name": "bench",
        "endpoint": "https://10.0.0.10:6443",
        "secrets": secrets,
        "role": "controlplane",
        "talos_version": "1.13",
        "kubernetes_version": "1.36.3",
        "install_disk": "/dev/sda",
        "patches": [PATCH],
    } });
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        writeln!(questions, "{question}").ok()?;
        let answer = answers.next()?.ok()?;
        times.push(start.elapsed());
        if !answer.contains("v1alpha1") {
            return None;
        }
    }
    // It ends with its standard input.
    drop(questions);
    child.wait().ok()?;
    Some(times)
}
