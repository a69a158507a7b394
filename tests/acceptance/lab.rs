//! Where the lab's programs and charts are, and our own programs.

use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

/// A program that `make lab` builds.
pub(crate) fn program(name: &str) -> Result<PathBuf, Failed> {
    existing(folder()?.join("bin").join(name))
}

/// A packed chart, named as in `tests/lab/charts/charts`.
pub(crate) fn chart(name: &str) -> Result<PathBuf, Failed> {
    existing(folder()?.join("charts").join(format!("{name}.tgz")))
}

/// The folder that `make lab` fills.
pub(crate) fn folder() -> Result<PathBuf, Failed> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("KONTINUUM_LAB")
        .or_else(|| set("XDG_CACHE_HOME").map(|cache| cache.join("kontinuum/lab")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/kontinuum/lab")))
        .ok_or_else(|| "expected HOME, XDG_CACHE_HOME or KONTINUUM_LAB in the environment".into())
}

/// The provider under test.
pub(crate) fn provider() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_terraform-provider-kontinuum"))
}

/// The simulator, which Cargo builds beside the provider.
pub(crate) fn simulator() -> Result<PathBuf, Failed> {
    let program = provider().with_file_name("kontinuum-simulator");
    match program.exists() {
        true => Ok(program),
        false => Err(format!("{} is missing: run `make build`", program.display()).into()),
    }
}

/// A program of that name in the folders of `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn existing(file: PathBuf) -> Result<PathBuf, Failed> {
    match file.exists() {
        true => Ok(file),
        false => Err(format!("{} is missing: run `make lab`", file.display()).into()),
    }
}
