//! Charts, from where they are published: a classic repository, an OCI registry, or a local folder or archive.
//!
//! - What is fetched over the network is checked against the digest that the repository's index or the registry's
//!   manifest states; sizes are capped, every request has a deadline, and failures that may pass are tried again a
//!   fixed number of times.
//! - Versions are resolved as Helm does: a version that is there exactly as written, else the highest that satisfies
//!   the constraint. See [`is_exact`].
//! - Plain HTTP is spoken to loopback addresses, and elsewhere only where the user wrote it: `http://…` for a
//!   repository, `oci+http://…` for a registry. A repository reached by HTTPS may not send us to HTTP.
//! - What was fetched is kept in memory: one process fetches a version once.

mod error;
mod http;
mod local;
mod oci;
mod repository;
mod source;
mod versions;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use tokio::sync::{Mutex, OnceCell};

pub use error::{Cause, Error, Result};
pub use http::Limits;
pub use source::{Source, SourceError};
pub use versions::is_exact;

/// A chart, and where it came from.
#[derive(Debug)]
pub struct Fetched {
    /// The chart.
    pub chart: Arc<helm::Chart>,
    /// Its version, as the chart itself says it.
    pub version: String,
    /// The archive's SHA-256 in hexadecimal; of a folder, its files' digest.
    pub digest: String,
    /// Where it came from: a URL, a reference, a path.
    pub origin: String,
}

/// What is fetched once; callers that want the same wait for the one that fetches it.
type Once<T> = Arc<OnceCell<Arc<T>>>;

/// Fetches charts.
pub struct Charts {
    http: http::Http,
    fetched: Mutex<BTreeMap<(String, String, String), Once<Fetched>>>,
    indexes: Mutex<BTreeMap<String, Once<repository::Index>>>,
}

impl fmt::Debug for Charts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Charts").finish_non_exhaustive()
    }
}

impl Charts {
    /// A fetcher within these limits.
    ///
    /// # Errors
    /// [`Cause::Setup`] when the system's certificate authorities cannot be loaded.
    pub fn new(limits: Limits) -> Result<Self> {
        Ok(Self { http: http::Http::new(limits)?, fetched: Mutex::default(), indexes: Mutex::default() })
    }

    /// Fetches chart `name` from `source`, in `version`: exact, or a constraint such as `~1.20.0`; an empty text is
    /// the newest version that is no prerelease.
    ///
    /// # Errors
    /// [`Error`]: what was asked, what came, and whether trying again may help.
    pub async fn fetch(&self, source: &str, name: &str, version: &str) -> Result<Arc<Fetched>> {
        let key = (source.to_owned(), name.to_owned(), version.to_owned());
        let once = Arc::clone(self.fetched.lock().await.entry(key).or_default());
        let fetched =
            once.get_or_try_init(async || self.fetch_anew(source, name, version).await.map(Arc::new)).await;
        fetched
            .cloned()
            .map_err(|cause| Error::new(&format!("fetch chart {name} {version} from {source}"), cause))
    }

    async fn fetch_anew(&self, source: &str, name: &str, version: &str) -> Result<Fetched, Cause> {
        match Source::parse(source).map_err(Cause::Source)? {
            Source::Repository(url) => {
                let once = Arc::clone(self.indexes.lock().await.entry(url.to_string()).or_default());
                let fetching = async || repository::Index::fetch(&self.http, &url).await.map(Arc::new);
                once.get_or_try_init(fetching).await?.fetch_chart(&self.http, name, version).await
            }
            Source::Registry(registry) => oci::fetch(&self.http, &registry, name, version).await,
            Source::Path(path) => local::fetch(path, name.to_owned(), version.to_owned()).await,
        }
    }
}

/// Loads an archive whose digest is known to be right.
fn unpack(archive: &[u8], origin: String) -> Result<Fetched, Cause> {
    let chart = helm::Chart::from_archive(archive).map_err(|error| Cause::Chart(Box::new(error)))?;
    let version = chart.metadata().version.clone();
    Ok(Fetched { chart: Arc::new(chart), version, digest: sha256(archive), origin })
}

/// SHA-256 in hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
