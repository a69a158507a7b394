//! Version, stage, services, security, platform, time.

use serde_json::json;
use talos_api::resource::enums::{RuntimeMachineStage, RuntimeSeLinuxState};
use talos_api::resource::extensions::Metadata;
use talos_api::resource::runtime::{
    ApiServiceConfigSpec, MachineStatusSpec, MachineStatusStatus, PlatformMetadataSpec, SecurityStateSpec,
    UnmetCondition, VersionSpec,
};
use talos_api::resource::{extensions, time, v1alpha1};

use super::{Resource, Spec};
use crate::machine::Stage;
use crate::world::TalosVersion;

/// The running version; its name came with 1.13.
pub(crate) fn version(version: TalosVersion) -> Resource {
    let tag = version.to_string();
    let (message, value) = if version.apid_in_maintenance() {
        let name = "Talos".to_owned();
        (VersionSpec { version: tag.clone(), name }, json!({"name": "Talos", "version": tag}))
    } else {
        (VersionSpec { version: tag.clone(), name: String::new() }, json!({"version": tag}))
    };
    let spec = Spec::new(&message, &value);
    Resource::new("Versions.runtime.talos.dev", "version", "runtime.VersionController", spec)
}

/// The stage, and what is missing for the machine to be ready.
pub(crate) fn machine_status(stage: Stage, unmet: &[(&str, String)]) -> Resource {
    let conditions = unmet
        .iter()
        .map(|(name, reason)| UnmetCondition { name: (*name).to_owned(), reason: reason.clone() });
    let message = MachineStatusSpec {
        stage: wire_stage(stage).into(),
        status: Some(MachineStatusStatus { ready: unmet.is_empty(), unmet_conditions: conditions.collect() }),
    };
    let conditions: Vec<_> =
        unmet.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
    let value = json!({
        "stage": stage.as_str(),
        "status": {"ready": unmet.is_empty(), "unmetConditions": conditions},
    });
    let spec = Spec::new(&message, &value);
    Resource::new("MachineStatuses.runtime.talos.dev", "machine", "runtime.MachineStatusController", spec)
}

/// Secure boot and what belongs to it.
pub(crate) fn security_state(secure_boot: bool) -> Resource {
    let message = SecurityStateSpec {
        secure_boot,
        booted_with_uki: secure_boot,
        se_linux_state: RuntimeSeLinuxState::SeLinuxStateEnforcing.into(),
        module_signature_enforced: true,
        ..SecurityStateSpec::default()
    };
    let value = json!({
        "secureBoot": secure_boot,
        "bootedWithUKI": secure_boot,
        "selinuxState": "enforcing",
        "fipsState": "disabled",
        "moduleSignatureEnforced": true,
    });
    let spec = Spec::new(&message, &value);
    Resource::new("SecurityStates.talos.dev", "securitystate", "runtime.SecurityStateController", spec)
}

/// The platform, which is always bare metal.
pub(crate) fn platform_metadata() -> Resource {
    let message = PlatformMetadataSpec { platform: "metal".to_owned(), ..PlatformMetadataSpec::default() };
    let spec = Spec::new(&message, &json!({"platform": "metal"}));
    Resource::new("PlatformMetadatas.talos.dev", "platformmetadata", "network.PlatformConfigController", spec)
}

/// The extension by which an image of the factory tells its schematic.
pub(crate) fn schematic_extension(schematic: &str) -> Resource {
    let description =
        "Virtual extension which specifies the schematic of the image built with Image Factory.";
    let message = extensions::Layer {
        image: String::new(),
        metadata: Some(Metadata {
            name: "schematic".to_owned(),
            version: schematic.to_owned(),
            author: "Image Factory".to_owned(),
            description: description.to_owned(),
            ..Metadata::default()
        }),
    };
    let value = json!({
        "image": "",
        "metadata": {
            "name": "schematic",
            "version": schematic,
            "author": "Image Factory",
            "description": description,
            "compatibility": {"talos": {"version": ""}},
        },
    });
    let spec = Spec::new(&message, &value);
    Resource::new("ExtensionStatuses.runtime.talos.dev", "0", "runtime.ExtensionStatusController", spec)
}

/// How apid serves: in maintenance mode to anybody, later to who has a certificate.
pub(crate) fn api_service_config(maintenance: bool) -> Resource {
    let message = ApiServiceConfigSpec {
        listen_address: ":50000".to_owned(),
        node_routing_disabled: maintenance,
        readonly_role_mode: maintenance,
        skip_verifying_client_cert: maintenance,
    };
    let value = json!({
        "listenAddress": ":50000",
        "nodeRoutingDisabled": maintenance,
        "readonlyRoleMode": maintenance,
        "skipVerifyingClientCert": maintenance,
    });
    let spec = Spec::new(&message, &value);
    Resource::new("APIServiceConfigs.runtime.talos.dev", "apid", "runtime.APIServiceConfigController", spec)
}

/// A service of the machine.
pub(crate) fn service(id: &str, running: bool, healthy: bool, unknown: bool) -> Resource {
    let message = v1alpha1::ServiceSpec { running, healthy, unknown };
    let value = json!({"running": running, "healthy": healthy, "unknown": unknown});
    Resource::new(
        "Services.v1alpha1.talos.dev",
        id,
        "v1alpha1.ServiceController",
        Spec::new(&message, &value),
    )
}

/// Whether the clock is in sync with time servers.
pub(crate) fn time_status(synced: bool, disabled: bool) -> Resource {
    let message = time::StatusSpec { synced, epoch: i64::from(synced), sync_disabled: disabled };
    let value = json!({"synced": synced, "epoch": message.epoch, "syncDisabled": disabled});
    Resource::new(
        "TimeStatuses.v1alpha1.talos.dev",
        "node",
        "time.SyncController",
        Spec::new(&message, &value),
    )
}

const fn wire_stage(stage: Stage) -> RuntimeMachineStage {
    match stage {
        Stage::Off => RuntimeMachineStage::MachineStageUnknown,
        Stage::Booting => RuntimeMachineStage::MachineStageBooting,
        Stage::Installing => RuntimeMachineStage::MachineStageInstalling,
        Stage::Maintenance => RuntimeMachineStage::MachineStageMaintenance,
        Stage::Running => RuntimeMachineStage::MachineStageRunning,
        Stage::Rebooting => RuntimeMachineStage::MachineStageRebooting,
        Stage::ShuttingDown => RuntimeMachineStage::MachineStageShuttingDown,
        Stage::Resetting => RuntimeMachineStage::MachineStageResetting,
        Stage::Upgrading => RuntimeMachineStage::MachineStageUpgrading,
    }
}
