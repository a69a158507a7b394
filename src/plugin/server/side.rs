//! go-plugin's side services: streams that stay open, the order to shut down, and health.

use std::pin::Pin;

use tokio_stream::{Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};

use crate::plugin::protocol::grpc::health::v1 as health;
use crate::plugin::protocol::plugin as wire;

/// All of them; `quit` ends the process.
#[derive(Clone)]
pub(super) struct SideServices {
    pub(super) quit: CancellationToken,
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl SideServices {
    /// A stream on which nothing comes until the server ends, or `over` does.
    fn silent<T: Send + 'static>(&self, over: impl Future<Output = ()> + Send + 'static) -> Answers<T> {
        let quit = self.quit.clone();
        let end = async move {
            tokio::select! {
                () = quit.cancelled() => {}
                () = over => {}
            }
            None::<Result<T, Status>>
        };
        Box::pin(futures::StreamExt::filter_map(futures::stream::once(end), |nothing| async { nothing }))
    }
}

#[tonic::async_trait]
impl wire::grpc_broker_server::GrpcBroker for SideServices {
    /// Opened at once by every client, used by none for providers; a client that sees it end takes the
    /// plugin for dead.
    async fn start_stream(
        &self,
        request: Request<Streaming<wire::ConnInfo>>,
    ) -> Result<Response<Answers<wire::ConnInfo>>, Status> {
        let mut asked = request.into_inner();
        let closed = async move { while let Some(Ok(_)) = asked.next().await {} };
        Ok(Response::new(self.silent(closed)))
    }
}

#[tonic::async_trait]
impl wire::grpc_stdio_server::GrpcStdio for SideServices {
    /// Stays silent: logs go to the real stderr.
    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Answers<wire::StdioData>>, Status> {
        Ok(Response::new(self.silent(std::future::pending())))
    }
}

#[tonic::async_trait]
impl wire::grpc_controller_server::GrpcController for SideServices {
    /// The client waits two seconds after this, then kills.
    async fn shutdown(&self, _: Request<wire::Empty>) -> Result<Response<wire::Empty>, Status> {
        tracing::debug!("Shutting down, as the client asked");
        self.quit.cancel();
        Ok(Response::new(wire::Empty {}))
    }
}

#[tonic::async_trait]
impl health::health_server::Health for SideServices {
    async fn check(
        &self,
        _: Request<health::HealthCheckRequest>,
    ) -> Result<Response<health::HealthCheckResponse>, Status> {
        Ok(Response::new(serving()))
    }

    async fn watch(
        &self,
        _: Request<health::HealthCheckRequest>,
    ) -> Result<Response<Answers<health::HealthCheckResponse>>, Status> {
        let now = futures::stream::once(async { Ok(serving()) });
        Ok(Response::new(Box::pin(futures::StreamExt::chain(now, self.silent(std::future::pending())))))
    }
}

fn serving() -> health::HealthCheckResponse {
    health::HealthCheckResponse { status: health::health_check_response::ServingStatus::Serving.into() }
}
