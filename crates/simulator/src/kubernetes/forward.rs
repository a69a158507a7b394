//! TCP forwarding: KubePrism, the node's own load balancer for the API server, and shared virtual addresses.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use super::clusters::MeetingPoint;
use super::components::Component;
use super::context::Context;
use super::files::{endpoint_host, endpoint_port};
use crate::tcp::at_once;

/// Pause before an address that is taken is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// How long connecting to one API server may take; that it connects is KubePrism's only check of health.
const CONNECT: Duration = Duration::from_secs(1);

/// Runs KubePrism until the node stops, where the configuration has it on.
pub(super) async fn run_kube_prism(context: Arc<Context>) {
    let Some(port) = context.configuration().machine.kube_prism_port else {
        return;
    };
    let listener = listen(&context, (context.address, port).into()).await;
    serve(&context, listener, kube_prism_targets).await;
}

/// Holds a virtual address while this node's API server is ready. That only one listener can have it stands for
/// Talos' election; who loses it gives it to the next within half a second.
pub(super) async fn run_virtual_address(context: Arc<Context>, address: IpAddr) {
    let port = context.configuration().cluster.local_api_server_port;
    let mut components = context.components.subscribe();
    loop {
        if components.wait_for(|all| all.api_server == Component::Ready).await.is_err() {
            return;
        }
        let listener = listen(&context, (address, port).into()).await;
        tokio::select! {
            () = serve(&context, listener, |context| vec![Target::Address((context.address, port).into())]) => {}
            _ = components.wait_for(|all| all.api_server != Component::Ready) => {}
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Address(SocketAddr),
    Name(String, u16),
}

/// The node's own API server first, then those of its fellows, then the cluster's endpoint.
fn kube_prism_targets(context: &Context) -> Vec<Target> {
    let configuration = context.configuration();
    let own = MeetingPoint::of(configuration);
    let mut targets = Vec::new();
    if context.is_control_plane() {
        targets.push(Target::Address((context.address, configuration.cluster.local_api_server_port).into()));
    }
    for member in context.clusters.members().borrow().iter().filter(|member| member.meeting_point == own) {
        if let Some(port) = member.api_server_port {
            let target = Target::Address((member.address, port).into());
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }
    if let Some(host) = endpoint_host(&configuration.cluster.endpoint) {
        targets.push(Target::Name(host.to_owned(), endpoint_port(&configuration.cluster.endpoint)));
    }
    targets
}

async fn listen(context: &Context, address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) => tracing::debug!(node = context.hostname(), %address, %error, "listen"),
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn serve(context: &Arc<Context>, listener: TcpListener, targets: impl Fn(&Context) -> Vec<Target>) {
    // Connections end with the listener: they belong to the set.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    connections.spawn(relay(client, targets(context)));
                }
                Err(error) => tracing::debug!(%error, "accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn relay(mut client: TcpStream, targets: Vec<Target>) {
    for target in targets {
        let connecting = async {
            match &target {
                Target::Address(address) => TcpStream::connect(address).await,
                Target::Name(host, port) => TcpStream::connect((host.as_str(), *port)).await,
            }
        };
        if let Ok(Ok(mut server)) = tokio::time::timeout(CONNECT, connecting).await {
            // What passes through is as quick as without this.
            [&client, &server].into_iter().for_each(at_once);
            // Either side may close at any time.
            drop(tokio::io::copy_bidirectional(&mut client, &mut server).await);
            return;
        }
    }
}
