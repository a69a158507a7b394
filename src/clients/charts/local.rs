//! Charts on this machine: a folder, an archive, or a folder of archives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use helm::version::{Constraint, Version};
use sha2::{Digest as _, Sha256};

use super::error::Cause;
use super::versions::choose;
use super::{Fetched, unpack};

/// Bytes and files of one chart that are read at most: Helm's own limit, and far more files than charts have.
const MOST_BYTES: u64 = 100 << 20;
const MOST_FILES: usize = 10_000;
/// Folders within folders.
const DEEPEST: usize = 32;

pub(super) async fn fetch(path: PathBuf, name: String, wanted: String) -> Result<Fetched, Cause> {
    let shown = path.display().to_string();
    let loading = tokio::task::spawn_blocking(move || load(&path, &name, &wanted));
    loading.await.map_err(|error| Cause::File { path: shown, source: std::io::Error::other(error) })?
}

fn load(path: &Path, name: &str, wanted: &str) -> Result<Fetched, Cause> {
    let about = std::fs::metadata(path).map_err(failed(path))?;
    let fetched = if about.is_file() {
        load_archive(path)?
    } else if path.join("Chart.yaml").is_file() {
        load_folder(path)?
    } else if path.join(name).join("Chart.yaml").is_file() {
        load_folder(&path.join(name))?
    } else {
        return load_archive(&archive_in(path, name, wanted)?);
    };
    if satisfies(&fetched.version, wanted)? {
        Ok(fetched)
    } else {
        Err(Cause::OtherVersion { path: fetched.origin, found: fetched.version, wanted: wanted.to_owned() })
    }
}

fn satisfies(found: &str, wanted: &str) -> Result<bool, Cause> {
    if wanted.trim().is_empty() || found == wanted {
        return Ok(true);
    }
    let constraint = Constraint::parse(wanted).map_err(|_| Cause::NotAVersion(wanted.to_owned()))?;
    let version = Version::parse(found).map_err(|_| Cause::NotAVersion(found.to_owned()))?;
    Ok(constraint.check(&version))
}

fn load_archive(path: &Path) -> Result<Fetched, Cause> {
    let size = std::fs::metadata(path).map_err(failed(path))?.len();
    if size > MOST_BYTES {
        return Err(Cause::TooLarge { url: path.display().to_string(), limit: MOST_BYTES });
    }
    let archive = std::fs::read(path).map_err(failed(path))?;
    unpack(&archive, path.display().to_string())
}

/// `NAME-VERSION.tgz` in a folder, as `helm package` names them.
fn archive_in(folder: &Path, name: &str, wanted: &str) -> Result<PathBuf, Cause> {
    let prefix = format!("{name}-");
    let mut versions = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let file = entry.map_err(failed(folder))?.file_name();
        let version = file.to_str().and_then(|file| file.strip_prefix(&prefix)?.strip_suffix(".tgz"));
        versions.extend(version.map(str::to_owned));
    }
    if versions.is_empty() {
        return Err(Cause::NoChart { place: folder.display().to_string(), name: name.to_owned() });
    }
    let versions: Vec<_> = versions.iter().map(String::as_str).collect();
    let version = choose(&versions, wanted)?;
    Ok(folder.join(format!("{prefix}{version}.tgz")))
}

fn load_folder(folder: &Path) -> Result<Fetched, Cause> {
    let mut files = BTreeMap::new();
    let mut left = MOST_BYTES;
    read_folder(folder, "", 0, &mut files, &mut left)?;
    let mut digest = Sha256::new();
    for (path, content) in &files {
        // Lengths keep a file's end apart from the next one's start.
        digest.update((path.len() as u64).to_be_bytes());
        digest.update(path);
        digest.update((content.len() as u64).to_be_bytes());
        digest.update(content);
    }
    let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let chart = helm::Chart::from_files(files).map_err(|error| Cause::Chart(Box::new(error)))?;
    let version = chart.metadata().version.clone();
    Ok(Fetched { chart: Arc::new(chart), version, digest, origin: folder.display().to_string() })
}

fn read_folder(
    folder: &Path,
    prefix: &str,
    depth: usize,
    files: &mut BTreeMap<String, Vec<u8>>,
    left: &mut u64,
) -> Result<(), Cause> {
    let too_large = || Cause::TooLarge { url: folder.display().to_string(), limit: MOST_BYTES };
    if depth > DEEPEST {
        return Err(too_large());
    }
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let inner = format!("{prefix}{name}");
        // Links are followed, as Helm does: charts in monorepos share files by them.
        let about = std::fs::metadata(&path).map_err(failed(&path))?;
        if about.is_dir() {
            read_folder(&path, &format!("{inner}/"), depth + 1, files, left)?;
        } else if about.is_file() {
            *left = left.checked_sub(about.len()).ok_or_else(too_large)?;
            if files.len() >= MOST_FILES {
                return Err(too_large());
            }
            files.insert(inner, std::fs::read(&path).map_err(failed(&path))?);
        }
    }
    Ok(())
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Cause {
    let path = path.display().to_string();
    move |source| Cause::File { path: path.clone(), source }
}
