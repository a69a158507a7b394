//! Wake-ups: the loop sleeps until something changes, instead of asking again and again.

use std::pin::Pin;

use futures::future::FutureExt as _;
use futures::stream::{FuturesUnordered, Stream, StreamExt as _};
use kube::api::{WatchEvent, WatchParams};
use serde_json::Value;

use super::client::Client;
use super::error::{Cause, Error, Result};
use super::object::Reference;
use super::resources::Filter;

/// How long one watch lasts before the server ends it, in seconds; below what API servers and proxies allow.
const WATCH_SECONDS: u32 = 290;

/// Which objects' changes wake us.
#[derive(Debug, Clone)]
pub struct Watched {
    api_version: String,
    kind: String,
    filter: Filter,
}

impl Watched {
    /// All objects of a kind that `filter` holds.
    #[must_use]
    pub fn new(api_version: &str, kind: &str, filter: Filter) -> Self {
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), filter }
    }

    /// Nodes.
    #[must_use]
    pub fn nodes() -> Self {
        Self::new("v1", "Node", Filter::default())
    }

    /// The pods and the workloads of a namespace.
    #[must_use]
    pub fn workloads(namespace: &str) -> Vec<Self> {
        let filter = Filter { namespace: Some(namespace.to_owned()), ..Filter::default() };
        [
            ("v1", "Pod"),
            ("apps/v1", "DaemonSet"),
            ("apps/v1", "Deployment"),
            ("apps/v1", "StatefulSet"),
            ("batch/v1", "Job"),
        ]
        .map(|(api_version, kind)| Self::new(api_version, kind, filter.clone()))
        .into()
    }
}

/// Watches that stay open between looks.
///
/// A watch that broke is opened again at the next [`Wakeups::changed`], where it last was, so that nothing is
/// missed. While none can be opened, `changed` stays silent: the loop's own pause is the fallback.
pub struct Wakeups {
    client: Client,
    watches: Vec<Watch>,
}

struct Watch {
    watched: Watched,
    /// The newest version seen; none until the first event.
    version: Option<String>,
    events: Option<Events>,
}

type Events = Pin<Box<dyn Stream<Item = kube::Result<WatchEvent<Value>>> + Send>>;

impl Client {
    /// Watches these objects; the first wake-up comes as soon as anything of them is seen.
    #[must_use]
    pub fn wakeups(&self, watched: Vec<Watched>) -> Wakeups {
        let watches =
            watched.into_iter().map(|watched| Watch { watched, version: None, events: None }).collect();
        Wakeups { client: self.clone(), watches }
    }
}

impl Wakeups {
    /// Comes back when something changed. May be dropped at any time without losing a change.
    pub async fn changed(&mut self) {
        let client = &self.client;
        let mut waiting: FuturesUnordered<_> =
            self.watches.iter_mut().map(|watch| watch.changed(client)).collect();
        while let Some(changed) = waiting.next().await {
            if changed {
                return;
            }
        }
        std::future::pending().await
    }
}

impl Watch {
    /// True at a change; false when this watch cannot be opened or broke, which is left to the next call.
    async fn changed(&mut self, client: &Client) -> bool {
        if self.events.is_none() {
            match Self::open(&self.watched, self.version.as_deref(), client).await {
                Ok(events) => self.events = Some(events),
                Err(error) if matches!(error.cause(), Cause::Expired) => {
                    self.version = None;
                    return true;
                }
                Err(error) => {
                    tracing::debug!(error = %error, cause = %error.cause(), "cannot watch");
                    return false;
                }
            }
        }
        let Some(events) = &mut self.events else { return false };
        let mut changed = false;
        loop {
            // Changes that are already here belong to the same wake-up.
            let event = match events.next().now_or_never() {
                Some(event) => event,
                None if changed => return true,
                None => events.next().await,
            };
            match event {
                Some(Ok(event)) => match news(event) {
                    News::Changed(version) => {
                        self.version = version;
                        changed = true;
                    }
                    News::Bookmark(version) => self.version = Some(version),
                    News::Lost => {
                        self.version = None;
                        self.events = None;
                        return true;
                    }
                },
                Some(Err(error)) => {
                    tracing::debug!(%error, "a watch broke");
                    self.events = None;
                    return changed;
                }
                None => {
                    self.events = None;
                    return changed;
                }
            }
        }
    }

    /// Takes the parts and not the whole: an open stream can't be shared between threads.
    async fn open(watched: &Watched, version: Option<&str>, client: &Client) -> Result<Events> {
        let Watched { api_version, kind, filter } = watched;
        let doing = format!("watch objects of kind {kind}");
        let of_kind = Reference {
            namespace: filter.namespace.clone(),
            ..Reference::cluster_wide(api_version, kind, "")
        };
        let request = client.request_for(&doing, &of_kind).await?;
        let parameters = WatchParams {
            label_selector: filter.labels.clone(),
            field_selector: filter.fields.clone(),
            timeout: Some(WATCH_SECONDS),
            bookmarks: true,
            ..WatchParams::default()
        };
        let version = version.unwrap_or_default();
        let request = request.watch_metadata(&parameters, version).map_err(|error| {
            Error::new(&doing, Cause::of(kube::Error::BuildRequest(error), client.server()))
        })?;
        let opening = client.stream_client().request_events::<Value>(request);
        match tokio::time::timeout(client.deadlines().probe, opening).await {
            Ok(Ok(events)) => Ok(Box::pin(events)),
            Ok(Err(error)) => Err(Error::new(doing, Cause::of(error, client.server()))),
            Err(_) => {
                let seconds = client.deadlines().probe.as_secs();
                Err(Error::new(doing, Cause::TimedOut { server: client.server().to_owned(), seconds }))
            }
        }
    }
}

enum News {
    Changed(Option<String>),
    Bookmark(String),
    /// The server no longer keeps what came since the version we know: anything may have changed.
    Lost,
}

fn news(event: WatchEvent<Value>) -> News {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) | WatchEvent::Deleted(object) => {
            let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
            News::Changed(version.map(str::to_owned))
        }
        WatchEvent::Bookmark(bookmark) => News::Bookmark(bookmark.metadata.resource_version),
        WatchEvent::Error(_) => News::Lost,
    }
}
