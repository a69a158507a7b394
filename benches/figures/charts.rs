//! Rendering charts, in turn with the real Helm.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::table::{Table, lab, ratio, spread};

const RUNS: usize = 15;

pub(crate) fn measure(table: &mut Table) {
    for (name, archive) in [("cilium", "cilium-1.20.2.tgz"), ("cert-manager", "cert-manager-v1.21.2.tgz")] {
        let chart = lab("charts").join(archive);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            match (render(name, &chart), helm(name, &chart)) {
                (Ok(a), Ok(b)) => {
                    ours.push(a);
                    theirs.push(b);
                }
                (Err(error), _) | (_, Err(error)) => {
                    let what = format!("render {name}");
                    table.row(&what, format!("failed: {error}"), String::new(), "a third of helm's time");
                    return;
                }
            }
        }
        let against = format!("helm template {}: {}", spread(theirs.clone()), ratio(ours.clone(), theirs));
        table.row(&format!("render {name}"), spread(ours), against, "a third of helm's time");
    }
}

/// In this process, from the archive's bytes to the manifests.
fn render(name: &str, chart: &Path) -> Result<Duration, String> {
    let bytes =
        std::fs::read(chart).map_err(|error| format!("{}: {error}; run `make lab`", chart.display()))?;
    let start = Instant::now();
    let chart = helm::Chart::from_archive(&bytes).map_err(|error| error.to_string())?;
    let release = helm::Release {
        name: name.to_owned(),
        namespace: "default".to_owned(),
        revision: 1,
        is_upgrade: false,
    };
    let environment = helm::Environment { now: jiff::Timestamp::now(), seed: [7; 32] };
    let capabilities = helm::Capabilities::offline();
    helm::render(&chart, &helm::Values::new(), &release, &capabilities, &helm::NoCluster, &environment)
        .map_err(|error| error.to_string())?;
    Ok(start.elapsed())
}

/// As a process of its own, as it is used.
fn helm(name: &str, chart: &Path) -> Result<Duration, String> {
    let start = Instant::now();
    let status = Command::new(lab("bin/helm"))
        .args(["template", name])
        .arg(chart)
        .env_clear()
        .envs(std::env::vars().filter(|(key, _)| key == "HOME" || key == "PATH").collect::<BTreeMap<_, _>>())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("helm: {error}; run `make lab`"))?;
    if status.success() { Ok(start.elapsed()) } else { Err("helm failed".to_owned()) }
}
