//! Addons: whether they are there, whether they are healthy, and applying them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::super::report::chain;
use super::further::Further;
use super::looks::nodes_by_name;
use super::parse::Parsed;
use super::world::ClusterWorld;
use crate::clients::kubernetes::{Cause, Client, Installation, Installed, Reference};
use crate::converge::ActError;
use crate::domain::addon::further::chart_of_manifests;
use crate::domain::addon::{self, AddonHealth, cert_manager, cilium};
use crate::domain::cluster::observed::AddonSeen;
use crate::domain::cluster::spec::{Addon, Role};
use crate::domain::machine_configuration::is_restricted_label;
use crate::domain::names::Label;
use crate::domain::record::{AddonRecord, ClusterRecord};
use crate::domain::seen::Seen;

impl ClusterWorld<'_> {
    /// What is wanted of an addon; `None` where it is not.
    fn wanted(&self, which: &Addon) -> Option<Result<addon::Addon, String>> {
        let control_planes = self.spec().control_planes().count();
        let made = match which {
            Addon::Cilium => cilium::addon(self.parsed.cilium.as_ref()?, control_planes),
            Addon::CertManager => cert_manager::addon(self.parsed.cert_manager.as_ref()?),
            Addon::Further(name) => Ok(self.parsed.addons.get(name)?.addon.clone()),
        };
        Some(made.map_err(|error| format!("failed to {}", chain(&error))))
    }

    /// The chart's version: what was resolved first, from then on.
    fn frozen_version(&self, addon: &addon::Addon) -> Option<&String> {
        self.record.body.charts.get(&charts_key(addon))
    }

    /// Looks whether an addon is applied as wanted, and healthy.
    pub(super) async fn look_at_addon(&mut self, which: Addon) {
        let unknown = |why: String| AddonSeen { installed: Seen::Unknown(why), unhealthy: None };
        let client = self.kubernetes.as_ref().map(|kubernetes| kubernetes.client.clone());
        let seen = match (self.wanted(&which), client) {
            (None, _) => return,
            (Some(Err(why)), _) => unknown(why),
            (Some(Ok(_)), None) => unknown("no API server answers".to_owned()),
            (Some(Ok(wanted)), Some(client)) => {
                match client.installed(&wanted.namespace, &wanted.name).await {
                    Err(error) => unknown(format!("failed to {}", chain(&error))),
                    Ok(Some(found)) if self.is_current(&wanted, &found) => {
                        self.note_addon(&which, &wanted).await;
                        let unhealthy = self.unhealthy(&which, &client, &found).await;
                        AddonSeen { installed: Seen::Present(()), unhealthy }
                    }
                    Ok(_) => AddonSeen { installed: Seen::Absent, unhealthy: None },
                }
            }
        };
        self.seen.addons.insert(which, seen);
    }

    fn is_current(&self, wanted: &addon::Addon, found: &Installed) -> bool {
        let version = self.frozen_version(wanted).unwrap_or(&wanted.version);
        found.is_complete
            && found.values == wanted.values
            && found.version.trim_start_matches('v') == version.trim_start_matches('v')
    }

    async fn unhealthy(&self, which: &Addon, client: &Client, found: &Installed) -> Option<String> {
        let workloads = match client.workloads(&found.objects).await {
            Ok(workloads) => workloads,
            Err(error) => return Some(format!("failed to {}", chain(&error))),
        };
        let health = match which {
            Addon::Cilium => {
                let nodes: BTreeSet<String> = self
                    .machines
                    .iter()
                    .filter(|machine| machine.member.role == Role::ControlPlane)
                    .map(|machine| machine.member.hostname.to_string())
                    .collect();
                cilium::network_health(&workloads, &nodes)
            }
            Addon::CertManager | Addon::Further(_) => AddonHealth::of(&workloads),
        };
        match health {
            AddonHealth::Waiting(why) => Some(why),
            AddonHealth::Healthy if *which == Addon::CertManager => client
                .probe_cert_manager(cert_manager::NAMESPACE)
                .await
                .err()
                .map(|error| format!("its webhook to answer the API server: failed to {}", chain(&error))),
            AddonHealth::Healthy => None,
        }
    }

    /// Fetches and applies an addon's chart.
    pub(super) async fn install_addon(&mut self, which: Addon) -> Result<(), ActError> {
        let wanted = match self.wanted(&which) {
            None => return Ok(()),
            Some(wanted) => wanted.map_err(last)?,
        };
        let version = self.frozen_version(&wanted).unwrap_or(&wanted.version).clone();
        let chart = self.chart(&wanted, &version).await?;
        let (key, resolved) = (charts_key(&wanted), chart.version.clone());
        let (name, entry) = (wanted.name.clone(), self.entry(&which, &wanted));
        self.remember(move |record| {
            forget_versions(record, &name);
            record.charts.insert(key.clone(), resolved.clone());
            record.addons.insert(name.clone(), entry.clone());
        })
        .await?;
        let Some(kubernetes) = &self.kubernetes else { return Err(again("reach an API server".to_owned())) };
        let installation = Installation {
            release: wanted.name,
            namespace: wanted.namespace,
            namespace_labels: wanted.namespace_labels,
            chart: chart.chart,
            digest: chart.digest,
            values: wanted.values,
            now: Timestamp::now(),
        };
        let client = kubernetes.client.clone();
        client.install(&installation).await.map(drop).map_err(|error| {
            let text = chain(&error);
            // Not among these is 403, which a new API server says until its own roles are there.
            let refused = matches!(
                error.cause(),
                Cause::Invalid(_) | Cause::NotOurs(_) | Cause::FieldConflicts(_) | Cause::Chart(_)
            );
            if refused { last(text) } else { again(text) }
        })
    }

    /// The chart of an addon: fetched, or made of its objects.
    async fn chart(&self, wanted: &addon::Addon, version: &str) -> Result<Chart, ActError> {
        if let Some(manifests) = &wanted.manifests {
            let files = chart_of_manifests(&wanted.name, &wanted.version, manifests);
            let chart = helm::Chart::from_files(files).map_err(|error| last(chain(&error)))?;
            // The version holds the digest of the objects already.
            let (version, digest) = (wanted.version.clone(), wanted.version.clone());
            return Ok(Chart { chart: Arc::new(chart), version, digest });
        }
        let fetched = self.clients.charts.fetch(&wanted.repository, &wanted.chart, version).await;
        let fetched = fetched.map_err(|error| {
            let text = chain(&error);
            if error.is_transient() { again(text) } else { last(text) }
        })?;
        Ok(Chart {
            chart: Arc::clone(&fetched.chart),
            version: fetched.version.clone(),
            digest: fetched.digest.clone(),
        })
    }

    /// What is remembered of an addon until it is uninstalled.
    fn entry(&self, which: &Addon, wanted: &addon::Addon) -> AddonRecord {
        let further = match which {
            Addon::Further(name) => self.parsed.addons.get(name),
            Addon::Cilium | Addon::CertManager => None,
        };
        further.map_or_else(
            || AddonRecord { namespace: wanted.namespace.clone(), ..AddonRecord::default() },
            Further::record,
        )
    }

    /// Keeps what is remembered of an addon that is there as wanted up to date: somebody else may have installed it, and
    /// what it depends on may have been edited.
    async fn note_addon(&mut self, which: &Addon, wanted: &addon::Addon) {
        let (name, entry) = (wanted.name.clone(), self.entry(which, wanted));
        // One in another namespace is still to be uninstalled from there.
        let known = self.record.body.addons.get(&name);
        if known.is_some_and(|known| *known == entry || known.namespace != entry.namespace) {
            return;
        }
        let written =
            self.remember(move |record| drop(record.addons.insert(name.clone(), entry.clone()))).await;
        if let Err(error) = written {
            tracing::warn!(error = error.text, "Failed to keep that an addon is installed");
        }
    }

    /// The addons that were installed and are not wanted any more, or not where they are: what depends on another goes
    /// before it. Cilium never is among them: what machines are told of their network can't be changed.
    pub(super) fn leaving(&self) -> Vec<Addon> {
        leaving(self.parsed, &self.record.body.addons)
    }

    /// Uninstalls an addon, and forgets it.
    pub(super) async fn remove_addon(&mut self, which: Addon) -> Result<(), ActError> {
        let name = which.to_string();
        let Some(entry) = self.record.body.addons.get(&name) else { return Ok(()) };
        let Some(kubernetes) = &self.kubernetes else { return Err(again("reach an API server".to_owned())) };
        let client = kubernetes.client.clone();
        client.uninstall(&entry.namespace, &name, Timestamp::now()).await.map_err(|error| ActError {
            is_final: matches!(error.cause(), Cause::Chart(_)),
            ..again(chain(&error))
        })?;
        self.remember(move |record| {
            record.addons.remove(&name);
            forget_versions(record, &name);
        })
        .await
    }

    /// Sets the labels that workers may not set themselves. The texts say which could not be set, and why.
    pub(super) async fn label_nodes(&self) -> Vec<String> {
        let Some(kubernetes) = &self.kubernetes else { return Vec::new() };
        let mut failed = Vec::new();
        for machine in &self.machines {
            let restricted = machine.pool.labels.iter().filter(|(key, _)| is_restricted_label(key));
            let labels: BTreeMap<String, Option<String>> =
                restricted.map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
            if labels.is_empty() {
                continue;
            }
            let hostname = machine.member.hostname.as_str();
            if let Err(error) = kubernetes.client.set_node_labels(hostname, &labels).await {
                failed.push(format!("failed to {}", chain(&error)));
            }
        }
        failed
    }

    /// Looks at every node, at CoreDNS and at what Cilium runs beyond the control plane.
    pub(super) async fn look_at_everything(&mut self) {
        let Some(kubernetes) = &self.kubernetes else { return };
        let client = kubernetes.client.clone();
        self.seen.nodes = Some(match client.nodes().await {
            Ok(nodes) => Seen::Present(nodes_by_name(nodes)),
            Err(error) => Seen::Unknown(format!("failed to {}", chain(&error))),
        });
        if self.parsed.serving_certificates {
            self.seen.serving_requests = Some(match client.serving_requests().await {
                Ok(requests) => Seen::Present(requests),
                Err(error) => Seen::Unknown(format!("failed to {}", chain(&error))),
            });
        }
        let mut objects = vec![Reference::namespaced("apps/v1", "Deployment", "kube-system", "coredns")];
        if let Some(Ok(wanted)) = self.wanted(&Addon::Cilium)
            && let Ok(Some(found)) = client.installed(&wanted.namespace, &wanted.name).await
        {
            objects.extend(found.objects);
        }
        self.seen.rest_unhealthy = match client.workloads(&objects).await {
            Err(error) => Some(format!("failed to {}", chain(&error))),
            Ok(workloads) => match AddonHealth::of(&workloads) {
                AddonHealth::Healthy => None,
                AddonHealth::Waiting(why) => Some(why),
            },
        };
    }
}

/// A chart to be installed.
struct Chart {
    chart: Arc<helm::Chart>,
    version: String,
    digest: String,
}

/// What another try may mend.
fn again(text: String) -> ActError {
    ActError { text, remedy: String::new(), is_final: false }
}

/// What only the user can mend.
fn last(text: String) -> ActError {
    ActError {
        text,
        remedy: "Correct the addon's `values`, `version` or `repository`, then apply again: the cluster stays as it is."
            .to_owned(),
        is_final: true,
    }
}

fn leaving(parsed: &Parsed, installed: &BTreeMap<String, AddonRecord>) -> Vec<Addon> {
    let is_wanted = |name: &str, entry: &AddonRecord| match name {
        cilium::NAME => true,
        cert_manager::NAME => parsed.cert_manager.is_some(),
        _ => parsed
            .addons
            .iter()
            .any(|(wanted, further)| wanted.as_str() == name && further.addon.namespace == entry.namespace),
    };
    removal_order(installed.iter().filter(|(name, entry)| !is_wanted(name, entry)))
}

/// What depends on another goes before it. Dependencies that go round are refused when they are planned.
fn removal_order<'a>(leaving: impl Iterator<Item = (&'a String, &'a AddonRecord)>) -> Vec<Addon> {
    let mut left: Vec<_> = leaving.collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let needed = |name: &str| left.iter().any(|(_, other)| other.depends_on.iter().any(|on| on == name));
        let place = left.iter().position(|(name, _)| !needed(name)).unwrap_or(0);
        let (name, _) = left.remove(place);
        order.extend(Label::parse(name).map(|name| Addon::named(&name)));
    }
    order
}

fn forget_versions(record: &mut ClusterRecord, name: &str) {
    record.charts.retain(|key, _| key.split_once(' ').is_none_or(|(chart, _)| chart != name));
}

/// Under which a resolved version is kept: a changed text is resolved anew.
fn charts_key(addon: &addon::Addon) -> String {
    format!("{} {}", addon.name, addon.version)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::super::model::{AddonModel, Cluster, FurtherAddonModel};
    use super::*;
    use crate::plugin::Attr;

    #[test]
    fn what_depends_on_another_goes_before_it() {
        let entry = |depends_on: &[&str]| AddonRecord {
            namespace: "default".to_owned(),
            depends_on: depends_on.iter().map(|name| (*name).to_owned()).collect(),
        };
        let records = BTreeMap::from([
            ("a".to_owned(), entry(&["cilium"])),
            ("b".to_owned(), entry(&["a"])),
            ("c".to_owned(), entry(&["a", "b"])),
        ]);
        let order: Vec<_> = removal_order(records.iter()).iter().map(ToString::to_string).collect();
        assert_eq!(order, ["c", "b", "a"]);
    }

    #[test]
    fn what_was_installed_and_is_wanted_no_more_or_elsewhere_leaves() {
        let cluster = |cert_manager: bool, addons: &[(&str, &str)]| {
            let addons = addons.iter().map(|(name, namespace)| {
                let model = FurtherAddonModel {
                    manifests: "a: 1".into(),
                    namespace: (*namespace).into(),
                    ..FurtherAddonModel::default()
                };
                ((*name).to_owned(), Attr::Known(model))
            });
            let off = AddonModel { enabled: cert_manager.into(), ..AddonModel::default() };
            let cluster = Cluster {
                name: "c".into(),
                talos_version: "v1.13.9".into(),
                kubernetes_version: "1.36.3".into(),
                cert_manager: off.into(),
                addons: Attr::Known(addons.collect()),
                ..Cluster::default()
            };
            cluster.parse().expect("it is right")
        };
        let all = cluster(true, &[("a", "x"), ("b", "x")]);
        // What a state remembers is all that it wants: nothing of it leaves.
        let mut installed = all.remembered_addons();
        installed.insert("cilium".to_owned(), AddonRecord::default());
        let says = |parsed: &Parsed| {
            leaving(parsed, &installed).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(says(&all), "");
        assert_eq!(says(&cluster(false, &[("a", "x"), ("b", "x")])), "cert-manager");
        assert_eq!(says(&cluster(true, &[("a", "y")])), "a, b");
    }
}
