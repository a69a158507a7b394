//! The `timeouts` attribute that every resource has.

use std::time::Duration;

use crate::plugin::{Attr, Diagnostic, Diagnostics, Model, Path, Visitor, optional};

/// How long an operation may take as a whole.
#[derive(Clone, Debug, Default)]
pub struct Timeouts {
    /// `create`, as in `45m`.
    pub create: Attr<String>,
    /// `update`.
    pub update: Attr<String>,
    /// `delete`.
    pub delete: Attr<String>,
}

impl Model for Timeouts {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional("create", "How long creating may take, as in `45m` or `1h30m`."),
            &mut self.create,
        );
        v.attribute(optional("update", "How long an update may take."), &mut self.update);
        v.attribute(optional("delete", "How long deleting may take."), &mut self.delete);
    }
}

/// What is taken where the user says nothing.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    /// For `create`.
    pub create: Duration,
    /// For `update`.
    pub update: Duration,
    /// For `delete`.
    pub delete: Duration,
}

/// Parsed time-outs.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long creating may take.
    pub create: Duration,
    /// How long an update may take.
    pub update: Duration,
    /// How long deleting may take.
    pub delete: Duration,
}

/// Parses the attribute; unknown values count as not given.
///
/// # Errors
/// Each text that is no duration, at its path.
pub fn parse(timeouts: &Attr<Timeouts>, defaults: Defaults) -> Result<Limits, Diagnostics> {
    let mut wrong = Diagnostics::new();
    let given = timeouts.known().cloned().unwrap_or_default();
    let mut one = |name: &str, value: &Attr<String>, default: Duration| match value
        .known()
        .map(|text| duration(text))
    {
        None => default,
        Some(Some(duration)) => duration,
        Some(None) => {
            wrong.push(
                Diagnostic::error(
                    format!("timeouts.{name} is not a duration"),
                    format!(
                        "Expected a positive number with a unit, as in \"45m\", \"1h30m\" or \"90s\", got {:?}.",
                        value.known().map(String::as_str).unwrap_or_default()
                    ),
                )
                .at(Path::new("timeouts").attribute(name)),
            );
            default
        }
    };
    let limits = Limits {
        create: one("create", &given.create, defaults.create),
        update: one("update", &given.update, defaults.update),
        delete: one("delete", &given.delete, defaults.delete),
    };
    wrong.into_result(limits)
}

fn duration(text: &str) -> Option<Duration> {
    let parsed: jiff::SignedDuration = text.parse().ok()?;
    Duration::try_from(parsed).ok().filter(|duration| !duration.is_zero())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_terraform_users_write_them() {
        for (text, seconds) in [("45m", 2700), ("1h30m", 5400), ("90s", 90), ("2h", 7200)] {
            assert_eq!(duration(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        for bad in ["", "45", "-1m", "0s", "soon", "1d1y"] {
            assert_eq!(duration(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_wrong_duration_is_an_error_at_its_path() {
        let given = Timeouts { create: "fast".into(), ..Timeouts::default() };
        let second = Duration::from_secs(1);
        let defaults = Defaults { create: second, update: second, delete: second };
        let error = parse(&given.into(), defaults).unwrap_err();
        assert_eq!(error.iter().next().unwrap().path.as_ref().unwrap().to_string(), "timeouts.create");
        assert_eq!(parse(&Attr::Null, defaults).unwrap().delete, second);
    }
}
