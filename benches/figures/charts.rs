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
        let what = "  memory of it".to_owned();
        match (peak(alone(name, &chart)), peak(helm_template(name, &chart))) {
            (Ok(ours), Ok(theirs)) => {
                let against = format!("helm template {theirs:.1} MiB: {:.2}x", ours / theirs);
                table.row(&what, format!("{ours:.1} MiB"), against, "a third of helm's memory");
            }
            (Err(error), _) | (_, Err(error)) => {
                table.row(&what, format!("failed: {error}"), String::new(), "a third of helm's memory");
            }
        }
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

/// The rendering alone, for [`alone`].
pub(crate) fn render_only(name: &str, chart: &str) -> std::process::ExitCode {
    match render(name, Path::new(chart)) {
        Ok(_) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}

/// This program once more, for nothing but a rendering: memory is a process' own.
fn alone(name: &str, chart: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_default());
    command.args([super::RENDER, name]).arg(chart);
    command
}

/// As a process of its own, as it is used.
fn helm_template(name: &str, chart: &Path) -> Command {
    let mut command = Command::new(lab("bin/helm"));
    command
        .args(["template", name])
        .arg(chart)
        .env_clear()
        .envs(std::env::vars().filter(|(key, _)| key == "HOME" || key == "PATH").collect::<BTreeMap<_, _>>());
    command
}

/// The largest memory of a process in MiB, looked at until it ends.
fn peak(mut command: Command) -> Result<f64, String> {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let mut largest = 0.0_f64;
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let kibibytes = line.split_ascii_whitespace().next().and_then(|text| text.parse::<f64>().ok());
        largest = largest.max(kibibytes.unwrap_or_default() / 1024.0);
    }
    if largest > 0.0 { Ok(largest) } else { Err("it ended unseen".to_owned()) }
}

fn helm(name: &str, chart: &Path) -> Result<Duration, String> {
    let start = Instant::now();
    let status = helm_template(name, chart)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("helm: {error}; run `make lab`"))?;
    if status.success() { Ok(start.elapsed()) } else { Err("helm failed".to_owned()) }
}
