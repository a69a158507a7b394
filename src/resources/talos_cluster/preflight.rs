//! Preflight: all machines that would be configured, judged before any of them is touched.

use ipnet::IpNet;

use super::super::Clients;
use super::super::report::chain;
use super::members::Machine;
use super::world::ClusterWorld;
use crate::clients::talos::Maintenance;
use crate::domain::cluster::preflight::{Finding, Subject, check as judge, newer};
use crate::domain::cluster::spec::{Member, Role};
use crate::domain::machine_configuration::{Contract, MachineConfiguration, Secret};
use crate::domain::record::Work;
use crate::plugin::{Diagnostic, Diagnostics, Operation, Path};

/// Refuses machines that can't work where they are to go. Nothing was touched when it does.
pub(super) async fn check(
    world: &ClusterWorld<'_>,
    operation: &Operation<Clients>,
) -> Result<(), Diagnostics> {
    let untouched: Vec<_> = world
        .machines
        .iter()
        .filter(|machine| !matches!(machine.record.work, Work::Configured { .. }))
        .collect();
    let subjects: Vec<Subject<'_>> = untouched
        .iter()
        .filter_map(|machine| {
            Some(Subject {
                member: &machine.member,
                facts: machine.record.facts.as_ref()?,
                install_disk: machine.record.install_disk.as_ref(),
                // Where no configuration can be made, that is what is said.
                subnets: world.configuration_of(machine).map(|made| subnets(&made.text)).unwrap_or_default(),
            })
        })
        .collect();
    let is_configured = |machine: &&Machine| matches!(machine.record.work, Work::Configured { .. });
    let others: Vec<&Member> =
        world.machines.iter().filter(is_configured).map(|machine| &machine.member).collect();
    let contract = world.record.body.contract.as_deref().and_then(|text| Contract::of_version(text).ok());
    if let Some(text) = newer(&subjects, Contract::NEWEST.minor()) {
        let summary = "machines run a newer Talos than this provider knows";
        operation.warn([Diagnostic::warning(summary, format!("{}: {text}.", world.what))]);
    }
    let mut findings = judge(&subjects, &others, contract.map(Contract::minor));
    if findings.is_empty() {
        for machine in untouched {
            let name = machine.member.name.to_string();
            match world.configuration_of(machine) {
                Err(error) => findings.push(Finding { machine: name, text: format!("failed to {error}") }),
                Ok(configuration) => {
                    let verdict = dry_run(&machine.record.candidates(), &configuration.text).await;
                    findings.extend(verdict.map(|text| Finding { machine: name, text }));
                }
            }
        }
    }
    let diagnostics: Diagnostics = findings
        .into_iter()
        .map(|finding| {
            Diagnostic::error(
                format!(
                    "{}: machine {:?} can't be used as it is: {}",
                    world.what, finding.machine, finding.text
                ),
                "This was found before any machine was touched: nothing was changed.",
            )
            .at(place(world, &finding.machine))
        })
        .collect();
    diagnostics.into_result(())
}

/// The attribute by which a machine comes into the cluster.
fn place(world: &ClusterWorld<'_>, name: &str) -> Path {
    let machine = world.machines.iter().find(|machine| machine.member.name.as_str() == name);
    let entry = match machine.map(|machine| &machine.member) {
        Some(member) if member.role == Role::Worker => Path::new("workers").key(&member.pool),
        Some(_) | None => Path::new("control_plane"),
    };
    entry.attribute("pool")
}

fn subnets(configuration: &Secret) -> Vec<IpNet> {
    let parsed = MachineConfiguration::parse(configuration.expose());
    let written = parsed.map(|configuration| configuration.subnets()).unwrap_or_default();
    written.iter().filter_map(|subnet| subnet.parse().ok()).collect()
}

/// Talos' own verdict on a configuration, where its maintenance mode gives one; silence is no verdict.
async fn dry_run(candidates: &[crate::domain::names::Address], configuration: &Secret) -> Option<String> {
    let machine =
        Maintenance::dial_at_once(candidates, None, std::time::Duration::from_secs(5)).await.ok()?;
    match machine.dry_run(configuration).await {
        Err(error) if error.code() == Some(tonic::Code::InvalidArgument) => {
            Some(format!("Talos refuses its configuration: {}", chain(&error)))
        }
        Ok(_) | Err(_) => None,
    }
}
