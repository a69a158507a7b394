//! Dialling a machine until it answers in Talos' maintenance mode, or it is clear that it won't.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::report::chain;
use crate::clients::talos::{Failures, Fingerprint, Maintenance};
use crate::domain::condition::{Status, Verdict};
use crate::domain::machine::Facts;
use crate::domain::names::Address;

/// The condition of an instance.
pub const DISCOVERED: &str = "Discovered";

/// A machine that boots answers some moment soon: every 250 ms for a minute, then every 2 s.
const EAGER: Duration = Duration::from_millis(250);
const EAGER_FOR: Duration = Duration::from_secs(60);
const PATIENT: Duration = Duration::from_secs(2);

/// One look at a machine that may be silent, while a plan is refreshed: all candidates at once.
pub(super) const GLANCE: Duration = Duration::from_secs(2);

/// What a look at a machine found.
#[derive(Debug)]
pub(super) enum Found {
    /// It is in maintenance mode.
    Machine(Box<Facts>),
    /// Something answers at a candidate that can never be discovered as it is.
    Refused(Verdict),
    /// Nothing answered.
    Silent(Verdict),
}

impl Found {
    pub(super) fn verdict(&self) -> Verdict {
        match self {
            Self::Machine(facts) => Verdict::new(
                DISCOVERED,
                Status::True,
                "Discovered",
                format!("the machine answered at {}", facts.address),
            ),
            Self::Refused(verdict) | Self::Silent(verdict) => verdict.clone(),
        }
    }
}

/// Looks once, candidate after candidate, each with its own budget; the first answer wins.
pub(super) async fn look(candidates: &[Address], expected: Option<Fingerprint>) -> Found {
    match Maintenance::dial_in_order(candidates, expected).await {
        Ok(machine) => ask(&machine).await,
        Err(failures) => judge(&failures),
    }
}

/// Looks once at all candidates together.
pub(super) async fn glance(candidates: &[Address], expected: Option<Fingerprint>) -> Found {
    match Maintenance::dial_at_once(candidates, expected, GLANCE).await {
        Ok(machine) => ask(&machine).await,
        Err(failures) => judge(&failures),
    }
}

async fn ask(machine: &Maintenance) -> Found {
    match machine.discover().await {
        Ok(facts) => Found::Machine(Box::new(facts)),
        Err(error) => Found::Silent(unseen("ProbeFailed", format!("failed to {}", chain(&error)))),
    }
}

/// An answer of "configured already" or of another kind is told apart from silence.
fn judge(failures: &Failures) -> Found {
    let text = failures
        .refusals()
        .iter()
        .map(|refusal| format!("{}: {}", refusal.address, refusal.error.fault()))
        .collect::<Vec<_>>()
        .join("; ");
    if failures.is_configured() {
        Found::Refused(unseen("AlreadyConfigured", text))
    } else if failures.is_transient() {
        Found::Silent(unseen("ProbeFailed", text))
    } else {
        Found::Refused(unseen("Refused", text))
    }
}

fn unseen(reason: &'static str, message: String) -> Verdict {
    Verdict::new(DISCOVERED, Status::False, reason, message)
}

/// Looks until the machine answers, refuses for good, or time is up; `None` when it was asked to stop.
pub(super) async fn until_found(
    candidates: &[Address],
    expected: Option<Fingerprint>,
    limit: Duration,
    stop: &CancellationToken,
) -> Option<Found> {
    let start = Instant::now();
    let deadline = start + limit;
    let mut last = None;
    loop {
        let pause = if start.elapsed() < EAGER_FOR { EAGER } else { PATIENT };
        let next = Instant::now() + pause;
        let found = tokio::select! {
            () = stop.cancelled() => return None,
            found = tokio::time::timeout_at(deadline, look(candidates, expected)) => found.ok(),
        };
        match found {
            Some(found @ (Found::Machine(_) | Found::Refused(_))) => return Some(found),
            Some(silent @ Found::Silent(_)) => last = Some(silent),
            None => {
                let unanswered = || Found::Silent(unseen("ProbeFailed", "no candidate answered".to_owned()));
                return Some(last.unwrap_or_else(unanswered));
            }
        }
        tokio::select! {
            () = stop.cancelled() => return None,
            () = tokio::time::sleep_until(next.min(deadline)) => {}
        }
        if Instant::now() >= deadline {
            return last;
        }
    }
}
