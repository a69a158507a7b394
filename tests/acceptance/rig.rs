//! Everything that one run of a case needs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::runtime::Runtime;

use crate::client::Client;
use crate::lab;
use crate::process::{Ended, Running};
use crate::secrets::Secrets;
use crate::simulator::Simulator;
use crate::subnet::Subnet;

/// What comes before every root module.
const HEADER: &str = r#"terraform {
  required_providers {
    kontinuum = {
      source = "kontinuum/kontinuum"
    }
  }
}
"#;

/// A command that makes no cluster.
pub(crate) const QUICK: Duration = Duration::from_secs(60);
/// One that may make a cluster, on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(300);

/// A network, a simulator, a root module with its state and inventory, and a client.
pub(crate) struct Rig {
    simulator: Option<Simulator>,
    runtime: Runtime,
    subnet: Subnet,
    folder: TempDir,
    client: Client,
    /// What differs from the environment that every client gets; none removes.
    environment: BTreeMap<String, Option<String>>,
    /// What each command showed and logged.
    shown: RefCell<Vec<Shown>>,
}

struct Shown {
    command: String,
    texts: [String; 3],
}

impl Rig {
    /// A rig without machines.
    pub(crate) fn new(client: Client) -> Result<Self, Failed> {
        let mut folder = tempfile::Builder::new().prefix("kontinuum-").tempdir()?;
        folder.disable_cleanup(std::env::var_os("KONTINUUM_KEEP").is_some());
        std::fs::create_dir_all(folder.path().join("module"))?;
        std::fs::create_dir_all(folder.path().join("home"))?;
        let rig = Self {
            simulator: None,
            runtime: tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?,
            subnet: Subnet::allot()?,
            folder,
            client,
            environment: BTreeMap::new(),
            shown: RefCell::default(),
        };
        rig.use_provider()?;
        Ok(rig)
    }

    /// The address with that last number, in this run's network.
    pub(crate) fn address(&self, host: u8) -> Ipv4Addr {
        self.subnet.address(host)
    }

    /// Starts the simulator with these machines, written as in the world file.
    pub(crate) fn simulate(&mut self, machines: &[Value]) -> Result<&Simulator, Failed> {
        let simulator = Simulator::start(self.folder.path(), machines)?;
        Ok(self.simulator.insert(simulator))
    }

    /// The simulator.
    pub(crate) fn simulator(&self) -> Result<&Simulator, Failed> {
        self.simulator.as_ref().ok_or_else(|| "this rig simulates nothing".into())
    }

    /// Where anything of this run may be kept.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The inventory.
    pub(crate) fn inventory(&self) -> PathBuf {
        self.folder.path().join("inventory/inventory.db")
    }

    /// Writes the root module; what every module with our provider needs comes before it.
    pub(crate) fn module(&self, text: &str) -> Result<(), Failed> {
        self.module_without_provider(&format!("{HEADER}\n{text}"))
    }

    /// Writes a root module that is for the client alone.
    pub(crate) fn module_without_provider(&self, text: &str) -> Result<(), Failed> {
        Ok(std::fs::write(self.folder.path().join("module/main.tf"), text)?)
    }

    /// Sets a variable of the client's environment, or removes it, from here on.
    pub(crate) fn environment(&mut self, name: &str, value: Option<&str>) {
        self.environment.insert(name.to_owned(), value.map(str::to_owned));
    }

    /// Plans. The exit code is 0 without changes, 2 with, 1 on errors.
    pub(crate) fn plan(&self, arguments: &[&str]) -> Result<Ended, Failed> {
        self.command(
            QUICK,
            &[&["plan", "-input=false", "-no-color", "-detailed-exitcode"], arguments].concat(),
        )
    }

    /// Fails unless everything is as the last command left it: nothing to do, and nothing seen that moved by itself.
    pub(crate) fn is_settled(&self) -> Result<(), Failed> {
        self.plan(&[])?.expect_code(0)?;
        let refreshed = self.plan(&["-refresh-only"])?;
        let said = refreshed.said();
        // Terraform 1.11 ends with 2 also where nothing changed: it compares two caches of the same state.
        let code = if self.client == Client::Terraform && refreshed.code == Some(2) { 2 } else { 0 };
        refreshed.expect_code(code)?;
        match said.contains("No changes. Your infrastructure still matches the configuration.") {
            true => Ok(()),
            false => Err(format!("expected a refresh to see no changes, but it said {said}").into()),
        }
    }

    /// Applies.
    pub(crate) fn apply(&self, arguments: &[&str]) -> Result<Ended, Failed> {
        self.command(LONG, &[&["apply", "-input=false", "-no-color", "-auto-approve"], arguments].concat())
    }

    /// Destroys all that the state holds, or a part of it.
    pub(crate) fn destroy(&self, arguments: &[&str]) -> Result<Ended, Failed> {
        self.command(LONG, &[&["destroy", "-input=false", "-no-color", "-auto-approve"], arguments].concat())
    }

    /// The attributes of a resource in the state, by its address (`kontinuum_instance.node["a"]`).
    pub(crate) fn attributes(&self, address: &str) -> Result<Value, Failed> {
        // Not through `command`: this document holds secrets in clear, as it should.
        let state = self.run(QUICK, &["show", "-json"])?.expect_code(0)?;
        let state: Value = serde_json::from_str(&state.stdout)?;
        let resources = state["values"]["root_module"]["resources"].as_array();
        resources
            .into_iter()
            .flatten()
            .find(|resource| resource["address"] == address)
            .map(|resource| resource["values"].clone())
            .ok_or_else(|| format!("expected {address} in the state, but got {state}").into())
    }

    /// Runs the client with its log, and keeps what it showed for [`Self::shows_no_secret`].
    pub(crate) fn command(&self, limit: Duration, arguments: &[&str]) -> Result<Ended, Failed> {
        let ended = self.run(limit, arguments)?;
        let log = self.folder.path().join("client.log");
        let logged = std::fs::read(&log)?;
        std::fs::remove_file(&log)?;
        self.shown.borrow_mut().push(Shown {
            command: ended.command.clone(),
            texts: [
                ended.stdout.clone(),
                ended.stderr.clone(),
                String::from_utf8_lossy(&logged).into_owned(),
            ],
        });
        Ok(ended)
    }

    /// The logs of all commands so far.
    pub(crate) fn logs(&self) -> String {
        self.shown.borrow().iter().map(|shown| shown.texts[2].as_str()).collect()
    }

    /// Starts the client without waiting for its end. Its log is kept with the next command's.
    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Running, Failed> {
        // Its output is read by the runtime.
        let _entered = self.runtime.enter();
        let mut command = Command::new(self.client.program()?);
        command
            .args(arguments)
            .current_dir(self.folder.path().join("module"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("TF_CLI_CONFIG_FILE", self.folder.path().join("client.tfrc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_LOG", "TRACE")
            .env("TF_LOG_PATH", self.folder.path().join("client.log"))
            .env("KONTINUUM_INVENTORY", self.inventory());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Running::start(command)
    }

    /// Waits for a future: the rig's programs and servers run on its own runtime.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Fails if any command so far showed or logged a secret.
    pub(crate) fn shows_no_secret(&self) -> Result<(), Failed> {
        let secrets = self.secrets()?;
        for Shown { command, texts } in self.shown.borrow().iter() {
            for (text, place) in texts.iter().zip(["standard output", "standard error", "log"]) {
                let found = secrets.shown_in(text)?;
                if !found.is_empty() {
                    return Err(format!("the {place} of {command} shows {}", found.join(", ")).into());
                }
            }
        }
        Ok(())
    }

    /// Every secret that state and inventory hold.
    pub(crate) fn secrets(&self) -> Result<Secrets, Failed> {
        let mut secrets = Secrets::default();
        for file in [
            self.folder.path().join("module/terraform.tfstate"),
            self.folder.path().join("module/terraform.tfstate.backup"),
            self.inventory(),
            self.inventory().with_extension("db-wal"),
        ] {
            if file.exists() {
                secrets.collect(&String::from_utf8_lossy(&std::fs::read(file)?))?;
            }
        }
        Ok(secrets)
    }

    fn run(&self, limit: Duration, arguments: &[&str]) -> Result<Ended, Failed> {
        let running = self.start(arguments)?;
        self.wait(running.end(limit))
    }

    /// Has the client take the provider under test, whose own folder holds other programs too.
    fn use_provider(&self) -> Result<(), Failed> {
        let plugins = self.folder.path().join("plugins");
        std::fs::create_dir_all(&plugins)?;
        std::os::unix::fs::symlink(lab::provider(), plugins.join("terraform-provider-kontinuum"))?;
        let overrides = ["registry.opentofu.org", "registry.terraform.io"]
            .map(|host| format!("    \"{host}/kontinuum/kontinuum\" = \"{}\"\n", plugins.display()))
            .concat();
        std::fs::write(
            self.folder.path().join("client.tfrc"),
            format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n"),
        )?;
        Ok(())
    }
}
