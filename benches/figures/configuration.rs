//! One machine's configuration: generated, patched, judged, written.

use std::time::Instant;

use jiff::Timestamp;
use kontinuum::clients::talos::pki::{SystemRandom, generate_secrets_blocking};
use kontinuum::domain::machine_configuration::{
    Contract, Inputs, InstallTarget, Managed, Patch, Role, generate, installer_image, validate,
};

use super::table::{Table, spread};

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
    let patches = ["machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n"];
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
    table.row(what, spread(times), format!("keys of a cluster: {} ms", keys.as_millis()), budget);
}
