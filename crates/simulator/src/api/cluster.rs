//! The cluster's health check, asked of the real cluster.

use std::sync::Arc;
use std::time::Duration;

use talos_api::cluster::cluster_service_server::ClusterService;
use talos_api::cluster::{HealthCheckProgress, HealthCheckRequest};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, async_trait};

use super::Answers;
use crate::machine::Boot;
use crate::resources::cluster::Role;

mod checks;

/// Pause between looks at a check that has not passed.
const PAUSE: Duration = Duration::from_millis(500);

/// `cluster.ClusterService` of a machine that runs.
pub(super) struct Service(pub(super) Arc<Boot>);

#[async_trait]
impl ClusterService for Service {
    type HealthCheckStream = Answers<HealthCheckProgress>;

    async fn health_check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::HealthCheckStream>, Status> {
        if self.0.role() != Role::ControlPlane {
            return Err(Status::unimplemented(
                "cluster health check is only available on control plane nodes",
            ));
        }
        let (sender, receiver) = mpsc::channel(1);
        let checking = check(Arc::clone(&self.0), request.into_inner(), sender.clone());
        // The checks end when the caller goes away.
        tokio::spawn(async move {
            tokio::select! {
                () = checking => {}
                () = sender.closed() => {}
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
    }
}

type Progress = mpsc::Sender<Result<HealthCheckProgress, Status>>;

/// Runs the checks in their order, each until it passes, within the time that was asked for.
async fn check(boot: Arc<Boot>, request: HealthCheckRequest, progress: Progress) {
    let wait = request.wait_timeout.as_ref();
    let wait = wait.map_or(Duration::ZERO, |wait| {
        Duration::new(u64::try_from(wait.seconds).unwrap_or(0), u32::try_from(wait.nanos).unwrap_or(0))
    });
    let deadline = Instant::now() + wait;
    let cluster = request.cluster_info.unwrap_or_default();
    let expected = checks::Expected::new(&boot, cluster.control_plane_nodes, cluster.worker_nodes);
    let discovered = format!("discovered nodes: [{}]", quoted(&expected.all()));
    if say(&progress, discovered).await.is_err() {
        return;
    }
    let run = async {
        if wait.is_zero() {
            // Talos' context is over before the first check.
            return std::future::pending().await;
        }
        for check in checks::in_order(boot.version) {
            let name = check.name();
            say(&progress, format!("waiting for {name}: ...")).await?;
            loop {
                let outcome = check.look(&boot, &expected).await;
                let text = match &outcome {
                    Ok(checks::Outcome::Passed) => "OK".to_owned(),
                    Ok(checks::Outcome::Skipped) => "SKIP".to_owned(),
                    Err(error) => error.clone(),
                };
                say(&progress, format!("waiting for {name}: {text}")).await?;
                if outcome.is_ok() {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok::<(), Gone>(())
    };
    if tokio::time::timeout_at(deadline, run).await.is_err() {
        let end = Status::deadline_exceeded("context deadline exceeded");
        if progress.send(Err(end)).await.is_err() {
            tracing::debug!("the caller of a health check went away");
        }
    }
}

/// The caller went away.
struct Gone;

async fn say(progress: &Progress, message: String) -> Result<(), Gone> {
    progress.send(Ok(HealthCheckProgress { metadata: None, message })).await.map_err(|_| Gone)
}

fn quoted(addresses: &[String]) -> String {
    addresses.iter().map(|address| format!("{address:?}")).collect::<Vec<_>>().join(" ")
}
