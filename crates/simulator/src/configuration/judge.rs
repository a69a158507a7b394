//! The conversation with `talos-configuration serve`: one JSON line a question, one a reply.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::{Decoded, Secret};

/// How long one question may take; generating an RSA key is the slowest and takes seconds at worst.
const DEADLINE: Duration = Duration::from_secs(60);

/// Talos' own library as a judge of machine configurations.
///
/// Clones share one process, which starts with the first question, answers one at a time, and is started
/// anew when it ended. It ends with the last clone.
#[derive(Clone, Debug)]
pub struct Judge {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    program: PathBuf,
    conversation: Mutex<Option<Conversation>>,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// Talos refuses; the text is Talos' own and may quote the configuration.
    #[error("{0}")]
    Refused(String),
    /// The program of the lab isn't there or doesn't start.
    #[error("start {}: {source} (run `make lab`)", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program ended or didn't reply in time.
    #[error("ask talos-configuration for {operation}: {reason}")]
    Conversation {
        /// What was asked.
        operation: &'static str,
        /// What went wrong.
        reason: String,
    },
}

/// What Talos says of a valid configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct Validation {
    /// Its warnings.
    pub warnings: Vec<String>,
}

/// What a machine says of a valid configuration.
#[derive(Clone, Debug, Deserialize)]
pub struct MachineValidation {
    /// Talos' warnings.
    pub warnings: Vec<String>,
    /// The disks that the configuration chooses: a plain device path as it is (Talos doesn't look whether it is
    /// there), or all those that the selector matches, of which Talos would take the first.
    pub install_disks: Vec<String>,
}

/// What a machine knows of a disk, for the selector.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Disk {
    /// Such as `/dev/sda`.
    pub device_path: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The model.
    pub model: String,
    /// The serial number.
    pub serial: String,
    /// The kernel's alias of the driver.
    pub modalias: String,
    /// The UUID.
    pub uuid: String,
    /// The world wide id.
    pub wwid: String,
    /// Where on the bus.
    pub bus_path: String,
    /// `nvme`, `sata`, `virtio` …; empty for virtual disks, which no selector matches.
    pub transport: String,
    /// Whether it turns.
    pub rotational: bool,
    /// Whether it can't be written.
    pub read_only: bool,
    /// Whether it is a CD-ROM.
    pub cdrom: bool,
}

/// A list of patches, each a strategic merge patch or JSON patch as YAML or JSON text.
pub type PatchList = Vec<String>;

/// A secrets bundle in the form of `talosctl gen secrets`.
#[derive(Clone, Debug)]
pub struct SecretsBundle {
    /// The YAML text.
    pub yaml: Secret,
}

/// Options of `talosctl gen config`. Empty texts and lists mean the generator's default.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GenerationOptions {
    /// The cluster's name.
    pub cluster_name: String,
    /// The canonical address of the control plane, `https://…`.
    pub endpoint: String,
    /// A secrets bundle (YAML); none makes a new one.
    pub secrets: Option<Secret>,
    /// The version contract, such as `v1.13`.
    pub talos_version: String,
    /// The Kubernetes version without a leading v.
    pub kubernetes_version: String,
    /// Extra names and addresses.
    pub subject_alternative_names: Vec<String>,
    /// The disk to install to.
    pub install_disk: String,
    /// The installer's image.
    pub install_image: String,
    /// `none`, `flannel`, or empty.
    pub cni: String,
    /// The DNS domain.
    pub dns_domain: String,
    /// Switches discovery on or off.
    pub discovery: Option<bool>,
    /// Whether ordinary pods may run on control planes.
    pub schedule_on_control_planes: bool,
    /// The API servers' port, where it isn't 6443.
    pub local_api_server_port: Option<u16>,
    /// KubePrism's port; 0 switches it off.
    pub kube_prism_port: Option<u16>,
    /// Patches for all machines.
    pub patches: PatchList,
    /// Patches for control planes.
    pub control_plane_patches: PatchList,
    /// Patches for workers.
    pub worker_patches: PatchList,
}

/// Configurations as `talosctl gen config` makes them.
#[derive(Clone, Debug, Deserialize)]
pub struct Generated {
    /// For control planes.
    pub control_plane: Secret,
    /// For workers.
    pub worker: Secret,
    /// The client's configuration.
    pub talosconfig: Secret,
    /// The secrets bundle that they were made from.
    pub secrets: Secret,
}

/// What applying a configuration over another takes.
#[derive(Clone, Debug, Deserialize)]
pub struct Difference {
    /// How it can be applied.
    pub apply: Apply,
    /// Why it can't be applied live, in Talos' words; empty when it can.
    pub reason: String,
    /// The unified difference, which shows secrets.
    pub text: Secret,
    /// Whether nothing differs.
    pub unchanged: bool,
}

/// How a changed configuration is applied.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Apply {
    /// Only fields differ that Talos changes in a running machine.
    Live,
    /// A field differs that needs a reboot.
    Reboot,
}

impl Judge {
    /// A judge that runs this program (`talos-configuration`), once it is first asked.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { shared: Arc::new(Shared { program: program.into(), conversation: Mutex::new(None) }) }
    }

    /// Decodes a configuration strictly.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with Talos' decoder's text.
    pub async fn decode(&self, configuration: &[u8]) -> Result<Decoded, JudgeError> {
        self.ask("decode", json!({ "configuration": STANDARD.encode(configuration) })).await
    }

    /// Validates a configuration as a machine on metal does before it accepts it.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with all of Talos' problems in one text.
    pub async fn validate(&self, configuration: &[u8], installed: bool) -> Result<Validation, JudgeError> {
        let arguments = json!({ "configuration": STANDARD.encode(configuration), "installed": installed });
        self.ask("validate", arguments).await
    }

    /// Validates a configuration with the checks that only a machine can make too: its disks against the selector,
    /// the versions of images.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with all of Talos' problems in one text.
    pub async fn validate_on_machine(
        &self,
        configuration: &[u8],
        installed: bool,
        disks: &[Disk],
    ) -> Result<MachineValidation, JudgeError> {
        let arguments = json!({
            "configuration": STANDARD.encode(configuration), "installed": installed, "disks": disks,
        });
        self.ask("validate", arguments).await
    }

    /// Applies patches in their order.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with Talos' patcher's text.
    pub async fn patch(&self, configuration: &[u8], patches: &[String]) -> Result<Vec<u8>, JudgeError> {
        let arguments = json!({ "configuration": STANDARD.encode(configuration), "patches": patches });
        let reply: Patched = self.ask("patch", arguments).await?;
        reply.bytes("patch")
    }

    /// Generates configurations as `talosctl gen config` does.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with Talos' generator's text.
    pub async fn generate(&self, options: &GenerationOptions) -> Result<Generated, JudgeError> {
        let arguments = serde_json::to_value(options).map_err(|error| JudgeError::Conversation {
            operation: "generate",
            reason: format!("its options don't encode: {error}"),
        })?;
        self.ask("generate", arguments).await
    }

    /// Makes a new secrets bundle for a version contract such as `v1.13`.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] for a version that Talos can't parse.
    pub async fn new_secrets(&self, talos_version: &str) -> Result<SecretsBundle, JudgeError> {
        let reply: Bundled = self.ask("secrets", json!({ "talos_version": talos_version })).await?;
        Ok(SecretsBundle { yaml: reply.secrets })
    }

    /// Loads a secrets bundle and gives it back as Talos would write it.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] with what Talos finds wrong in it.
    pub async fn load_secrets(&self, bundle: &SecretsBundle) -> Result<SecretsBundle, JudgeError> {
        let reply: Bundled = self.ask("secrets", json!({ "secrets": bundle.yaml })).await?;
        Ok(SecretsBundle { yaml: reply.secrets })
    }

    /// Compares the configuration of a running machine with a new one, by the rules of Talos 1.13 and older.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] when one of them doesn't decode.
    pub async fn difference(&self, current: &[u8], new: &[u8]) -> Result<Difference, JudgeError> {
        let arguments = json!({ "configuration": STANDARD.encode(current), "new": STANDARD.encode(new) });
        self.ask("diff", arguments).await
    }

    /// Puts another byte into the value at a path of the main document (`machine.certSANs[0]`): the one at `index`, else
    /// the middle one.
    ///
    /// # Errors
    /// [`JudgeError::Refused`] when there is no such value.
    pub async fn alter(
        &self,
        configuration: &[u8],
        path: &str,
        index: Option<usize>,
    ) -> Result<Vec<u8>, JudgeError> {
        let arguments =
            json!({ "configuration": STANDARD.encode(configuration), "path": path, "index": index });
        let reply: Patched = self.ask("alter", arguments).await?;
        reply.bytes("alter")
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        operation: &'static str,
        arguments: Value,
    ) -> Result<T, JudgeError> {
        let failed = |reason: String| JudgeError::Conversation { operation, reason };
        let line = json!({ "op": operation, "arguments": arguments }).to_string() + "\n";
        let mut guard = self.shared.conversation.lock().await;
        let mut conversation = match guard.take().and_then(Conversation::still_running) {
            Some(running) => running,
            None => Conversation::start(&self.shared.program)?,
        };
        // A conversation is put back only after a whole exchange: one that was cut short ends here.
        let reply = tokio::time::timeout(DEADLINE, conversation.exchange(&line))
            .await
            .map_err(|_| failed(format!("no reply within {} s", DEADLINE.as_secs())))?
            .map_err(|error| failed(error.to_string()))?;
        *guard = Some(conversation);
        match serde_json::from_str(&reply).map_err(|error| failed(format!("its reply: {error}")))? {
            Reply::Refused(text) => Err(JudgeError::Refused(text)),
            Reply::Result(value) => {
                T::deserialize(value).map_err(|error| failed(format!("its reply: {error}")))
            }
        }
    }
}

#[derive(Deserialize)]
struct Patched {
    configuration: String,
}

impl Patched {
    fn bytes(&self, operation: &'static str) -> Result<Vec<u8>, JudgeError> {
        STANDARD.decode(&self.configuration).map_err(|error| JudgeError::Conversation {
            operation,
            reason: format!("its reply isn't base64: {error}"),
        })
    }
}

#[derive(Deserialize)]
struct Bundled {
    secrets: Secret,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Refused(String),
    Result(Value),
}

#[derive(Debug)]
struct Conversation {
    // Ends by itself when its standard input closes, and is killed when dropped.
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Conversation {
    fn start(program: &PathBuf) -> Result<Self, JudgeError> {
        let failed = |source| JudgeError::Start { program: program.clone(), source };
        let mut child = Command::new(program)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::Error::other("its standard streams aren't piped")));
        };
        Ok(Self { child, input, output: BufReader::new(output).lines() })
    }

    fn still_running(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    async fn exchange(&mut self, line: &str) -> Result<String, std::io::Error> {
        self.input.write_all(line.as_bytes()).await?;
        self.input.flush().await?;
        self.output.next_line().await?.ok_or_else(|| std::io::Error::other("it ended without a reply"))
    }
}
