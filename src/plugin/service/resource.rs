//! The calls that are about resources.

use std::sync::Arc;

use super::call::{Ended, add_failure, ended, operation};
use super::{Session, Shared, unknown_type};
use crate::plugin::erased::{ErasedResource, Planned};
use crate::plugin::operation::Operation;
use crate::plugin::provider::Provider;
use crate::plugin::resource::Failure;
use crate::plugin::value::{Value, from_json};
use crate::plugin::{Diagnostic, Diagnostics, protocol::tfplugin6 as wire, wire as convert};

/// What a read that fails altogether answers: all as it was.
pub(super) fn kept(request: &wire::read_resource::Request) -> wire::read_resource::Response {
    wire::read_resource::Response {
        new_state: request.current_state.clone(),
        private: request.private.clone(),
        ..wire::read_resource::Response::default()
    }
}

/// What an apply that fails altogether answers: the prior object. For a creation that is none: a client marks
/// what it records of a failed creation as tainted, and destroys it next.
pub(super) fn prior(request: &wire::apply_resource_change::Request) -> wire::apply_resource_change::Response {
    wire::apply_resource_change::Response {
        new_state: request.prior_state.clone(),
        private: request.planned_private.clone(),
        ..wire::apply_resource_change::Response::default()
    }
}

impl<P: Provider> Shared<P> {
    pub(super) async fn validate_resource(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::validate_resource_config::Request,
    ) -> wire::validate_resource_config::Response {
        let operation = operation(&session, Vec::new());
        let work = async {
            let resource = self.resource(&request.type_name)?;
            resource.validate(convert::value(request.config)?, operation.clone()).await
        };
        let mut ended = ended(&operation, work.await);
        if let Err(found) = ended.result {
            add_failure(&mut ended.diagnostics, found);
        }
        wire::validate_resource_config::Response { diagnostics: convert::diagnostics(ended.diagnostics) }
    }

    pub(super) fn upgrade(
        &self,
        request: wire::upgrade_resource_state::Request,
    ) -> wire::upgrade_resource_state::Response {
        let upgraded = || {
            let resource = self.resource(&request.type_name)?;
            let stored = request.raw_state.map(|state| state.json).unwrap_or_default();
            let state = from_json(&stored).map_err(|error| {
                Diagnostics::error(
                    format!("the stored state of {} cannot be read", request.type_name),
                    format!("Expected a JSON object: {}.", convert::report(&error)),
                )
            })?;
            convert::dynamic(resource.upgrade(request.version, state)?)
        };
        match upgraded() {
            Ok(state) => wire::upgrade_resource_state::Response {
                upgraded_state: Some(state),
                diagnostics: Vec::new(),
            },
            Err(found) => wire::upgrade_resource_state::Response {
                upgraded_state: None,
                diagnostics: convert::diagnostics(found),
            },
        }
    }

    pub(super) async fn read(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::read_resource::Request,
    ) -> wire::read_resource::Response {
        let kept = kept(&request);
        let operation = operation(&session, request.private);
        let work = async {
            let resource = self.resource(&request.type_name)?;
            convert::dynamic(resource.read(convert::value(request.current_state)?, operation.clone()).await?)
        };
        let Ended { result, mut diagnostics, private, .. } = ended(&operation, work.await);
        match result {
            Ok(state) => wire::read_resource::Response {
                new_state: Some(state),
                private,
                diagnostics: convert::diagnostics(diagnostics),
                ..kept
            },
            Err(found) => {
                add_failure(&mut diagnostics, found);
                wire::read_resource::Response { diagnostics: convert::diagnostics(diagnostics), ..kept }
            }
        }
    }

    pub(super) async fn plan(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::plan_resource_change::Request,
    ) -> wire::plan_resource_change::Response {
        let operation = operation(&session, request.prior_private);
        let work = async {
            let resource = self.resource(&request.type_name)?;
            let prior = convert::value(request.prior_state)?;
            if convert::value(request.proposed_new_state)?.is_null() {
                resource.plan_delete(prior, operation.clone()).await?;
                return Ok((convert::dynamic(Value::Null)?, Vec::new()));
            }
            let config = convert::value(request.config)?;
            let Planned { value, replace } = resource.plan(config, prior, operation.clone()).await?;
            Ok((convert::dynamic(value)?, replace))
        };
        let Ended { result, mut diagnostics, private, replace: wanted } = ended(&operation, work.await);
        match result {
            Ok((state, mut replace)) => {
                replace.extend(wanted);
                wire::plan_resource_change::Response {
                    planned_state: Some(state),
                    requires_replace: replace.iter().map(convert::path).collect(),
                    planned_private: private,
                    diagnostics: convert::diagnostics(diagnostics),
                    ..wire::plan_resource_change::Response::default()
                }
            }
            Err(found) => {
                add_failure(&mut diagnostics, found);
                wire::plan_resource_change::Response {
                    diagnostics: convert::diagnostics(diagnostics),
                    ..wire::plan_resource_change::Response::default()
                }
            }
        }
    }

    pub(super) async fn apply(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::apply_resource_change::Request,
    ) -> wire::apply_resource_change::Response {
        let unchanged = prior(&request);
        let operation = operation(&session, request.planned_private.clone());
        let result = self.change(request, &operation).await;
        let Ended { result, mut diagnostics, private, .. } = ended(&operation, result);
        match result {
            Ok(state) => wire::apply_resource_change::Response {
                new_state: Some(state),
                private,
                diagnostics: convert::diagnostics(diagnostics),
                ..unchanged
            },
            Err(Failure { diagnostics: found, observed }) => {
                add_failure(&mut diagnostics, found);
                let observed = observed.or(unchanged.new_state);
                wire::apply_resource_change::Response {
                    new_state: observed,
                    private,
                    diagnostics: convert::diagnostics(diagnostics),
                    ..wire::apply_resource_change::Response::default()
                }
            }
        }
    }

    async fn change(
        &self,
        request: wire::apply_resource_change::Request,
        operation: &Operation<P::Data>,
    ) -> Result<wire::DynamicValue, Failure<wire::DynamicValue>> {
        let resource = self.resource(&request.type_name)?;
        let prior = convert::value(request.prior_state)?;
        let planned = convert::value(request.planned_state)?;
        let result = match (prior.is_null(), planned.is_null()) {
            (true, true) => {
                return Err(
                    Diagnostic::error("nothing to apply", "Neither object nor plan was given.").into()
                );
            }
            (true, false) => resource.create(planned, operation.clone()).await?,
            (false, true) => {
                resource.delete(prior, operation.clone()).await?;
                Value::Null
            }
            (false, false) => match resource.update(prior, planned, operation.clone()).await {
                Ok(made) => made,
                Err(Failure { diagnostics, observed }) => {
                    let observed = observed.map(convert::dynamic).transpose()?;
                    return Err(Failure { diagnostics, observed });
                }
            },
        };
        Ok(convert::dynamic(result)?)
    }

    pub(super) async fn import(
        self: Arc<Self>,
        session: Arc<Session<P::Data>>,
        request: wire::import_resource_state::Request,
    ) -> wire::import_resource_state::Response {
        let operation = operation(&session, Vec::new());
        let type_name = request.type_name;
        let work = async {
            let resource = self.resource(&type_name)?;
            convert::dynamic(resource.import(request.id, operation.clone()).await?)
        };
        let Ended { result, mut diagnostics, private, .. } = ended(&operation, work.await);
        let imported_resources = match result {
            Ok(state) => vec![wire::import_resource_state::ImportedResource {
                type_name,
                state: Some(state),
                private,
                identity: None,
            }],
            Err(found) => {
                add_failure(&mut diagnostics, found);
                Vec::new()
            }
        };
        wire::import_resource_state::Response {
            imported_resources,
            diagnostics: convert::diagnostics(diagnostics),
            deferred: None,
        }
    }

    fn resource(&self, name: &str) -> Result<Arc<dyn ErasedResource<P::Data>>, Diagnostics> {
        self.registry.resources.get(name).cloned().ok_or_else(|| unknown_type("resource", name))
    }
}
