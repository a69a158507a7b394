//! The `conditions` attribute that every resource has.

use crate::domain::condition as domain;
use crate::plugin::{Attr, List, Model, Visitor, computed};

/// What the attribute is, for the docs pages.
pub const DESCRIPTION: &str = "What holds and what does not, as Kubernetes writes it; an element a type, in the order in which they come about.";

/// One line of status.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    kind: Attr<String>,
    status: Attr<String>,
    reason: Attr<String>,
    message: Attr<String>,
    last_transition_time: Attr<String>,
}

impl Model for Condition {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("type", "What the condition is about."), &mut self.kind);
        v.attribute(computed("status", "`True`, `False` or `Unknown`."), &mut self.status);
        v.attribute(computed("reason", "One word for the cause."), &mut self.reason);
        v.attribute(computed("message", "A sentence for people."), &mut self.message);
        v.attribute(
            computed("last_transition_time", "When the status changed last (RFC 3339)."),
            &mut self.last_transition_time,
        );
    }
}

/// Conditions as an attribute.
#[must_use]
pub fn listed(conditions: &[domain::Condition]) -> Attr<List<Condition>> {
    conditions
        .iter()
        .map(|condition| Condition {
            kind: condition.kind.clone().into(),
            status: condition.status.to_string().into(),
            reason: condition.reason.clone().into(),
            message: condition.message.clone().into(),
            last_transition_time: condition.last_transition_time.to_string().into(),
        })
        .collect()
}

/// The attribute as conditions, as far as it is known: what a saved state says when the inventory lost it.
#[must_use]
pub fn parsed(listed: &Attr<List<Condition>>) -> Vec<domain::Condition> {
    let text = |attr: &Attr<String>| attr.known().cloned().unwrap_or_default();
    listed
        .known_items()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|condition| {
            let status = match condition.status.known().map(String::as_str) {
                Some("True") => domain::Status::True,
                Some("False") => domain::Status::False,
                _ => domain::Status::Unknown,
            };
            Some(domain::Condition {
                kind: text(&condition.kind),
                status,
                reason: text(&condition.reason),
                message: text(&condition.message),
                last_transition_time: text(&condition.last_transition_time).parse().ok()?,
            })
        })
        .collect()
}

/// One INFO line for each condition that changed.
pub fn log_changes(what: &str, before: &[domain::Condition], after: &[domain::Condition]) {
    for condition in after {
        let same = |other: &&domain::Condition| {
            other.kind == condition.kind
                && other.status == condition.status
                && other.reason == condition.reason
        };
        if before.iter().find(same).is_none() {
            tracing::info!(
                object = what,
                condition = condition.kind,
                status = %condition.status,
                reason = condition.reason,
                detail = condition.message,
                "Condition changed"
            );
        }
    }
}
