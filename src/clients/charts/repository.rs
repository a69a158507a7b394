//! Classic repositories: a folder with `index.yaml` and archives
//! (<https://helm.sh/docs/topics/chart_repository/#the-index-file>).

use std::collections::BTreeMap;

use reqwest::Url;
use yaml::{Typing, Value, parse_document};

use super::error::Cause;
use super::http::{Http, Kind, follow, shown};
use super::versions::choose;
use super::{Fetched, sha256, unpack};

/// A repository's index: which versions of which charts it has.
pub(super) struct Index {
    url: Url,
    charts: BTreeMap<String, Vec<Published>>,
}

/// A published version.
struct Published {
    version: String,
    /// SHA-256 in hexadecimal, when the index states one.
    digest: Option<String>,
    /// Absolute, or relative to the index.
    location: String,
}

impl Index {
    pub(super) async fn fetch(http: &Http, repository: &Url) -> Result<Self, Cause> {
        let url = joined(repository, "index.yaml")?;
        let answer = http.get_existing(&url, Kind::Index).await?;
        // Parsing megabytes of YAML takes a while, and other work goes on meanwhile.
        let parsing = tokio::task::spawn_blocking(move || parse(&answer.body));
        let charts = match parsing.await {
            Ok(Ok(charts)) => charts,
            Ok(Err(problem)) => return Err(Cause::Unreadable { url: shown(&url), problem }),
            Err(error) => return Err(Cause::Unreadable { url: shown(&url), problem: error.to_string() }),
        };
        Ok(Self { url, charts })
    }

    pub(super) async fn fetch_chart(&self, http: &Http, name: &str, wanted: &str) -> Result<Fetched, Cause> {
        let no_chart = || Cause::NoChart { place: shown(&self.url), name: name.to_owned() };
        let published = self.charts.get(name).ok_or_else(no_chart)?;
        let versions: Vec<_> = published.iter().map(|published| published.version.as_str()).collect();
        let version = choose(&versions, wanted)?;
        let chosen = published.iter().find(|published| published.version == version).ok_or_else(no_chart)?;
        let url = follow(&self.url, joined(&self.url, &chosen.location)?)?;
        let archive = http.get_existing(&url, Kind::Archive).await?.body;
        if let Some(expected) = &chosen.digest {
            let found = sha256(&archive);
            if found != *expected {
                return Err(Cause::Digest { what: shown(&url), found, expected: expected.clone() });
            }
        }
        unpack(&archive, shown(&url))
    }
}

fn joined(base: &Url, location: &str) -> Result<Url, Cause> {
    let problem =
        |error| Cause::Unreadable { url: shown(base), problem: format!("{location:?} is no URL: {error}") };
    let mut url = base.join(location).map_err(problem)?;
    // Helm hands the repository's query (a mirror's token) on to what is relative to it.
    if url.query().is_none() && url.host() == base.host() {
        url.set_query(base.query());
    }
    Ok(url)
}

fn parse(index: &[u8]) -> Result<BTreeMap<String, Vec<Published>>, String> {
    let text = std::str::from_utf8(index).map_err(|error| error.to_string())?;
    let document = parse_document(text, Typing::V2).map_err(|error| error.to_string())?;
    let index = document.ok_or("expected an index, got nothing")?.root.into_value();
    let entries = index.field("entries").ok_or("expected an index with entries")?;
    let entries = entries.as_mapping().unwrap_or_default();
    let charts = entries.iter().filter_map(|(name, versions)| {
        let versions = versions.as_sequence().unwrap_or_default();
        Some((name.as_str()?.to_owned(), versions.iter().filter_map(published).collect()))
    });
    Ok(charts.collect())
}

/// Entries that lack what they need are passed over, as Helm does: others may be fine.
fn published(entry: &Value) -> Option<Published> {
    let digest = entry.field("digest").and_then(Value::as_str).filter(|digest| !digest.is_empty());
    Some(Published {
        version: entry.field("version")?.as_str()?.to_owned(),
        digest: digest.map(|digest| digest.trim_start_matches("sha256:").to_ascii_lowercase()),
        location: entry.field("urls")?.as_sequence()?.first()?.as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn broken_entries_are_passed_over_and_good_ones_kept() {
        let index = "apiVersion: v1\nentries:\n  a:\n  - version: 1.0.0\n    urls: [a.tgz]\n    digest: sha256:AB\n  \
                     - version: 1.1.0\n  - urls: [x.tgz]\n";
        let charts = parse(index.as_bytes()).unwrap();
        assert_eq!(charts["a"].len(), 1);
        assert_eq!(charts["a"][0].digest.as_deref(), Some("ab"));
        assert!(parse(b"apiVersion: v1\n").is_err());
        assert!(parse(b"<html></html>").is_err());
    }

    #[test]
    fn locations_are_relative_to_the_index_or_absolute() {
        let base = Url::parse("https://example.org/charts/index.yaml").unwrap();
        assert_eq!(joined(&base, "a-1.tgz").unwrap().as_str(), "https://example.org/charts/a-1.tgz");
        assert_eq!(joined(&base, "https://cdn/a.tgz").unwrap().as_str(), "https://cdn/a.tgz");
    }

    #[test]
    fn a_mirrors_token_goes_to_the_mirror_only() {
        let base = Url::parse("https://example.org/index.yaml?token=t").unwrap();
        assert_eq!(joined(&base, "a.tgz").unwrap().query(), Some("token=t"));
        assert_eq!(joined(&base, "https://cdn/a.tgz").unwrap().query(), None);
    }
}
