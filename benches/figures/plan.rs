//! Refresh and plan of a thousand instances, in turn with the client's own cost: a thousand `terraform_data`; and of a
//! thousand machine configurations, each read anew by every plan.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kontinuum::clients::talos::pki::{SystemRandom, generate_secrets_blocking};

use super::table::{Table, lab, ratio, spread};

const COUNT: usize = 1000;
const RUNS: usize = 5;
const WHAT: &str = "plan of 1,000 instances";
const BUDGET: &str = "<= 2x terraform_data";

pub(crate) fn measure(table: &mut Table) {
    match run() {
        Ok((ours, theirs)) => {
            let against =
                format!("terraform_data {}: {}", spread(theirs.clone()), ratio(ours.clone(), theirs));
            table.row(WHAT, spread(ours), against, BUDGET);
        }
        Err(error) => table.row(WHAT, format!("failed: {error}"), String::new(), BUDGET),
    }
    let what = "plan of 1,000 machine configurations";
    match configurations() {
        Ok(times) => table.row(what, spread(times), String::new(), ""),
        Err(error) => table.row(what, format!("failed: {error}"), String::new(), ""),
    }
}

const HEADER: &str = "terraform {\n  required_providers {\n    kontinuum = {\n      source = \"kontinuum/kontinuum\"\n    }\n  }\n}\n";

fn configurations() -> std::io::Result<Vec<Duration>> {
    let folder = tempfile::tempdir()?;
    let secrets = generate_secrets_blocking(Timestamp::now(), &mut SystemRandom::default())
        .map_err(std::io::Error::other)?;
    std::fs::write(folder.path().join("secrets.yaml"), secrets.to_yaml().expose())?;
    std::fs::write(
        folder.path().join("main.tf"),
        format!(
            "{HEADER}data \"kontinuum_talos_machine_configuration\" \"node\" {{\n  count = {COUNT}\n  cluster_name = \"bench\"\n  \
             cluster_endpoint = \"https://10.0.0.10:6443\"\n  machine_type = \"worker\"\n  talos_version = \"v1.13.9\"\n  \
             kubernetes_version = \"1.36.3\"\n  machine_secrets = file(\"${{path.module}}/secrets.yaml\")\n  \
             hostname = \"node-${{count.index}}\"\n}}\n"
        ),
    )?;
    let rc = client_configuration(folder.path())?;
    (0..RUNS).map(|_| tofu(folder.path(), &rc, &["plan"])).collect()
}

/// Has the client take the provider that was built.
fn client_configuration(folder: &Path) -> std::io::Result<PathBuf> {
    let program = Path::new(env!("CARGO_BIN_EXE_terraform-provider-kontinuum"));
    let here = program.parent().unwrap_or(program).display();
    let path = folder.join("rc");
    let text = format!(
        "provider_installation {{\n  dev_overrides {{ \"kontinuum/kontinuum\" = \"{here}\" }}\n  direct {{}}\n}}\n"
    );
    std::fs::write(&path, text)?;
    Ok(path)
}

fn run() -> std::io::Result<(Vec<Duration>, Vec<Duration>)> {
    let folder = tempfile::tempdir()?;
    let (instances, data) = (folder.path().join("instances"), folder.path().join("data"));
    // Nothing listens there, so that each is refused at once: what is measured is our own cost.
    let mut module = HEADER.to_owned();
    let _ = write!(
        module,
        "resource \"kontinuum_instance\" \"node\" {{\n  count = {COUNT}\n  name = \"node-${{count.index}}\"\n  interfaces = \
         [\"127.99.${{floor(count.index / 250)}}.${{count.index % 250 + 1}}\"]\n  timeouts = {{ create = \"1s\" }}\n}}\n"
    );
    std::fs::create_dir_all(&instances)?;
    std::fs::write(instances.join("main.tf"), module)?;
    std::fs::create_dir_all(&data)?;
    std::fs::write(
        data.join("main.tf"),
        format!(
            "resource \"terraform_data\" \"node\" {{\n  count = {COUNT}\n  input = \"node-${{count.index}}\"\n}}\n"
        ),
    )?;
    let rc = client_configuration(folder.path())?;
    for module in [&instances, &data] {
        tofu(module, &rc, &["apply", "-auto-approve", "-parallelism=200"])?;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(tofu(&instances, &rc, &["plan"])?);
        theirs.push(tofu(&data, &rc, &["plan"])?);
    }
    Ok((ours, theirs))
}

fn tofu(module: &Path, rc: &Path, arguments: &[&str]) -> std::io::Result<Duration> {
    let start = Instant::now();
    let output = Command::new(lab("bin/tofu"))
        .arg(format!("-chdir={}", module.display()))
        .args(arguments)
        .arg("-no-color")
        .env("TF_CLI_CONFIG_FILE", rc)
        .env("CHECKPOINT_DISABLE", "1")
        .env("KONTINUUM_INVENTORY", module.join("inventory.db"))
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(start.elapsed());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(std::io::Error::other(format!(
        "tofu {}: {}",
        arguments[0],
        said.lines().take(6).collect::<Vec<_>>().join(" ")
    )))
}
