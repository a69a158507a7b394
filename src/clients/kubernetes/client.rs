//! The connection to one API server, and how a request is sent and bounded.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kube::client::{Body, ConfigExt as _};
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::Value;
use tokio::sync::RwLock;
use tower::timeout::Timeout;
use tower::util::MapFuture;
use tower::{BoxError, ServiceBuilder};

use super::discovery::Kinds;
use super::error::{Cause, Error, Result};

/// How long one call may take, from sending it to the last byte of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// For small questions on which a look rests (`/readyz`, `/version`): a server that needs longer is not ready.
    pub probe: Duration,
    /// For everything else. API servers give up on a request after 60 s; a webhook may take 30 s of that.
    pub call: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { probe: Duration::from_secs(10), call: Duration::from_secs(35) }
    }
}

/// How to reach a server, beyond what the kubeconfig says.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Talk to this URL (`https://10.0.0.11:6443`) instead of the kubeconfig's: one member instead of the endpoint.
    /// The certificate must name it.
    pub server: Option<String>,
    /// The kubeconfig's context; its current one if none.
    pub context: Option<String>,
    /// Deadlines of the calls.
    pub deadlines: Deadlines,
}

/// A client of one Kubernetes API server. Cheap to clone; clones share connections and what they know of kinds.
#[derive(Clone)]
pub struct Client {
    kube: kube::Client,
    server: Arc<str>,
    deadlines: Deadlines,
    pub(super) kinds: Arc<RwLock<Option<Arc<Kinds>>>>,
}

impl Client {
    /// A client with the credentials of a kubeconfig (its text). Nothing is sent yet.
    ///
    /// # Errors
    /// [`Cause::Kubeconfig`] when the text, its certificates or the server's URL cannot be used.
    pub async fn from_kubeconfig(kubeconfig: &str, options: &Options) -> Result<Self> {
        let refused = |error: Box<dyn std::error::Error + Send + Sync>| {
            Error::new("make a Kubernetes client", Cause::Kubeconfig(error))
        };
        let kubeconfig = Kubeconfig::from_yaml(kubeconfig).map_err(|error| refused(error.into()))?;
        if kubeconfig
            .clusters
            .iter()
            .flat_map(|named| &named.cluster)
            .any(|cluster| cluster.proxy_url.is_some())
        {
            return Err(refused("its proxy-url is not supported: API servers are reached directly".into()));
        }
        let choice = KubeConfigOptions { context: options.context.clone(), ..KubeConfigOptions::default() };
        let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &choice)
            .await
            .map_err(|error| refused(error.into()))?;
        if let Some(server) = &options.server {
            config.cluster_url =
                server.parse().map_err(|error: http::uri::InvalidUri| refused(error.into()))?;
        }
        let server = config.cluster_url.to_string();
        let kube = connected(&config, options.deadlines.probe).map_err(|error| refused(error.into()))?;
        Ok(Self {
            kube,
            server: server.trim_end_matches('/').into(),
            deadlines: options.deadlines,
            kinds: Arc::default(),
        })
    }

    /// The URL of the server that this client talks to.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    pub(super) fn deadlines(&self) -> Deadlines {
        self.deadlines
    }

    /// The client underneath, for streams: they have no deadline by nature.
    pub(super) fn stream_client(&self) -> &kube::Client {
        &self.kube
    }

    /// Sends a request and reads the answer as JSON.
    pub(super) async fn json(
        &self,
        attempt: &str,
        request: Result<Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Value> {
        let text = self.text(attempt, request, self.deadlines.call).await?;
        // Not by kube: it logs a body that it cannot read, and this one may be a Secret.
        serde_json::from_str(&text).map_err(|error| Error::new(attempt, Cause::Unreadable(error.to_string())))
    }

    /// Sends a request and gives the answer's body, or fails at `deadline`.
    pub(super) async fn text(
        &self,
        attempt: &str,
        request: Result<Request<Vec<u8>>, kube::core::request::Error>,
        deadline: Duration,
    ) -> Result<String> {
        let request = request.map_err(|error| {
            Error::new(attempt, Cause::of(kube::Error::BuildRequest(error), &self.server))
        })?;
        match tokio::time::timeout(deadline, self.kube.request_text(request)).await {
            Ok(answer) => answer.map_err(|error| Error::new(attempt, Cause::of(error, &self.server))),
            Err(_) => {
                let cause = Cause::TimedOut { server: self.server.to_string(), seconds: deadline.as_secs() };
                Err(Error::new(attempt, cause))
            }
        }
    }
}

/// A client that makes its connections within `deadline`.
///
/// Not kube's own: that one leaves Nagle's algorithm on, and a request in two writes (head and body) then waits for the
/// server's delayed acknowledgement, 40 ms for each object of a chart. It would also try again by itself, which is the
/// loop's business, since it knows the operation's deadline; and it would take the environment's proxies, which lead to the
/// internet, not to machines: those are reached directly, as by Talos' API.
fn connected(config: &kube::Config, deadline: Duration) -> Result<kube::Client, kube::Error> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    let tls = Timeout::new(config.rustls_https_connector_with_connector(tcp)?, deadline);
    let tls = MapFuture::new(tls, Box::pin);
    let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build::<_, Body>(tls);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(kube::Client::new(service, config.default_namespace.clone()))
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("server", &self.server).finish_non_exhaustive()
    }
}
