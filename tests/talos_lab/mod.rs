//! The lab's programs on Talos' own library.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a program of the lab with this input, and gives its output. It must succeed.
pub(crate) fn run(name: &str, input: &[u8]) -> Vec<u8> {
    let path = folder().join("bin").join(name);
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    let mut child = Command::new(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The lab's folder: `KONTINUUM_LAB`, else `kontinuum/lab` in the user's cache.
fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("KONTINUUM_LAB") {
        return PathBuf::from(folder);
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    cache.unwrap_or_else(home).join("kontinuum/lab")
}
