//! The COSI state service: the machine's resources, to read and to watch.

mod query;
mod watching;

use std::sync::Arc;

use futures::stream;
use prost_types::Timestamp as WireTimestamp;
use talos_api::cosi::state_server::State;
use talos_api::cosi::{
    self, CreateRequest, CreateResponse, DestroyRequest, DestroyResponse, GetRequest, GetResponse,
    ListRequest, ListResponse, Metadata, UpdateRequest, UpdateResponse, WatchRequest, WatchResponse,
};
use tonic::{Request, Response, Status, async_trait};

use super::{Answers, caller};
use crate::machine::Boot;
use crate::resources::{Resource, kinds};
use crate::tls::Caller;
use query::Query;
use watching::Watching;

/// `cosi.resource.State` of a machine that runs.
pub(super) struct Service(pub(super) Arc<Boot>);

#[async_trait]
impl State for Service {
    type ListStream = Answers<ListResponse>;
    type WatchStream = Answers<WatchResponse>;

    async fn get(&self, request: Request<GetRequest>) -> Result<Response<GetResponse>, Status> {
        let caller = caller(&request);
        let GetRequest { namespace, r#type, id, .. } = request.into_inner();
        allowed(&namespace, &r#type, &caller)?;
        let found = self.0.store.find(&namespace, &r#type, &id).ok_or_else(|| {
            Status::not_found(format!("resource {}({namespace}/{id}@undefined) doesn't exist", r#type))
        })?;
        Ok(Response::new(GetResponse { resource: Some(on_the_wire(&found)) }))
    }

    async fn list(&self, request: Request<ListRequest>) -> Result<Response<Self::ListStream>, Status> {
        let caller = caller(&request);
        let ListRequest { namespace, r#type, options } = request.into_inner();
        let options = options.unwrap_or_default();
        let query = Query::new(options.label_query, options.id_query)?;
        allowed(&namespace, &r#type, &caller)?;
        let found =
            self.0.store.list(&namespace, &r#type).into_iter().filter(|resource| query.matches(resource));
        let found: Vec<_> =
            found.map(|resource| Ok(ListResponse { resource: Some(on_the_wire(&resource)) })).collect();
        Ok(Response::new(Box::pin(stream::iter(found))))
    }

    async fn create(&self, _: Request<CreateRequest>) -> Result<Response<CreateResponse>, Status> {
        Err(read_only())
    }

    async fn update(&self, _: Request<UpdateRequest>) -> Result<Response<UpdateResponse>, Status> {
        Err(read_only())
    }

    async fn destroy(&self, _: Request<DestroyRequest>) -> Result<Response<DestroyResponse>, Status> {
        Err(read_only())
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let caller = caller(&request);
        let request = request.into_inner();
        let watching = Watching::begin(Arc::clone(&self.0), request, |namespace, kind| {
            allowed(namespace, kind, &caller)
        })?;
        Ok(Response::new(watching.into_stream()))
    }
}

fn read_only() -> Status {
    Status::permission_denied("write access is not allowed")
}

/// Talos' rule for reading: the kind exists, the caller may see it, the namespace exists.
fn allowed(namespace: &str, kind: &str, caller: &Caller) -> Result<(), Status> {
    let Some(definition) = kinds::find(kind) else {
        return Err(Status::permission_denied(format!("resource type {kind:?} is not supported")));
    };
    if definition.is_sensitive() && !caller.has("os:admin") {
        return Err(Status::permission_denied("not authorized"));
    }
    if !kinds::is_namespace(namespace) {
        return Err(Status::permission_denied(format!("namespace {namespace:?} is not supported")));
    }
    Ok(())
}

/// A resource as the API carries it.
fn on_the_wire(resource: &Resource) -> cosi::Resource {
    let exists = resource.version > 0;
    let time = |time: jiff::Timestamp| {
        exists.then(|| WireTimestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() })
    };
    let metadata = Metadata {
        namespace: resource.namespace.clone(),
        r#type: resource.kind.clone(),
        id: resource.id.clone(),
        version: if exists { resource.version.to_string() } else { "undefined".to_owned() },
        owner: resource.owner.clone(),
        phase: "running".to_owned(),
        created: time(resource.created),
        updated: time(resource.updated),
        finalizers: Vec::new(),
        labels: Default::default(),
        annotations: resource.annotations.clone().into_iter().collect(),
    };
    let spec = cosi::Spec { proto_spec: resource.spec.proto.clone(), yaml_spec: resource.spec.yaml.clone() };
    cosi::Resource { metadata: Some(metadata), spec: Some(spec) }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn kind_sensitivity_and_namespace_are_looked_at_in_this_order() {
        let reader = Caller::in_maintenance();
        let told = |namespace, kind| allowed(namespace, kind, &reader).unwrap_err().message().to_owned();
        assert_eq!(told("nope", "Nopes.talos.dev"), "resource type \"Nopes.talos.dev\" is not supported");
        assert_eq!(told("nope", "MachineConfigs.config.talos.dev"), "not authorized");
        assert_eq!(told("", "Disks.block.talos.dev"), "namespace \"\" is not supported");
        assert!(allowed("network", "disks.block.talos.dev", &reader).is_ok());
    }
}
