//! The machine service: each method, answered by its part.

use std::sync::Arc;

use talos_api::common::Data;
use talos_api::machine::machine_service_server::MachineService;
use talos_api::machine::{
    ApplyConfigurationRequest, ApplyConfigurationResponse, BootstrapRequest, BootstrapResponse, DmesgRequest,
    EtcdAlarmListResponse, EtcdForfeitLeadershipRequest, EtcdForfeitLeadershipResponse,
    EtcdLeaveClusterRequest, EtcdLeaveClusterResponse, EtcdMemberListRequest, EtcdMemberListResponse,
    EtcdRecoverResponse, EtcdRemoveMemberByIdRequest, EtcdRemoveMemberByIdResponse, EtcdSnapshotRequest,
    EtcdStatusResponse, Event, EventsRequest, FileInfo, GenerateClientConfigurationRequest,
    GenerateClientConfigurationResponse, HostnameResponse, ImageListRequest, ImageListResponse,
    ImagePullRequest, ImagePullResponse, ListRequest, LogsRequest, MemoryResponse, MetaDeleteRequest,
    MetaDeleteResponse, MetaWriteRequest, MetaWriteResponse, ReadRequest, RebootRequest, RebootResponse,
    ResetRequest, ResetResponse, RollbackRequest, RollbackResponse, ServiceListResponse,
    ServiceRestartRequest, ServiceRestartResponse, ServiceStartRequest, ServiceStartResponse,
    ServiceStopRequest, ServiceStopResponse, ShutdownRequest, ShutdownResponse, SystemStatResponse,
    UpgradeRequest, UpgradeResponse, VersionResponse,
};
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::{Answers, apply, etcd, files, lifecycle, not_simulated, observation};
use crate::machine::Boot;

/// `machine.MachineService` of a machine that runs.
pub(super) struct Service(pub(super) Arc<Boot>);

type Answer<T> = Result<Response<T>, Status>;

#[async_trait]
impl MachineService for Service {
    type DmesgStream = Answers<Data>;
    type EtcdSnapshotStream = Answers<Data>;
    type EventsStream = Answers<Event>;
    type ImageListStream = Answers<ImageListResponse>;
    type KubeconfigStream = Answers<Data>;
    type ListStream = Answers<FileInfo>;
    type LogsStream = Answers<Data>;
    type ReadStream = Answers<Data>;

    async fn apply_configuration(
        &self,
        request: Request<ApplyConfigurationRequest>,
    ) -> Answer<ApplyConfigurationResponse> {
        let caller = super::caller(&request);
        apply::apply(&self.0, request.into_inner(), &caller).await.map(Response::new)
    }

    async fn bootstrap(&self, request: Request<BootstrapRequest>) -> Answer<BootstrapResponse> {
        etcd::bootstrap(&self.0, request.get_ref()).map(Response::new)
    }

    async fn dmesg(&self, request: Request<DmesgRequest>) -> Answer<Self::DmesgStream> {
        Ok(observation::kernel_log(&self.0, request.get_ref()))
    }

    async fn etcd_alarm_list(&self, _: Request<()>) -> Answer<EtcdAlarmListResponse> {
        etcd::alarms(&self.0).await.map(Response::new)
    }

    async fn etcd_forfeit_leadership(
        &self,
        _: Request<EtcdForfeitLeadershipRequest>,
    ) -> Answer<EtcdForfeitLeadershipResponse> {
        etcd::forfeit_leadership(&self.0).await.map(Response::new)
    }

    async fn etcd_leave_cluster(
        &self,
        _: Request<EtcdLeaveClusterRequest>,
    ) -> Answer<EtcdLeaveClusterResponse> {
        etcd::leave(&self.0).await.map(Response::new)
    }

    async fn etcd_member_list(&self, _: Request<EtcdMemberListRequest>) -> Answer<EtcdMemberListResponse> {
        etcd::members(&self.0).await.map(Response::new)
    }

    async fn etcd_recover(&self, _: Request<Streaming<Data>>) -> Answer<EtcdRecoverResponse> {
        Err(not_simulated("the recovery of etcd from a snapshot"))
    }

    async fn etcd_remove_member_by_id(
        &self,
        request: Request<EtcdRemoveMemberByIdRequest>,
    ) -> Answer<EtcdRemoveMemberByIdResponse> {
        etcd::remove_member(&self.0, request.get_ref().member_id).await.map(Response::new)
    }

    async fn etcd_snapshot(&self, _: Request<EtcdSnapshotRequest>) -> Answer<Self::EtcdSnapshotStream> {
        Err(not_simulated("etcd's snapshots"))
    }

    async fn etcd_status(&self, _: Request<()>) -> Answer<EtcdStatusResponse> {
        etcd::status(&self.0).await.map(Response::new)
    }

    async fn events(&self, request: Request<EventsRequest>) -> Answer<Self::EventsStream> {
        Ok(observation::events(&self.0, request.into_inner()))
    }

    async fn generate_client_configuration(
        &self,
        request: Request<GenerateClientConfigurationRequest>,
    ) -> Answer<GenerateClientConfigurationResponse> {
        lifecycle::client_configuration(&self.0, request.get_ref()).map(Response::new)
    }

    async fn hostname(&self, _: Request<()>) -> Answer<HostnameResponse> {
        Ok(Response::new(observation::hostname(&self.0)))
    }

    async fn image_list(&self, _: Request<ImageListRequest>) -> Answer<Self::ImageListStream> {
        Err(not_simulated("container images"))
    }

    async fn image_pull(&self, _: Request<ImagePullRequest>) -> Answer<ImagePullResponse> {
        Err(not_simulated("container images"))
    }

    async fn kubeconfig(&self, _: Request<()>) -> Answer<Self::KubeconfigStream> {
        lifecycle::kubeconfig(&self.0)
    }

    async fn list(&self, request: Request<ListRequest>) -> Answer<Self::ListStream> {
        files::list(&self.0, request.get_ref())
    }

    async fn logs(&self, request: Request<LogsRequest>) -> Answer<Self::LogsStream> {
        observation::service_log(&self.0, request.get_ref())
    }

    async fn memory(&self, _: Request<()>) -> Answer<MemoryResponse> {
        Ok(Response::new(observation::memory(&self.0)))
    }

    async fn meta_delete(&self, _: Request<MetaDeleteRequest>) -> Answer<MetaDeleteResponse> {
        Err(not_simulated("keys of the META partition"))
    }

    async fn meta_write(&self, _: Request<MetaWriteRequest>) -> Answer<MetaWriteResponse> {
        Err(not_simulated("keys of the META partition"))
    }

    async fn read(&self, request: Request<ReadRequest>) -> Answer<Self::ReadStream> {
        observation::read(&self.0, &request.get_ref().path)
    }

    async fn reboot(&self, _: Request<RebootRequest>) -> Answer<RebootResponse> {
        Ok(Response::new(lifecycle::reboot(&self.0)))
    }

    async fn reset(&self, request: Request<ResetRequest>) -> Answer<ResetResponse> {
        lifecycle::reset(&self.0, request.get_ref()).map(Response::new)
    }

    async fn rollback(&self, _: Request<RollbackRequest>) -> Answer<RollbackResponse> {
        Err(not_simulated("the rollback to the version before"))
    }

    async fn service_list(&self, _: Request<()>) -> Answer<ServiceListResponse> {
        Ok(Response::new(observation::services(&self.0)))
    }

    async fn service_restart(&self, _: Request<ServiceRestartRequest>) -> Answer<ServiceRestartResponse> {
        Err(not_simulated("the restart of a single service"))
    }

    async fn service_start(&self, _: Request<ServiceStartRequest>) -> Answer<ServiceStartResponse> {
        Err(not_simulated("the start of a single service"))
    }

    async fn service_stop(&self, _: Request<ServiceStopRequest>) -> Answer<ServiceStopResponse> {
        Err(not_simulated("the stop of a single service"))
    }

    async fn shutdown(&self, _: Request<ShutdownRequest>) -> Answer<ShutdownResponse> {
        Ok(Response::new(lifecycle::shut_down(&self.0)))
    }

    async fn system_stat(&self, _: Request<()>) -> Answer<SystemStatResponse> {
        Ok(Response::new(observation::system_stat(&self.0)))
    }

    async fn upgrade(&self, request: Request<UpgradeRequest>) -> Answer<UpgradeResponse> {
        lifecycle::upgrade(&self.0, request.get_ref()).map(Response::new)
    }

    async fn version(&self, _: Request<()>) -> Answer<VersionResponse> {
        Ok(Response::new(observation::version(&self.0)))
    }
}
