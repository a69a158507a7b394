//! `helm template` without a cluster: renders a chart's folder or archive to the standard output.
//!
//! ```text
//! cargo run -p helm --example template -- NAME CHART [--namespace N] [--values FILE]... [--set K=V]...
//!     [--set-string K=V]... [--include-crds] [--kube-version V] [--api-versions A]... [--is-upgrade] [--no-hooks]
//!     [--show-only TEMPLATE]...
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use helm::{Capabilities, Chart, Environment, KubeVersion, NoCluster, Release, Rendered, Values};

/// What the command line asks for.
struct Options {
    name: String,
    chart: String,
    namespace: String,
    values: Values,
    capabilities: Capabilities,
    include_crds: bool,
    is_upgrade: bool,
    hooks: bool,
    show_only: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(text) => match std::io::stdout().write_all(text.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let mut text = format!("Error: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(&format!(": {cause}"));
                source = cause.source();
            }
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    let chart = load(Path::new(&options.chart))?;
    let release = Release {
        name: options.name.clone(),
        namespace: options.namespace.clone(),
        revision: 1,
        is_upgrade: options.is_upgrade,
    };
    let environment = Environment { now: jiff::Timestamp::now(), seed: seed()? };
    let rendered =
        helm::render(&chart, &options.values, &release, &options.capabilities, &NoCluster, &environment)?;
    options.print(&rendered)
}

impl Options {
    fn read(arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut positional = Vec::new();
        let mut options = Self {
            name: String::new(),
            chart: String::new(),
            namespace: "default".to_owned(),
            values: Values::new(),
            capabilities: Capabilities::offline(),
            include_crds: false,
            is_upgrade: false,
            hooks: true,
            show_only: Vec::new(),
        };
        // As in Helm, files come before expressions, whatever the order on the command line.
        let (mut files, mut expressions, mut api_versions) = (Vec::new(), Vec::new(), Vec::new());
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("flag needs an argument: {argument}"));
            match argument.as_str() {
                "--namespace" | "-n" => options.namespace = value()?,
                "--values" | "-f" => files.push(value()?),
                "--set" => expressions.push((value()?, false)),
                "--set-string" => expressions.push((value()?, true)),
                "--include-crds" => options.include_crds = true,
                "--kube-version" => options.capabilities.kube_version = KubeVersion::parse(&value()?)?,
                "--api-versions" | "-a" => api_versions.push(value()?),
                "--is-upgrade" => options.is_upgrade = true,
                "--no-hooks" => options.hooks = false,
                "--show-only" | "-s" => options.show_only.push(value()?),
                flag if flag.starts_with('-') => return Err(format!("unknown flag: {flag}").into()),
                _ => positional.push(argument),
            }
        }
        for file in files {
            options.values.merge(Values::from_yaml(&std::fs::read_to_string(&file)?)?);
        }
        for (expression, is_string) in expressions {
            if is_string {
                options.values.set_string(&expression)?
            } else {
                options.values.set(&expression)?
            }
        }
        options.capabilities.api_versions.extend(api_versions);
        let [name, chart] = positional.try_into().map_err(|_| "expected NAME and CHART")?;
        (options.name, options.chart) = (name, chart);
        Ok(options)
    }

    fn print(&self, rendered: &Rendered) -> Result<String, Box<dyn Error>> {
        let mut manifests = String::new();
        if self.include_crds {
            manifests.push_str(&rendered.crd_text);
        }
        manifests.push_str(&rendered.manifest_text);
        let mut text = format!("{}\n", manifests.trim());
        if self.hooks {
            for hook in &rendered.hooks {
                text.push_str(&format!("---\n# Source: {}\n{}\n", hook.manifest.path, hook.manifest.text));
            }
        }
        if self.show_only.is_empty() {
            return Ok(text);
        }
        let mut shown = String::new();
        for wanted in &self.show_only {
            let source = |path: &str| path.split_once('/').is_some_and(|(_, path)| path == wanted);
            let hooks = rendered.hooks.iter().filter(|_| self.hooks).map(|hook| &hook.manifest);
            let found: Vec<_> =
                rendered.manifests.iter().chain(hooks).filter(|manifest| source(&manifest.path)).collect();
            if found.is_empty() {
                return Err(format!("could not find template {wanted} in chart").into());
            }
            for manifest in found {
                shown.push_str(&format!("---\n# Source: {}\n{}\n\n", manifest.path, manifest.text));
            }
        }
        Ok(shown)
    }
}

fn load(path: &Path) -> Result<Chart, Box<dyn Error>> {
    if !path.is_dir() {
        return Ok(Chart::from_archive(&std::fs::read(path)?)?);
    }
    let mut files = BTreeMap::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?.path();
            if entry.is_dir() {
                folders.push(entry);
            } else {
                let name = entry.strip_prefix(path)?.to_string_lossy().into_owned();
                files.insert(name, std::fs::read(&entry)?);
            }
        }
    }
    Ok(Chart::from_files(files)?)
}

/// Randomness from the system.
fn seed() -> Result<[u8; 32], Box<dyn Error>> {
    let mut seed = [0; 32];
    aws_lc_rs::rand::fill(&mut seed).map_err(|_| "the system has no random numbers")?;
    Ok(seed)
}
