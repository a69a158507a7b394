//! Preflight: all machines that would be configured, judged before any of them is touched.

use ipnet::IpNet;

use super::super::report::chain;
use super::world::ClusterWorld;
use crate::clients::talos::Maintenance;
use crate::domain::cluster::preflight::{Finding, Subject, check as judge};
use crate::domain::machine_configuration::Contract;
use crate::domain::record::Work;
use crate::plugin::{Diagnostic, Diagnostics, Path};

/// Talos' defaults for pods and services.
const SUBNETS: [&str; 2] = ["10.244.0.0/16", "10.96.0.0/12"];

/// Refuses machines that can't work where they are to go. Nothing was touched when it does.
pub(super) async fn check(world: &ClusterWorld<'_>) -> Result<(), Diagnostics> {
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
            })
        })
        .collect();
    let subnets: Vec<IpNet> = SUBNETS.iter().filter_map(|subnet| subnet.parse().ok()).collect();
    let contract = world.record.body.contract.as_deref().and_then(|text| Contract::of_version(text).ok());
    let mut findings = judge(&subjects, &subnets, contract.map(Contract::minor));
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
            .at(Path::new("control_plane"))
        })
        .collect();
    diagnostics.into_result(())
}

/// Talos' own verdict on a configuration, where its maintenance mode gives one; silence is no verdict.
async fn dry_run(
    candidates: &[crate::domain::names::Address],
    configuration: &crate::domain::machine_configuration::Secret,
) -> Option<String> {
    let machine =
        Maintenance::dial_at_once(candidates, None, std::time::Duration::from_secs(5)).await.ok()?;
    match machine.dry_run(configuration).await {
        Err(error) if error.code() == Some(tonic::Code::InvalidArgument) => {
            Some(format!("Talos refuses its configuration: {}", chain(&error)))
        }
        Ok(_) | Err(_) => None,
    }
}
