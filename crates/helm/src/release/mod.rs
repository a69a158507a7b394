//! Release records: what Helm keeps about an installed release, in a Secret of the cluster.
//!
//! A [`Record`] is *slim*: it holds the chart's metadata, the values, the manifest and the hooks, but neither
//! templates nor files, so that it stays far below a Secret's limit of 1 MiB. Helm lists, shows, upgrades,
//! rolls back and uninstalls releases that are recorded so. Timestamps are RFC 3339 texts.

mod parts;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use parts::lenient_time;
pub use parts::{LastRun, RecordedChart, RecordedHook};

/// The type of the Secrets that hold records.
pub const SECRET_TYPE: &str = "helm.sh/release.v1";

/// The key of a Secret's data below which the encoded record stands.
pub const SECRET_KEY: &str = "release";

/// The label selector that finds all of Helm's release Secrets.
pub const OWNER_SELECTOR: &str = "owner=helm";

/// The largest record that is decompressed, in bytes: a Secret holds 1 MiB, text compresses some thirty times.
const MAX_DECODED: u64 = 64 * 1024 * 1024;

/// The state a release is in. A pending one is Helm's lock: another operation is (or was) under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Cannot be told.
    Unknown,
    /// Installed; at most one revision is.
    Deployed,
    /// Uninstalled, the record kept.
    Uninstalled,
    /// An older revision.
    Superseded,
    /// The operation that made this revision failed.
    Failed,
    /// Being uninstalled.
    Uninstalling,
    /// The first installation is under way.
    PendingInstall,
    /// An upgrade is under way.
    PendingUpgrade,
    /// A rollback is under way.
    PendingRollback,
}

impl Status {
    /// The text in the record and in the Secret's label `status`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Deployed => "deployed",
            Self::Uninstalled => "uninstalled",
            Self::Superseded => "superseded",
            Self::Failed => "failed",
            Self::Uninstalling => "uninstalling",
            Self::PendingInstall => "pending-install",
            Self::PendingUpgrade => "pending-upgrade",
            Self::PendingRollback => "pending-rollback",
        }
    }

    /// Whether an operation is under way, as far as the record knows.
    #[must_use]
    pub const fn is_pending(self) -> bool {
        matches!(self, Self::PendingInstall | Self::PendingUpgrade | Self::PendingRollback)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// One revision of a release.
///
/// `Debug` shows neither values nor manifests: both hold secrets.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The release's name.
    #[serde(default)]
    pub name: String,
    /// When and how it went.
    #[serde(default)]
    pub info: Info,
    /// The chart.
    #[serde(default)]
    pub chart: RecordedChart,
    /// The values the user gave, without the chart's defaults.
    #[serde(default, skip_serializing_if = "is_empty_json")]
    pub config: serde_json::Value,
    /// All manifests but the hooks', each below a `# Source:` line, as rendered (without labels of ownership).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub manifest: String,
    /// The hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<RecordedHook>,
    /// The revision, counted from 1.
    #[serde(default)]
    pub version: u32,
    /// The namespace of the release.
    #[serde(default)]
    pub namespace: String,
    /// How objects were applied: `ssa` (server side) or `csa`; empty means `csa`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub apply_method: String,
}

/// When and how an operation went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Info {
    /// When revision 1 was made.
    #[serde(default, deserialize_with = "lenient_time", skip_serializing_if = "Option::is_none")]
    pub first_deployed: Option<Timestamp>,
    /// When this revision was made.
    #[serde(default, deserialize_with = "lenient_time", skip_serializing_if = "Option::is_none")]
    pub last_deployed: Option<Timestamp>,
    /// When the release was uninstalled.
    #[serde(default, deserialize_with = "lenient_time", skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Timestamp>,
    /// A sentence for people, such as `Install complete`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The state.
    #[serde(default = "Status::unknown")]
    pub status: Status,
    /// The chart's rendered notes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub notes: String,
}

impl Status {
    const fn unknown() -> Self {
        Self::Unknown
    }
}

impl Default for Info {
    fn default() -> Self {
        Self {
            first_deployed: None,
            last_deployed: None,
            deleted: None,
            description: String::new(),
            status: Status::Unknown,
            notes: String::new(),
        }
    }
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not base64.
    #[error("failed to decode a release record from base64")]
    Base64(#[source] base64::DecodeError),
    /// The data is not gzip, or larger than a record can be.
    #[error("failed to decompress a release record")]
    Compression(#[source] std::io::Error),
    /// The data is not the JSON of a record.
    #[error("failed to read a release record")]
    Json(#[source] serde_json::Error),
}

impl Record {
    /// The name of the Secret that holds this revision.
    #[must_use]
    pub fn secret_name(&self) -> String {
        secret_name(&self.name, self.version)
    }

    /// The labels of the Secret, without `createdAt` and `modifiedAt`.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        BTreeMap::from([
            ("name".to_owned(), self.name.clone()),
            ("owner".to_owned(), "helm".to_owned()),
            ("status".to_owned(), self.info.status.to_string()),
            ("version".to_owned(), self.version.to_string()),
        ])
    }

    /// The labels of the Secret when it is first written.
    #[must_use]
    pub fn labels_created(&self, now: Timestamp) -> BTreeMap<String, String> {
        let mut labels = self.labels();
        labels.insert("createdAt".to_owned(), now.as_second().to_string());
        labels
    }

    /// The labels of the Secret when it is written again.
    #[must_use]
    pub fn labels_modified(&self, now: Timestamp) -> BTreeMap<String, String> {
        let mut labels = self.labels();
        labels.insert("modifiedAt".to_owned(), now.as_second().to_string());
        labels
    }

    /// The text below [`SECRET_KEY`]: base64 of gzip of JSON. (Kubernetes encodes it once more on the wire.)
    ///
    /// # Errors
    /// When the record cannot be serialized.
    pub fn encode(&self) -> Result<String, Error> {
        let json = serde_json::to_vec(self).map_err(Error::Json)?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&json).map_err(Error::Compression)?;
        Ok(BASE64.encode(encoder.finish().map_err(Error::Compression)?))
    }

    /// Reads what [`Record::encode`] or Helm wrote.
    ///
    /// # Errors
    /// When the text is not an encoded record.
    pub fn decode(text: &str) -> Result<Self, Error> {
        let data = BASE64.decode(text.trim()).map_err(Error::Base64)?;
        let json = if data.starts_with(&[0x1f, 0x8b, 0x08]) {
            let mut json = Vec::new();
            GzDecoder::new(data.as_slice())
                .take(MAX_DECODED)
                .read_to_end(&mut json)
                .map_err(Error::Compression)?;
            json
        } else {
            data
        };
        serde_json::from_slice(&json).map_err(Error::Json)
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Record")
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .field("version", &self.version)
            .field("status", &self.info.status)
            .finish_non_exhaustive()
    }
}

/// The name of the Secret that holds a revision of a release.
#[must_use]
pub fn secret_name(release: &str, revision: u32) -> String {
    format!("sh.helm.release.v1.{release}.v{revision}")
}

fn is_empty_json(json: &serde_json::Value) -> bool {
    json.is_null() || json.as_object().is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            name: "web".into(),
            info: Info {
                first_deployed: Some(Timestamp::from_second(1_700_000_000).unwrap()),
                status: Status::PendingInstall,
                ..Info::default()
            },
            chart: RecordedChart::default(),
            config: serde_json::json!({"password": "hunter2"}),
            manifest: "---\n# Source: a\npassword: hunter2\n".into(),
            hooks: Vec::new(),
            version: 3,
            namespace: "default".into(),
            apply_method: "ssa".into(),
        }
    }

    #[test]
    fn a_record_survives_encoding() {
        let record = record();
        assert_eq!(Record::decode(&record.encode().unwrap()).unwrap(), record);
    }

    #[test]
    fn records_with_empty_times_are_read() {
        let json = br#"{"name":"a","info":{"deleted":"","status":"deployed"},"version":1}"#;
        let record = Record::decode(&BASE64.encode(json)).unwrap();
        assert_eq!((record.info.deleted, record.info.status), (None, Status::Deployed));
    }

    #[test]
    fn labels_and_names_are_helms() {
        let record = record();
        assert_eq!(record.secret_name(), "sh.helm.release.v1.web.v3");
        assert_eq!(record.labels()["status"], "pending-install");
        assert!(!record.labels_modified(Timestamp::UNIX_EPOCH).contains_key("createdAt"));
    }

    #[test]
    fn debug_shows_no_secret() {
        assert!(!format!("{:?}", record()).contains("hunter2"));
    }

    #[test]
    fn garbage_is_refused() {
        assert!(matches!(Record::decode("!"), Err(Error::Base64(_))));
        assert!(matches!(Record::decode(&BASE64.encode([0x1f, 0x8b, 0x08, 0])), Err(Error::Compression(_))));
        assert!(matches!(Record::decode(&BASE64.encode("7")), Err(Error::Json(_))));
    }
}
