//! `kontinuum_talos_machine_configuration`: the configuration of one machine, as `talosctl gen config` makes it.
//!
//! No machine and no inventory is asked: the same inputs give the same text. So it holds no kubeconfig or talosconfig
//! either, whose certificates would be others at each plan.

mod model;
mod parse;

use model::Configuration;
use parse::Parsed;

use super::Clients;
use super::report::chain;
use crate::domain::machine_configuration::{
    GenerateError, MachineConfiguration, ParseError, Patch, Problem, generate, patch, renames, validate,
};
use crate::plugin::{DataSource, Diagnostic, Diagnostics, Operation, Path, Secret};

/// The data source.
#[derive(Debug)]
pub struct MachineConfigurations;

impl DataSource for MachineConfigurations {
    type Model = Configuration;
    type Data = Clients;
    const NAME: &'static str = "kontinuum_talos_machine_configuration";
    const DESCRIPTION: &'static str = include_str!("description.md").trim_ascii();

    async fn validate(&self, config: Configuration, _: &Operation<Clients>) -> Result<(), Diagnostics> {
        config.parse()?.map_or(Ok(()), |parsed| made(&parsed).map(drop))
    }

    async fn read(
        &self,
        mut config: Configuration,
        operation: &Operation<Clients>,
    ) -> Result<Configuration, Diagnostics> {
        let Some(parsed) = config.parse()? else {
            return Err(Diagnostics::error(
                format!("{} has values that are not known", Self::NAME),
                "Expected every value to be known when it is read.",
            ));
        };
        let made = made(&parsed)?;
        operation.warn(parsed.notes.into_iter().chain(made.notes));
        config.install_image = parsed.inputs.installer_image.into();
        config.schematic = parsed.schematic.into();
        config.machine_configuration = Secret::new(made.configuration.to_yaml().expose()).into();
        Ok(config)
    }
}

/// A configuration that Talos takes, and what the user should know of it.
struct Made {
    configuration: MachineConfiguration,
    notes: Vec<Diagnostic>,
}

/// Generates, patches and judges. What is wrong is blamed on the patch that brought it, if one did.
fn made(parsed: &Parsed) -> Result<Made, Diagnostics> {
    let mut configuration =
        generate(&parsed.inputs, &parsed.secrets, parsed.contract).map_err(|error| refused(&error))?;
    let mut notes = Vec::new();
    let mut known = faults(&configuration, parsed);
    let mut wrong: Diagnostics = known.iter().map(|problem| fault(problem, None)).collect();
    for (index, text) in parsed.patches.iter().enumerate() {
        let path = Path::new("config_patches").index(index);
        let patched =
            Patch::parse(text).and_then(|read| patch(&configuration, &[read]).map_err(|error| error.source));
        let patched = match patched {
            Ok(patched) => patched,
            Err(error) => return Err(not_applied(&path, &error).into()),
        };
        if parsed.inputs.hostname.is_some() && renames(&configuration, &patched.configuration) {
            wrong.push(given_twice(&path));
        }
        for warning in patched.warnings {
            notes.push(
                Diagnostic::warning("a patch does less than it says", format!("{warning}.")).at(path.clone()),
            );
        }
        configuration = patched.configuration;
        let faults = faults(&configuration, parsed);
        wrong.extend(faults.iter().filter(|it| !known.contains(it)).map(|it| fault(it, Some(&path))));
        known = faults;
    }
    let warnings = validate(&configuration, false).warnings;
    notes.extend(warnings.iter().map(|problem| {
        Diagnostic::warning("a machine configuration that Talos warns of", format!("{problem}."))
    }));
    wrong.into_result(Made { configuration, notes })
}

/// What Talos would refuse, or what its machines are too old for.
fn faults(configuration: &MachineConfiguration, parsed: &Parsed) -> Vec<Problem> {
    let mut faults = validate(configuration, false).errors;
    faults.extend(configuration.newer_than(parsed.contract));
    faults
}

fn fault(problem: &Problem, patch: Option<&Path>) -> Diagnostic {
    let what = patch.map_or_else(|| "the machine configuration".to_owned(), ToString::to_string);
    let found = Diagnostic::error(format!("{what} would be refused by the machine"), format!("{problem}."));
    match patch {
        Some(path) => found.at(path.clone()),
        None => found,
    }
}

fn not_applied(path: &Path, error: &ParseError) -> Diagnostic {
    Diagnostic::error(format!("{path} can't be applied"), format!("{}.", chain(error))).at(path.clone())
}

fn given_twice(path: &Path) -> Diagnostic {
    Diagnostic::error(
        format!("{path} sets the host name"),
        "The host name is given by `hostname` already: leave one of the two out.",
    )
    .at(path.clone())
}

fn refused(error: &GenerateError) -> Diagnostics {
    let path = match error {
        GenerateError::Endpoint(_) => Path::new("cluster_endpoint"),
        GenerateError::VirtualAddressOnWorker(_) => Path::new("vip"),
        GenerateError::Taint { key } | GenerateError::TaintOnControlPlane(key) => {
            Path::new("node_taints").key(key)
        }
    };
    Diagnostic::error(format!("{path} is not valid"), format!("{error}.")).at(path).into()
}

#[cfg(test)]
mod tests;
