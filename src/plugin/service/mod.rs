//! The tfplugin6 service: each call is decode, call, encode, run as a task of its own.
//!
//! A handler's future is dropped when its connection is lost, at whatever it awaits; the task is not. And a
//! task that panics leaves an error to show, where a handler would only reset its stream.

mod call;
mod data_source;
mod provider;
mod resource;
mod session;

use std::future::Future;
use std::sync::Arc;

use tokio_util::task::TaskTracker;
use tonic::{Request, Response, Status};

use super::log::panic_message;
use super::protocol::tfplugin6::{self as wire, provider_server};
use super::provider::{Provider, Registry};
use super::{Diagnostic, Diagnostics};

pub(crate) use session::Session;

/// The service of one provider, for all connections.
pub(crate) struct Service<P: Provider> {
    shared: Arc<Shared<P>>,
    tasks: TaskTracker,
}

/// What every call works with.
struct Shared<P: Provider> {
    provider: P,
    registry: Registry<P::Data>,
}

impl<P: Provider> Service<P> {
    /// Work runs in `tasks`, so that whoever ends the process can wait for it.
    pub(crate) fn new(provider: P, tasks: TaskTracker) -> Self {
        let registry = Registry::of(&provider);
        Self { shared: Arc::new(Shared { provider, registry }), tasks }
    }

    /// Runs `work` to its end, whatever becomes of the connection. `crashed` makes the answer from what is to
    /// be said when it panicked.
    async fn run<A, F>(
        &self,
        rpc: &'static str,
        work: F,
        crashed: impl FnOnce(Vec<wire::Diagnostic>) -> A,
    ) -> Result<Response<A>, Status>
    where
        A: Send + 'static,
        F: Future<Output = A> + Send + 'static,
    {
        tracing::trace!(rpc, "Request");
        match self.tasks.spawn(work).await {
            Ok(answer) => Ok(Response::new(answer)),
            Err(error) if error.is_panic() => {
                let payload = error.into_panic();
                let message = panic_message(&*payload);
                let told = Diagnostic::bug(
                    format!("the provider crashed in {rpc}"),
                    format!("It panicked: {message}. The log (TF_LOG=error) says where."),
                );
                Ok(Response::new(crashed(super::wire::diagnostics(told.into()))))
            }
            Err(error) => Err(Status::aborted(format!("the provider is shutting down: {error}"))),
        }
    }
}

/// The session that the connection of this request belongs to.
fn session<D: Send + Sync + 'static, T>(request: &Request<T>) -> Result<Arc<Session<D>>, Status> {
    request
        .extensions()
        .get::<Arc<Session<D>>>()
        .cloned()
        .ok_or_else(|| Status::internal("the request came over no connection"))
}

fn unknown_type(what: &str, name: &str) -> Diagnostics {
    Diagnostics::error(
        format!("this provider has no {what} {name}"),
        "The client and this provider disagree about its schema; run init again.",
    )
}

#[tonic::async_trait]
impl<P: Provider> provider_server::Provider for Service<P> {
    async fn get_metadata(
        &self,
        _: Request<wire::get_metadata::Request>,
    ) -> Result<Response<wire::get_metadata::Response>, Status> {
        Ok(Response::new(self.shared.metadata()))
    }

    async fn get_provider_schema(
        &self,
        _: Request<wire::get_provider_schema::Request>,
    ) -> Result<Response<wire::get_provider_schema::Response>, Status> {
        Ok(Response::new(self.shared.schema()))
    }

    /// This provider has none; Terraform takes UNIMPLEMENTED for that, but says so in its log.
    async fn get_resource_identity_schemas(
        &self,
        _: Request<wire::get_resource_identity_schemas::Request>,
    ) -> Result<Response<wire::get_resource_identity_schemas::Response>, Status> {
        Ok(Response::new(wire::get_resource_identity_schemas::Response::default()))
    }

    /// This provider has none. OpenTofu asks, Terraform does not.
    async fn get_functions(
        &self,
        _: Request<wire::get_functions::Request>,
    ) -> Result<Response<wire::get_functions::Response>, Status> {
        Ok(Response::new(wire::get_functions::Response::default()))
    }

    async fn validate_provider_config(
        &self,
        request: Request<wire::validate_provider_config::Request>,
    ) -> Result<Response<wire::validate_provider_config::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.validate_provider(session, request.into_inner());
        self.run("ValidateProviderConfig", work, |diagnostics| wire::validate_provider_config::Response {
            diagnostics,
        })
        .await
    }

    async fn configure_provider(
        &self,
        request: Request<wire::configure_provider::Request>,
    ) -> Result<Response<wire::configure_provider::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.configure(session, request.into_inner());
        self.run("ConfigureProvider", work, |diagnostics| wire::configure_provider::Response { diagnostics })
            .await
    }

    async fn stop_provider(
        &self,
        request: Request<wire::stop_provider::Request>,
    ) -> Result<Response<wire::stop_provider::Response>, Status> {
        tracing::info!("Stopping, as the client asked");
        session::<P::Data, _>(&request)?.stop();
        Ok(Response::new(wire::stop_provider::Response::default()))
    }

    async fn validate_resource_config(
        &self,
        request: Request<wire::validate_resource_config::Request>,
    ) -> Result<Response<wire::validate_resource_config::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.validate_resource(session, request.into_inner());
        self.run("ValidateResourceConfig", work, |diagnostics| wire::validate_resource_config::Response {
            diagnostics,
        })
        .await
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<wire::upgrade_resource_state::Request>,
    ) -> Result<Response<wire::upgrade_resource_state::Response>, Status> {
        let shared = Arc::clone(&self.shared);
        let request = request.into_inner();
        let work = async move { shared.upgrade(request) };
        self.run("UpgradeResourceState", work, |diagnostics| wire::upgrade_resource_state::Response {
            diagnostics,
            ..Default::default()
        })
        .await
    }

    async fn read_resource(
        &self,
        request: Request<wire::read_resource::Request>,
    ) -> Result<Response<wire::read_resource::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let request = request.into_inner();
        let kept = resource::kept(&request);
        let work = shared.read(session, request);
        self.run("ReadResource", work, |diagnostics| wire::read_resource::Response { diagnostics, ..kept })
            .await
    }

    async fn plan_resource_change(
        &self,
        request: Request<wire::plan_resource_change::Request>,
    ) -> Result<Response<wire::plan_resource_change::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.plan(session, request.into_inner());
        self.run("PlanResourceChange", work, |diagnostics| wire::plan_resource_change::Response {
            diagnostics,
            ..Default::default()
        })
        .await
    }

    async fn apply_resource_change(
        &self,
        request: Request<wire::apply_resource_change::Request>,
    ) -> Result<Response<wire::apply_resource_change::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let request = request.into_inner();
        let prior = resource::prior(&request);
        let work = shared.apply(session, request);
        self.run("ApplyResourceChange", work, |diagnostics| wire::apply_resource_change::Response {
            diagnostics,
            ..prior
        })
        .await
    }

    async fn import_resource_state(
        &self,
        request: Request<wire::import_resource_state::Request>,
    ) -> Result<Response<wire::import_resource_state::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.import(session, request.into_inner());
        self.run("ImportResourceState", work, |diagnostics| wire::import_resource_state::Response {
            diagnostics,
            ..Default::default()
        })
        .await
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<wire::validate_data_resource_config::Request>,
    ) -> Result<Response<wire::validate_data_resource_config::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.validate_data_source(session, request.into_inner());
        self.run("ValidateDataResourceConfig", work, |diagnostics| {
            wire::validate_data_resource_config::Response { diagnostics }
        })
        .await
    }

    async fn read_data_source(
        &self,
        request: Request<wire::read_data_source::Request>,
    ) -> Result<Response<wire::read_data_source::Response>, Status> {
        let (session, shared) = (session(&request)?, Arc::clone(&self.shared));
        let work = shared.read_data_source(session, request.into_inner());
        self.run("ReadDataSource", work, |diagnostics| wire::read_data_source::Response {
            diagnostics,
            ..Default::default()
        })
        .await
    }
}
