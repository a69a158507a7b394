//! Addons of the user's own: a chart, or objects in YAML, which are installed as a release of their own too.

use std::collections::BTreeMap;

use super::spec::{Addon, Overrides, SpecError};
use super::values;
use crate::domain::digest;

/// The namespace of a release for which none is given, as Helm's.
pub const NAMESPACE: &str = "default";

/// Where an addon's objects come from.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// A chart.
    Chart {
        /// A repository's URL, `oci://…`, or a path.
        repository: String,
        /// The chart's name in the repository; the addon's name if none.
        name: Option<String>,
        /// Exact or a range; the newest if none.
        version: Option<String>,
        /// Values in YAML.
        values: Option<String>,
    },
    /// Objects in YAML.
    Manifests(String),
}

/// The addon `name`, in a namespace of these labels.
///
/// # Errors
/// [`SpecError`] when the values are no mapping.
pub fn addon(
    name: &str,
    source: &Source,
    namespace: &str,
    namespace_labels: BTreeMap<String, String>,
) -> Result<Addon, SpecError> {
    let made = match source {
        Source::Chart { repository, name: chart, version, values } => {
            let given = values::parse(values.as_deref().unwrap_or_default())?;
            let overrides = Overrides { version: version.clone(), ..Overrides::default() };
            let addon = Addon::new(name, namespace, repository, "", &overrides, given);
            Addon { chart: chart.clone().unwrap_or_else(|| name.to_owned()), ..addon }
        }
        Source::Manifests(text) => {
            // The digest makes other objects another version, which is applied as an upgrade.
            let version = format!("0.1.0+{}", digest::short(&[text]));
            let values = values::parse("")?;
            let addon = Addon::new(name, namespace, "", &version, &Overrides::default(), values);
            Addon { manifests: Some(text.clone()), ..addon }
        }
    };
    Ok(Addon { namespace_labels, ..made })
}

/// The files of a chart that renders to these objects, unchanged: braces in them are no templates.
#[must_use]
pub fn chart_of_manifests(name: &str, version: &str, manifests: &str) -> BTreeMap<String, Vec<u8>> {
    let metadata = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    BTreeMap::from([
        ("Chart.yaml".to_owned(), metadata.into_bytes()),
        ("manifests.yaml".to_owned(), manifests.as_bytes().to_vec()),
        ("templates/manifests.yaml".to_owned(), b"{{ .Files.Get \"manifests.yaml\" }}".to_vec()),
    ])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn objects_are_a_release_whose_version_changes_with_them() {
        let of = |text: &str| {
            addon("pools", &Source::Manifests(text.to_owned()), NAMESPACE, BTreeMap::new()).unwrap()
        };
        assert_eq!(of("a: 1").version, of("a: 1").version);
        assert_ne!(of("a: 1").version, of("a: 2").version);
        assert!(of("a: 1").version.starts_with("0.1.0+"));
    }

    #[test]
    fn braces_in_objects_are_left_as_they_are() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: \"{{ .Values.x }}\"}\n";
        let chart = helm::Chart::from_files(chart_of_manifests("pools", "0.1.0+0a", text)).unwrap();
        let release = helm::Release {
            name: "pools".to_owned(),
            namespace: "default".to_owned(),
            revision: 1,
            is_upgrade: false,
        };
        let environment = helm::Environment { now: jiff::Timestamp::UNIX_EPOCH, seed: [0; 32] };
        let rendered = helm::render(
            &chart,
            &helm::Values::from_json(&serde_json::json!({})).unwrap(),
            &release,
            &helm::Capabilities::offline(),
            &helm::NoCluster,
            &environment,
        );
        assert!(rendered.unwrap().manifest_text.contains("{{ .Values.x }}"));
    }

    #[test]
    fn a_chart_is_called_like_its_addon_unless_told_otherwise() {
        let source = |name: Option<&str>| Source::Chart {
            repository: "https://charts.example.org".to_owned(),
            name: name.map(str::to_owned),
            version: None,
            values: Some("a: 1".to_owned()),
        };
        let made = addon("web", &source(None), "apps", BTreeMap::new()).unwrap();
        assert_eq!((made.name.as_str(), made.chart.as_str(), made.version.as_str()), ("web", "web", ""));
        assert_eq!(addon("web", &source(Some("nginx")), "apps", BTreeMap::new()).unwrap().chart, "nginx");
    }
}
