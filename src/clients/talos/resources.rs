//! COSI resources: which there are, and how one is got or a kind is listed.

use std::marker::PhantomData;

use prost::Message;
use talos_api::cosi::{GetRequest, ListRequest, Resource};
use talos_api::resource::{block, config, extensions, hardware, network, runtime, time};
use tonic::Code;

use super::deadline::CALL;
use super::error::{Error, Fault};
use super::session::Session;

/// A kind of resource, and the message in which its specification travels.
#[derive(Debug)]
pub(super) struct Kind<S> {
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
    specification: PhantomData<fn() -> S>,
}

impl<S> Kind<S> {
    const fn new(namespace: &'static str, name: &'static str) -> Self {
        Self { namespace, name, specification: PhantomData }
    }
}

pub(super) const ADDRESSES: Kind<network::AddressStatusSpec> =
    Kind::new("network", "AddressStatuses.net.talos.dev");
pub(super) const DISKS: Kind<block::DiskSpec> = Kind::new("runtime", "Disks.block.talos.dev");
pub(super) const EXTENSIONS: Kind<extensions::Layer> =
    Kind::new("runtime", "ExtensionStatuses.runtime.talos.dev");
pub(super) const LINKS: Kind<network::LinkStatusSpec> = Kind::new("network", "LinkStatuses.net.talos.dev");
pub(super) const MACHINE_CONFIGURATIONS: Kind<config::MachineConfigSpec> =
    Kind::new("config", "MachineConfigs.config.talos.dev");
pub(super) const MACHINE_STATUSES: Kind<runtime::MachineStatusSpec> =
    Kind::new("runtime", "MachineStatuses.runtime.talos.dev");
pub(super) const MEMORY_MODULES: Kind<hardware::MemoryModuleSpec> =
    Kind::new("hardware", "MemoryModules.hardware.talos.dev");
pub(super) const PROCESSORS: Kind<hardware::ProcessorSpec> =
    Kind::new("hardware", "Processors.hardware.talos.dev");
pub(super) const SECURITY_STATES: Kind<runtime::SecurityStateSpec> =
    Kind::new("runtime", "SecurityStates.talos.dev");
pub(super) const SYSTEM_INFORMATION: Kind<hardware::SystemInformationSpec> =
    Kind::new("hardware", "SystemInformations.hardware.talos.dev");
pub(super) const TIME_STATUSES: Kind<time::StatusSpec> =
    Kind::new("runtime", "TimeStatuses.v1alpha1.talos.dev");
pub(super) const VERSIONS: Kind<runtime::VersionSpec> = Kind::new("runtime", "Versions.runtime.talos.dev");
pub(super) const VOLUMES: Kind<block::DiscoveredVolumeSpec> =
    Kind::new("runtime", "DiscoveredVolumes.block.talos.dev");

impl Session {
    /// One resource; `None` if it isn't there.
    ///
    /// # Errors
    ///
    /// As [`Session::call`], with `PermissionDenied` for a kind that this version of Talos doesn't have, and
    /// [`Fault::Malformed`] for a specification that can't be decoded.
    pub(super) async fn get<S: Message + Default>(
        &self,
        kind: &Kind<S>,
        id: &str,
    ) -> Result<Option<S>, Error> {
        let request = GetRequest {
            namespace: kind.namespace.to_owned(),
            r#type: kind.name.to_owned(),
            id: id.to_owned(),
            options: None,
        };
        let method = format!("Get {}/{id}", kind.name);
        match self.call(&method, CALL, self.state().get(request)).await {
            Ok(response) => {
                let (_, specification) =
                    decode(response.resource).map_err(|fault| self.error(&method, fault))?;
                Ok(Some(specification))
            }
            Err(error) if error.code() == Some(Code::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All resources of a kind, by id.
    ///
    /// # Errors
    ///
    /// As [`Session::get`].
    pub(super) async fn list<S: Message + Default>(&self, kind: &Kind<S>) -> Result<Vec<(String, S)>, Error> {
        let request =
            ListRequest { namespace: kind.namespace.to_owned(), r#type: kind.name.to_owned(), options: None };
        let method = format!("List {}", kind.name);
        let responses = self.collect(&method, CALL, self.state().list(request)).await?;
        responses
            .into_iter()
            .map(|response| decode(response.resource).map_err(|fault| self.error(&method, fault)))
            .collect()
    }
}

/// The id and the specification of a resource.
///
/// # Errors
///
/// [`Fault::Malformed`] if a part is missing or can't be decoded.
pub(super) fn decode<S: Message + Default>(resource: Option<Resource>) -> Result<(String, S), Fault> {
    let Resource { metadata: Some(metadata), spec: Some(specification) } = resource.unwrap_or_default()
    else {
        return Err(Fault::Malformed("a resource without metadata or specification".to_owned()));
    };
    let decoded = S::decode(specification.proto_spec.as_slice())
        .map_err(|error| Fault::Malformed(format!("{}/{}: {error}", metadata.r#type, metadata.id)))?;
    Ok((metadata.id, decoded))
}
