//! From the start of the process to the handshake line, its memory then, and the program's size.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::table::{Table, spread};
use super::tofu::PROGRAM;

const RUNS: usize = 30;

pub(crate) fn measure(table: &mut Table) {
    let (mut times, mut memory) = (Vec::new(), 0);
    for _ in 0..RUNS {
        match once() {
            Ok((time, resident)) => {
                times.push(time);
                memory = memory.max(resident);
            }
            Err(error) => {
                return table.row("start to handshake", format!("failed: {error}"), String::new(), "5 ms");
            }
        }
    }
    let against = "terraform-provider-talos 0.11: 22 ms, 51 MiB, 73 MB";
    table.row("start to handshake", spread(times), against.to_owned(), "< 5 ms");
    table.row("memory at handshake", format!("{:.1} MiB", memory as f64 / 1024.0), String::new(), "< 15 MiB");
    let size = std::fs::metadata(PROGRAM).map_or(0, |metadata| metadata.len());
    table.row("program", format!("{:.1} MB", size as f64 / 1e6), String::new(), "< 20 MiB");
}

/// The time to the line, and the resident memory in KiB.
fn once() -> std::io::Result<(Duration, u64)> {
    let start = Instant::now();
    let mut child = Command::new(PROGRAM)
        .env("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
        .env("PLUGIN_PROTOCOL_VERSIONS", "6")
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "25000")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut line = String::new();
    let output = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
    BufReader::new(output).read_line(&mut line)?;
    let time = start.elapsed();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let resident = resident.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0);
    child.kill()?;
    child.wait()?;
    if line.starts_with("1|6|") {
        Ok((time, resident))
    } else {
        Err(std::io::Error::other("no handshake line"))
    }
}
