//! What a planned change comes to on each machine: one warning, with the difference and what Talos makes of it.
//!
//! Both configurations are made from what is remembered of the machines; nothing is dialled.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::Clients;
use super::configuration::configuration;
use super::members::{Machine, gather};
use super::model::Cluster;
use super::parse::Parsed;
use crate::clients::inventory::Stored;
use crate::domain::machine_configuration::{
    Contract, Difference, MachineConfiguration, Secret, SecretsBundle, allows, how,
};
use crate::domain::names::{Endpoint, Uid};
use crate::domain::record::ClusterRecord;
use crate::plugin::{Attr, Diagnostic, Diagnostics, Operation, Path};

/// A difference that is longer is cut: a plan is read by people.
const LONGEST: usize = 60;

/// Warns of configurations that the planned cluster changes. A configuration that can't be made, or not applied in the
/// wanted mode, is an error of the plan.
pub(super) async fn check(
    operation: &Operation<Clients>,
    prior: Option<&Cluster>,
    planned: &Cluster,
) -> Result<(), Diagnostics> {
    let Some(prior) = prior.filter(|prior| concerns(prior, planned)) else { return Ok(()) };
    let (before, after) = (prior.parse()?, planned.parse()?);
    // Diagnostics only: an inventory that can't be read now is the apply's concern.
    let Ok(Some(base)) = Base::of(operation, prior, &before, &after).await else { return Ok(()) };
    let mut wrong = Diagnostics::new();
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for machine in &base.after {
        let Some(old) = base.before.get(&machine.member.uid) else { continue };
        let Some(old) = base.configuration(&before, old).ok().and_then(|text| parsed(&text)) else {
            continue;
        };
        let name = machine.member.name.to_string();
        let new = match base.configuration(&after, machine) {
            Ok(text) => text,
            Err(why) => {
                wrong.push(Diagnostic::error(
                    format!("machine {name:?} can't have this configuration: failed to {why}"),
                    "It was judged as Talos would judge it; nothing was changed. Correct the patches.",
                ));
                continue;
            }
        };
        let Some(new) = parsed(&new) else { continue };
        let difference = Difference::between(&old, &new);
        if difference.is_empty() {
            continue;
        }
        let application = how(&difference, &after.talos_version);
        if let Err(error) = allows(after.apply_mode, &application) {
            wrong.push(
                Diagnostic::error(
                    format!("machine {name:?} would have to reboot"),
                    format!("{error}. Nothing was changed."),
                )
                .at(Path::new("apply_mode")),
            );
        }
        let text = format!("{application}:\n{}", cut(&difference.redacted()));
        match groups.iter_mut().find(|(same, _)| *same == text) {
            Some((_, names)) => names.push(name),
            None => groups.push((text, vec![name])),
        }
    }
    let edited = edited(prior, planned);
    let is_changed = !groups.is_empty() || !edited.is_empty();
    if is_changed && !wrong.has_errors() {
        operation.warn([warning(&groups, &edited, &after)]);
    }
    wrong.into_result(())
}

/// Whether anything about the machines' configurations is known to change.
fn concerns(prior: &Cluster, planned: &Cluster) -> bool {
    planned
        .configuration_digests
        .known()
        .is_some_and(|digests| prior.configuration_digests.known().is_some_and(|before| before != digests))
}

/// The machines whose own resources change. What their new configurations are is not known here: this resource only
/// sees that they are others.
fn edited(prior: &Cluster, planned: &Cluster) -> Vec<String> {
    let (before, after) = (prior.instance_digests(), planned.instance_digests());
    let is_edited = |name: &&String| match (before.get(*name), after.get(*name)) {
        (Some(Attr::Known(before)), Some(Attr::Known(after))) => before != after,
        (Some(Attr::Known(_)), Some(Attr::Unknown)) => true,
        (None | Some(_), None | Some(_)) => false,
    };
    after.keys().filter(is_edited).cloned().collect()
}

fn warning(groups: &[(String, Vec<String>)], edited: &[String], after: &Parsed) -> Diagnostic {
    let mut detail = String::new();
    if !edited.is_empty() {
        let _ = write!(
            detail,
            "{}: what changes in its kontinuum_instance, as the plan shows it there; Talos says how it applies that when it \
             gets it\n\n",
            edited.join(", ")
        );
    }
    for (text, names) in groups {
        let _ = write!(detail, "{}: {text}\n\n", names.join(", "));
    }
    let _ = write!(
        detail,
        "One machine after another gets it (apply_mode {}), control planes first, and the next one only once the one \
         before is ready.",
        after.apply_mode.as_str()
    );
    Diagnostic::warning("machines get another configuration", detail)
}

fn cut(listing: &str) -> String {
    let lines: Vec<&str> = listing.lines().collect();
    let shown = lines.iter().take(LONGEST).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n");
    match lines.len().saturating_sub(LONGEST) {
        0 => shown,
        more => format!("{shown}\n  … and {more} more lines"),
    }
}

fn parsed(text: &Secret) -> Option<MachineConfiguration> {
    MachineConfiguration::parse(text.expose()).ok()
}

/// What both configurations are made from.
pub(super) struct Base {
    before: BTreeMap<Uid, Machine>,
    after: Vec<Machine>,
    endpoint: Endpoint,
    contract: Contract,
    secrets: SecretsBundle,
}

impl Base {
    async fn of(
        operation: &Operation<Clients>,
        prior: &Cluster,
        before: &Parsed,
        after: &Parsed,
    ) -> Result<Option<Self>, Diagnostics> {
        let inventory = &operation.data()?.inventory;
        let Some(uid) = prior.uid.known().map(Uid::new) else { return Ok(None) };
        let Ok(Some(record)) = inventory.find_by_uid::<ClusterRecord>(&uid).await else { return Ok(None) };
        let (Ok((before, _)), Ok((after, _))) =
            (gather(inventory, before).await, gather(inventory, after).await)
        else {
            return Ok(None);
        };
        Ok(Self::recorded(&record, before, after))
    }

    /// From a cluster's record; `None` where it doesn't say enough.
    pub(super) fn recorded(
        record: &Stored<ClusterRecord>,
        before: Vec<Machine>,
        after: Vec<Machine>,
    ) -> Option<Self> {
        Some(Self {
            before: before.into_iter().map(|machine| (machine.member.uid.clone(), machine)).collect(),
            after,
            endpoint: Endpoint::parse(record.body.endpoint.as_deref()?).ok()?,
            contract: Contract::of_version(record.body.contract.as_deref()?).ok()?,
            secrets: SecretsBundle::from_yaml(record.body.secrets.as_deref()?).ok()?,
        })
    }

    /// A machine's configuration, or why it can't be made.
    pub(super) fn configuration(&self, parsed: &Parsed, machine: &Machine) -> Result<Secret, String> {
        configuration(parsed, machine, &self.endpoint, self.contract, &self.secrets)
            .map(|configuration| configuration.text)
    }
}

/// What a machine runs against what it should run, for a person to read; empty where that can't be said.
pub(super) fn listing(base: &Base, parsed_cluster: &Parsed, machine: &Machine, runs: &Secret) -> String {
    let wanted = base.configuration(parsed_cluster, machine).ok().and_then(|text| parsed(&text));
    match (wanted, parsed(runs)) {
        (Some(wanted), Some(runs)) => cut(&Difference::between(&wanted, &runs).redacted()),
        (None, _) | (_, None) => String::new(),
    }
}
