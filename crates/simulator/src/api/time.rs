//! The time service.

use std::sync::Arc;

use jiff::Timestamp;
use prost_types::Timestamp as WireTimestamp;
use talos_api::time::time_service_server::TimeService;
use talos_api::time::{Time, TimeRequest, TimeResponse};
use tonic::{Request, Response, Status, async_trait};

use crate::machine::Boot;

/// The time server that Talos asks by default.
const SERVER: &str = "time.cloudflare.com";

/// `time.TimeService` of a machine that runs.
pub(super) struct Service(pub(super) Arc<Boot>);

impl Service {
    /// The machine's time beside the true one, which is what the server would say.
    fn times(&self, server: String) -> Result<Response<TimeResponse>, Status> {
        if !self.0.time_in_sync() {
            let text = format!("error querying time server {server:?}: i/o timeout");
            return Err(Status::unknown(text));
        }
        let message = Time {
            metadata: None,
            server,
            localtime: Some(wire_time(self.0.machine.clock.now())),
            remotetime: Some(wire_time(Timestamp::now())),
        };
        Ok(Response::new(TimeResponse { messages: vec![message] }))
    }
}

#[async_trait]
impl TimeService for Service {
    async fn time(&self, _: Request<()>) -> Result<Response<TimeResponse>, Status> {
        let configuration = self.0.configuration();
        let configured = configuration.and_then(|own| own.view.machine.time_servers.first().cloned());
        self.times(configured.unwrap_or_else(|| SERVER.to_owned()))
    }

    async fn time_check(&self, request: Request<TimeRequest>) -> Result<Response<TimeResponse>, Status> {
        self.times(request.into_inner().server)
    }
}

fn wire_time(time: Timestamp) -> WireTimestamp {
    WireTimestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}
