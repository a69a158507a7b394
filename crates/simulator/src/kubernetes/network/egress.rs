//! The socket on which an API server asks for connections into the pod network
//! (<https://kubernetes.io/docs/tasks/extend-kubernetes/setup-konnectivity/>).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::route;
use crate::kubernetes::client;
use crate::kubernetes::clusters::MeetingPoint;
use crate::kubernetes::context::Context;
use crate::kubernetes::kubelet::node_address_of_shadow;
use crate::tcp::at_once;

/// How long finding the way may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// The longest request line with headers that is read.
const LONGEST_REQUEST: usize = 8192;

/// Serves one API server until the node stops.
pub(in crate::kubernetes) async fn run(context: Arc<Context>) {
    let listener = match UnixListener::bind(context.egress_socket()) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(node = context.hostname(), %error, "listen for the pod network");
            return;
        }
    };
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(Arc::clone(&context), stream));
                }
                Err(error) => tracing::debug!(%error, "accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(context: Arc<Context>, mut stream: UnixStream) {
    let found = tokio::time::timeout(DEADLINE, async {
        let target = read_connect(&mut stream).await?;
        find(&context, target).await.map_err(|reason| format!("{target}: {reason}"))
    })
    .await
    .unwrap_or_else(|_| Err("the way wasn't found in time".to_owned()));
    let outcome = match found {
        Ok(way) => enter(way, stream).await,
        Err(reason) => {
            tracing::debug!(node = context.hostname(), %reason, "refuse a connection into the pod network");
            let answer =
                format!("HTTP/1.1 502 Bad Gateway\r\nContent-Length: {}\r\n\r\n{reason}", reason.len());
            stream.write_all(answer.as_bytes()).await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(node = context.hostname(), %error, "a connection into the pod network");
    }
}

enum Way {
    Pod(tokio::sync::mpsc::Sender<UnixStream>),
    Host(TcpStream),
}

async fn enter(way: Way, mut stream: UnixStream) -> Result<(), std::io::Error> {
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await?;
    match way {
        Way::Pod(listener) => {
            listener.send(stream).await.map_err(|_| std::io::Error::other("the pod went away"))
        }
        Way::Host(mut host) => {
            at_once(&host);
            tokio::io::copy_bidirectional(&mut stream, &mut host).await.map(drop)
        }
    }
}

async fn read_connect(stream: &mut UnixStream) -> Result<SocketAddr, String> {
    let mut request = Vec::new();
    // One byte at a time: what follows the headers belongs to the pod.
    while !request.ends_with(b"\r\n\r\n") {
        if request.len() > LONGEST_REQUEST {
            return Err("the request is too long".to_owned());
        }
        request.push(stream.read_u8().await.map_err(|error| error.to_string())?);
    }
    let text = String::from_utf8_lossy(&request);
    let target = text.strip_prefix("CONNECT ").and_then(|rest| rest.split_ascii_whitespace().next());
    let target = target.ok_or_else(|| "the request isn't a CONNECT".to_owned())?;
    target.parse().map_err(|_| format!("{target:?} isn't an address with a port"))
}

async fn find(context: &Context, target: SocketAddr) -> Result<Way, String> {
    let network = context.clusters.pod_network(&MeetingPoint::of(context.configuration()));
    if let Some(listener) = network.find(target) {
        return Ok(Way::Pod(listener));
    }
    let nodes: Vec<_> = context.clusters.members().borrow().iter().map(|member| member.address).collect();
    if let Some(host) = node_address_of_shadow(target.ip(), &nodes) {
        let connected = TcpStream::connect((host, target.port())).await;
        return connected.map(Way::Host).map_err(|error| error.to_string());
    }
    let endpoints = service_endpoints(context, target).await?;
    endpoints
        .iter()
        .find_map(|endpoint| network.find(*endpoint))
        .map(Way::Pod)
        .ok_or_else(|| "no ready pod answers there".to_owned())
}

/// The ready endpoints of the Service that has this address and port.
async fn service_endpoints(context: &Context, target: SocketAddr) -> Result<Vec<SocketAddr>, String> {
    let client = client::talos_admin(context)?;
    let services = Api::<Service>::all(client.clone()).list(&ListParams::default()).await;
    let services = services.map_err(|error| error.to_string())?;
    let found = services.iter().find_map(|service| Some((service, route::service_port(service, target)?)));
    let (service, port) = found.ok_or_else(|| "no Service has this address and port".to_owned())?;
    let namespace = service.namespace().unwrap_or_default();
    let selector =
        ListParams::default().labels(&format!("kubernetes.io/service-name={}", service.name_any()));
    let slices = Api::<EndpointSlice>::namespaced(client, &namespace).list(&selector).await;
    let slices = slices.map_err(|error| error.to_string())?;
    Ok(slices.iter().flat_map(|slice| route::ready_endpoints(slice, &port)).collect())
}
