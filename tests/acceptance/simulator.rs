//! The simulator as users run it: the program, with its events on standard output.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::lab;
use crate::process::Running;

/// Until all machines of a small world listen.
const START: Duration = Duration::from_secs(60);
/// Until the simulator has ended its clusters; it is killed then.
const STOP: Duration = Duration::from_secs(20);

/// A running simulator. It is stopped, with all that it started, when this is dropped.
#[derive(Debug)]
pub(crate) struct Simulator {
    child: Child,
    data: PathBuf,
    output: Arc<Output>,
}

/// What the simulator has written so far.
#[derive(Debug, Default)]
struct Output {
    lines: Mutex<Lines>,
    grew: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    events: Vec<Value>,
    others: Vec<String>,
    ended: bool,
}

impl Simulator {
    /// Starts a world of these machines, written as in the world file, and waits until they listen.
    pub(crate) fn start(folder: &Path, machines: &[Value]) -> Result<Self, Failed> {
        let world = folder.join("world.yaml");
        let data = folder.join("simulator");
        // JSON is YAML.
        std::fs::write(&world, serde_json::to_string_pretty(&json!({ "machines": machines }))?)?;
        let mut child = Command::new(lab::simulator()?)
            .arg("run")
            .arg(&world)
            .arg("--data")
            .arg(&data)
            .args(["--events", "/dev/stdout"])
            .env("KONTINUUM_LAB", lab::folder()?)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.join("simulator.log"))?)
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the simulator has no standard output")?;
        let output = Arc::new(Output::default());
        let written = Arc::clone(&output);
        std::thread::spawn(move || written.read(BufReader::new(stdout)));
        let simulator = Self { child, data, output };
        // The one line that is not an event says that every machine listens.
        simulator
            .wait(START, |lines| (!lines.others.is_empty()).then_some(()))
            .map_err(|why| format!("the simulator did not start: {why}\n{}", log(folder)))?;
        Ok(simulator)
    }

    /// All events so far, in order.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.output.locked().events.clone()
    }

    /// Waits for the first event, of the past ones too, that is meant.
    pub(crate) fn event(&self, limit: Duration, meant: impl Fn(&Value) -> bool) -> Result<Value, Failed> {
        self.wait(limit, |lines| lines.events.iter().find(|event| meant(event)).cloned())
            .map_err(|why| format!("the event that was expected did not come: {why}").into())
    }

    /// Waits for the first event after these many that is meant.
    pub(crate) fn event_after(
        &self,
        so_far: usize,
        limit: Duration,
        meant: impl Fn(&Value) -> bool,
    ) -> Result<Value, Failed> {
        self.wait(limit, |lines| lines.events.iter().skip(so_far).find(|event| meant(event)).cloned())
            .map_err(|why| format!("the event that was expected did not come: {why}").into())
    }

    /// Runs one of the simulator's subcommands (`fault`, `status`, `power`) on this one and gives what it printed.
    pub(crate) async fn command(&self, arguments: &[&str]) -> Result<String, Failed> {
        let mut command = tokio::process::Command::new(lab::simulator()?);
        let (subcommand, rest) = arguments.split_first().ok_or("expected a subcommand")?;
        command.arg(subcommand).arg("--data").arg(&self.data).args(rest);
        Ok(Running::start(command)?.end(STOP).await?.expect_code(0)?.stdout)
    }

    fn wait<T>(&self, limit: Duration, found: impl Fn(&Lines) -> Option<T>) -> Result<T, String> {
        let end = Instant::now() + limit;
        let mut lines = self.output.locked();
        loop {
            if let Some(value) = found(&lines) {
                return Ok(value);
            }
            let left = end.saturating_duration_since(Instant::now());
            if lines.ended {
                return Err("the simulator has ended".to_owned());
            }
            if left.is_zero() {
                return Err(format!("{limit:?} went by"));
            }
            lines = self.output.grew.wait_timeout(lines, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Output {
    fn read(&self, from: impl BufRead) {
        for line in from.lines().map_while(Result::ok) {
            let mut lines = self.locked();
            match serde_json::from_str(&line) {
                Ok(event) => lines.events.push(event),
                Err(_) => lines.others.push(line),
            }
            self.grew.notify_all();
        }
        self.locked().ended = true;
        self.grew.notify_all();
    }

    fn locked(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let id = self.child.id();
        let asked = Command::new("kill").args(["-s", "TERM", &id.to_string()]).status();
        // Its standard output closes when it ends.
        let ended = asked.is_ok_and(|status| status.success())
            && self.wait(STOP, |lines| lines.ended.then_some(())).is_ok();
        if !ended {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("simulator.log")).unwrap_or_default()
}
