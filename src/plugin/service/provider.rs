//! The calls that are about the provider as a whole.

use std::sync::Arc;

use super::call::{add_failure, ended, operation};
use super::{Session, Shared};
use crate::plugin::erased::{decode_root, schema_of};
use crate::plugin::provider::Provider;
use crate::plugin::schema::Schema;
use crate::plugin::{Diagnostics, plan, protocol::tfplugin6 as wire, wire as convert};

/// A destroy is planned, so that a resource can refuse it; the schema may be reused within one command.
const CAPABILITIES: wire::ServerCapabilities = wire::ServerCapabilities {
    plan_destroy: true,
    get_provider_schema_optional: true,
    move_resource_state: false,
    generate_resource_config: false,
};

impl<P: Provider> Shared<P> {
    pub(super) fn metadata(&self) -> wire::get_metadata::Response {
        use wire::get_metadata::{DataSourceMetadata, ResourceMetadata, Response};

        let names = |name: &&'static str| (*name).to_owned();
        Response {
            server_capabilities: Some(CAPABILITIES),
            resources: self
                .registry
                .resources
                .keys()
                .map(|name| ResourceMetadata { type_name: names(name) })
                .collect(),
            data_sources: self
                .registry
                .data_sources
                .keys()
                .map(|name| DataSourceMetadata { type_name: names(name) })
                .collect(),
            ..Response::default()
        }
    }

    pub(super) fn schema(&self) -> wire::get_provider_schema::Response {
        let mut diagnostics = Diagnostics::new();
        let own = Self::own_schema();
        diagnostics.extend(own.problems("provider"));
        let mut convert = |name: &'static str, schema: &Schema| {
            diagnostics.extend(schema.problems(name));
            (name.to_owned(), convert::schema(schema))
        };
        let resource_schemas =
            self.registry.resources.iter().map(|(name, one)| convert(name, one.schema())).collect();
        let data_source_schemas =
            self.registry.data_sources.iter().map(|(name, one)| convert(name, one.schema())).collect();
        wire::get_provider_schema::Response {
            provider: Some(convert::schema(&own)),
            resource_schemas,
            data_source_schemas,
            diagnostics: convert::diagnostics(diagnostics),
            server_capabilities: Some(CAPABILITIES),
            ..wire::get_provider_schema::Response::default()
        }
    }

    pub(super) async fn validate_provider(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::validate_provider_config::Request,
    ) -> wire::validate_provider_config::Response {
        let operation = operation(&session, Vec::new());
        let work = async {
            let config = decode_root(convert::value(request.config)?)?;
            self.provider.validate(config, &operation).await
        };
        let mut ended = ended(&operation, work.await);
        if let Err(found) = ended.result {
            add_failure(&mut ended.diagnostics, found);
        }
        wire::validate_provider_config::Response { diagnostics: convert::diagnostics(ended.diagnostics) }
    }

    pub(super) async fn configure(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::configure_provider::Request,
    ) -> wire::configure_provider::Response {
        tracing::debug!(client = request.terraform_version, "Configuring");
        let operation = operation(&session, Vec::new());
        let work = async {
            let config = convert::value(request.config)?;
            let config = decode_root(plan::asked(&Self::own_schema().attributes, &config))?;
            self.provider.configure(config, &operation).await
        };
        let result = work.await;
        let mut ended = ended(&operation, result);
        match ended.result {
            Ok(data) => session.configure(data),
            Err(found) => add_failure(&mut ended.diagnostics, found),
        }
        wire::configure_provider::Response { diagnostics: convert::diagnostics(ended.diagnostics) }
    }

    /// In a provider block nothing is computed: a default only fills in.
    fn own_schema() -> Schema {
        let mut schema = schema_of::<P::Config>(0, P::DESCRIPTION);
        for attribute in &mut schema.attributes {
            attribute.computed = false;
        }
        schema
    }
}
