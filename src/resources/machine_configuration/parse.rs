//! From the attributes to what the configuration is made from: the only place where they are judged one by one.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::super::patches;
use super::super::report::null_element;
use super::model::{Configuration, DiskSelectorModel, RegistryModel};
use crate::domain::machine_configuration::{
    Contract, Credentials, DiskSelector, Inputs, InstallTarget, NetworkPlugin, Registry, Role, Schematic,
    Secret, SecretsBundle, VirtualAddress, installer_image, is_restricted_label,
};
use crate::domain::selector::{check_key, check_value};
use crate::domain::version::{Version, VersionError, check_pair};
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Map, Path};

/// The disk of `talosctl gen config`.
const INSTALL_DISK: &str = "/dev/sda";

/// All that a configuration is made from.
pub(super) struct Parsed {
    pub(super) inputs: Inputs,
    pub(super) contract: Contract,
    pub(super) secrets: SecretsBundle,
    /// The schematic of the image, unless the image was given.
    pub(super) schematic: Option<String>,
    pub(super) patches: Vec<String>,
    /// What the user should know.
    pub(super) notes: Vec<Diagnostic>,
}

/// Reads attributes, and remembers what is wrong and whether anything is not known yet.
#[derive(Default)]
struct Reader {
    wrong: Diagnostics,
    unknown: bool,
}

impl Configuration {
    /// `None` while a value is not known yet; what is known is judged all the same.
    pub(super) fn parse(&self) -> Result<Option<Parsed>, Diagnostics> {
        let mut reader = Reader::default();
        let role = reader.one(&self.machine_type, &Path::new("machine_type"), |text| match text {
            "controlplane" => Ok(Role::ControlPlane),
            "worker" => Ok(Role::Worker),
            _ => Err(format!("expected controlplane or worker, got {text:?}")),
        });
        let versions = self.versions(&mut reader);
        let secrets = reader.value(&self.machine_secrets).and_then(|secret| {
            SecretsBundle::from_yaml(secret.expose())
                .map_err(|error| reader.refuse(Path::new("machine_secrets"), &error.to_string()))
                .ok()
        });
        let name = reader.text(&self.cluster_name, &Path::new("cluster_name"), "the cluster's name");
        let endpoint =
            reader.text(&self.cluster_endpoint, &Path::new("cluster_endpoint"), "https://HOST:PORT");
        let patches = patches::parse(&Path::root(), &self.config_patches, &mut reader.wrong);
        reader.unknown |= self.config_patches.is_unknown()
            || self.config_patches.known().is_some_and(|all| all.iter().any(Attr::is_unknown));
        let mut inputs = Inputs::new(
            role.unwrap_or(Role::ControlPlane),
            name.unwrap_or_default(),
            endpoint.unwrap_or_default(),
            "",
        );
        self.read_cluster(&mut inputs, &mut reader);
        self.read_node(&mut inputs, &mut reader);
        inputs.install_disk = self.disk(&mut reader);
        let schematic =
            self.image(&mut inputs, versions.as_ref().map(|versions| &versions.talos), &mut reader);
        reader.wrong.clone().into_result(())?;
        let (Some(versions), Some(secrets), false) = (versions, secrets, reader.unknown) else {
            return Ok(None);
        };
        inputs.kubernetes_version = versions.kubernetes.to_string();
        Ok(Some(Parsed {
            inputs,
            contract: versions.contract,
            secrets,
            schematic,
            patches,
            notes: versions.notes,
        }))
    }

    fn versions(&self, reader: &mut Reader) -> Option<Versions> {
        let talos = reader.one(&self.talos_version, &Path::new("talos_version"), |text| {
            let contract = Contract::of_version(text).map_err(|error| error.to_string())?;
            // The minor is enough for the form; the patch counts for the installer's image alone.
            let is_minor = text.matches('.').count() == 1;
            let version =
                Version::parse(&if is_minor { format!("{text}.0") } else { text.to_owned() }, "v1.13.9")
                    .map_err(|error| error.to_string())?;
            Ok((contract, Talos { version, is_minor }))
        });
        let kubernetes = reader.one(&self.kubernetes_version, &Path::new("kubernetes_version"), |text| {
            Version::parse(text, "1.36.3").map_err(|error| error.to_string())
        });
        let (contract, talos) = talos?;
        let kubernetes = kubernetes?;
        let mut notes = Vec::new();
        match check_pair(&talos.version, &kubernetes) {
            Ok(()) => {}
            Err(VersionError::UnknownTalos(version)) => notes.push(newer_talos(&version, contract)),
            Err(error @ (VersionError::Malformed(..) | VersionError::Unsupported { .. })) => {
                reader.refuse(Path::new("kubernetes_version"), &error.to_string());
            }
        }
        Some(Versions { talos, contract, kubernetes, notes })
    }

    fn read_cluster(&self, inputs: &mut Inputs, reader: &mut Reader) {
        let names = Path::new("subject_alternative_names");
        inputs.subject_alternative_names =
            reader.texts(&self.subject_alternative_names, &names).unwrap_or_default();
        if let Some(plugin) =
            reader.one(&self.network_plugin, &Path::new("network_plugin"), |text| match text {
                "flannel" => Ok(NetworkPlugin::Default),
                "none" => Ok(NetworkPlugin::None),
                _ => Err(format!("expected flannel or none, got {text:?}")),
            })
        {
            inputs.network_plugin = plugin;
        }
        inputs.kube_proxy = reader.value(&self.kube_proxy).copied().unwrap_or(true);
        inputs.schedule_on_control_planes =
            reader.value(&self.scheduling_on_control_planes).copied().unwrap_or(false);
        inputs.discovery = reader.value(&self.discovery).copied().unwrap_or(true);
        if let Some(port) = reader.value(&self.kube_prism_port).copied() {
            match u16::try_from(port) {
                Ok(port) => inputs.kube_prism_port = port,
                Err(_) => reader.refuse(Path::new("kube_prism_port"), "expected a port, or 0 for none"),
            }
        }
        if let Some(domain) = reader.text(&self.dns_domain, &Path::new("dns_domain"), "a domain") {
            domain.clone_into(&mut inputs.dns_domain);
        }
        for (given, name, target) in [
            (&self.pod_subnets, "pod_subnets", &mut inputs.pod_subnets),
            (&self.service_subnets, "service_subnets", &mut inputs.service_subnets),
        ] {
            if let Some(subnets) = reader.texts(given, &Path::new(name)) {
                *target = subnets;
            }
        }
        if let Some(vip) = reader.value(&self.vip) {
            let path = Path::new("vip");
            let address = reader.one(&vip.address, &path.clone().attribute("address"), |text| {
                text.parse::<IpAddr>().map_err(|_| format!("{text:?} is not an IP address, as in 10.0.0.10"))
            });
            let link = reader.text(&vip.link, &path.attribute("link"), "a network link, as in eth0");
            inputs.virtual_address =
                address.zip(link).map(|(address, link)| VirtualAddress { address, link: link.to_owned() });
        }
    }

    fn read_node(&self, inputs: &mut Inputs, reader: &mut Reader) {
        let hostname = reader.text(&self.hostname, &Path::new("hostname"), "a host name");
        inputs.hostname = hostname.map(str::to_owned);
        inputs.provider_id =
            reader.text(&self.provider_id, &Path::new("provider_id"), "an id").map(str::to_owned);
        inputs.node_labels = reader.map(&self.node_labels, &Path::new("node_labels"), |key, value| {
            check_key(key).and_then(|()| check_value(value)).map_err(|error| error.to_string())?;
            if is_restricted_label(key) {
                return Err(format!(
                    "{key:?} is a label that Kubernetes lets no node give itself: set it with kubectl"
                ));
            }
            Ok(())
        });
        inputs.node_annotations =
            reader.map(&self.node_annotations, &Path::new("node_annotations"), |key, _| {
                check_key(&key.to_ascii_lowercase()).map_err(|error| error.to_string())
            });
        inputs.node_taints = reader.map(&self.node_taints, &Path::new("node_taints"), |key, taint| {
            check_key(key).map_err(|error| error.to_string())?;
            let (value, effect) = taint.rsplit_once(':').unwrap_or(("", taint));
            let is_effect = ["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect);
            if check_value(value).is_ok() && is_effect {
                Ok(())
            } else {
                Err(format!(
                    "{taint:?} is not a taint: expected VALUE:EFFECT, the effect NoSchedule, PreferNoSchedule or NoExecute"
                ))
            }
        });
        if inputs.role == Role::ControlPlane && !inputs.node_taints.is_empty() {
            reader.refuse(
                Path::new("node_taints"),
                "control planes are tainted by Talos itself: expected none",
            );
        }
        if inputs.role == Role::Worker && inputs.virtual_address.is_some() {
            reader.refuse(Path::new("vip"), "a worker holds no address of the control plane: expected none");
        }
        inputs.sysctls = reader.map(&self.sysctls, &Path::new("sysctls"), |_, _| Ok(()));
        inputs.time_servers =
            reader.texts(&self.time_servers, &Path::new("time_servers")).unwrap_or_default();
        for (host, registry) in reader.value(&self.registries).into_iter().flatten() {
            let path = Path::new("registries").key(host);
            if let Some(registry) = reader.value(registry) {
                inputs.registries.insert(host.clone(), registry.parse(reader, &path));
            }
        }
    }

    fn disk(&self, reader: &mut Reader) -> Option<InstallTarget> {
        let path = reader.text(&self.install_disk, &Path::new("install_disk"), "a path, as in /dev/sda");
        let selector = reader.value(&self.install_disk_selector).map(|selector| selector.parse(reader));
        match (path, selector) {
            (Some(_), Some(_)) => {
                reader.refuse(
                    Path::new("install_disk"),
                    "expected either install_disk or install_disk_selector: the path would not count",
                );
                None
            }
            (None, Some(selector)) => Some(InstallTarget::Selector(selector)),
            (path, None) => Some(InstallTarget::Path(path.unwrap_or(INSTALL_DISK).to_owned())),
        }
    }

    /// Sets the image, and gives the schematic that it is made of if that decides it.
    fn image(&self, inputs: &mut Inputs, talos: Option<&Talos>, reader: &mut Reader) -> Option<String> {
        let image = reader.text(&self.install_image, &Path::new("install_image"), "an image");
        let schematic = reader.text(&self.schematic, &Path::new("schematic"), "the id of a schematic");
        let extensions = reader.texts(&self.system_extensions, &Path::new("system_extensions"));
        let arguments = reader.texts(&self.kernel_arguments, &Path::new("kernel_arguments"));
        let secure_boot = reader.value(&self.secure_boot).copied().unwrap_or(false);
        let is_made = extensions.is_some() || arguments.is_some();
        if let Some(image) = image {
            if schematic.is_some() || is_made || secure_boot {
                let words = "expected either install_image, or what it is made of: schematic, system_extensions, \
                             kernel_arguments, secure_boot";
                reader.refuse(Path::new("install_image"), words);
            }
            image.clone_into(&mut inputs.installer_image);
            return None;
        }
        if schematic.is_some() && is_made {
            let words = "expected either the id of a schematic, or what it is made of: system_extensions and \
                         kernel_arguments";
            reader.refuse(Path::new("schematic"), words);
        }
        let id = match schematic {
            Some(id) => id.to_owned(),
            None => match Schematic::new(extensions.unwrap_or_default(), arguments.unwrap_or_default()) {
                Ok(schematic) => schematic.id(),
                Err(error) => {
                    reader.refuse(Path::new("system_extensions"), &error.to_string());
                    return None;
                }
            },
        };
        let talos = talos?;
        if talos.is_minor {
            let words = "expected MAJOR.MINOR.PATCH, as in v1.13.9, since the installer's image is named by it; or give \
                         install_image";
            reader.refuse(Path::new("talos_version"), words);
        }
        inputs.installer_image = installer_image(&id, secure_boot, &talos.version.to_string());
        Some(id)
    }
}

struct Versions {
    talos: Talos,
    contract: Contract,
    kubernetes: Version,
    notes: Vec<Diagnostic>,
}

struct Talos {
    version: Version,
    /// Only MAJOR.MINOR was given.
    is_minor: bool,
}

fn newer_talos(version: &Version, contract: Contract) -> Diagnostic {
    Diagnostic::warning(
        "a Talos that is newer than this provider",
        format!(
            "The configuration for Talos {version} has the form of Talos {contract}, the newest that this provider \
             knows; newer machines take it. Whether it runs that Kubernetes was not judged."
        ),
    )
    .at(Path::new("talos_version"))
}

impl DiskSelectorModel {
    fn parse(&self, reader: &mut Reader) -> DiskSelector {
        let mut set = |value: &Attr<String>| reader.value(value).cloned();
        let selector = DiskSelector {
            size: set(&self.size),
            model: set(&self.model),
            serial: set(&self.serial),
            wwid: set(&self.wwid),
            kind: set(&self.kind),
            bus_path: set(&self.bus_path),
        };
        if selector == DiskSelector::default() && !reader.unknown {
            let words = "expected something that the disk says of itself: an empty selector matches any disk";
            reader.refuse(Path::new("install_disk_selector"), words);
        }
        selector
    }
}

impl RegistryModel {
    fn parse(&self, reader: &mut Reader, path: &Path) -> Registry {
        let username = reader.text(&self.username, &path.clone().attribute("username"), "a name");
        let password = reader.value(&self.password);
        if password.is_some() != username.is_some()
            && !self.username.is_unknown()
            && !self.password.is_unknown()
        {
            reader.refuse(path.clone(), "expected username and password, or neither");
        }
        Registry {
            endpoints: reader
                .texts(&self.endpoints, &path.clone().attribute("endpoints"))
                .unwrap_or_default(),
            override_path: reader.value(&self.override_path).copied().unwrap_or(false),
            skip_fallback: reader.value(&self.skip_fallback).copied().unwrap_or(false),
            credentials: username.zip(password).map(|(username, password)| Credentials {
                username: username.to_owned(),
                password: Secret::new(password.expose()),
            }),
        }
    }
}

impl Reader {
    fn refuse(&mut self, path: Path, words: &str) {
        self.wrong.push(Diagnostic::error(format!("{path} is not valid"), format!("{words}.")).at(path));
    }

    /// A value that is set and known.
    fn value<'attr, T>(&mut self, attr: &'attr Attr<T>) -> Option<&'attr T> {
        self.unknown |= attr.is_unknown();
        attr.known()
    }

    /// A text that is not empty.
    fn text<'attr>(&mut self, attr: &'attr Attr<String>, path: &Path, expected: &str) -> Option<&'attr str> {
        let text = self.value(attr)?;
        if text.trim().is_empty() {
            self.refuse(path.clone(), &format!("expected {expected}, got an empty text"));
            return None;
        }
        Some(text)
    }

    fn one<T>(
        &mut self,
        attr: &Attr<String>,
        path: &Path,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let parsed = parse(self.value(attr)?);
        parsed.map_err(|words| self.refuse(path.clone(), &words)).ok()
    }

    fn texts(&mut self, attr: &Attr<List<String>>, path: &Path) -> Option<Vec<String>> {
        let items = self.value(attr)?;
        let mut texts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = path.clone().index(index);
            if item.is_null() {
                self.wrong.push(null_element(at));
            } else if let Some(text) = self.text(item, &at, "a text") {
                texts.push(text.to_owned());
            }
        }
        Some(texts)
    }

    fn map(
        &mut self,
        attr: &Attr<Map<String>>,
        path: &Path,
        check: impl Fn(&str, &str) -> Result<(), String>,
    ) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        for (key, value) in self.value(attr).into_iter().flatten() {
            let at = path.clone().key(key);
            if value.is_null() {
                self.wrong.push(null_element(at));
                continue;
            }
            let Some(value) = self.value(value) else { continue };
            match check(key, value) {
                Ok(()) => drop(pairs.insert(key.clone(), value.clone())),
                Err(words) => self.refuse(at, &words),
            }
        }
        pairs
    }
}
