//! Where the lab's programs are.

use std::path::PathBuf;

/// A program of the lab; a test that needs it fails with what to do when it is missing.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = folder().join("bin").join(name);
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    path
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
