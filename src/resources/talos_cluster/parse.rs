//! From a cluster's attributes to what is wanted: the only place where they are judged.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use super::super::timeouts::{self, Defaults, Limits};
use super::further::Further;
use super::model::{AddonModel, Cluster, PoolReference, Workers};
use crate::domain::addon::{Overrides, cert_manager, cilium};
use crate::domain::machine_configuration::{ApplyMode, SecretsBundle};
use crate::domain::names::{Address, Endpoint, Label, Uid};
use crate::domain::record::AddonRecord;
use crate::domain::selector::{check_key, check_value};
use crate::domain::version::{Version, VersionError, check_pair};
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Map, Path};

/// Installing, pulling images and booting takes a machine some minutes; several tries must fit in.
const DEFAULTS: Defaults = Defaults {
    create: Duration::from_secs(45 * 60),
    update: Duration::from_secs(45 * 60),
    delete: Duration::from_secs(30 * 60),
};

/// A pool that a cluster takes its machines from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PoolSpec {
    pub(super) uid: Uid,
    pub(super) name: String,
    pub(super) patches: Vec<String>,
    /// The schematic of its machines' image, if not what each was booted with.
    pub(super) schematic: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    /// `value:Effect` by key.
    pub(super) taints: BTreeMap<String, String>,
}

/// What the user wants.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) name: Label,
    pub(super) endpoint: Option<Endpoint>,
    pub(super) vip: Option<IpAddr>,
    pub(super) talos_version: Version,
    pub(super) kubernetes_version: Version,
    pub(super) control_plane: PoolSpec,
    pub(super) workers: BTreeMap<String, PoolSpec>,
    pub(super) patches: Vec<String>,
    pub(super) apply_mode: ApplyMode,
    pub(super) serving_certificates: bool,
    /// `None`: not installed.
    pub(super) cilium: Option<Overrides>,
    /// `None`: not installed.
    pub(super) cert_manager: Option<Overrides>,
    /// The user's own addons.
    pub(super) addons: BTreeMap<Label, Further>,
    pub(super) secrets: Option<SecretsBundle>,
    pub(super) limits: Limits,
}

impl Parsed {
    /// The addons of a state, for an inventory that lost them: what is taken out later is uninstalled.
    pub(super) fn remembered_addons(&self) -> BTreeMap<String, AddonRecord> {
        let further = self.addons.iter().map(|(name, further)| (name.to_string(), further.record()));
        let certificates = self.cert_manager.as_ref().map(|_| {
            let namespace = cert_manager::NAMESPACE.to_owned();
            (cert_manager::NAME.to_owned(), AddonRecord { namespace, ..AddonRecord::default() })
        });
        further.chain(certificates).collect()
    }

    /// The namespaces in which something of ours runs.
    pub(super) fn namespaces(&self) -> BTreeSet<&str> {
        let own = ["kube-system", cert_manager::NAMESPACE];
        own.into_iter().chain(self.addons.values().map(|further| further.addon.namespace.as_str())).collect()
    }
}

impl Cluster {
    /// Parses what is known; an unknown value counts as not given and is no error.
    pub(super) fn parse(&self) -> Result<Parsed, Diagnostics> {
        let mut wrong = Diagnostics::new();
        let name = parsed(&mut wrong, Path::new("name"), &self.name, Label::parse);
        let endpoint = parsed(&mut wrong, Path::new("endpoint"), &self.endpoint, Endpoint::parse);
        let vip = parsed(&mut wrong, Path::new("vip"), &self.vip, |text| {
            text.parse::<IpAddr>().map_err(|_| NotAnAddress(text.to_owned()))
        });
        let talos = parsed(&mut wrong, Path::new("talos_version"), &self.talos_version, |text| {
            Version::parse(text, "v1.13.9")
        });
        let kubernetes =
            parsed(&mut wrong, Path::new("kubernetes_version"), &self.kubernetes_version, |text| {
                Version::parse(text, "1.36.3")
            });
        if let (Some(talos), Some(kubernetes)) = (&talos, &kubernetes)
            && let Err(error) = check_pair(talos, kubernetes)
        {
            let blamed = match &error {
                VersionError::UnknownTalos(_) => "talos_version",
                VersionError::Malformed(..) | VersionError::Unsupported { .. } => "kubernetes_version",
            };
            wrong.push(refused(Path::new(blamed), &error));
        }
        let patches = patches(&mut wrong, &Path::root(), &self.config_patches);
        let apply_mode = parsed(&mut wrong, Path::new("apply_mode"), &self.apply_mode, |text| {
            ApplyMode::of_word(text).ok_or_else(|| NotAMode(text.to_owned()))
        });
        let control_plane = self.parse_control_plane(&mut wrong);
        let workers = self.parse_workers(&mut wrong);
        let members = self.control_plane_size().unwrap_or(1);
        let cilium = self.cilium.known().cloned().unwrap_or_default();
        let cilium = cilium.parse(&mut wrong, "cilium", |given| cilium::addon(given, members).map(drop));
        let cert_manager = self.cert_manager.known().cloned().unwrap_or_default();
        let cert_manager =
            cert_manager.parse(&mut wrong, "cert_manager", |given| cert_manager::addon(given).map(drop));
        let addons = self.parse_addons(&mut wrong);
        let secrets = self.machine_secrets.known().and_then(|secret| {
            SecretsBundle::from_yaml(secret.expose())
                .map_err(|error| wrong.push(refused(Path::new("machine_secrets"), &error)))
                .ok()
        });
        let limits = timeouts::parse(&self.timeouts, DEFAULTS).map_err(|errors| wrong.extend(errors)).ok();
        // What is unknown while planning is judged once it is known.
        let name = name.or_else(|| Label::parse("unknown").ok());
        let talos = talos.or_else(|| Version::parse("1.13.9", "").ok());
        let kubernetes = kubernetes.or_else(|| Version::parse("1.36.3", "").ok());
        match (name, talos, kubernetes, limits) {
            (Some(name), Some(talos_version), Some(kubernetes_version), Some(limits))
                if !wrong.has_errors() =>
            {
                Ok(Parsed {
                    name,
                    endpoint,
                    vip,
                    talos_version,
                    kubernetes_version,
                    control_plane,
                    workers,
                    patches,
                    apply_mode: apply_mode.unwrap_or(ApplyMode::Auto),
                    serving_certificates: self
                        .approve_kubelet_serving_certificates
                        .known()
                        .copied()
                        .unwrap_or(false),
                    cilium,
                    cert_manager,
                    addons,
                    secrets,
                    limits,
                })
            }
            _ => Err(wrong),
        }
    }

    /// How many members the control plane's pool has, when that is known.
    pub(super) fn control_plane_size(&self) -> Option<usize> {
        Some(self.control_plane.known()?.pool.known()?.members.known()?.len())
    }

    fn parse_control_plane(&self, wrong: &mut Diagnostics) -> PoolSpec {
        let path = Path::new("control_plane");
        let control_plane = self.control_plane.known().cloned().unwrap_or_default();
        let patches = patches(wrong, &path, &control_plane.config_patches);
        let schematic = control_plane.image.parse(wrong, &path);
        PoolSpec { patches, schematic, ..pool(&control_plane.pool) }
    }

    fn parse_workers(&self, wrong: &mut Diagnostics) -> BTreeMap<String, PoolSpec> {
        let mut workers = BTreeMap::new();
        let control_plane = self.control_plane.known().map(|control_plane| pool(&control_plane.pool));
        let mut pools: Vec<PoolSpec> = control_plane.into_iter().collect();
        for (key, entry) in self.workers.known().into_iter().flatten() {
            let path = Path::new("workers").key(key);
            let Some(entry) = entry.known() else { continue };
            let spec = entry.parse(wrong, &path);
            if pools.iter().any(|other| is_same_pool(other, &spec)) {
                wrong.push(
                    Diagnostic::error(
                        format!("workers[{key:?}] has a pool that is used twice"),
                        "A pool's machines have one place in the cluster: give each entry, and the control plane, a pool \
                         of its own.",
                    )
                    .at(path.attribute("pool")),
                );
            }
            pools.push(spec.clone());
            workers.insert(key.clone(), spec);
        }
        workers
    }
}

/// Whether two entries name one pool, as far as it is known: a new pool has a name before it has a uid, and an inventory
/// has no two pools of one name.
fn is_same_pool(a: &PoolSpec, b: &PoolSpec) -> bool {
    let both = |a: &str, b: &str| !a.is_empty() && a == b;
    both(a.uid.as_str(), b.uid.as_str()) || both(&a.name, &b.name)
}

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no mode: expected \"auto\", \"no_reboot\" or \"staged\"")]
struct NotAMode(String);

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not an IP address, as in 10.0.0.10")]
struct NotAnAddress(String);

fn parsed<T, E: std::error::Error>(
    wrong: &mut Diagnostics,
    path: Path,
    attr: &Attr<String>,
    parse: impl Fn(&str) -> Result<T, E>,
) -> Option<T> {
    attr.known().and_then(|text| parse(text).map_err(|error| wrong.push(refused(path, &error))).ok())
}

pub(super) fn refused(path: Path, error: &dyn std::error::Error) -> Diagnostic {
    Diagnostic::error(format!("{path} is not valid"), format!("{error}.")).at(path)
}

fn pool(reference: &Attr<PoolReference>) -> PoolSpec {
    let reference = reference.known().cloned().unwrap_or_default();
    PoolSpec {
        uid: Uid::new(reference.uid.known().cloned().unwrap_or_default()),
        name: reference.name.known().cloned().unwrap_or_default(),
        patches: Vec::new(),
        schematic: None,
        labels: BTreeMap::new(),
        taints: BTreeMap::new(),
    }
}

fn patches(wrong: &mut Diagnostics, parent: &Path, list: &Attr<List<String>>) -> Vec<String> {
    super::super::patches::parse(parent, list, wrong)
}

impl Workers {
    fn parse(&self, wrong: &mut Diagnostics, path: &Path) -> PoolSpec {
        PoolSpec {
            patches: patches(wrong, path, &self.config_patches),
            schematic: self.image.parse(wrong, path),
            labels: labels(wrong, &path.clone().attribute("node_labels"), &self.node_labels),
            taints: taints(wrong, &path.clone().attribute("node_taints"), &self.node_taints),
            ..pool(&self.pool)
        }
    }
}

pub(super) fn labels(
    wrong: &mut Diagnostics,
    path: &Path,
    given: &Attr<Map<String>>,
) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (key, value) in given.known().into_iter().flatten() {
        let known = value.known().cloned().unwrap_or_default();
        match check_key(key).and_then(|()| check_value(&known)) {
            Ok(()) => drop(labels.insert(key.clone(), known)),
            Err(error) => wrong.push(refused(path.clone().key(key), &error)),
        }
    }
    labels
}

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a taint: expected VALUE:EFFECT, the effect NoSchedule, PreferNoSchedule or NoExecute")]
struct NotATaint(String);

fn taints(wrong: &mut Diagnostics, path: &Path, given: &Attr<Map<String>>) -> BTreeMap<String, String> {
    let mut taints = BTreeMap::new();
    for (key, value) in given.known().into_iter().flatten() {
        let at = path.clone().key(key);
        if let Err(error) = check_key(key) {
            wrong.push(refused(at, &error));
            continue;
        }
        let Some(text) = value.known() else { continue };
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        let good = text
            .rsplit_once(':')
            .is_some_and(|(value, effect)| check_value(value).is_ok() && effects.contains(&effect));
        if good {
            taints.insert(key.clone(), text.clone());
        } else {
            wrong.push(refused(at, &NotATaint(text.clone())));
        }
    }
    taints
}

impl AddonModel {
    /// `None` where it is not wanted.
    fn parse<E: std::error::Error>(
        &self,
        wrong: &mut Diagnostics,
        name: &str,
        check: impl Fn(&Overrides) -> Result<(), E>,
    ) -> Option<Overrides> {
        if self.enabled.known() == Some(&false) {
            return None;
        }
        let overrides = Overrides {
            version: self.version.known().cloned(),
            values: self.values.known().cloned(),
            repository: self.repository.known().cloned(),
        };
        if let Some(version) = overrides.version.as_deref().filter(|version| !is_version(version)) {
            wrong.push(
                Diagnostic::error(
                    format!("{name}.version is not valid"),
                    format!(
                        "Expected a version or a range, as in \"1.20.2\" or \"~1.20.0\", got {version:?}."
                    ),
                )
                .at(Path::new(name).attribute("version")),
            );
        }
        if let Err(error) = check(&overrides) {
            let text = format!("failed to {}", super::super::report::chain(&error));
            wrong.push(
                Diagnostic::error(format!("{name}.values can't work"), format!("{text}."))
                    .at(Path::new(name).attribute("values")),
            );
        }
        Some(overrides)
    }
}

/// Whether a chart's version can be asked for so; an empty text asks for the newest.
pub(super) fn is_version(text: &str) -> bool {
    text.is_empty()
        || helm::version::Version::parse(text).is_ok()
        || helm::version::Constraint::parse(text).is_ok()
}

/// The endpoint that a cluster gets where none is given: the VIP, else its first control plane.
pub(super) fn default_endpoint(vip: Option<IpAddr>, first: &Address) -> Endpoint {
    let host = vip.and_then(|vip| Address::parse(&vip.to_string()).ok()).unwrap_or_else(|| first.clone());
    Endpoint::on(host)
}
