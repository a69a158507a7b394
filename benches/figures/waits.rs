//! How long a cluster waits for the provider: machines that need no time, and from their own log the time from an event
//! that makes a step possible to the request that takes it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::table::{Table, lab};
use super::tofu::{HEADER, Modules, PROGRAM};

const RUNS: usize = 3;
const WHAT: &str = "waits of a cluster";
const BUDGET: &str = "sum < 3 s";
const BACK: &str = "control plane back";
/// Shown, and not counted.
const ASIDE: &str = "worker back (not counted)";

pub(crate) fn measure(table: &mut Table) {
    let mut lines = Vec::new();
    for run in 0..RUNS {
        match once(run) {
            Ok(measured) => lines.push(measured),
            Err(error) => return table.row(WHAT, format!("failed: {error}"), String::new(), BUDGET),
        }
    }
    lines.sort_by_key(|(_, waits)| sum(waits));
    let (whole, waits) = &lines[lines.len() / 2];
    let parts: Vec<String> =
        waits.iter().map(|wait| format!("{} {} ms", wait.what, wait.time.as_millis())).collect();
    let measured = format!("{} ms ({})", sum(waits).as_millis(), parts.join(", "));
    table.row(WHAT, measured, format!("of an apply of {:.1} s", whole.as_secs_f64()), BUDGET);
    let back: Vec<String> = lines
        .iter()
        .filter_map(|(_, waits)| waits.iter().find(|wait| wait.what == BACK))
        .map(|wait| format!("{} ms", wait.time.as_millis()))
        .collect();
    table.row("reaction to a machine that is back", back.join(", "), String::new(), "< 500 ms");
}

/// A step that was possible, and how long it was not taken.
struct Wait {
    what: &'static str,
    time: SignedDuration,
}

fn sum(waits: &[Wait]) -> SignedDuration {
    let counted = waits.iter().filter(|wait| wait.what != ASIDE);
    counted.fold(SignedDuration::ZERO, |sum, wait| sum + wait.time)
}

/// One cluster, from nothing.
fn once(run: usize) -> std::io::Result<(Duration, Vec<Wait>)> {
    let modules = Modules::new()?;
    // Addresses of no other run, also where an earlier one's connections are still being forgotten.
    let network = format!("127.4{run}.{}", std::process::id() % 250);
    let machines = [("cp", format!("{network}.11")), ("worker", format!("{network}.21"))];
    let simulator = Simulator::start(modules.folder(), &machines)?;
    modules.write("cluster", &module(&machines))?;
    let whole = modules.run("cluster", &["apply", "-auto-approve"], &[])?;
    Ok((whole, waits(&simulator.events()?)?))
}

fn module(machines: &[(&str, String); 2]) -> String {
    let mut text = HEADER.to_owned();
    for (name, address) in machines {
        text.push_str(&format!(
            "resource \"kontinuum_instance\" \"{name}\" {{\n  name = \"{name}\"\n  interfaces = [\"{address}\"]\n  \
             labels = {{ role = \"{name}\" }}\n}}\nresource \"kontinuum_instance_pool\" \"{name}\" {{\n  name = \
             \"{name}\"\n  instances = {{ one = kontinuum_instance.{name} }}\n  selector = {{ match_labels = {{ role = \
             \"{name}\" }} }}\n  replicas = 1\n}}\n"
        ));
    }
    let chart = |name: &str| lab("charts").join(name).display().to_string();
    text.push_str(&format!(
        "resource \"kontinuum_talos_cluster\" \"cluster\" {{\n  name = \"figures\"\n  talos_version = \"v1.13.9\"\n  \
         kubernetes_version = \"1.36.3\"\n  control_plane = {{ pool = kontinuum_instance_pool.cp }}\n  workers = {{ general = \
         {{ pool = kontinuum_instance_pool.worker }} }}\n  cilium = {{ repository = \"{}\" }}\n  cert_manager = {{ \
         repository = \"{}\" }}\n}}\n",
        chart("cilium-1.20.2.tgz"),
        chart("cert-manager-v1.21.2.tgz")
    ));
    text
}

/// A line of the simulator's log.
struct Event(Value);

impl Event {
    fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn is(&self, machine: &str, kind: &str) -> bool {
        self.text("machine") == machine && self.text("event") == kind
    }

    /// Whether it is a request of that method, or of any.
    fn is_request(&self, machine: &str, method: Option<&str>) -> bool {
        self.is(machine, "request") && method.is_none_or(|method| self.text("method").ends_with(method))
    }

    fn is_service(&self, state: &str, healthy: bool) -> bool {
        self.is("cp", "service")
            && self.text("id") == "etcd"
            && self.text("state") == state
            && self.0["healthy"] == healthy
    }

    fn time(&self) -> std::io::Result<Timestamp> {
        self.text("time").parse().map_err(std::io::Error::other)
    }

    /// For a request, when it was answered.
    fn end(&self) -> std::io::Result<Timestamp> {
        let took = Duration::from_secs_f64(self.0["milliseconds"].as_f64().unwrap_or_default() / 1e3);
        self.time()?.checked_add(took).map_err(std::io::Error::other)
    }
}

/// The steps of a cluster that show in its machines' log.
fn waits(events: &[Event]) -> std::io::Result<Vec<Wait>> {
    let back = |machine| {
        let up = events.iter().rfind(|event| event.is(machine, "listening") && event.0["mutual"] == true);
        up.map(Event::time)
    };
    let etcd = |state: &'static str, healthy| {
        events.iter().find(|event| event.is_service(state, healthy)).map(Event::time)
    };
    let healthy = events.iter().find(|event| event.is_request("cp", Some("HealthCheck"))).map(Event::end);
    let steps = [
        (BACK, back("cp"), "cp", None),
        ("etcd asks for its bootstrap", etcd("Preparing", false), "cp", Some("/Bootstrap")),
        ("etcd healthy", etcd("Running", true), "cp", Some("/EtcdMemberList")),
        ("control plane healthy", healthy, "worker", Some("/ApplyConfiguration")),
        // It enables nothing: cert-manager is applied meanwhile.
        (ASIDE, back("worker"), "worker", None),
    ];
    let mut waits = Vec::new();
    for (what, possible, machine, method) in steps {
        let missing = || std::io::Error::other(format!("{what}: it is not in the log"));
        let possible = possible.ok_or_else(missing)??;
        let mut taken: Option<Timestamp> = None;
        for event in events.iter().filter(|event| event.is_request(machine, method)) {
            let time = event.time()?;
            if time >= possible && taken.is_none_or(|first| time < first) {
                taken = Some(time);
            }
        }
        let time = taken.ok_or_else(missing)?.duration_since(possible);
        waits.push(Wait { what, time });
    }
    Ok(waits)
}

/// The simulator, as users run it.
struct Simulator {
    child: Child,
    log: std::path::PathBuf,
}

impl Simulator {
    fn start(folder: &Path, machines: &[(&str, String); 2]) -> std::io::Result<Self> {
        let program = Path::new(PROGRAM).with_file_name("kontinuum-simulator");
        let (world, log) = (folder.join("world.yaml"), folder.join("events.jsonl"));
        let machines: Vec<Value> = machines
            .iter()
            .map(|(name, address)| {
                json!({ "name": name, "addresses": [address], "boot_time": "0s", "install_time": "0s" })
            })
            .collect();
        // JSON is YAML.
        std::fs::write(&world, json!({ "machines": machines }).to_string())?;
        let mut child = Command::new(&program)
            .arg("run")
            .arg(&world)
            .arg("--data")
            .arg(folder.join("simulator"))
            .arg("--events")
            .arg(&log)
            .env("KONTINUUM_LAB", lab(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| std::io::Error::other(format!("{}: {error}", program.display())))?;
        let output = child.stdout.take().ok_or_else(|| std::io::Error::other("it has no output"))?;
        let simulator = Self { child, log };
        // It says a line when all machines listen.
        let mut line = String::new();
        if BufReader::new(output).read_line(&mut line)? == 0 {
            return Err(std::io::Error::other("the simulator did not start"));
        }
        Ok(simulator)
    }

    fn events(&self) -> std::io::Result<Vec<Event>> {
        let text = std::fs::read_to_string(&self.log)?;
        text.lines()
            .map(|line| serde_json::from_str(line).map(Event).map_err(std::io::Error::other))
            .collect()
    }
}

impl Drop for Simulator {
    /// It ends the cluster that it started.
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-s", "TERM", &self.child.id().to_string()]).status());
        drop(self.child.wait());
    }
}
