//! Labels and label selectors, by the rules of Kubernetes' API machinery (1.36).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::names::is_label;

/// The labels of a machine.
pub type Labels = BTreeMap<String, String>;

/// The prefix whose labels are the provider's own.
pub const RESERVED_PREFIX: &str = "kontinuum.sh/";

/// Why a label or a selector is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelError {
    /// The key is not a qualified name.
    #[error(
        "{0:?} is not a label key: expected NAME or DNS-SUBDOMAIN/NAME, the name 1 to 63 letters, digits, '-', '_' \
         or '.', with a letter or digit at both ends"
    )]
    Key(String),
    /// The value is not a label value.
    #[error(
        "{0:?} is not a label value: expected at most 63 letters, digits, '-', '_' or '.', with a letter or digit \
         at both ends"
    )]
    Value(String),
    /// The key belongs to the provider.
    #[error("{0:?} is reserved: labels under kontinuum.sh/ are the provider's own, choose another prefix")]
    Reserved(String),
    /// The operator does not exist.
    #[error("{0:?} is not an operator: expected In, NotIn, Exists or DoesNotExist")]
    Operator(String),
    /// `In` and `NotIn` need values.
    #[error("operator {0} needs at least one value")]
    ValuesMissing(Operator),
    /// `Exists` and `DoesNotExist` take none.
    #[error("operator {0} takes no values")]
    ValuesGiven(Operator),
    /// An empty selector would match every machine.
    #[error("the selector is empty and would match every machine: give match_labels or match_expressions")]
    Empty,
}

fn is_name(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    (1..=63).contains(&text.len())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && ends(text.chars().next())
        && ends(text.chars().next_back())
}

fn is_subdomain(text: &str) -> bool {
    (1..=253).contains(&text.len()) && text.split('.').all(is_label)
}

/// Checks a label's key.
///
/// # Errors
///
/// [`LabelError::Key`].
pub fn check_key(key: &str) -> Result<(), LabelError> {
    let good = match key.split_once('/') {
        None => is_name(key),
        Some((prefix, name)) => is_subdomain(prefix) && is_name(name),
    };
    if good { Ok(()) } else { Err(LabelError::Key(key.to_owned())) }
}

/// Checks a label's value.
///
/// # Errors
///
/// [`LabelError::Value`].
pub fn check_value(value: &str) -> Result<(), LabelError> {
    if value.is_empty() || is_name(value) { Ok(()) } else { Err(LabelError::Value(value.to_owned())) }
}

/// Checks a label that a user gives to a machine.
///
/// # Errors
///
/// [`LabelError::Key`], [`LabelError::Value`] or [`LabelError::Reserved`].
pub fn check_user_label(key: &str, value: &str) -> Result<(), LabelError> {
    check_key(key)?;
    if key.starts_with(RESERVED_PREFIX) {
        return Err(LabelError::Reserved(key.to_owned()));
    }
    check_value(value)
}

/// How a requirement compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// The label is there and its value is one of those given.
    In,
    /// The label is missing, or its value is none of those given.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is missing.
    DoesNotExist,
}

impl Operator {
    /// Parses an operator by its Kubernetes name.
    ///
    /// # Errors
    ///
    /// [`LabelError::Operator`].
    pub fn parse(text: &str) -> Result<Self, LabelError> {
        match text {
            "In" => Ok(Self::In),
            "NotIn" => Ok(Self::NotIn),
            "Exists" => Ok(Self::Exists),
            "DoesNotExist" => Ok(Self::DoesNotExist),
            other => Err(LabelError::Operator(other.to_owned())),
        }
    }
}

impl std::fmt::Display for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

/// One condition on one label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

impl Requirement {
    /// A checked requirement.
    ///
    /// # Errors
    ///
    /// [`LabelError`], where Kubernetes' own validation refuses it.
    pub fn new(key: String, operator: Operator, values: Vec<String>) -> Result<Self, LabelError> {
        check_key(&key)?;
        match (operator, values.is_empty()) {
            (Operator::In | Operator::NotIn, true) => return Err(LabelError::ValuesMissing(operator)),
            (Operator::Exists | Operator::DoesNotExist, false) => {
                return Err(LabelError::ValuesGiven(operator));
            }
            (Operator::In | Operator::NotIn, false) | (Operator::Exists | Operator::DoesNotExist, true) => {}
        }
        values.iter().try_for_each(|value| check_value(value))?;
        Ok(Self { key, operator, values })
    }

    /// The label's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// How it compares.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// With what it compares.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    fn matches(&self, labels: &Labels) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// Requirements that must all hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector(Vec<Requirement>);

impl Selector {
    /// A selector of exact labels and further requirements.
    ///
    /// # Errors
    ///
    /// [`LabelError::Empty`] when there is no requirement; [`LabelError`] for a wrong label.
    pub fn new(match_labels: Labels, expressions: Vec<Requirement>) -> Result<Self, LabelError> {
        let mut requirements = match_labels
            .into_iter()
            .map(|(key, value)| Requirement::new(key, Operator::In, vec![value]))
            .collect::<Result<Vec<_>, _>>()?;
        requirements.extend(expressions);
        if requirements.is_empty() { Err(LabelError::Empty) } else { Ok(Self(requirements)) }
    }

    /// The requirements.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.0
    }

    /// Whether a machine with these labels is selected.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn not_in_also_selects_machines_without_the_label() {
        let requirement = |operator, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            Requirement::new("zone".to_owned(), operator, values).unwrap()
        };
        let (bare, in_a) = (labels(&[]), labels(&[("zone", "a")]));
        for (operator, values, on_bare, on_a) in [
            (Operator::In, &["a", "b"][..], false, true),
            (Operator::NotIn, &["a"][..], true, false),
            (Operator::NotIn, &["b"][..], true, true),
            (Operator::Exists, &[][..], false, true),
            (Operator::DoesNotExist, &[][..], true, false),
        ] {
            let selector = Selector::new(Labels::new(), vec![requirement(operator, values)]).unwrap();
            assert_eq!(
                (selector.matches(&bare), selector.matches(&in_a)),
                (on_bare, on_a),
                "{operator} {values:?}"
            );
        }
    }

    #[test]
    fn all_requirements_must_hold() {
        let selector = Selector::new(labels(&[("role", "cp"), ("zone", "a")]), vec![]).unwrap();
        assert!(selector.matches(&labels(&[("role", "cp"), ("zone", "a"), ("x", "y")])));
        assert!(!selector.matches(&labels(&[("role", "cp")])));
    }

    #[test]
    fn what_kubernetes_refuses_is_refused() {
        assert_eq!(Selector::new(Labels::new(), vec![]), Err(LabelError::Empty));
        assert!(
            check_key("a/b/c").is_err() && check_key("/b").is_err() && check_key("Example.com/b").is_err()
        );
        assert!(
            check_key("example.com/B_c.d").is_ok() && check_value("").is_ok() && check_value("-a").is_err()
        );
        assert!(matches!(check_user_label("kontinuum.sh/zone", "a"), Err(LabelError::Reserved(_))));
        assert!(Requirement::new("a".into(), Operator::In, vec![]).is_err());
        assert!(Requirement::new("a".into(), Operator::Exists, vec!["b".into()]).is_err());
    }
}
