//! cert-manager: its values, and the ones that contradict how it is installed here.

use serde_json::{Value, json};

use super::spec::{Addon, Overrides, Refusal, SpecError};
use super::values;

/// The release's, the chart's and the namespace's name.
pub const NAME: &str = "cert-manager";
/// Where its parts run. It meets Talos' baseline Pod Security level, so the namespace needs no labels.
pub const NAMESPACE: &str = "cert-manager";
/// The project's own chart repository.
pub const REPOSITORY: &str = "https://charts.jetstack.io";
/// The version that the tests run.
pub const VERSION: &str = "v1.21.2";

/// The addon.
///
/// # Errors
/// [`SpecError`] when the user's values are no mapping or contradict how cert-manager is installed here.
pub fn addon(overrides: &Overrides) -> Result<Addon, SpecError> {
    let user = values::parse(overrides.values.as_deref().unwrap_or_default())?;
    let merged = values::merge(default_values(), user);
    refuse_known_bad(&merged)?;
    Ok(Addon::new(NAME, NAMESPACE, REPOSITORY, VERSION, overrides, merged))
}

fn default_values() -> Value {
    json!({
        "crds": {"enabled": true},
        // A hook that an installation would have to wait for. A dry run of a Certificate asks the webhook the same.
        "startupapicheck": {"enabled": false},
    })
}

fn refuse_known_bad(merged: &Value) -> Result<(), Refusal> {
    if values::at(merged, "startupapicheck.enabled") != Some(&Value::Bool(false)) {
        return Err(Refusal {
            path: "startupapicheck.enabled",
            problem: "must be false: an apply never waits for a hook's Job",
            remedy: "leave it out: the cluster is not Ready before cert-manager's webhook answers",
        });
    }
    let other_namespace = values::at(merged, "namespace").and_then(Value::as_str).unwrap_or_default();
    if !matches!(other_namespace, "" | NAMESPACE) {
        return Err(Refusal {
            path: "namespace",
            problem: "must be cert-manager, the namespace that is made for it",
            remedy: "leave it out",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn with(values: &str) -> Result<Addon, SpecError> {
        addon(&Overrides { values: Some(values.to_owned()), ..Overrides::default() })
    }

    #[test]
    fn definitions_come_with_the_chart_and_no_hook_is_waited_for() {
        let addon = addon(&Overrides::default()).unwrap();
        assert_eq!(addon.values, json!({"crds": {"enabled": true}, "startupapicheck": {"enabled": false}}));
    }

    #[test]
    fn its_startup_check_and_another_namespace_are_refused() {
        for values in ["startupapicheck: {enabled: true}", "startupapicheck: null", "namespace: other"] {
            assert!(matches!(with(values), Err(SpecError::Refused(_))), "{values}");
        }
        assert!(with("replicaCount: 2").is_ok());
    }
}
