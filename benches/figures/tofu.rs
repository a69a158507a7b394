//! OpenTofu over the program that is measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::table::lab;

/// The program that is measured.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_terraform-provider-kontinuum");

/// What every module with our provider begins with.
pub(crate) const HEADER: &str = "terraform {\n  required_providers {\n    kontinuum = {\n      source = \"kontinuum/kontinuum\"\n    }\n  }\n}\n";

/// A folder of root modules.
pub(crate) struct Modules {
    folder: tempfile::TempDir,
}

impl Modules {
    pub(crate) fn new() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let program = Path::new(PROGRAM);
        let here = program.parent().unwrap_or(program).display();
        let overrides = format!("dev_overrides {{ \"kontinuum/kontinuum\" = \"{here}\" }}");
        std::fs::write(
            folder.path().join("rc"),
            format!("provider_installation {{\n  {overrides}\n  direct {{}}\n}}\n"),
        )?;
        Ok(Self { folder })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a root module.
    pub(crate) fn write(&self, name: &str, text: &str) -> std::io::Result<()> {
        std::fs::create_dir_all(self.path(name))?;
        std::fs::write(self.path(name).join("main.tf"), text)
    }

    /// Runs the client in a module, with that in its environment, and gives the time that it took.
    pub(crate) fn run(
        &self,
        name: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> std::io::Result<Duration> {
        let start = Instant::now();
        let output = Command::new(lab("bin/tofu"))
            .arg(format!("-chdir={}", self.path(name).display()))
            .args(arguments)
            .arg("-no-color")
            .env("TF_CLI_CONFIG_FILE", self.folder().join("rc"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("KONTINUUM_INVENTORY", self.path(name).join("inventory.db"))
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()?;
        if output.status.success() {
            return Ok(start.elapsed());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().take(6).collect::<Vec<_>>().join(" ");
        Err(std::io::Error::other(format!("tofu {}: {said}", arguments.first().unwrap_or(&""))))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }
}
