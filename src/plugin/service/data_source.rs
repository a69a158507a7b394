//! The calls that are about data sources.

use std::sync::Arc;

use super::call::{add_failure, ended, operation};
use super::{Session, Shared, unknown_type};
use crate::plugin::erased::ErasedDataSource;
use crate::plugin::provider::Provider;
use crate::plugin::{Diagnostics, protocol::tfplugin6 as wire, wire as convert};

impl<P: Provider> Shared<P> {
    pub(super) async fn validate_data_source(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::validate_data_resource_config::Request,
    ) -> wire::validate_data_resource_config::Response {
        let operation = operation(&session, Vec::new());
        let work = async {
            let source = self.data_source(&request.type_name)?;
            source.validate(convert::value(request.config)?, operation.clone()).await
        };
        let mut ended = ended(&operation, work.await);
        if let Err(found) = ended.result {
            add_failure(&mut ended.diagnostics, found);
        }
        wire::validate_data_resource_config::Response { diagnostics: convert::diagnostics(ended.diagnostics) }
    }

    pub(super) async fn read_data_source(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::read_data_source::Request,
    ) -> wire::read_data_source::Response {
        let operation = operation(&session, Vec::new());
        let work = async {
            let source = self.data_source(&request.type_name)?;
            convert::dynamic(source.read(convert::value(request.config)?, operation.clone()).await?)
        };
        let mut ended = ended(&operation, work.await);
        let state = match ended.result {
            Ok(state) => Some(state),
            Err(found) => {
                add_failure(&mut ended.diagnostics, found);
                None
            }
        };
        let diagnostics = convert::diagnostics(ended.diagnostics);
        wire::read_data_source::Response { state, diagnostics, deferred: None }
    }

    fn data_source(&self, name: &str) -> Result<Arc<dyn ErasedDataSource<P::Data>>, Diagnostics> {
        self.registry.data_sources.get(name).cloned().ok_or_else(|| unknown_type("data source", name))
    }
}
