//! Plan of a thousand machine configurations, each read anew by every plan.

use jiff::Timestamp;
use kontinuum::clients::talos::pki::{SystemRandom, generate_secrets_blocking};

use super::table::{Table, spread};
use super::tofu::{HEADER, Modules};

const COUNT: usize = 1000;
const RUNS: usize = 3;
const WHAT: &str = "plan of 1,000 machine configurations";

pub(crate) fn measure(table: &mut Table) {
    match times() {
        Ok(times) => table.row(WHAT, spread(times), String::new(), ""),
        Err(error) => table.row(WHAT, format!("failed: {error}"), String::new(), ""),
    }
}

fn times() -> std::io::Result<Vec<std::time::Duration>> {
    let modules = Modules::new()?;
    let secrets = generate_secrets_blocking(Timestamp::now(), &mut SystemRandom::default())
        .map_err(std::io::Error::other)?;
    let indented: String = secrets.to_yaml().expose().lines().map(|line| format!("    {line}\n")).collect();
    modules.write(
        "configurations",
        &format!(
            "{HEADER}data \"kontinuum_talos_machine_configuration\" \"node\" {{\n  count = {COUNT}\n  cluster_name = \"bench\"\n  \
             cluster_endpoint = \"https://10.0.0.10:6443\"\n  machine_type = \"worker\"\n  talos_version = \"v1.13.9\"\n  \
             kubernetes_version = \"1.36.3\"\n  hostname = \"node-${{count.index}}\"\n  machine_secrets = \
             <<-SECRETS\n{indented}  SECRETS\n}}\n"
        ),
    )?;
    (0..RUNS).map(|_| modules.run("configurations", &["plan"], &[])).collect()
}
