//! OCI registries (<https://github.com/opencontainers/distribution-spec/blob/main/spec.md>,
//! <https://helm.sh/docs/topics/registries/>): a token where one is asked for, a manifest, and the chart's layer.

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue, LINK, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};
use serde::Deserialize;

use super::error::Cause;
use super::http::{Answer, Http, Kind, follow, shown};
use super::source::Registry;
use super::versions::{choose, is_exact};
use super::{Fetched, sha256, unpack};

/// What a manifest may be; an index of manifests is followed to the one that holds a chart.
const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The layer that holds the chart, and its name in Helm before 3.7.
const CHART_LAYERS: [&str; 2] =
    ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];
/// Pages of tags that are read: more than any chart has versions.
const MOST_PAGES: usize = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    media_type: Option<String>,
    #[serde(default)]
    layers: Vec<Descriptor>,
    /// Of an index.
    #[serde(default)]
    manifests: Vec<Descriptor>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

pub(super) async fn fetch(
    http: &Http,
    registry: &Registry,
    name: &str,
    wanted: &str,
) -> Result<Fetched, Cause> {
    let registry = registry.of_chart(name);
    let mut session = Session { http, registry: &registry, token: None };
    let (manifest, reference) = session.find(wanted).await?;
    let layer = manifest.layers.iter().find(|layer| CHART_LAYERS.contains(&layer.media_type.as_str()));
    let layer = layer.ok_or_else(|| {
        let found: Vec<_> = manifest.layers.iter().map(|layer| layer.media_type.as_str()).collect();
        session.unreadable(&reference, &format!("it holds no chart but {}", found.join(", ")))
    })?;
    let archive = session.existing(&format!("blobs/{}", layer.digest), Kind::Archive).await?.body;
    verify(&format!("the chart of {reference}"), &archive, &layer.digest)?;
    let fetched = unpack(&archive, reference)?;
    if fetched.chart.metadata().name != name {
        return Err(Cause::NoChart { place: fetched.origin, name: name.to_owned() });
    }
    Ok(fetched)
}

/// One fetch; the token that the registry gave is kept for its requests.
struct Session<'a> {
    http: &'a Http,
    registry: &'a Registry,
    token: Option<String>,
}

impl Session<'_> {
    /// The manifest that is meant, and what it is called.
    async fn find(&mut self, wanted: &str) -> Result<(Manifest, String), Cause> {
        if let Some(digest) = self.registry.digest.clone() {
            return self.manifest(&format!("sha256:{digest}")).await;
        }
        if is_exact(wanted) {
            match self.manifest(&tag(wanted)).await {
                Err(Cause::Status { status: 404, .. }) => {}
                found => return found,
            }
        }
        let tags = self.tags().await?;
        // Tags cannot hold a plus sign, which versions may: it is written as an underscore.
        let versions: Vec<_> = tags.iter().map(|tag| tag.replace('_', "+")).collect();
        let versions: Vec<_> = versions.iter().map(String::as_str).collect();
        let version = choose(&versions, wanted)?;
        self.manifest(&tag(version)).await
    }

    async fn manifest(&mut self, reference: &str) -> Result<(Manifest, String), Cause> {
        let separator = if reference.starts_with("sha256:") { '@' } else { ':' };
        let host = self.registry.base.host_str().unwrap_or_default();
        let shown = format!("oci://{host}/{}{separator}{reference}", self.registry.repository);
        let mut wanted = reference.to_owned();
        // An index leads to a manifest, and a manifest to no other.
        for _ in 0..2 {
            let body = self.existing(&format!("manifests/{wanted}"), Kind::Document).await?.body;
            if wanted.starts_with("sha256:") {
                verify(&shown, &body, &wanted)?;
            }
            let manifest: Manifest =
                serde_json::from_slice(&body).map_err(|error| self.unreadable(&shown, &error.to_string()))?;
            if manifest.media_type.as_deref() != Some(INDEX) {
                return Ok((manifest, shown));
            }
            let first = manifest.manifests.into_iter().next();
            wanted = first.ok_or_else(|| self.unreadable(&shown, "an index of nothing"))?.digest;
        }
        Err(self.unreadable(&shown, "an index of indexes"))
    }

    async fn tags(&mut self) -> Result<Vec<String>, Cause> {
        let mut tags = Vec::new();
        let mut url = self.url("tags/list?n=1000")?;
        for _ in 0..MOST_PAGES {
            let answer = self.expect(&url, Kind::Document).await?;
            let page: Tags = serde_json::from_slice(&answer.body)
                .map_err(|error| Cause::Unreadable { url: shown(&url), problem: error.to_string() })?;
            tags.extend(page.tags.unwrap_or_default());
            match next_page(&answer) {
                Some(next) => url = follow(&answer.url, next)?,
                None => return Ok(tags),
            }
        }
        Ok(tags)
    }

    async fn existing(&mut self, path: &str, kind: Kind) -> Result<Answer, Cause> {
        let url = self.url(path)?;
        self.expect(&url, kind).await
    }

    async fn expect(&mut self, url: &Url, kind: Kind) -> Result<Answer, Cause> {
        let mut answer = self.ask(url, kind).await?;
        if answer.status == StatusCode::UNAUTHORIZED && self.token.is_none() {
            self.token = Some(self.log_in(&answer).await?);
            answer = self.ask(url, kind).await?;
        }
        match answer.status {
            status if status.is_success() => Ok(answer),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Cause::LoginRequired(shown(url))),
            status => Err(Cause::Status { url: shown(url), status: status.as_u16() }),
        }
    }

    async fn ask(&self, url: &Url, kind: Kind) -> Result<Answer, Cause> {
        let mut headers: Vec<(HeaderName, HeaderValue)> = vec![(ACCEPT, HeaderValue::from_static(MANIFESTS))];
        let same_host = url.host() == self.registry.base.host();
        if let Some(token) = self.token.as_ref().filter(|_| same_host) {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value = value.map_err(|_| self.unreadable(url.as_str(), "its token is no text"))?;
            value.set_sensitive(true);
            headers.push((AUTHORIZATION, value));
        }
        self.http.get(url, &headers, kind).await
    }

    /// A token for everyone, as the registry's challenge says where to get one (RFC 6750).
    async fn log_in(&self, refused: &Answer) -> Result<String, Cause> {
        let challenge = refused.headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let login = || Cause::LoginRequired(shown(&refused.url));
        let challenge = parse_challenge(challenge.ok_or_else(login)?).ok_or_else(login)?;
        let mut url = follow(&refused.url, Url::parse(&challenge.realm).map_err(|_| login())?)?;
        let scope =
            challenge.scope.unwrap_or_else(|| format!("repository:{}:pull", self.registry.repository));
        url.query_pairs_mut().append_pair("scope", &scope);
        if let Some(service) = &challenge.service {
            url.query_pairs_mut().append_pair("service", service);
        }
        let answer = self.http.get_existing(&url, Kind::Document).await?;
        // The problem is not quoted: it could hold the token.
        let token: Token = serde_json::from_slice(&answer.body)
            .map_err(|_| self.unreadable(&shown(&url), "expected a token"))?;
        token.token.or(token.access_token).ok_or_else(|| self.unreadable(&shown(&url), "expected a token"))
    }

    fn url(&self, path: &str) -> Result<Url, Cause> {
        let text = format!("v2/{}/{path}", self.registry.repository);
        self.registry.base.join(&text).map_err(|error| self.unreadable(&text, &error.to_string()))
    }

    fn unreadable(&self, url: &str, problem: &str) -> Cause {
        Cause::Unreadable { url: url.to_owned(), problem: problem.to_owned() }
    }
}

fn tag(version: &str) -> String {
    version.replace('+', "_")
}

fn verify(what: &str, bytes: &[u8], digest: &str) -> Result<(), Cause> {
    let found = format!("sha256:{}", sha256(bytes));
    if found == digest {
        Ok(())
    } else {
        Err(Cause::Digest { what: what.to_owned(), found, expected: digest.to_owned() })
    }
}

/// The next page of a list (RFC 8288): `</v2/…>; rel="next"`.
fn next_page(answer: &Answer) -> Option<Url> {
    let link = answer.headers.get(LINK)?.to_str().ok()?;
    let (target, parameters) = link.split_once('>')?;
    let target = target.trim().strip_prefix('<')?;
    parameters.contains("next").then(|| answer.url.join(target).ok())?
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Challenge {
    realm: String,
    service: Option<String>,
    scope: Option<String>,
}

/// `Bearer realm="https://…",service="…",scope="repository:a/b:pull,push"`; other schemes want a password.
fn parse_challenge(text: &str) -> Option<Challenge> {
    let (scheme, mut rest) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let mut challenge = Challenge::default();
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"')?;
        match key.trim_matches([',', ' ']) {
            "realm" => value.clone_into(&mut challenge.realm),
            "service" => challenge.service = Some(value.to_owned()),
            "scope" => challenge.scope = Some(value.to_owned()),
            _ => {}
        }
        rest = after;
    }
    (!challenge.realm.is_empty()).then_some(challenge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_where_to_get_a_token() {
        let text = r#"Bearer realm="https://auth.example.org/token",service="registry",scope="repository:a/b:pull,push""#;
        let expected = Challenge {
            realm: "https://auth.example.org/token".to_owned(),
            service: Some("registry".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(parse_challenge(text), Some(expected));
    }

    #[test]
    fn a_registry_that_wants_a_password_is_not_asked_for_a_token() {
        assert_eq!(parse_challenge(r#"Basic realm="registry""#), None);
        assert_eq!(parse_challenge("Bearer "), None);
    }

    #[test]
    fn tags_write_a_plus_as_an_underscore() {
        assert_eq!(tag("1.2.3+build.4"), "1.2.3_build.4");
    }
}
