//! A real OCI registry, filled by real Helm.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use libtest_mimic::Failed;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::lab;
use crate::process::Running;

const PORT: u16 = 5000;
const START: Duration = Duration::from_secs(60);
const PUSH: Duration = Duration::from_secs(60);

/// A running docker-registry. It ends when this is dropped.
pub(crate) struct Registry {
    address: Ipv4Addr,
    _server: Child,
}

impl Registry {
    /// Whether there can be one: it is a Debian package.
    pub(crate) fn is_available() -> bool {
        lab::program("docker-registry").is_ok()
    }

    /// Starts an empty registry that keeps its data in a folder.
    pub(crate) async fn start(address: Ipv4Addr, folder: &Path) -> Result<Self, Failed> {
        std::fs::create_dir_all(folder)?;
        let configuration = folder.join("registry.yaml");
        std::fs::write(
            &configuration,
            format!(
                "version: 0.1\nlog: {{ level: info }}\nstorage: {{ filesystem: {{ rootdirectory: {} }} }}\nhttp: {{ addr: '{address}:{PORT}' }}\n",
                folder.join("data").display(),
            ),
        )?;
        let mut server = Command::new(lab::program("docker-registry")?)
            .arg("serve")
            .arg(configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stderr = server.stderr.take().ok_or("docker-registry has no standard error")?;
        let mut lines = BufReader::new(stderr).lines();
        let listening = async {
            while let Some(line) = lines.next_line().await? {
                if line.contains("listening on") {
                    return Ok(());
                }
            }
            Err(Failed::from("docker-registry ended"))
        };
        tokio::time::timeout(START, listening).await??;
        // It must be able to go on writing.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { address, _server: server })
    }

    /// Pushes one of the lab's charts.
    pub(crate) async fn push(&self, chart: &str) -> Result<(), Failed> {
        let mut push = Command::new(lab::program("helm")?);
        push.arg("push").arg(lab::chart(chart)?).arg(self.repository()).arg("--plain-http");
        Running::start(push)?.end(PUSH).await?.expect_code(0)?;
        Ok(())
    }

    /// What a user writes as `repository`.
    pub(crate) fn repository(&self) -> String {
        format!("oci://{}:{PORT}/charts", self.address)
    }
}
