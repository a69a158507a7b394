//! The pod network: what the API server reaches of pods and Services, and who answers there.
//!
//! The API server opens each connection to a Service or pod as `CONNECT address:port` on a socket of ours. The
//! simulator finds the pod that a Service leads to in the cluster's own EndpointSlices, and hands the connection to
//! whatever the pod plays.

mod egress;
mod injector;
mod play;
mod route;
mod webhook;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::UnixStream;
use tokio::sync::mpsc;

pub(super) use egress::run;
pub(super) use play::{Play, Stage};

/// What listens in the pod network of one cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct PodNetwork {
    listeners: Arc<Mutex<BTreeMap<SocketAddr, mpsc::Sender<UnixStream>>>>,
}

impl PodNetwork {
    /// Listens at a pod's port, until the listener is dropped.
    pub(super) fn listen(&self, address: IpAddr, port: u16) -> Listener {
        let (sender, connections) = mpsc::channel(16);
        let socket = SocketAddr::new(address, port);
        if let Ok(mut listeners) = self.listeners.lock() {
            listeners.insert(socket, sender);
        }
        Listener { network: self.clone(), socket, connections }
    }

    fn find(&self, socket: SocketAddr) -> Option<mpsc::Sender<UnixStream>> {
        self.listeners.lock().ok()?.get(&socket).cloned()
    }
}

/// A port of a pod.
pub(super) struct Listener {
    network: PodNetwork,
    socket: SocketAddr,
    connections: mpsc::Receiver<UnixStream>,
}

impl Listener {
    async fn accept(&mut self) -> Option<UnixStream> {
        self.connections.recv().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Ok(mut listeners) = self.network.listeners.lock() {
            listeners.remove(&self.socket);
        }
    }
}
