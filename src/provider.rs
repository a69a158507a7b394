//! The composition root: configuration in, clients and resources out.

use crate::plugin::{Diagnostics, NoConfiguration, Operation, Provider, Registry};

/// The provider as Terraform and OpenTofu see it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kontinuum;

impl Provider for Kontinuum {
    type Config = NoConfiguration;
    type Data = ();

    const ADDRESS: &'static str = "kontinuum/kontinuum";
    const DESCRIPTION: &'static str = "Turns machines that booted into Talos Linux into Kubernetes clusters.";

    async fn configure(&self, _: NoConfiguration, _: &Operation<()>) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn register(&self, _: &mut Registry<()>) {}
}
