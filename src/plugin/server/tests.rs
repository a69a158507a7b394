//! Where clients attach, and the end of a server that belongs to one client.

use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tonic::transport::Endpoint;

use super::*;
use crate::plugin::protocol::tfplugin6::{self as wire, provider_client::ProviderClient};
use crate::plugin::value::{Value, to_message_pack};
use crate::plugin::{
    Attr, Diagnostics, Failure, Model, NoConfiguration, Operation, Registry, Resource, Visitor, required,
};

#[test]
fn both_registries_addresses_are_reattached() {
    let both: serde_json::Value = serde_json::from_str(&reattach("a/b", 7, Path::new("/t/s"))).unwrap();
    let server = serde_json::json!({
        "Protocol": "grpc", "ProtocolVersion": 6, "Pid": 7, "Test": true,
        "Addr": { "Network": "unix", "String": "/t/s" },
    });
    assert_eq!(
        both,
        serde_json::json!({ "registry.terraform.io/a/b": server, "registry.opentofu.org/a/b": server })
    );
}

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A resource whose creation lasts until it is stopped, and then as long as the test likes.
struct Slow {
    events: mpsc::UnboundedSender<&'static str>,
    finish: CancellationToken,
}

#[derive(Clone, Default)]
struct Named {
    name: Attr<String>,
}

impl Model for Named {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "Its name."), &mut self.name);
    }
}

impl Resource for Slow {
    type Model = Named;
    type Data = ();

    const NAME: &'static str = "slow_thing";
    const DESCRIPTION: &'static str = "A slow thing.";

    async fn create(&self, planned: Named, operation: &Operation<()>) -> Result<Named, Diagnostics> {
        self.events.send("begun").unwrap();
        operation.stop().cancelled().await;
        self.events.send("stopped").unwrap();
        self.finish.cancelled().await;
        self.events.send("finished").unwrap();
        Ok(planned)
    }

    async fn read(&self, prior: Named, _: &Operation<()>) -> Result<Option<Named>, Diagnostics> {
        Ok(Some(prior))
    }

    async fn update(&self, _: Named, planned: Named, _: &Operation<()>) -> Result<Named, Failure<Named>> {
        Ok(planned)
    }

    async fn delete(&self, _: Named, _: &Operation<()>) -> Result<(), Diagnostics> {
        Ok(())
    }
}

struct SlowProvider(std::sync::Mutex<Option<Slow>>);

impl Provider for SlowProvider {
    type Config = NoConfiguration;
    type Data = ();

    const ADDRESS: &'static str = "example/slow";
    const DESCRIPTION: &'static str = "A slow provider.";

    async fn configure(&self, _: NoConfiguration, _: &Operation<()>) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, registry: &mut Registry<()>) {
        registry.resource(self.0.lock().unwrap().take().unwrap());
    }
}

#[tokio::test]
async fn ends_with_its_last_client_and_not_before_its_work() {
    let (events, mut told) = mpsc::unbounded_channel();
    let finish = CancellationToken::new();
    let provider = SlowProvider(std::sync::Mutex::new(Some(Slow { events, finish: finish.clone() })));
    let socket = socket::Socket::bind(None).unwrap();
    let path = socket.path();
    let lifetime = Lifetime::default();
    let lifetime = Lifetime { last: lifetime.quit.clone(), ..lifetime };
    let mut server = tokio::spawn(run(provider, socket, None, lifetime.clone()));

    let connector = tower::service_fn(move |_| {
        let path = path.clone();
        async move { UnixStream::connect(path).await.map(TokioIo::new) }
    });
    let channel = Endpoint::from_static("http://plugin").connect_with_connector(connector).await.unwrap();
    let named = Value::Object([("name".to_owned(), Value::String("a".to_owned()))].into_iter().collect());
    let request = wire::apply_resource_change::Request {
        type_name: Slow::NAME.to_owned(),
        planned_state: Some(wire::DynamicValue {
            msgpack: to_message_pack(named).unwrap(),
            json: Vec::new(),
        }),
        ..Default::default()
    };
    let client =
        tokio::spawn(async move { ProviderClient::new(channel).apply_resource_change(request).await });
    let mut next = async || tokio::time::timeout(PATIENCE, told.recv()).await.unwrap();
    assert_eq!(next().await, Some("begun"));
    assert!(lifetime.first.is_cancelled());

    // As a client that is killed: nobody says goodbye.
    client.abort();
    assert_eq!(next().await, Some("stopped"));
    assert!(futures::poll!(&mut server).is_pending(), "work that winds up is waited for");
    finish.cancel();
    assert_eq!(next().await, Some("finished"));
    tokio::time::timeout(PATIENCE, server).await.unwrap().unwrap().unwrap();
}
