//! The composition root: configuration in, clients and resources out.

use crate::clients::charts::{Charts, Limits};
use crate::clients::inventory::{Environment, Inventory, Location};
use crate::plugin::{Attr, Diagnostics, Model, Operation, Path, Provider, Registry, Visitor, optional};
use crate::resources::Clients;
use crate::resources::candidates::PoolCandidates;
use crate::resources::instance::Instances;
use crate::resources::instance_pool::InstancePools;
use crate::resources::instances::InstanceListing;
use crate::resources::machine_configuration::MachineConfigurations;
use crate::resources::talos_cluster::TalosClusters;

/// The provider.
#[derive(Debug)]
pub struct Kontinuum;

/// The `provider` block.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    inventory: Attr<InventoryModel>,
}

impl Model for Configuration {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "inventory",
                "Where machines, claims and clusters are remembered beside the state. Default: the file that \
                 `KONTINUUM_INVENTORY` names, else `${XDG_STATE_HOME:-~/.local/state}/kontinuum/inventory.db`.",
            ),
            &mut self.inventory,
        );
    }
}

/// Where the inventory is.
#[derive(Clone, Debug, Default)]
pub struct InventoryModel {
    file: Attr<FileModel>,
}

impl Model for InventoryModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional("file", "A file on a local disk, shared by the processes of one host."),
            &mut self.file,
        );
    }
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct FileModel {
    path: Attr<String>,
}

impl Model for FileModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "path",
                "The file; made with its folder by the first apply, readable by its owner alone.",
            ),
            &mut self.path,
        );
    }
}

impl Provider for Kontinuum {
    type Config = Configuration;
    type Data = Clients;
    const ADDRESS: &'static str = "kontinuum/kontinuum";
    const DESCRIPTION: &'static str = "Machines booted into Talos Linux become Kubernetes clusters with Cilium and \
        cert-manager: discovered, claimed, bootstrapped, and kept.";

    async fn configure(&self, config: Configuration, _: &Operation<Clients>) -> Result<Clients, Diagnostics> {
        let path = config
            .inventory
            .known()
            .and_then(|inventory| inventory.file.known())
            .and_then(|file| file.path.known())
            .map(String::as_str);
        let location = Location::choose(path, &Environment::of_process()).map_err(|error| {
            Diagnostics::error("the inventory has no place", format!("{error}.")).at(&Path::new("inventory"))
        })?;
        let charts = Charts::new(Limits::default()).map_err(|error| {
            Diagnostics::error("HTTPS cannot be set up", format!("{error}. Charts could not be fetched."))
        })?;
        Ok(Clients { inventory: Inventory::new(location), charts })
    }

    fn register(&self, registry: &mut Registry<Clients>) {
        registry
            .resource(Instances)
            .resource(InstancePools)
            .resource(TalosClusters)
            .data_source(InstanceListing)
            .data_source(PoolCandidates)
            .data_source(MachineConfigurations);
    }
}
