//! Conditions: named, three-valued lines of status, as Kubernetes has them.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A condition's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// We could not look.
    Unknown,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        })
    }
}

/// One line of status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// What it is about, for example `Discovered`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: Status,
    /// One word for the cause, for example `WaitingForInstances`.
    pub reason: String,
    /// A sentence for people. Holds no counts or times that move by themselves: it is part of a plan.
    pub message: String,
    /// When the status changed last.
    pub last_transition_time: Timestamp,
}

/// A condition that has not been dated yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What it is about.
    pub kind: &'static str,
    /// Whether it holds.
    pub status: Status,
    /// One word for the cause.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
}

impl Verdict {
    /// A verdict.
    #[must_use]
    pub fn new(kind: &'static str, status: Status, reason: &'static str, message: impl Into<String>) -> Self {
        Self { kind, status, reason, message: message.into() }
    }

    /// Dates the verdict: the time moves only when the status does.
    #[must_use]
    pub fn dated(self, prior: &[Condition], now: Timestamp) -> Condition {
        let since = prior
            .iter()
            .find(|condition| condition.kind == self.kind && condition.status == self.status)
            .map_or(now, |condition| condition.last_transition_time);
        Condition {
            kind: self.kind.to_owned(),
            status: self.status,
            reason: self.reason.to_owned(),
            message: self.message,
            last_transition_time: since,
        }
    }
}

/// Dates all verdicts, in their order.
#[must_use]
pub fn dated(verdicts: Vec<Verdict>, prior: &[Condition], now: Timestamp) -> Vec<Condition> {
    verdicts.into_iter().map(|verdict| verdict.dated(prior, now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transition_time_moves_with_the_status_only() {
        let (first, later) =
            (Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(9));
        let verdict = |status, reason| Verdict::new("Ready", status, reason, "m");
        let start = dated(vec![verdict(Status::False, "A")], &[], first);
        let same = dated(vec![verdict(Status::False, "B")], &start, later);
        assert_eq!((same[0].last_transition_time, same[0].reason.as_str()), (first, "B"));
        let turned = dated(vec![verdict(Status::True, "C")], &same, later);
        assert_eq!(turned[0].last_transition_time, later);
    }
}
