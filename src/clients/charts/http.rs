//! Bounded requests: each has a deadline and a size that it may not pass.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, StatusCode, Url};

use super::error::{Cause, Error, Result};
use super::source::is_loopback;

/// How long and how often charts are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// To reach the server.
    pub connect: Duration,
    /// For one request, to the last byte: an index of some megabytes over a slow line.
    pub request: Duration,
    /// How often a request that may succeed later is made.
    pub attempts: u32,
    /// The pause after the first failure; it doubles each time.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            request: Duration::from_secs(60),
            attempts: 3,
            pause: Duration::from_millis(500),
        }
    }
}

/// What a request is for, and with it how large the answer may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A repository's index: the largest public ones have some 20 MiB.
    Index,
    /// A chart's archive: Helm itself refuses charts of more than 100 MiB unpacked, and archives are text.
    Archive,
    /// A registry's manifest, token or list of tags: registries refuse manifests of more than 4 MiB.
    Document,
}

impl Kind {
    fn limit(self) -> u64 {
        match self {
            Self::Index => 64 << 20,
            Self::Archive => 50 << 20,
            Self::Document => 4 << 20,
        }
    }
}

/// An answer that came completely.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    /// Where it came from, after redirects.
    pub(super) url: Url,
}

pub(super) struct Http {
    client: Client,
    limits: Limits,
}

impl Http {
    pub(super) fn new(limits: Limits) -> Result<Self> {
        let redirects = reqwest::redirect::Policy::custom(|attempt| {
            let secure = attempt.previous().iter().any(|url| url.scheme() == "https");
            if attempt.previous().len() > 5 {
                attempt.error("more than 5 redirects")
            } else if secure && attempt.url().scheme() != "https" {
                attempt.error("HTTPS leads to plain HTTP")
            } else {
                attempt.follow()
            }
        });
        let client = Client::builder()
            .connect_timeout(limits.connect)
            .timeout(limits.request)
            .redirect(redirects)
            .user_agent(concat!("terraform-provider-kontinuum/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Error::new("fetch charts", Cause::Setup(error)))?;
        Ok(Self { client, limits })
    }

    /// Asks, again where that may help, until an answer came that is not a server's failure.
    pub(super) async fn get(
        &self,
        url: &Url,
        headers: &[(HeaderName, HeaderValue)],
        kind: Kind,
    ) -> Result<Answer, Cause> {
        let mut pause = self.limits.pause;
        let mut attempt = 1;
        loop {
            let outcome = self.once(url, headers, kind).await;
            match outcome {
                Err(cause) if cause.is_transient() && attempt < self.limits.attempts => {
                    tracing::debug!(%cause, attempt, "trying again");
                    tokio::time::sleep(pause).await;
                    attempt += 1;
                    pause *= 2;
                }
                outcome => return outcome,
            }
        }
    }

    /// Asks for something that has to be there.
    pub(super) async fn get_existing(&self, url: &Url, kind: Kind) -> Result<Answer, Cause> {
        let answer = self.get(url, &[], kind).await?;
        match answer.status {
            status if status.is_success() => Ok(answer),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Cause::LoginRequired(shown(url))),
            status => Err(Cause::Status { url: shown(url), status: status.as_u16() }),
        }
    }

    async fn once(
        &self,
        url: &Url,
        headers: &[(HeaderName, HeaderValue)],
        kind: Kind,
    ) -> Result<Answer, Cause> {
        let unreachable =
            |error: reqwest::Error| Cause::Unreachable { url: shown(url), source: error.without_url() };
        let mut request = self.client.get(url.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Err(Cause::Status { url: shown(url), status: status.as_u16() });
        }
        let too_large = || Cause::TooLarge { url: shown(url), limit: kind.limit() };
        if response.content_length().is_some_and(|length| length > kind.limit()) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if (body.len() + chunk.len()) as u64 > kind.limit() {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer { status, headers: response.headers().clone(), url: response.url().clone(), body })
    }
}

/// A URL that came from elsewhere may be followed: never from HTTPS to plain HTTP, but on this machine.
pub(super) fn follow(from: &Url, to: Url) -> Result<Url, Cause> {
    let plain = to.scheme() == "http" && (from.scheme() == "http" || is_loopback(&to));
    if to.scheme() == "https" || plain { Ok(to) } else { Err(Cause::Downgrade(shown(from))) }
}

/// A URL as it may be shown: without a user's name, password and query, which may be a signature.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Fails only for URLs that cannot carry a user, which then carry none.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn a_shown_url_holds_no_password_and_no_signature() {
        let url = Url::parse("https://user:secret@example.org/a?X-Signature=secret").unwrap();
        assert_eq!(shown(&url), "https://example.org/a");
    }

    #[test]
    fn https_never_leads_to_http() {
        let secure = Url::parse("https://a/").unwrap();
        let plain = Url::parse("http://a/").unwrap();
        assert!(follow(&secure, plain.clone()).is_err());
        assert!(follow(&plain, plain.clone()).is_ok());
        assert!(follow(&plain, secure.clone()).is_ok());
        assert!(follow(&secure, Url::parse("file:///etc/passwd").unwrap()).is_err());
    }
}
