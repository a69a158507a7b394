//! Child processes that can't outlive the simulator.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// How long a process may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// How many lines of a log tell why a process ended.
const LAST_WORDS: usize = 6;

/// A program of the lab as it is to run on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    /// The hostname that the process sees: leaders and identity leases are named after it.
    pub(super) hostname: String,
    /// Where its output goes, appended.
    pub(super) log: PathBuf,
}

/// A running program; killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
}

impl Program {
    /// Starts it.
    pub(super) async fn start(&self) -> Result<Process, std::io::Error> {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(&self.log)?;
        let (reply, started) = oneshot::channel();
        let order = Order { command: self.command(log)?, runtime: tokio::runtime::Handle::current(), reply };
        let gone = || std::io::Error::other("the thread that starts processes ended");
        starter()?.send(order).map_err(|_| gone())?;
        started.await.map_err(|_| gone())?.map(|child| Process { child })
    }

    /// `unshare` gives it a hostname of its own, `setpriv` has the kernel kill it when its parent dies.
    fn command(&self, log: std::fs::File) -> Result<Command, std::io::Error> {
        let mut command = Command::new("unshare");
        if std::fs::metadata("/proc/self")?.uid() != 0 {
            command.arg("--map-root-user");
        }
        command
            .args(["--uts", "sh", "-c", r#"hostname "$0" && exec setpriv --pdeathsig KILL "$@""#])
            .arg(&self.hostname)
            .arg(&self.path)
            .args(&self.arguments)
            .env_clear()
            .env(
                "PATH",
                std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/sbin:/usr/bin:/sbin:/bin")),
            )
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .kill_on_drop(true);
        Ok(command)
    }
}

impl Process {
    /// Waits for its end.
    pub(super) async fn ended(&mut self) -> Result<ExitStatus, std::io::Error> {
        self.child.wait().await
    }

    /// Asks it to end, and kills it if it doesn't within seconds.
    pub(super) async fn stop(mut self) {
        if let Some(id) = self.child.id() {
            // A signal needs no more than this program, and the crate forbids unsafe code.
            let asked = Command::new("kill").arg("-TERM").arg(id.to_string()).status().await;
            if asked.is_ok() && tokio::time::timeout(GRACE, self.child.wait()).await.is_ok() {
                return;
            }
        }
        if let Err(error) = self.child.kill().await {
            tracing::debug!(%error, "kill a process");
        }
    }
}

/// The last lines of a process that complain, else its last lines, to say why it ended.
pub(super) fn last_words(log: &Path) -> String {
    use std::io::{Read, Seek, SeekFrom};
    let read = || -> Result<String, std::io::Error> {
        let mut file = std::fs::File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(16384)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read().unwrap_or_default();
    telling(&text)
}

fn telling(text: &str) -> String {
    let complains = |line: &str| {
        // etcd logs JSON, Kubernetes' components write the level as a line's first letter.
        ["\"level\":\"warn\"", "\"level\":\"error\"", "\"level\":\"fatal\""]
            .iter()
            .any(|level| line.contains(level))
            || ["E1", "E0", "F1", "F0", "Error:", "error:"].iter().any(|start| line.starts_with(start))
    };
    let last = |lines: &mut dyn Iterator<Item = &str>| {
        let lines: Vec<String> = lines.map(spoken).collect();
        lines[lines.len().saturating_sub(LAST_WORDS)..].join(" | ")
    };
    let complaints = last(&mut text.lines().filter(|line| complains(line)));
    if complaints.is_empty() {
        last(&mut text.lines().filter(|line| !line.trim().is_empty()))
    } else {
        complaints
    }
}

/// A line without what only a machine reads.
fn spoken(line: &str) -> String {
    let fields = serde_json::from_str::<serde_json::Value>(line).unwrap_or_default();
    match (fields["msg"].as_str(), fields["error"].as_str()) {
        (Some(message), Some(error)) => format!("{message}: {error}"),
        (Some(message), None) => message.to_owned(),
        (None, _) => line.to_owned(),
    }
}

struct Order {
    command: Command,
    runtime: tokio::runtime::Handle,
    reply: oneshot::Sender<Result<Child, std::io::Error>>,
}

/// The kernel kills a child when the *thread* that started it ends; so one thread that never ends starts them all.
fn starter() -> Result<&'static mpsc::Sender<Order>, std::io::Error> {
    static STARTER: OnceLock<mpsc::Sender<Order>> = OnceLock::new();
    if let Some(starter) = STARTER.get() {
        return Ok(starter);
    }
    let (sender, orders) = mpsc::channel::<Order>();
    std::thread::Builder::new().name("process-starter".to_owned()).spawn(move || {
        for mut order in orders {
            let _entered = order.runtime.enter();
            // Nobody waits any more: the child is dropped, and thereby killed.
            drop(order.reply.send(order.command.spawn()));
        }
    })?;
    // Two threads at once: one of the two starters is kept, the other ends without an order.
    Ok(STARTER.get_or_init(|| sender))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[tokio::test]
    async fn a_process_sees_its_own_hostname_and_leaves_its_last_words() {
        let folder = tempfile::tempdir().unwrap();
        let program = Program {
            path: PathBuf::from("/bin/sh"),
            arguments: ["-c", "echo first; hostname; exit 7"].map(str::to_owned).to_vec(),
            environment: Vec::new(),
            hostname: "cp-1".to_owned(),
            log: folder.path().join("log"),
        };
        let status = program.start().await.unwrap().ended().await.unwrap();
        assert_eq!(status.code(), Some(7));
        assert_eq!(last_words(&program.log), "first | cp-1");
    }

    #[test]
    fn complaints_are_told_before_last_lines() {
        let text = "{\"level\":\"error\",\"msg\":\"permanently removed\"}\n{\"level\":\"info\"}\nE1201 failed\nI1201 x\n";
        assert_eq!(telling(text), "permanently removed | E1201 failed");
        assert_eq!(telling("a\n\nb\n"), "a | b");
    }

    #[tokio::test]
    async fn stopping_ends_a_process_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let program = Program {
            path: PathBuf::from("/bin/sleep"),
            arguments: vec!["600".to_owned()],
            environment: Vec::new(),
            hostname: "cp-1".to_owned(),
            log: folder.path().join("log"),
        };
        let process = program.start().await.unwrap();
        let id = process.child.id().unwrap();
        process.stop().await;
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }
}
