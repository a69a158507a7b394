//! The inspection service.

use talos_api::inspect::ControllerRuntimeDependenciesResponse;
use talos_api::inspect::inspect_service_server::InspectService;
use tonic::{Request, Response, Status, async_trait};

/// `inspect.InspectService`, of which nothing is simulated.
pub(super) struct Service;

#[async_trait]
impl InspectService for Service {
    async fn controller_runtime_dependencies(
        &self,
        _: Request<()>,
    ) -> Result<Response<ControllerRuntimeDependenciesResponse>, Status> {
        Err(super::not_simulated("the graph of Talos' controllers"))
    }
}
