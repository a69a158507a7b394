//! What Talos would refuse or warn about when a machine is given a configuration, and what it would only find out later.
//!
//! The rules are those of Talos 1.13's validators on metal; where a rule is our own, its text says so with "kontinuum".
//! Not judged here are expressions in CEL, which only a machine compiles, and what needs a machine's disks: the dry run
//! of a configuration on the machine covers both.

mod across;
mod cluster;
mod documents;
mod interfaces;
mod links;
mod machine;
mod syntax;
#[cfg(test)]
mod tests;
mod volumes;

use yaml::Value;

use super::problem::Problem;
use super::{MachineConfiguration, Role};

/// What is wrong with a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What a machine would refuse, or what would break the cluster.
    pub errors: Vec<Problem>,
    /// What works but should not stay so.
    pub warnings: Vec<Problem>,
}

impl Verdict {
    /// Whether the configuration can be sent.
    #[must_use]
    pub const fn is_acceptable(&self) -> bool {
        self.errors.is_empty()
    }

    fn error(&mut self, path: impl Into<String>, words: impl Into<String>) {
        self.errors.push(Problem::invalid(path, words));
    }

    fn warning(&mut self, path: impl Into<String>, words: impl Into<String>) {
        self.warnings.push(Problem::invalid(path, words));
    }

    fn error_if(&mut self, condition: bool, path: &str, words: &str) {
        if condition {
            self.error(path, words);
        }
    }
}

impl MachineConfiguration {
    /// Whether the machine's kubelet asks the cluster for the certificate that it serves with.
    #[must_use]
    pub fn asks_for_serving_certificates(&self) -> bool {
        let machine = self.main().and_then(|main| main.field("machine"));
        machine.is_some_and(machine::asks_for_serving_certificates)
    }
}

/// Judges a configuration for a machine of metal. `installed` says that Talos is on its disk already, so that no disk
/// needs to be named.
#[must_use]
pub fn validate(configuration: &MachineConfiguration, installed: bool) -> Verdict {
    let mut verdict = Verdict::default();
    let Some(main) = configuration.main() else {
        verdict.error("", "expected a document with `machine` and `cluster`");
        return verdict;
    };
    let Some(machine) = main.field("machine") else {
        verdict.error("machine", "machine instructions are required");
        return verdict;
    };
    verdict.error_if(flag(main, &["persist"]) == Some(false), "persist", "must stay on");
    let role = role(machine, &mut verdict);
    machine::judge(machine, role, installed, &mut verdict);
    interfaces::judge(machine, role, &mut verdict);
    cluster::judge(main, role, &mut verdict);
    documents::judge(configuration, role, &mut verdict);
    across::judge(configuration, main, &mut verdict);
    verdict
}

fn role(machine: &Value, verdict: &mut Verdict) -> Option<Role> {
    match text(machine, &["type"]) {
        "controlplane" | "init" => Some(Role::ControlPlane),
        "worker" => Some(Role::Worker),
        "" | "join" => {
            verdict.warning("machine.type", "write \"worker\"");
            Some(Role::Worker)
        }
        _ => {
            verdict.error("machine.type", "expected \"controlplane\" or \"worker\"");
            None
        }
    }
}

/// A text, empty if it is not set.
fn text<'value>(value: &'value Value, path: &[&str]) -> &'value str {
    value.at(path).and_then(Value::as_str).unwrap_or_default()
}

fn flag(value: &Value, path: &[&str]) -> Option<bool> {
    value.at(path).and_then(Value::as_bool)
}

fn number(value: &Value, path: &[&str]) -> i64 {
    value.at(path).and_then(Value::as_i64).unwrap_or_default()
}

fn list<'value>(value: &'value Value, path: &[&str]) -> &'value [Value] {
    value.at(path).and_then(Value::as_sequence).unwrap_or_default()
}

fn texts<'value>(value: &'value Value, path: &[&str]) -> impl Iterator<Item = &'value str> {
    list(value, path).iter().filter_map(Value::as_str)
}

fn pairs<'value>(value: &'value Value, path: &[&str]) -> impl Iterator<Item = (&'value str, &'value Value)> {
    value
        .at(path)
        .and_then(Value::as_mapping)
        .unwrap_or_default()
        .iter()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
}
