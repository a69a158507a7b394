//! Where a chart comes from, as a user writes it.

use std::net::IpAddr;
use std::path::PathBuf;

use reqwest::Url;

/// A place where charts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A classic repository: the folder that holds `index.yaml`.
    Repository(Url),
    /// A repository in an OCI registry.
    Registry(Registry),
    /// A chart's folder, a chart's archive, or a folder of archives.
    Path(PathBuf),
}

/// A repository in an OCI registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registry {
    /// The registry's base URL, such as `https://quay.io/`.
    pub(super) base: Url,
    /// The repository's path, such as `jetstack/charts/cert-manager`.
    pub(super) repository: String,
    /// The digest of the manifest, when the user pinned one.
    pub(super) digest: Option<String>,
}

/// A text that names no place. Completes "failed to …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "understand the chart source {text:?}: expected https://HOST/PATH, oci://HOST/PATH[@sha256:DIGEST], or a path to a \
     folder or an archive"
)]
pub struct SourceError {
    text: String,
}

impl Source {
    /// Reads a source.
    ///
    /// # Errors
    /// [`SourceError`] when the text is none of the forms.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let wrong = || SourceError { text: text.to_owned() };
        let Some((scheme, rest)) = text.split_once("://") else {
            return if text.trim().is_empty() { Err(wrong()) } else { Ok(Self::Path(text.into())) };
        };
        match scheme {
            "http" | "https" => {
                // The last part of the path is a folder, with or without a slash at its end.
                let mut url = Url::parse(text).map_err(|_| wrong())?;
                if !url.path().ends_with('/') {
                    url.set_path(&format!("{}/", url.path()));
                }
                Ok(Self::Repository(url))
            }
            "oci" | "oci+http" => {
                Registry::parse(rest, scheme == "oci+http").map(Self::Registry).ok_or_else(wrong)
            }
            "file" => Ok(Self::Path(rest.into())),
            _ => Err(wrong()),
        }
    }
}

impl Registry {
    fn parse(rest: &str, plain: bool) -> Option<Self> {
        let (place, digest) = match rest.split_once('@') {
            Some((place, digest)) => (place, Some(sha256_digest(digest)?)),
            None => (rest, None),
        };
        let (host, repository) = place.trim_end_matches('/').split_once('/')?;
        let base = Url::parse(&format!("https://{host}/")).ok()?;
        let scheme = if plain || is_loopback(&base) { "http" } else { "https" };
        // Docker Hub's registry is not at the name that everyone writes.
        let host = if host == "docker.io" { "registry-1.docker.io" } else { host };
        let base = Url::parse(&format!("{scheme}://{host}/")).ok()?;
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
        let is_name = !repository.is_empty() && repository.chars().all(allowed) && !repository.contains("..");
        is_name.then(|| Self { base, repository: repository.to_owned(), digest })
    }

    /// The repository of chart `name`: the path itself when it ends in the chart's name, else one below it.
    pub(super) fn of_chart(&self, name: &str) -> Self {
        let last = self.repository.rsplit('/').next();
        if last == Some(name) || self.digest.is_some() {
            self.clone()
        } else {
            Self { repository: format!("{}/{name}", self.repository), ..self.clone() }
        }
    }
}

/// Whether a URL's host is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn sha256_digest(text: &str) -> Option<String> {
    let digits = text.strip_prefix("sha256:")?;
    let is_digest =
        digits.len() == 64 && digits.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    is_digest.then(|| digits.to_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn registry(text: &str) -> Registry {
        let Source::Registry(registry) = Source::parse(text).unwrap() else {
            panic!("{text} is no registry")
        };
        registry
    }

    #[test]
    fn a_repository_is_a_folder_with_or_without_its_slash() {
        for text in ["https://helm.cilium.io", "https://example.org/charts", "https://example.org/charts/"] {
            let Source::Repository(url) = Source::parse(text).unwrap() else { panic!("{text}") };
            assert!(url.path().ends_with('/'), "{url}");
        }
    }

    #[test]
    fn registries_speak_https_but_on_this_machine_or_when_asked_otherwise() {
        assert_eq!(registry("oci://quay.io/jetstack/charts/cert-manager").base.scheme(), "https");
        assert_eq!(registry("oci://127.0.10.2:5000/charts").base.scheme(), "http");
        assert_eq!(registry("oci://localhost:5000/charts").base.scheme(), "http");
        assert_eq!(registry("oci+http://mirror.lan:5000/charts").base.scheme(), "http");
        assert_eq!(registry("oci://docker.io/a/b").base.host_str(), Some("registry-1.docker.io"));
    }

    #[test]
    fn a_registrys_path_is_the_charts_own_or_the_one_above_it() {
        let repository = |text: &str| registry(text).of_chart("cilium").repository;
        assert_eq!(repository("oci://quay.io/cilium/charts"), "cilium/charts/cilium");
        assert_eq!(repository("oci://quay.io/cilium/charts/cilium"), "cilium/charts/cilium");
    }

    #[test]
    fn a_pinned_digest_is_read_and_a_broken_one_is_refused() {
        let digest = "a".repeat(64);
        assert_eq!(registry(&format!("oci://h/p@sha256:{digest}")).digest, Some(digest));
        for wrong in
            ["oci://h/p@sha256:12", "oci://h/p@md5:12", "oci://h", "oci://h/", "oci://h/A", "ftp://h/p", " "]
        {
            assert!(Source::parse(wrong).is_err(), "{wrong}");
        }
    }
}
