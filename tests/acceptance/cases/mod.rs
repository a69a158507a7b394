//! The cases.

mod addons;
mod altered;
mod changed;
mod charts;
mod cluster;
mod discovery;
mod faults;
mod further_addons;
mod input;
mod inventory;
mod machine_configuration;
mod members;
mod metal;
mod pools;
mod secrets;
mod serving_certificates;

use libtest_mimic::{Failed, Trial};

use crate::client::Client;
use crate::rig::Rig;

type Case = fn(&mut Rig) -> Result<(), Failed>;

/// Every case with every client that it is for.
pub(crate) fn all() -> Vec<Trial> {
    [
        addons::cases(),
        altered::cases(),
        changed::cases(),
        charts::cases(),
        cluster::cases(),
        discovery::cases(),
        faults::cases(),
        further_addons::cases(),
        input::cases(),
        inventory::cases(),
        machine_configuration::cases(),
        members::cases(),
        metal::cases(),
        pools::cases(),
        secrets::cases(),
        serving_certificates::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Cases for one client: what they show does not hang on which.
fn cases_of(cases: &[(&str, Case)]) -> Vec<Trial> {
    cases.iter().flat_map(|&(name, case)| with(&[Client::OpenTofu], name, case)).collect()
}

/// A case, once for each of these clients. Its rig's texts are searched for secrets afterwards.
fn with(clients: &[Client], name: &str, case: Case) -> Vec<Trial> {
    clients
        .iter()
        .map(|&client| {
            let run = move || {
                let mut rig = Rig::new(client)?;
                case(&mut rig)?;
                rig.shows_no_secret()
            };
            // Not to be had everywhere: then it is counted as ignored, and its kind says why.
            let missing = !client.is_available();
            let kind =
                if missing { format!("{} is not on PATH", client.name()) } else { client.name().to_owned() };
            Trial::test(name, run).with_kind(kind).with_ignored_flag(missing)
        })
        .collect()
}
