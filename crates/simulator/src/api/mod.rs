//! Talos' API on a machine.
//!
//! [`Listener`] accepts connections, [`Gate`] judges calls, the other modules answer them, each a service or a part of
//! the machine service.

mod apply;
mod cluster;
mod etcd;
mod files;
mod gate;
mod gzip;
mod inspect;
mod lifecycle;
mod listener;
mod machine;
mod methods;
mod observation;
mod state;
mod storage;
mod time;

use std::pin::Pin;
use std::sync::Arc;

use futures::Stream;
use talos_api::cluster::cluster_service_server::ClusterServiceServer;
use talos_api::common::Data;
use talos_api::cosi::state_server::StateServer;
use talos_api::inspect::inspect_service_server::InspectServiceServer;
use talos_api::machine::machine_service_server::MachineServiceServer;
use talos_api::storage::storage_service_server::StorageServiceServer;
use talos_api::time::time_service_server::TimeServiceServer;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

pub(crate) use gate::Gate;
pub(crate) use listener::Listener;

use crate::machine::Boot;
use crate::resources::cluster::Role;
use crate::tls::Caller;

/// Largest message in both directions; the server of maintenance mode up to 1.12 takes gRPC's default.
const LARGEST_MESSAGE: usize = 32 << 20;
const LARGEST_MESSAGE_UP_TO_1_12: usize = 4 << 20;
/// Bytes per message of a byte stream.
const CHUNK: usize = 32 << 10;

/// A stream of answers.
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The gate to the services of a machine, in maintenance mode or with mutual TLS.
pub(crate) fn gate(boot: &Arc<Boot>, mutual: bool) -> Gate {
    let mode = methods::Mode { version: boot.version, maintenance: !mutual };
    let small = !mutual && !boot.version.apid_in_maintenance();
    let limit = if small { LARGEST_MESSAGE_UP_TO_1_12 } else { LARGEST_MESSAGE };
    let mut own_names: Vec<_> = boot.addresses().iter().map(ToString::to_string).collect();
    own_names.extend(boot.hostname());
    let machine = &boot.machine;
    Gate {
        routes: routes(boot, limit),
        mode,
        own_names: Arc::new(own_names),
        control_plane: boot.role() == Role::ControlPlane,
        faults: Arc::clone(&machine.faults),
        recorder: gate::Recorder {
            events: Arc::clone(&machine.site.events),
            machine: machine.specification.name.clone(),
        },
    }
}

fn routes(boot: &Arc<Boot>, limit: usize) -> Routes {
    let boot = || Arc::clone(boot);
    Routes::new(MachineServiceServer::new(machine::Service(boot())).max_decoding_message_size(limit))
        .add_service(StateServer::new(state::Service(boot())).max_decoding_message_size(limit))
        .add_service(StorageServiceServer::new(storage::Service(boot())).max_decoding_message_size(limit))
        .add_service(ClusterServiceServer::new(cluster::Service(boot())).max_decoding_message_size(limit))
        .add_service(TimeServiceServer::new(time::Service(boot())).max_decoding_message_size(limit))
        .add_service(InspectServiceServer::new(inspect::Service).max_decoding_message_size(limit))
        .prepare()
}

/// Who calls, as the gate found out.
fn caller<T>(request: &Request<T>) -> Caller {
    request.extensions().get::<Caller>().cloned().unwrap_or_default()
}

/// Bytes as a stream of messages.
fn chunks(bytes: &[u8]) -> Response<Answers<Data>> {
    let data: Vec<_> =
        bytes.chunks(CHUNK).map(|bytes| Ok(Data { metadata: None, bytes: bytes.to_vec() })).collect();
    Response::new(Box::pin(futures::stream::iter(data)))
}

/// What Talos does but the simulator doesn't: never silently.
fn not_simulated(what: &str) -> Status {
    Status::unimplemented(format!("the simulator does not play {what}"))
}
