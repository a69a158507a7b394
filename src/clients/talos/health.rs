//! Talos' own check of a whole cluster.

use std::time::Duration;

use talos_api::cluster::{ClusterInfo, HealthCheckProgress, HealthCheckRequest};
use tonic::{Code, Response, Status, Streaming};

use super::deadline::HEALTH_CHECK_MARGIN;
use super::error::Error;
use super::session::Session;

/// What is checked. Both lists are explicit: without them the machine asks the discovery service, which may know only
/// the machine itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthCheck {
    /// The control-plane nodes' addresses as Kubernetes knows them.
    pub control_planes: Vec<String>,
    /// The workers' addresses as Kubernetes knows them.
    pub workers: Vec<String>,
    /// An endpoint to use instead of the cluster's, where the nodes can't reach that one.
    pub endpoint: Option<String>,
    /// How long the machine waits for all checks to pass. Zero fails at once.
    pub wait: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Every check passed or was skipped.
    Healthy,
    /// The checks did not pass in time; the machine's last word, for example
    /// `waiting for etcd to be healthy: service "etcd" not in expected state`.
    Unhealthy(String),
}

impl Session {
    pub(super) async fn health_check(&self, check: HealthCheck) -> Result<Health, Error> {
        let request = HealthCheckRequest {
            wait_timeout: Some(prost_types::Duration {
                seconds: i64::try_from(check.wait.as_secs()).unwrap_or(i64::MAX),
                nanos: i32::try_from(check.wait.subsec_nanos()).unwrap_or_default(),
            }),
            cluster_info: Some(ClusterInfo {
                control_plane_nodes: check.control_planes,
                worker_nodes: check.workers,
                force_endpoint: check.endpoint.unwrap_or_default(),
            }),
        };
        let mut last_word = String::new();
        let mut cluster = self.cluster();
        let answer = cluster.health_check(request);
        let checked = self
            .call(
                "HealthCheck",
                check.wait.saturating_add(HEALTH_CHECK_MARGIN),
                follow(answer, &mut last_word),
            )
            .await;
        match checked {
            Ok(()) => Ok(Health::Healthy),
            // The reason is only in the stream's last message; the status names none.
            Err(error) if error.code() == Some(Code::DeadlineExceeded) && !last_word.is_empty() => {
                Ok(Health::Unhealthy(last_word))
            }
            Err(error) => Err(error),
        }
    }
}

async fn follow(
    answer: impl Future<Output = Result<Response<Streaming<HealthCheckProgress>>, Status>>,
    last_word: &mut String,
) -> Result<Response<()>, Status> {
    let mut stream = answer.await?.into_inner();
    while let Some(progress) = stream.message().await? {
        *last_word = progress.message;
    }
    Ok(Response::new(()))
}
