//! Refresh and plan of a thousand instances, in turn with the client's own cost: a thousand `terraform_data`.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::table::{Table, median, ratio, spread};
use super::tofu::{HEADER, Modules, PROGRAM};

const COUNT: usize = 1000;
const RUNS: usize = 5;
/// How many of them are dead in the end: they take connections and never say a word.
const DEAD: usize = 50;
const WHAT: &str = "plan of 1,000 instances";
const BUDGET: &str = "<= 2x terraform_data";

pub(crate) fn measure(table: &mut Table) {
    if let Err(error) = rows(table) {
        table.row(WHAT, format!("failed: {error}"), String::new(), BUDGET);
    }
}

fn rows(table: &mut Table) -> std::io::Result<()> {
    let modules = modules()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        ours.push(modules.run("instances", &["plan"], &[])?);
        theirs.push(modules.run("data", &["plan"], &[])?);
    }
    let against = format!("terraform_data {}: {}", spread(theirs.clone()), ratio(ours.clone(), theirs));
    table.row(WHAT, spread(ours.clone()), against, BUDGET);

    let alone = Server::start()?;
    modules.run("instances", &["plan"], &[("TF_REATTACH_PROVIDERS", &alone.reattach)])?;
    let (time, memory) = alone.used()?;
    let share = format!("{} ms of processor time, {memory:.1} MiB", time.as_millis());
    table.row("  the provider alone", share, String::new(), "< 100 MiB");
    drop(alone);

    let dead: Vec<TcpListener> = (0..DEAD)
        .map(|index| TcpListener::bind((address(index).as_str(), 50_000)))
        .collect::<Result<_, _>>()?;
    let slow = (0..2).map(|_| modules.run("instances", &["plan"], &[])).collect::<Result<Vec<_>, _>>()?;
    drop(dead);
    let added = median(slow).saturating_sub(median(ours));
    table.row(
        "  50 of them dead",
        format!("{:.1} s more", added.as_secs_f64()),
        String::new(),
        "< 15 s more",
    );
    Ok(())
}

/// Nothing listens there, so that each is refused at once: what is measured is our own cost.
fn address(index: usize) -> String {
    format!("127.99.{}.{}", index / 250, index % 250 + 1)
}

fn modules() -> std::io::Result<Modules> {
    let modules = Modules::new()?;
    let mut instances = HEADER.to_owned();
    let _ = write!(
        instances,
        "resource \"kontinuum_instance\" \"node\" {{\n  count = {COUNT}\n  name = \"node-${{count.index}}\"\n  interfaces = \
         [\"127.99.${{floor(count.index / 250)}}.${{count.index % 250 + 1}}\"]\n  timeouts = {{ create = \"1s\" }}\n}}\n"
    );
    modules.write("instances", &instances)?;
    modules.write(
        "data",
        &format!(
            "resource \"terraform_data\" \"node\" {{\n  count = {COUNT}\n  input = \"node-${{count.index}}\"\n}}\n"
        ),
    )?;
    for module in ["instances", "data"] {
        modules.run(module, &["apply", "-auto-approve", "-parallelism=200"], &[])?;
    }
    Ok(modules)
}

/// The provider, started by us so that it can be looked at.
struct Server {
    child: Child,
    reattach: String,
}

impl Server {
    fn start() -> std::io::Result<Self> {
        let mut child = Command::new(PROGRAM)
            .arg("--debug")
            .env("TF_LOG", "ERROR")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
        let said = BufReader::new(output).lines().map_while(Result::ok).find_map(|line| {
            let (_, value) = line.split_once("TF_REATTACH_PROVIDERS='")?;
            Some(value.trim_end_matches('\'').to_owned())
        });
        // Made in any case: it ends the process.
        let mut server = Self { child, reattach: String::new() };
        server.reattach =
            said.ok_or_else(|| std::io::Error::other("the provider did not say where it is"))?;
        Ok(server)
    }

    /// The processor time, and the largest memory in MiB.
    fn used(&self) -> std::io::Result<(Duration, f64)> {
        let process = format!("/proc/{}", self.child.id());
        let stat = std::fs::read_to_string(format!("{process}/stat"))?;
        // After the name in parentheses; in hundredths of a second on every Linux.
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace().collect();
        let ticks: u64 = [11, 12]
            .iter()
            .filter_map(|at| fields.get(*at))
            .filter_map(|text| text.parse::<u64>().ok())
            .sum();
        let status = std::fs::read_to_string(format!("{process}/status"))?;
        let largest = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        let kibibytes: f64 =
            largest.split_ascii_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or_default();
        Ok((Duration::from_millis(10 * ticks), kibibytes / 1024.0))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
