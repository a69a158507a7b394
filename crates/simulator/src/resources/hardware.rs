//! What firmware tells: system, processors, memory.

use serde_json::json;
use talos_api::resource::hardware::{MemoryModuleSpec, ProcessorSpec, SystemInformationSpec};

use super::{Resource, Spec};
use crate::world::Machine;

const CONTROLLER: &str = "hardware.SystemInfoController";
const MANUFACTURER: &str = "Kontinuum";
const SPEED_MEGAHERTZ: u32 = 3000;

/// All resources of the namespace `hardware`.
pub(crate) fn all(machine: &Machine) -> Vec<Resource> {
    vec![system(machine), processor(machine), memory(machine)]
}

fn system(machine: &Machine) -> Resource {
    let message = SystemInformationSpec {
        manufacturer: MANUFACTURER.to_owned(),
        product_name: "Simulated Machine".to_owned(),
        serial_number: machine.serial_number(),
        uuid: machine.uuid(),
        wake_up_type: "Power Switch".to_owned(),
        ..SystemInformationSpec::default()
    };
    let value = json!({
        "manufacturer": message.manufacturer,
        "productName": message.product_name,
        "version": message.version,
        "serialnumber": message.serial_number,
        "uuid": message.uuid,
        "wakeUpType": message.wake_up_type,
        "skuNumber": message.sku_number,
    });
    let spec = Spec::new(&message, &value);
    Resource::new("SystemInformations.hardware.talos.dev", "systeminformation", CONTROLLER, spec)
}

fn processor(machine: &Machine) -> Resource {
    let message = ProcessorSpec {
        socket: "CPU 0".to_owned(),
        manufacturer: MANUFACTURER.to_owned(),
        product_name: "Simulated Processor".to_owned(),
        max_speed: SPEED_MEGAHERTZ,
        boot_speed: SPEED_MEGAHERTZ,
        // SMBIOS 3.x, table 23: enabled, socket populated.
        status: 65,
        core_count: machine.processors,
        core_enabled: machine.processors,
        thread_count: machine.processors,
        ..ProcessorSpec::default()
    };
    let value = json!({
        "socket": message.socket,
        "manufacturer": message.manufacturer,
        "productName": message.product_name,
        "maxSpeedMhz": message.max_speed,
        "bootSpeedMhz": message.boot_speed,
        "status": message.status,
        "coreCount": message.core_count,
        "coreEnabled": message.core_enabled,
        "threadCount": message.thread_count,
    });
    Resource::new("Processors.hardware.talos.dev", "CPU-0", CONTROLLER, Spec::new(&message, &value))
}

fn memory(machine: &Machine) -> Resource {
    let message = MemoryModuleSpec {
        size: u32::try_from(machine.memory.bytes() >> 20).unwrap_or(u32::MAX),
        device_locator: "DIMM 0".to_owned(),
        bank_locator: "BANK 0".to_owned(),
        speed: 3200,
        manufacturer: MANUFACTURER.to_owned(),
        ..MemoryModuleSpec::default()
    };
    let value = json!({
        "sizeMiB": message.size,
        "deviceLocator": message.device_locator,
        "bankLocator": message.bank_locator,
        "speed": message.speed,
        "manufacturer": message.manufacturer,
    });
    Resource::new("MemoryModules.hardware.talos.dev", "DIMM-0", CONTROLLER, Spec::new(&message, &value))
}
