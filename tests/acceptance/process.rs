//! Programs with a bounded time.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use tokio::process::{Child, Command};

/// What a program that ended has left.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    /// The command, for messages.
    pub(crate) command: String,
    /// The exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From the start to the end.
    pub(crate) took: Duration,
}

/// A program that runs. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    command: String,
    child: Child,
    started: Instant,
}

impl Running {
    /// Starts a program whose output is kept.
    pub(crate) fn start(mut command: Command) -> Result<Self, Failed> {
        let text = shown(&command);
        let started = Instant::now();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("failed to start {text}: {error}"))?;
        Ok(Self { command: text, child, started })
    }

    /// Its process id, while it runs.
    pub(crate) fn id(&self) -> Result<u32, Failed> {
        self.child.id().ok_or_else(|| format!("{} has ended", self.command).into())
    }

    /// Waits for its end; a program that takes longer is killed, which is a failure.
    pub(crate) async fn end(self, limit: Duration) -> Result<Ended, Failed> {
        let Self { command, child, started } = self;
        let output = tokio::time::timeout(limit, child.wait_with_output())
            .await
            .map_err(|_| format!("{command} did not end within {limit:?}"))??;
        Ok(Ended {
            command,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            took: started.elapsed(),
        })
    }
}

impl Ended {
    /// All that it showed, in one line: clients break their texts as the terminal is wide, and draw a bar beside them.
    pub(crate) fn said(&self) -> String {
        let words = self.stdout.split_whitespace().chain(self.stderr.split_whitespace());
        words.filter(|word| !matches!(*word, "│" | "╷" | "╵")).collect::<Vec<_>>().join(" ")
    }

    /// Fails, with all that the program said, unless it ended with that code.
    pub(crate) fn expect_code(self, code: i32) -> Result<Self, Failed> {
        if self.code == Some(code) {
            return Ok(self);
        }
        let ended = self.code.map_or_else(|| "by a signal".to_owned(), |code| format!("with code {code}"));
        Err(format!(
            "expected {} to end with code {code}, but it ended {ended}\n{}\n{}",
            self.command, self.stdout, self.stderr
        )
        .into())
    }
}

/// Sends a signal, by the name that `kill` knows, to a process.
pub(crate) async fn signal(id: u32, name: &str) -> Result<(), Failed> {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &id.to_string()]);
    Running::start(kill)?.end(Duration::from_secs(5)).await?.expect_code(0)?;
    Ok(())
}

/// The processes started by a process, in no order.
pub(crate) fn children(id: u32) -> Result<Vec<u32>, Failed> {
    let mut children = Vec::new();
    for task in Path::new(&format!("/proc/{id}/task")).read_dir()? {
        let list = std::fs::read_to_string(task?.path().join("children"))?;
        children.extend(list.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Ok(children)
}

fn shown(command: &Command) -> String {
    let command = command.as_std();
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let arguments = command.get_args().map(|argument| format!(" {}", argument.to_string_lossy()));
    format!("`{program}{}`", arguments.collect::<String>())
}
