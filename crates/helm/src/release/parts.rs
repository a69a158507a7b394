//! What a record holds of the chart and its hooks.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::render::Hook;

/// What a slim record keeps of the chart.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct RecordedChart {
    /// `Chart.yaml` as JSON.
    #[serde(default)]
    pub metadata: serde_json::Value,
    /// Always empty in a slim record.
    #[serde(default)]
    lock: serde_json::Value,
    /// Always empty in a slim record.
    #[serde(default)]
    templates: serde_json::Value,
    /// The chart's default values.
    #[serde(default)]
    pub values: serde_json::Value,
    /// Always empty in a slim record.
    #[serde(default)]
    schema: serde_json::Value,
    /// Always empty in a slim record.
    #[serde(default)]
    files: serde_json::Value,
}

impl RecordedChart {
    /// What a slim record keeps of `chart`.
    #[must_use]
    pub fn of(chart: &crate::Chart) -> Self {
        Self {
            metadata: chart.metadata().to_json(),
            values: chart.default_values().to_json(),
            templates: serde_json::Value::Array(Vec::new()),
            files: serde_json::Value::Array(Vec::new()),
            ..Self::default()
        }
    }

    /// The chart's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The chart's version.
    #[must_use]
    pub fn version(&self) -> &str {
        self.text("version")
    }

    fn text(&self, key: &str) -> &str {
        self.metadata.get(key).and_then(serde_json::Value::as_str).unwrap_or_default()
    }
}

/// A hook and how its last run went.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedHook {
    /// The object's name.
    #[serde(default)]
    pub name: String,
    /// The object's kind.
    #[serde(default)]
    pub kind: String,
    /// The template it came from.
    #[serde(default)]
    pub path: String,
    /// The object.
    #[serde(default)]
    pub manifest: String,
    /// The events it runs on, such as `post-install`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// How the last run went.
    #[serde(default)]
    pub last_run: LastRun,
    /// Hooks of one event run by ascending weight.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: i64,
    /// When the object is deleted, such as `before-hook-creation`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delete_policies: Vec<String>,
}

impl From<&Hook> for RecordedHook {
    fn from(hook: &Hook) -> Self {
        Self {
            name: hook.manifest.name.clone(),
            kind: hook.manifest.kind.clone(),
            path: hook.manifest.path.clone(),
            manifest: hook.manifest.text.clone(),
            events: hook.events.iter().map(|event| event.as_str().to_owned()).collect(),
            last_run: LastRun::default(),
            weight: hook.weight,
            delete_policies: hook.delete_policies.clone(),
        }
    }
}

impl fmt::Debug for RecordedHook {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RecordedHook")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}

/// How a hook's last run went.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LastRun {
    /// When it was started.
    #[serde(default, deserialize_with = "lenient_time", skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, deserialize_with = "lenient_time", skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// `Running`, `Succeeded`, `Failed`, `Unknown`; empty before the first run.
    #[serde(default)]
    pub phase: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Old records hold empty texts where there is no time.
pub(super) fn lenient_time<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(serde::de::Error::custom)
}
