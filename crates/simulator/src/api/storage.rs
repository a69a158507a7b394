//! The storage service: disks as older clients ask for them, and wiping.

use std::sync::Arc;

use talos_api::storage::disk::DiskType;
use talos_api::storage::storage_service_server::StorageService;
use talos_api::storage::{
    BlockDeviceWipe, BlockDeviceWipeRequest, BlockDeviceWipeResponse, Disk, Disks, DisksResponse,
};
use tonic::{Request, Response, Status, async_trait};

use crate::machine::Boot;
use crate::world::{self, Transport};

/// `storage.StorageService` of a machine that runs.
pub(super) struct Service(pub(super) Arc<Boot>);

#[async_trait]
impl StorageService for Service {
    async fn disks(&self, _: Request<()>) -> Result<Response<DisksResponse>, Status> {
        let installed = self.0.installed().map(|installed| installed.disk);
        let loopback = Disk {
            size: 83_886_080,
            device_name: "/dev/loop0".to_owned(),
            subsystem: "/sys/class/block".to_owned(),
            readonly: true,
            ..Disk::default()
        };
        let disks = self.0.machine.specification.disks();
        let own = disks.iter().map(|own| disk(own, installed.as_deref()));
        let disks = std::iter::once(loopback).chain(own).collect();
        Ok(Response::new(DisksResponse { messages: vec![Disks { metadata: None, disks }] }))
    }

    async fn block_device_wipe(
        &self,
        request: Request<BlockDeviceWipeRequest>,
    ) -> Result<Response<BlockDeviceWipeResponse>, Status> {
        let installed = self.0.installed().map(|installed| installed.disk);
        let disks = self.0.machine.specification.disks();
        for device in &request.get_ref().devices {
            let name = &device.device;
            if !disks.iter().any(|disk| disk.name == *name) {
                return Err(Status::not_found(format!("blockdevice {name:?} not found")));
            }
            if installed.as_deref() == Some(name) {
                return Err(Status::failed_precondition(format!("blockdevice {name:?} is in use by disk")));
            }
        }
        // What is on foreign disks in the beginning is part of the world and stays: an installation overwrites it.
        Ok(Response::new(BlockDeviceWipeResponse { messages: vec![BlockDeviceWipe { metadata: None }] }))
    }
}

fn disk(disk: &world::Disk, installed: Option<&str>) -> Disk {
    let kind = match (disk.transport, disk.rotational) {
        _ if disk.cdrom => DiskType::Cd,
        (Transport::Nvme, _) => DiskType::Nvme,
        (Transport::Mmc, _) => DiskType::Sd,
        (_, true) => DiskType::Hdd,
        (_, false) => DiskType::Ssd,
    };
    Disk {
        size: disk.size.bytes(),
        model: disk.model.clone(),
        device_name: disk.path(),
        serial: disk.serial.clone(),
        wwid: disk.wwid.clone(),
        r#type: kind.into(),
        bus_path: disk.bus_path.clone(),
        system_disk: installed == Some(disk.name.as_str()),
        subsystem: "/sys/class/block".to_owned(),
        readonly: disk.read_only,
        ..Disk::default()
    }
}
