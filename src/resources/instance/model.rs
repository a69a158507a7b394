//! The attributes of `kontinuum_instance`, and their parsing.

use std::time::Duration;

use super::super::condition::{self, Condition};
use super::super::patches;
use super::super::report::null_element;
use super::super::timeouts::{self, Defaults, Limits, Timeouts};
use crate::clients::talos::Fingerprint;
use crate::domain::cluster::quantity;
use crate::domain::machine::{Disk, Facts, InstallDisk, Link};
use crate::domain::names::{Address, Label};
use crate::domain::record::{InstanceRecord, Work};
use crate::domain::selector::{Labels, check_user_label};
use crate::plugin::{
    Attr, Diagnostic, Diagnostics, List, Map, Model, Path, Visitor, computed, optional, optional_computed,
    required,
};

/// A machine that boots in five minutes is slow; one that takes longer says so in `timeouts`.
const DEFAULTS: Defaults = Defaults {
    create: Duration::from_secs(5 * 60),
    update: Duration::from_secs(5 * 60),
    delete: Duration::from_secs(15 * 60),
};

/// A machine.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    pub(super) name: Attr<String>,
    pub(super) hostname: Attr<String>,
    pub(super) interfaces: Attr<List<String>>,
    pub(super) labels: Attr<Map<String>>,
    pub(super) install_disk: Attr<InstallDiskModel>,
    pub(super) config_patches: Attr<List<String>>,
    pub(super) certificate_fingerprint: Attr<String>,
    pub(super) timeouts: Attr<Timeouts>,
    pub(super) uid: Attr<String>,
    pub(super) address: Attr<String>,
    pub(super) talos_version: Attr<String>,
    pub(super) uuid: Attr<String>,
    pub(super) serial_number: Attr<String>,
    pub(super) links: Attr<List<LinkModel>>,
    pub(super) disks: Attr<List<DiskModel>>,
    pub(super) processor_count: Attr<u64>,
    pub(super) memory_bytes: Attr<u64>,
    pub(super) secure_boot: Attr<bool>,
    pub(super) schematic: Attr<String>,
    pub(super) configuration_digest: Attr<String>,
    pub(super) conditions: Attr<List<Condition>>,
}

impl Model for Instance {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            required("name", "The machine's name, a DNS label; unique in the inventory.").replaces(),
            &mut self.name,
        );
        v.attribute(
            optional_computed("hostname", "The host name, which is also the node's name. Default: `name`."),
            &mut self.hostname,
        );
        v.attribute(
            required(
                "interfaces",
                "Every address (IP or host name, without port) at which the machine may answer, before and after its \
                 configuration, in the order in which they are tried.",
            ),
            &mut self.interfaces,
        );
        v.attribute(
            optional("labels", "Labels by which pools select machines; Kubernetes' rules apply."),
            &mut self.labels,
        );
        v.attribute(
            optional(
                "install_disk",
                "Which disk Talos is installed on: all that is given must match, and exactly one disk may. Not needed \
                 for a machine with one disk.",
            ),
            &mut self.install_disk,
        );
        v.attribute(
            optional("config_patches", "Patches (YAML) of this machine's Talos configuration, applied last."),
            &mut self.config_patches,
        );
        v.attribute(
            optional(
                "certificate_fingerprint",
                "The fingerprint of the maintenance service's certificate that the machine's console shows. Another \
                 machine at the address is then refused.",
            ),
            &mut self.certificate_fingerprint,
        );
        v.attribute(
            optional(
                "timeouts",
                "How long operations may take. Defaults: `create` and `update` 5m, `delete` 15m.",
            ),
            &mut self.timeouts,
        );
        v.attribute(
            computed("uid", "The identity of this record: a replaced machine has another."),
            &mut self.uid,
        );
        v.attribute(computed("address", "The candidate address that answered."), &mut self.address);
        v.attribute(computed("talos_version", "The Talos version that it booted."), &mut self.talos_version);
        v.attribute(computed("uuid", "The SMBIOS UUID."), &mut self.uuid);
        v.attribute(computed("serial_number", "The SMBIOS serial number."), &mut self.serial_number);
        v.attribute(computed("links", "Its physical network links."), &mut self.links);
        v.attribute(computed("disks", "Its disks."), &mut self.disks);
        v.attribute(computed("processor_count", "Its processors' cores."), &mut self.processor_count);
        v.attribute(computed("memory_bytes", "Its memory in bytes."), &mut self.memory_bytes);
        v.attribute(computed("secure_boot", "Whether it was booted by secure boot."), &mut self.secure_boot);
        v.attribute(
            computed("schematic", "The image factory's schematic of the image that it booted."),
            &mut self.schematic,
        );
        v.attribute(
            computed(
                "configuration_digest",
                "A short digest of what this resource says of the machine's Talos configuration (`hostname`, `interfaces`, \
                 `install_disk`, `config_patches`). By it an edit reaches the machine's cluster in the same apply, where the \
                 pool lists the machine in `instances`.",
            ),
            &mut self.configuration_digest,
        );
        v.attribute(computed("conditions", condition::DESCRIPTION), &mut self.conditions);
    }
}

/// Which disk Talos is installed on.
#[derive(Clone, Debug, Default)]
pub(super) struct InstallDiskModel {
    path: Attr<String>,
    serial: Attr<String>,
    wwid: Attr<String>,
    model: Attr<String>,
    size: Attr<String>,
    kind: Attr<String>,
    bus_path: Attr<String>,
    overwrite: Attr<bool>,
}

impl InstallDiskModel {
    /// Whether something about it is known after apply only.
    fn is_open(&self) -> bool {
        let texts =
            [&self.path, &self.serial, &self.wwid, &self.model, &self.size, &self.kind, &self.bus_path];
        texts.iter().any(|text| text.is_unknown()) || self.overwrite.is_unknown()
    }
}

impl Model for InstallDiskModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(optional("path", "The device path, as in `/dev/nvme0n1`."), &mut self.path);
        v.attribute(optional("serial", "The serial number."), &mut self.serial);
        v.attribute(optional("wwid", "The World Wide Identifier."), &mut self.wwid);
        v.attribute(optional("model", "The model; `*` stands for any characters."), &mut self.model);
        v.attribute(optional("size", "The size with a comparison, as in `>= 100GB`."), &mut self.size);
        v.attribute(optional("type", "`nvme`, `ssd`, `hdd` or `sd`."), &mut self.kind);
        v.attribute(optional("bus_path", "The bus path; `*` stands for any characters."), &mut self.bus_path);
        v.attribute(
            optional(
                "overwrite",
                "Whether a disk that holds another system may be erased. Default: `false`.",
            )
            .default_value(false),
            &mut self.overwrite,
        );
    }
}

/// A network link.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkModel {
    name: Attr<String>,
    mac_address: Attr<String>,
    addresses: Attr<List<String>>,
}

impl Model for LinkModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "The kernel's name, as in `eth0`."), &mut self.name);
        v.attribute(computed("mac_address", "The hardware address."), &mut self.mac_address);
        v.attribute(computed("addresses", "Its addresses as prefixes."), &mut self.addresses);
    }
}

/// A disk.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskModel {
    name: Attr<String>,
    device_path: Attr<String>,
    size_bytes: Attr<u64>,
    model: Attr<String>,
    serial: Attr<String>,
    wwid: Attr<String>,
    transport: Attr<String>,
    rotational: Attr<bool>,
}

impl Model for DiskModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "The kernel's name, as in `sda`."), &mut self.name);
        v.attribute(computed("device_path", "The device, as in `/dev/sda`."), &mut self.device_path);
        v.attribute(computed("size_bytes", "The size in bytes."), &mut self.size_bytes);
        v.attribute(computed("model", "The model."), &mut self.model);
        v.attribute(computed("serial", "The serial number."), &mut self.serial);
        v.attribute(computed("wwid", "The World Wide Identifier."), &mut self.wwid);
        v.attribute(computed("transport", "How it is attached."), &mut self.transport);
        v.attribute(computed("rotational", "Whether it spins."), &mut self.rotational);
    }
}

/// What the user says of a machine, parsed.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) name: Label,
    pub(super) record: InstanceRecord,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) limits: Limits,
}

impl Instance {
    /// Parses what is known; unknown values count as not given and are no error.
    pub(super) fn check(&self) -> Diagnostics {
        match self.parse() {
            Ok(_) => Diagnostics::new(),
            Err(wrong) => wrong,
        }
    }

    /// The only place where the attributes are judged.
    pub(super) fn parse(&self) -> Result<Parsed, Diagnostics> {
        let mut wrong = Diagnostics::new();
        let mut label = |name: &str, value: &Attr<String>| {
            let text = value.known()?;
            Label::parse(text).map_err(|error| wrong.push(refused(Path::new(name), &error))).ok()
        };
        let name = label("name", &self.name);
        let hostname = label("hostname", &self.hostname);
        let interfaces = self.parse_interfaces(&mut wrong);
        let labels = self.parse_labels(&mut wrong);
        let fingerprint = self.certificate_fingerprint.known().and_then(|text| {
            Fingerprint::parse(text)
                .map_err(|error| wrong.push(refused(Path::new("certificate_fingerprint"), &error)))
                .ok()
        });
        let install_disk = self.install_disk.known().map(|disk| disk.parse(&mut wrong));
        let limits = timeouts::parse(&self.timeouts, DEFAULTS).map_err(|errors| wrong.extend(errors)).ok();
        let config_patches = patches::parse(&Path::root(), &self.config_patches, &mut wrong);
        let placeholder = || Label::parse("unknown").ok();
        // A name that is unknown while planning is judged once it is known.
        match (name.or_else(placeholder), limits) {
            (Some(name), Some(limits)) if !wrong.has_errors() => Ok(Parsed {
                record: InstanceRecord {
                    interfaces,
                    hostname: hostname.filter(|hostname| *hostname != name),
                    labels,
                    install_disk,
                    config_patches,
                    certificate_fingerprint: self.certificate_fingerprint.known().cloned(),
                    facts: None,
                    conditions: Vec::new(),
                    claim: None,
                    work: Work::Untouched,
                    acknowledged: false,
                },
                name,
                fingerprint,
                limits,
            }),
            _ => Err(wrong),
        }
    }

    fn parse_interfaces(&self, wrong: &mut Diagnostics) -> Vec<Address> {
        let path = Path::new("interfaces");
        let Some(items) = self.interfaces.known() else { return Vec::new() };
        if items.is_empty() {
            wrong.push(
                Diagnostic::error(
                    "interfaces is empty",
                    "Give at least one address at which the machine may answer.",
                )
                .at(path.clone()),
            );
        }
        let mut addresses: Vec<Address> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = path.clone().index(index);
            if item.is_null() {
                wrong.push(null_element(at));
                continue;
            }
            let Some(text) = item.known() else { continue };
            match Address::parse(text) {
                Ok(address) if addresses.contains(&address) => wrong.push(
                    Diagnostic::error(
                        format!("interfaces holds {text:?} twice"),
                        "Each candidate address is tried once: remove one of the two.",
                    )
                    .at(at),
                ),
                Ok(address) => addresses.push(address),
                Err(error) => wrong.push(refused(at, &error)),
            }
        }
        addresses
    }

    fn parse_labels(&self, wrong: &mut Diagnostics) -> Labels {
        let mut labels = Labels::new();
        for (key, value) in self.labels.known().into_iter().flatten() {
            // The key is judged even where its value is unknown.
            let known = value.known().map_or("", String::as_str);
            match check_user_label(key, known) {
                Ok(()) => drop(labels.insert(key.clone(), known.to_owned())),
                Err(error) => wrong.push(refused(Path::new("labels").key(key), &error)),
            }
        }
        labels
    }

    /// Shows what a record says.
    pub(super) fn shown(mut self, uid: &str, record: &InstanceRecord) -> Self {
        self.uid = uid.into();
        if !matches!(self.hostname, Attr::Known(_)) {
            self.hostname = self.name.clone();
        }
        self.configuration_digest = record.configuration_digest().into();
        self.conditions = condition::listed(&record.conditions);
        self.show_facts(record.facts.as_ref());
        self
    }

    /// What is imported: what the record says.
    pub(super) fn imported(name: &str, uid: &str, record: &InstanceRecord) -> Self {
        let text = |value: &Option<String>| Attr::from(value.clone());
        let instance = Self {
            name: name.into(),
            hostname: record.hostname.as_ref().map(ToString::to_string).into(),
            interfaces: record.interfaces.iter().map(ToString::to_string).collect(),
            labels: if record.labels.is_empty() {
                Attr::Null
            } else {
                record.labels.clone().into_iter().collect()
            },
            install_disk: record.install_disk.as_ref().map(InstallDiskModel::from).into(),
            config_patches: if record.config_patches.is_empty() {
                Attr::Null
            } else {
                record.config_patches.iter().cloned().collect()
            },
            certificate_fingerprint: text(&record.certificate_fingerprint),
            ..Self::default()
        };
        instance.shown(uid, record)
    }

    fn show_facts(&mut self, facts: Option<&Facts>) {
        self.address = facts.map(|facts| facts.address.to_string()).into();
        self.talos_version = facts.map(|facts| facts.talos_version.clone()).into();
        self.uuid = facts.map(|facts| facts.uuid.clone()).into();
        self.serial_number = facts.map(|facts| facts.serial_number.clone()).into();
        self.links = facts.map_or(Attr::Null, |facts| facts.links.iter().map(LinkModel::from).collect());
        self.disks = facts.map_or(Attr::Null, |facts| facts.disks.iter().map(DiskModel::from).collect());
        self.processor_count = facts.map(|facts| facts.processor_count).into();
        self.memory_bytes = facts.map(|facts| facts.memory_bytes).into();
        self.secure_boot = facts.map(|facts| facts.secure_boot).into();
        self.schematic =
            facts.map(|facts| facts.schematic.clone()).filter(|schematic| !schematic.is_empty()).into();
    }

    /// What a saved state tells of the machine, for an inventory that lost it.
    pub(super) fn facts(&self) -> Option<Facts> {
        let text = |attr: &Attr<String>| attr.known().cloned().unwrap_or_default();
        let address = Address::parse(self.address.known()?).ok()?;
        Some(Facts {
            address,
            talos_version: text(&self.talos_version),
            uuid: text(&self.uuid),
            serial_number: text(&self.serial_number),
            links: self.links.known_items().unwrap_or_default().into_iter().map(LinkModel::fact).collect(),
            disks: self.disks.known_items().unwrap_or_default().into_iter().map(DiskModel::fact).collect(),
            processor_count: self.processor_count.known().copied().unwrap_or_default(),
            memory_bytes: self.memory_bytes.known().copied().unwrap_or_default(),
            secure_boot: self.secure_boot.known().copied().unwrap_or_default(),
            schematic: text(&self.schematic),
        })
    }

    /// Nothing that the machine says of itself is known before it is asked anew.
    /// What [`configuration_digest`](InstanceRecord::configuration_digest) will be; unknown as long as anything in it is.
    pub(super) fn planned_digest(&self) -> Attr<String> {
        let lists = [&self.interfaces, &self.config_patches];
        let open = lists.iter().any(|list| !list.is_null() && list.known_items().is_none());
        let open_disk = match &self.install_disk {
            Attr::Known(disk) => disk.is_open(),
            Attr::Null => false,
            Attr::Unknown => true,
        };
        if open || open_disk || self.name.is_unknown() || self.hostname.is_unknown() {
            return Attr::Unknown;
        }
        self.parse().map_or(Attr::Unknown, |parsed| parsed.record.configuration_digest().into())
    }

    pub(super) fn forget_facts(&mut self) {
        self.address = Attr::Unknown;
        self.talos_version = Attr::Unknown;
        self.uuid = Attr::Unknown;
        self.serial_number = Attr::Unknown;
        self.links = Attr::Unknown;
        self.disks = Attr::Unknown;
        self.processor_count = Attr::Unknown;
        self.memory_bytes = Attr::Unknown;
        self.secure_boot = Attr::Unknown;
        self.schematic = Attr::Unknown;
        self.conditions = Attr::Unknown;
    }
}

fn refused(path: Path, error: &dyn std::error::Error) -> Diagnostic {
    Diagnostic::error(format!("{path} is not valid"), format!("{error}.")).at(path)
}

impl InstallDiskModel {
    fn parse(&self, wrong: &mut Diagnostics) -> InstallDisk {
        let path = Path::new("install_disk");
        if let Some(error) = self.size.known().and_then(|size| quantity::comparison(size).err()) {
            wrong.push(refused(path.clone().attribute("size"), &error));
        }
        let kinds = ["nvme", "ssd", "hdd", "sd"];
        if let Some(kind) = self.kind.known().filter(|kind| !kinds.contains(&kind.as_str())) {
            wrong.push(
                Diagnostic::error(
                    "install_disk.type is not valid",
                    format!("Expected one of {}, got {kind:?}.", kinds.join(", ")),
                )
                .at(path.attribute("type")),
            );
        }
        let text = |attr: &Attr<String>| attr.known().filter(|text| !text.is_empty()).cloned();
        InstallDisk {
            path: text(&self.path),
            serial: text(&self.serial),
            wwid: text(&self.wwid),
            model: text(&self.model),
            size: text(&self.size),
            transport: text(&self.kind),
            bus_path: text(&self.bus_path),
            overwrite: self.overwrite.known().copied().unwrap_or_default(),
        }
    }
}

impl From<&InstallDisk> for InstallDiskModel {
    fn from(disk: &InstallDisk) -> Self {
        Self {
            path: disk.path.clone().into(),
            serial: disk.serial.clone().into(),
            wwid: disk.wwid.clone().into(),
            model: disk.model.clone().into(),
            size: disk.size.clone().into(),
            kind: disk.transport.clone().into(),
            bus_path: disk.bus_path.clone().into(),
            overwrite: disk.overwrite.into(),
        }
    }
}

impl From<&Link> for LinkModel {
    fn from(link: &Link) -> Self {
        Self {
            name: link.name.clone().into(),
            mac_address: link.mac_address.clone().into(),
            addresses: link.addresses.iter().cloned().collect(),
        }
    }
}

impl LinkModel {
    fn fact(&self) -> Link {
        Link {
            name: self.name.known().cloned().unwrap_or_default(),
            mac_address: self.mac_address.known().cloned().unwrap_or_default(),
            addresses: self.addresses.known_items().unwrap_or_default().into_iter().cloned().collect(),
        }
    }
}

impl From<&Disk> for DiskModel {
    fn from(disk: &Disk) -> Self {
        Self {
            name: disk.name.clone().into(),
            device_path: disk.device_path.clone().into(),
            size_bytes: disk.size_bytes.into(),
            model: disk.model.clone().into(),
            serial: disk.serial.clone().into(),
            wwid: disk.wwid.clone().into(),
            transport: disk.transport.clone().into(),
            rotational: disk.rotational.into(),
        }
    }
}

impl DiskModel {
    fn fact(&self) -> Disk {
        let text = |attr: &Attr<String>| attr.known().cloned().unwrap_or_default();
        Disk {
            name: text(&self.name),
            device_path: text(&self.device_path),
            size_bytes: self.size_bytes.known().copied().unwrap_or_default(),
            model: text(&self.model),
            serial: text(&self.serial),
            wwid: text(&self.wwid),
            transport: text(&self.transport),
            rotational: self.rotational.known().copied().unwrap_or_default(),
            ..Disk::default()
        }
    }
}
