//! Reboot, shutdown, reset, upgrade, and the credentials that a machine hands out.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use talos_api::common::Data;
use talos_api::machine::reset_request::WipeMode;
use talos_api::machine::{
    GenerateClientConfiguration, GenerateClientConfigurationRequest, GenerateClientConfigurationResponse,
    Reboot, RebootResponse, Reset, ResetRequest, ResetResponse, Shutdown, ShutdownResponse, Upgrade,
    UpgradeRequest, UpgradeResponse,
};
use tonic::{Response, Status};

use super::{Answers, chunks, gzip};
use crate::kubernetes::KubeconfigError;
use crate::machine::{self, Boot, Command, Volume};
use crate::resources::cluster::Role;
use crate::tls::Authority;
use crate::world::{Disk, TalosVersion};

/// Goes down and comes back.
pub(super) fn reboot(boot: &Arc<Boot>) -> RebootResponse {
    boot.machine.command(Command::Reboot);
    RebootResponse { messages: vec![Reboot { metadata: None, actor_id: actor() }] }
}

/// Goes down and stays.
pub(super) fn shut_down(boot: &Arc<Boot>) -> ShutdownResponse {
    boot.machine.command(Command::ShutDown);
    ShutdownResponse { messages: vec![Shutdown { metadata: None, actor_id: actor() }] }
}

/// Wipes, as far as asked.
pub(super) fn reset(boot: &Arc<Boot>, request: &ResetRequest) -> Result<ResetResponse, Status> {
    let installed = boot.installed().map(|installed| installed.disk);
    let disks = boot.machine.specification.disks();
    let volumes = volumes(request, &disks, installed.as_deref())?;
    let actor = actor();
    boot.machine.command(Command::Reset(machine::Reset {
        graceful: request.graceful,
        reboot: request.reboot,
        volumes,
        actor: actor.clone(),
    }));
    Ok(ResetResponse { messages: vec![Reset { metadata: None, actor_id: actor }] })
}

/// What a reset wipes. Errors come without a code of their own, as Talos' do. Pure.
fn volumes(request: &ResetRequest, disks: &[Disk], installed: Option<&str>) -> Result<Vec<Volume>, Status> {
    let mode = request.mode();
    if !request.user_disks_to_wipe.is_empty() && mode == WipeMode::SystemDisk {
        return Err(Status::unknown(
            "reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter",
        ));
    }
    for path in &request.user_disks_to_wipe {
        let failed = |why: &str| Status::unknown(format!("reset user disk failed: device {path} {why}"));
        let disk = disks.iter().find(|disk| disk.path() == *path).ok_or_else(|| failed("wasn't found"))?;
        if disk.read_only {
            return Err(failed("is readonly"));
        }
        if installed == Some(disk.name.as_str()) {
            return Err(failed("is the system disk"));
        }
    }
    let partitions = &request.system_partitions_to_wipe;
    if !partitions.is_empty() && mode == WipeMode::UserDisks {
        return Err(Status::unknown(
            "reset failed: invalid input, wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter",
        ));
    }
    if partitions.is_empty() && mode != WipeMode::UserDisks {
        return Ok(vec![Volume::Meta, Volume::State, Volume::Ephemeral]);
    }
    let mut volumes = Vec::new();
    for partition in partitions {
        let volume = match partition.label.as_str() {
            "META" => Volume::Meta,
            "STATE" => Volume::State,
            "EPHEMERAL" => Volume::Ephemeral,
            label => {
                return Err(Status::unknown(format!(
                    "failed to get volume status with label {label:?}: resource VolumeStatuses.block.talos.dev(runtime/{label}@undefined) doesn't exist"
                )));
            }
        };
        if partition.wipe {
            volumes.push(volume);
        }
    }
    Ok(volumes)
}

/// Puts another version on the disk and boots it.
pub(super) fn upgrade(boot: &Arc<Boot>, request: &UpgradeRequest) -> Result<UpgradeResponse, Status> {
    if boot.installed().is_none() {
        return Err(Status::failed_precondition("Talos is not installed"));
    }
    let refused =
        |error: String| Status::invalid_argument(format!("error validating installer image: {error}"));
    let (version, schematic): (TalosVersion, Option<String>) =
        machine::installer_image(&request.image).map_err(refused)?;
    boot.machine.command(Command::Upgrade(version, schematic));
    let ack = "Upgrade request received".to_owned();
    Ok(UpgradeResponse { messages: vec![Upgrade { metadata: None, ack, actor_id: actor() }] })
}

/// The administrator's kubeconfig: a gzip stream of a tar with one entry that, as Talos' own, has no end.
pub(super) fn kubeconfig(boot: &Arc<Boot>) -> Result<Response<Answers<Data>>, Status> {
    if boot.role() != Role::ControlPlane {
        return Err(Status::unimplemented("kubeconfig is only available on control plane nodes"));
    }
    let node = boot.node().ok_or_else(|| Status::unavailable("the machine is still booting"))?;
    let kubeconfig = node.kubeconfig().map_err(|error| {
        if matches!(error, KubeconfigError::NotControlPlane) {
            return Status::unimplemented(error.to_string());
        }
        Status::unknown(format!("failed to {error}"))
    })?;
    Ok(chunks(&archive(kubeconfig.expose().as_bytes())))
}

/// Credentials for other clients of the machine's API.
pub(super) fn client_configuration(
    boot: &Arc<Boot>,
    request: &GenerateClientConfigurationRequest,
) -> Result<GenerateClientConfigurationResponse, Status> {
    if boot.role() != Role::ControlPlane {
        return Err(Status::unimplemented(
            "client configuration (talosconfig) can be generated only on control plane nodes",
        ));
    }
    let lifetime = request.crt_ttl.as_ref().map_or(0, |lifetime| lifetime.seconds);
    if lifetime <= 0 {
        return Err(Status::invalid_argument("crt_ttl should be positive"));
    }
    let [_] = request.roles.as_slice() else {
        return Err(super::not_simulated("client certificates with several roles, or none"));
    };
    let configuration = boot.configuration();
    let own = configuration.as_ref().and_then(|configuration| configuration.view.machine.ca.as_ref());
    let own = own.ok_or_else(|| Status::unknown("the machine has no certificate authority"))?;
    let lifetime = jiff::SignedDuration::from_secs(lifetime);
    let issued = Authority::from_pem(&own.certificate, own.key.expose())
        .and_then(|authority| authority.issue_client(&request.roles, boot.machine.clock.now(), lifetime));
    let (certificate, key) = issued
        .map_err(|error| Status::unknown(format!("failed to generate a client certificate: {error}")))?;
    let name = configuration.as_ref().map_or("", |configuration| configuration.view.cluster.name.as_str());
    let encoded = |text: &str| STANDARD.encode(text);
    let talosconfig = format!(
        "context: {name}\ncontexts:\n    {name}:\n        endpoints: []\n        ca: {}\n        crt: {}\n        key: {}\n",
        encoded(&own.certificate),
        encoded(&certificate),
        encoded(&key),
    );
    let message = GenerateClientConfiguration {
        metadata: None,
        ca: own.certificate.clone().into_bytes(),
        crt: certificate.into_bytes(),
        key: key.into_bytes(),
        talosconfig: talosconfig.into_bytes(),
    };
    Ok(GenerateClientConfigurationResponse { messages: vec![message] })
}

/// Identifies who started a sequence, in its events.
fn actor() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A gzip stream of a tar with the entry `kubeconfig`, without the closing blocks and without padding.
fn archive(kubeconfig: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    // POSIX ustar: name, mode, owner, group, size, time, checksum (as blanks at first), type, magic, version.
    let fields: [(usize, &[u8]); 9] = [
        (0, b"kubeconfig"),
        (100, b"0000600\0"),
        (108, b"0000000\0"),
        (116, b"0000000\0"),
        (124, &format!("{:011o}\0", kubeconfig.len()).into_bytes()),
        (136, b"00000000000\0"),
        (148, b"        "),
        (156, b"0"),
        (257, b"ustar\x0000"),
    ];
    for (offset, field) in fields {
        header[offset..offset + field.len()].copy_from_slice(field);
    }
    let checksum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{checksum:06o}\0 ").as_bytes());
    gzip::stored(&[&header, kubeconfig].concat())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use talos_api::machine::ResetPartitionSpec;

    use super::*;
    use crate::world::Size;

    fn partitions(labels: &[&str]) -> ResetRequest {
        let specs = labels
            .iter()
            .map(|label| ResetPartitionSpec { label: (*label).to_owned(), wipe: true })
            .collect();
        ResetRequest { system_partitions_to_wipe: specs, ..ResetRequest::default() }
    }

    #[test]
    fn named_partitions_are_wiped_and_no_names_mean_the_whole_disk() {
        let disks = [Disk::blank("sda", Size::of_gibibytes(64))];
        let named = volumes(&partitions(&["STATE", "EPHEMERAL"]), &disks, Some("sda")).unwrap();
        assert_eq!(named, [Volume::State, Volume::Ephemeral]);
        let whole = volumes(&ResetRequest::default(), &disks, Some("sda")).unwrap();
        assert!(whole.contains(&Volume::Meta));
        let unknown = volumes(&partitions(&["NOPE"]), &disks, Some("sda")).unwrap_err();
        assert!(unknown.message().starts_with("failed to get volume status with label \"NOPE\""));
    }

    #[test]
    fn the_system_disk_is_no_user_disk() {
        let disks = [Disk::blank("sda", Size::of_gibibytes(64))];
        let request =
            ResetRequest { user_disks_to_wipe: vec!["/dev/sda".to_owned()], ..ResetRequest::default() };
        let refused = volumes(&request, &disks, Some("sda")).unwrap_err();
        assert_eq!(refused.message(), "reset user disk failed: device /dev/sda is the system disk");
    }

    #[test]
    fn the_kubeconfig_is_the_only_entry_of_a_tar_without_an_end() {
        let packed = archive(b"apiVersion: v1\n");
        // Header of the stream, header of its only block; checksum and length at the end.
        let tar = &packed[15..packed.len() - 8];
        assert_eq!(tar.len(), 512 + 15);
        assert_eq!(&tar[..10], b"kubeconfig");
        assert_eq!(&tar[512..], b"apiVersion: v1\n");
    }
}
