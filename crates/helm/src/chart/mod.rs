//! Charts: loaded from an archive or from a folder's files, with all their sub-charts.

mod archive;
pub(crate) mod dependencies;
mod fields;
mod ignore;
mod load;
mod metadata;

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

pub(crate) use archive::File;
pub use metadata::{Dependency, ImportValues, Maintainer, Metadata};

use crate::values::Values;

/// A chart with its sub-charts, as it was loaded: nothing is switched on or off yet.
#[derive(Clone, Debug)]
pub struct Chart {
    pub(crate) metadata: Metadata,
    pub(crate) values: Values,
    pub(crate) schema: Option<Arc<[u8]>>,
    pub(crate) templates: Vec<File>,
    /// Everything else: what templates read through `.Files`, and the folder `crds/`.
    pub(crate) files: Vec<File>,
    pub(crate) dependencies: Vec<Self>,
    digest: String,
}

/// Why a chart cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The bytes are not gzip.
    #[error("expected a gzipped chart archive, got something else")]
    NotAnArchive,
    /// The archive is damaged.
    #[error("failed to unpack the chart archive")]
    Archive(#[source] std::io::Error),
    /// The archive holds no files.
    #[error("no files in chart archive")]
    Empty,
    /// More than the limit of bytes.
    #[error("decompressed chart is larger than the maximum size {0}")]
    TooLarge(u64),
    /// A file of more than the limit of bytes.
    #[error("chart file {path:?} is larger than the maximum file size {limit}")]
    FileTooLarge {
        /// Which file.
        path: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// More than the limit of files.
    #[error("chart has more than {0} files")]
    TooManyFiles(usize),
    /// Archives within archives within archives.
    #[error("sub-charts are nested deeper than {0} levels")]
    TooDeep(usize),
    /// A path that is not one within the chart.
    #[error("illegal path {path:?} in chart: {reason}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A rule of `.helmignore` that cannot be read.
    #[error("failed to read .helmignore: bad rule {0:?} (double stars are not supported)")]
    IgnoreRule(String),
    /// There is no `Chart.yaml`.
    #[error("Chart.yaml file is missing")]
    NoMetadata,
    /// A file that should be text is not.
    #[error("{0} is not UTF-8 text")]
    NotText(String),
    /// A file is not YAML.
    #[error("failed to parse {file}")]
    Yaml {
        /// Which file.
        file: &'static str,
        /// Why.
        #[source]
        source: yaml::Error,
    },
    /// A field has the wrong type.
    #[error("{file}: {path}: expected {expected}")]
    Field {
        /// Which file.
        file: &'static str,
        /// The path of the field.
        path: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// `values.yaml` cannot be read.
    #[error("failed to read values.yaml")]
    Values(#[source] crate::ValuesError),
    /// The metadata breaks a rule.
    #[error("validation: {0}")]
    Metadata(String),
    /// A sub-chart cannot be loaded.
    #[error("failed to load subchart {name} of {parent}")]
    Subchart {
        /// The sub-chart's file or folder.
        name: String,
        /// The chart that holds it.
        parent: String,
        /// Why.
        #[source]
        source: Box<Self>,
    },
}

impl Chart {
    /// Loads a chart from the bytes of a `.tgz` archive.
    ///
    /// # Errors
    /// [`LoadError`], also for archives that are too large or try to lead out of their folder.
    pub fn from_archive(archive: &[u8]) -> Result<Self, LoadError> {
        load::from_archive(archive)
    }

    /// Loads a chart from the files of its folder: paths relative to the folder, with `/`, and contents.
    /// A `.helmignore` among them is obeyed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn from_files(files: BTreeMap<String, Vec<u8>>) -> Result<Self, LoadError> {
        load::from_folder(files)
    }

    /// What the chart says about itself.
    #[must_use]
    pub const fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The chart's own defaults, those of its sub-charts not included.
    #[must_use]
    pub const fn default_values(&self) -> &Values {
        &self.values
    }

    /// The charts in its folder `charts/`.
    #[must_use]
    pub fn dependencies(&self) -> &[Self] {
        &self.dependencies
    }

    /// SHA-256 over all files (sub-charts included), in lower-case hex: the same for a folder and its archive.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Name and version, as in `app-1.2.3`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}-{}", self.metadata.name, self.metadata.version)
    }
}

/// The digest of files, whatever their order.
fn digest(files: &[File]) -> String {
    let mut sorted: Vec<&File> = files.iter().collect();
    sorted.sort_by(|left, right| left.name.cmp(&right.name));
    let mut hash = Sha256::new();
    for file in sorted {
        for part in [file.name.as_bytes(), &file.data] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    crate::value::hex(&hash.finalize())
}
