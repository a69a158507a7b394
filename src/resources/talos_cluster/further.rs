//! The cluster's `addons`: the user's own charts and objects, and what depends on what.

use std::collections::{BTreeMap, BTreeSet};

use super::super::report::null_element;
use super::model::{Cluster, FurtherAddonModel};
use super::parse::{is_version, labels, refused};
use crate::domain::addon::{Addon, further};
use crate::domain::cluster::spec;
use crate::domain::names::Label;
use crate::domain::record::AddonRecord;
use crate::plugin::{Attr, Diagnostic, Diagnostics, List, Path};

/// One of the user's own addons.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Further {
    pub(super) addon: Addon,
    pub(super) before_health: bool,
    pub(super) depends_on: BTreeSet<Label>,
}

impl Further {
    /// What is remembered of it until it is uninstalled.
    pub(super) fn record(&self) -> AddonRecord {
        AddonRecord {
            namespace: self.addon.namespace.clone(),
            depends_on: self.depends_on.iter().map(ToString::to_string).collect(),
        }
    }

    /// What the gates know of it.
    pub(super) fn spec(&self, name: &Label) -> spec::FurtherAddon {
        spec::FurtherAddon {
            addon: spec::Addon::named(name),
            before_health: self.before_health,
            depends_on: self.depends_on.iter().map(spec::Addon::named).collect(),
        }
    }
}

/// As long as Helm lets the name of a release be.
const LONGEST_NAME: usize = 53;

/// The names of the addons that have attributes of their own.
const OWN: [&str; 2] = ["cilium", "cert-manager"];

impl Cluster {
    pub(super) fn parse_addons(&self, wrong: &mut Diagnostics) -> BTreeMap<Label, Further> {
        let mut addons = BTreeMap::new();
        let path = Path::new("addons");
        for (key, entry) in self.addons.known().into_iter().flatten() {
            let at = path.clone().key(key);
            let name = match Label::parse(key) {
                Ok(name) if OWN.contains(&key.as_str()) => {
                    let attribute = name.as_str().replace('-', "_");
                    wrong.push(
                        Diagnostic::error(
                            format!("addons[{key:?}] has an attribute of its own"),
                            format!("Use the attribute `{attribute}`."),
                        )
                        .at(at),
                    );
                    continue;
                }
                Ok(name) if key.len() > LONGEST_NAME => {
                    wrong.push(
                        Diagnostic::error(
                            format!("addons[{:?}] has too long a name", name.as_str()),
                            format!("It names a Helm release: expected at most {LONGEST_NAME} characters."),
                        )
                        .at(at),
                    );
                    continue;
                }
                Ok(name) => name,
                Err(error) => {
                    wrong.push(refused(at, &error));
                    continue;
                }
            };
            let Some(entry) = entry.known() else { continue };
            if let Some(further) = entry.parse(wrong, &at, &name) {
                addons.insert(name, further);
            }
        }
        if !self.addons.is_unknown() {
            self.check_dependencies(&addons, wrong);
        }
        addons
    }

    fn check_dependencies(&self, addons: &BTreeMap<Label, Further>, wrong: &mut Diagnostics) {
        let listed = |name: &Label| {
            self.addons.known().is_some_and(|addons| addons.keys().any(|key| key == name.as_str()))
        };
        let is_on = |addon: &Attr<super::model::AddonModel>| {
            addon.known().is_none_or(|addon| addon.enabled.known() != Some(&false))
        };
        for (name, further) in addons {
            let at = Path::new("addons").key(name.as_str());
            let mut refuse = |path: Path, summary: String, detail: &str| {
                wrong.push(Diagnostic::error(summary, detail).at(path));
            };
            for on in &further.depends_on {
                let there = match on.as_str() {
                    "cilium" => is_on(&self.cilium),
                    "cert-manager" => is_on(&self.cert_manager),
                    _ => listed(on),
                };
                let early = on.as_str() == "cilium" || addons.get(on).is_none_or(|other| other.before_health);
                let early = early && on.as_str() != "cert-manager";
                if !there {
                    refuse(
                        at.clone().attribute("depends_on"),
                        format!(
                            "addons[{:?}] depends on {:?}, which is no addon of this cluster",
                            name.as_str(),
                            on.as_str()
                        ),
                        "Expected keys of `addons`, \"cilium\" or \"cert-manager\", each enabled.",
                    );
                } else if further.before_health && !early {
                    refuse(
                        at.clone().attribute("depends_on"),
                        format!(
                            "addons[{:?}] comes before {:?}, on which it depends",
                            name.as_str(),
                            on.as_str()
                        ),
                        "What is `before_health` can depend on \"cilium\" and on addons that are `before_health` too.",
                    );
                }
            }
            if let Some(round) = cycle(addons, name) {
                refuse(
                    at.attribute("depends_on"),
                    format!("addons[{:?}] depends on itself: {}", name.as_str(), round.join(" -> ")),
                    "Take one of these dependencies away.",
                );
            }
        }
    }
}

/// The way from an addon back to itself.
fn cycle(addons: &BTreeMap<Label, Further>, start: &Label) -> Option<Vec<String>> {
    fn walk(addons: &BTreeMap<Label, Further>, start: &Label, way: &mut Vec<Label>) -> bool {
        let Some(next) = way.last().and_then(|last| addons.get(last)) else { return false };
        for on in &next.depends_on {
            if on == start {
                return true;
            }
            if !way.contains(on) {
                way.push(on.clone());
                if walk(addons, start, way) {
                    return true;
                }
                way.pop();
            }
        }
        false
    }
    let mut way = vec![start.clone()];
    walk(addons, start, &mut way).then(|| {
        way.push(start.clone());
        way.iter().map(ToString::to_string).collect()
    })
}

impl FurtherAddonModel {
    fn parse(&self, wrong: &mut Diagnostics, path: &Path, name: &Label) -> Option<Further> {
        let mut own = Diagnostics::new();
        let source = self.source(&mut own, path);
        let namespace = match self.namespace.known() {
            None => further::NAMESPACE.to_owned(),
            Some(text) => Label::parse(text)
                .map(|label| label.to_string())
                .map_err(|error| own.push(refused(path.clone().attribute("namespace"), &error)))
                .unwrap_or_default(),
        };
        let labels = labels(&mut own, &path.clone().attribute("namespace_labels"), &self.namespace_labels);
        let depends_on = dependencies(&mut own, &path.clone().attribute("depends_on"), &self.depends_on);
        if own.has_errors() {
            wrong.extend(own);
            return None;
        }
        let addon = further::addon(name.as_str(), &source?, &namespace, labels)
            .map_err(|error| wrong.push(refused(path.clone().attribute("values"), &error)))
            .ok()?;
        Some(Further {
            addon,
            before_health: self.before_health.known().copied().unwrap_or(false),
            depends_on,
        })
    }

    /// `None` as long as it is unknown.
    fn source(&self, wrong: &mut Diagnostics, path: &Path) -> Option<further::Source> {
        let text = |attr: &Attr<String>| attr.known().cloned();
        match (self.repository.is_null(), self.manifests.is_null()) {
            (false, false) | (true, true) => {
                wrong.push(
                    Diagnostic::error(
                        format!("{path} needs either repository or manifests"),
                        "Give the chart's source in `repository`, or objects in YAML in `manifests`.",
                    )
                    .at(path.clone()),
                );
                return None;
            }
            (true, false) => {
                let of_charts =
                    [("chart", &self.chart), ("version", &self.version), ("values", &self.values)];
                for (attribute, _) in of_charts.iter().filter(|(_, value)| !value.is_null()) {
                    wrong.push(
                        Diagnostic::error(
                            format!("{path}.{attribute} belongs to a chart, and there is none"),
                            "With `manifests`, leave it out.",
                        )
                        .at(path.clone().attribute(*attribute)),
                    );
                }
                return text(&self.manifests).map(further::Source::Manifests);
            }
            (false, true) => {}
        }
        if let Some(version) = self.version.known().filter(|version| !is_version(version)) {
            wrong.push(
                Diagnostic::error(
                    format!("{path}.version is not valid"),
                    format!(
                        "Expected a version or a range, as in \"1.20.2\" or \"~1.20.0\", got {version:?}."
                    ),
                )
                .at(path.clone().attribute("version")),
            );
        }
        Some(further::Source::Chart {
            repository: text(&self.repository)?,
            name: text(&self.chart),
            version: text(&self.version),
            values: text(&self.values),
        })
    }
}

fn dependencies(wrong: &mut Diagnostics, path: &Path, given: &Attr<List<String>>) -> BTreeSet<Label> {
    let mut names = BTreeSet::new();
    for (index, item) in given.known().into_iter().flatten().enumerate() {
        if item.is_null() {
            wrong.push(null_element(path.clone().index(index)));
        }
        let Some(text) = item.known() else { continue };
        match Label::parse(text) {
            Ok(name) => drop(names.insert(name)),
            Err(error) => wrong.push(refused(path.clone().index(index), &error)),
        }
    }
    names
}
