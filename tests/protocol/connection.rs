//! A client of our own, connected to an example provider in this process.

use std::path::PathBuf;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use kontinuum::plugin::DebugServer;
use serde_json::Value as Json;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::transport::{Channel, Endpoint};

use crate::example::Example;
use crate::generated::tfplugin6::provider_client::ProviderClient;
use crate::generated::tfplugin6::{self as wire, diagnostic::Severity};
use crate::values::dynamic;

/// Longer than anything here takes, shorter than a person waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const THING: &str = "example_thing";

/// A running example provider.
pub(crate) struct Running {
    pub(crate) socket: PathBuf,
    pub(crate) reattach: String,
    events: mpsc::UnboundedReceiver<String>,
    quit: CancellationToken,
    server: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Running {
    pub(crate) fn start() -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let server = DebugServer::bind(Example { events: sender }).expect("a socket can be made");
        let (socket, reattach, quit) = (server.socket(), server.reattach(), CancellationToken::new());
        let server = tokio::spawn(server.run(quit.clone()));
        Self { socket, reattach, events, quit, server }
    }

    /// A client whose provider is configured.
    pub(crate) async fn configured(&self) -> Client {
        let mut client = self.connect().await;
        assert_eq!(client.configure(serde_json::json!({})).await, Vec::<Told>::new());
        client
    }

    /// A client whose provider is not.
    pub(crate) async fn connect(&self) -> Client {
        Client::over(channel(self.socket.clone()).await)
    }

    /// What the provider tells next.
    pub(crate) async fn event(&mut self) -> String {
        tokio::time::timeout(PATIENCE, self.events.recv())
            .await
            .expect("the provider tells something in time")
            .expect("the provider lives")
    }

    /// Ends it as SIGTERM does.
    pub(crate) async fn end(self) {
        self.quit.cancel();
        let ended = tokio::time::timeout(PATIENCE, self.server).await.expect("the server ends in time");
        ended.expect("the server does not panic").expect("the server ends well");
    }
}

pub(crate) async fn channel(socket: PathBuf) -> Channel {
    let connector = tower::service_fn(move |_| {
        let socket = socket.clone();
        async move { UnixStream::connect(socket).await.map(TokioIo::new) }
    });
    Endpoint::from_static("http://plugin")
        .connect_with_connector(connector)
        .await
        .expect("the server accepts")
}

/// What the user is told: severity, summary and path.
pub(crate) type Told = (&'static str, String, String);

/// A tfplugin6 client.
pub(crate) struct Client {
    pub(crate) rpc: ProviderClient<Channel>,
}

/// A plan or a result as a client holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) state: Json,
    pub(crate) private: Vec<u8>,
    pub(crate) told: Vec<Told>,
    pub(crate) replace: Vec<String>,
}

impl Client {
    pub(crate) fn over(channel: Channel) -> Self {
        const LIMIT: usize = 256 << 20;
        let rpc =
            ProviderClient::new(channel).max_decoding_message_size(LIMIT).max_encoding_message_size(LIMIT);
        Self { rpc }
    }

    pub(crate) async fn configure(&mut self, config: Json) -> Vec<Told> {
        let request = wire::configure_provider::Request { config: dynamic(&config), ..Default::default() };
        told(self.rpc.configure_provider(request).await.expect("it answers").into_inner().diagnostics)
    }

    /// Plans as clients do: `config` null plans a deletion.
    pub(crate) async fn plan(&mut self, config: &Json, prior: &Json, private: &[u8]) -> Held {
        let request = wire::plan_resource_change::Request {
            type_name: THING.to_owned(),
            prior_state: dynamic(prior),
            proposed_new_state: dynamic(config),
            config: dynamic(config),
            prior_private: private.to_vec(),
            ..Default::default()
        };
        let answer = self.rpc.plan_resource_change(request).await.expect("it answers").into_inner();
        Held {
            state: crate::values::json(answer.planned_state),
            private: answer.planned_private,
            told: told(answer.diagnostics),
            replace: answer.requires_replace.into_iter().map(path).collect(),
        }
    }

    /// Applies what was planned.
    pub(crate) async fn apply(&mut self, prior: &Json, planned: &Held) -> Held {
        let request = wire::apply_resource_change::Request {
            type_name: THING.to_owned(),
            prior_state: dynamic(prior),
            planned_state: dynamic(&planned.state),
            planned_private: planned.private.clone(),
            ..Default::default()
        };
        let answer = self.rpc.apply_resource_change(request).await.expect("it answers").into_inner();
        Held {
            state: crate::values::json(answer.new_state),
            private: answer.private,
            told: told(answer.diagnostics),
            replace: Vec::new(),
        }
    }

    /// Plans and applies.
    pub(crate) async fn change(&mut self, config: &Json, prior: &Held) -> Held {
        let planned = self.plan(config, &prior.state, &prior.private).await;
        assert!(planned.told.iter().all(|(severity, ..)| *severity == "warning"), "{:?}", planned.told);
        self.apply(&prior.state, &planned).await
    }

    /// Makes a new thing.
    pub(crate) async fn create(&mut self, config: &Json) -> Held {
        self.change(config, &nothing()).await
    }

    pub(crate) async fn read(&mut self, current: &Held) -> Held {
        let request = wire::read_resource::Request {
            type_name: THING.to_owned(),
            current_state: dynamic(&current.state),
            private: current.private.clone(),
            ..Default::default()
        };
        let answer = self.rpc.read_resource(request).await.expect("it answers").into_inner();
        Held {
            state: crate::values::json(answer.new_state),
            private: answer.private,
            told: told(answer.diagnostics),
            replace: Vec::new(),
        }
    }
}

/// What a client holds of a resource that is not there.
pub(crate) const fn nothing() -> Held {
    Held { state: Json::Null, private: Vec::new(), told: Vec::new(), replace: Vec::new() }
}

pub(crate) fn told(all: Vec<wire::Diagnostic>) -> Vec<Told> {
    all.into_iter()
        .map(|one| {
            let severity = match one.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Invalid => panic!("a diagnostic without severity"),
            };
            (severity, one.summary, one.attribute.map(path).unwrap_or_default())
        })
        .collect()
}

fn path(path: wire::AttributePath) -> String {
    use wire::attribute_path::step::Selector;

    let steps = path.steps.into_iter().map(|step| match step.selector.expect("a step selects something") {
        Selector::AttributeName(name) => name,
        Selector::ElementKeyString(key) => format!("[{key:?}]"),
        Selector::ElementKeyInt(index) => format!("[{index}]"),
    });
    steps.collect::<Vec<_>>().join(".")
}
