//! From a loop that ended early to a diagnostic: object, gate and cause in one line; what was waited for, the last
//! error, the conditions and what to do below.

use std::fmt::Write as _;
use std::time::Duration;

use crate::converge::{ActError, Stalled};
use crate::domain::cluster::gates::Gate;
use crate::domain::condition::Condition;
use crate::plugin::{Diagnostic, Diagnostics};

/// The diagnostic of a stall.
pub(super) fn diagnose(
    what: &str,
    limit: Duration,
    gate: Option<Gate>,
    conditions: &[Condition],
    stalled: Stalled,
) -> Diagnostics {
    let kept = "The machines are kept as they are. Apply again to go on from here";
    let (summary, detail) = match stalled {
        Stalled::Stopped => return super::super::report::stopped(what).into(),
        Stalled::Blocked(blocker) => (
            format!("{what} is blocked{}: {}", at(gate), blocker.cause),
            format!("{}\n\n{}", blocker.remedy, lines(conditions)),
        ),
        Stalled::Failed(ActError { text, remedy, .. }) => (
            format!("{what} failed{}: failed to {text}", at(gate)),
            format!("{remedy}\n\n{}{kept}.", lines(conditions)),
        ),
        Stalled::TimedOut { waiting, failure, acted } => {
            let cause = match (&failure, &waiting, &acted) {
                (Some(failure), _, _) => format!("failed to {failure}"),
                (None, Some(waiting), _) => format!("waiting for {waiting}"),
                (None, None, Some(act)) => format!("no effect was seen of the last act, which was to {act}"),
                (None, None, None) => "nothing was seen in time".to_owned(),
            };
            let mut detail = String::new();
            if let Some(waiting) = &waiting {
                let _ = writeln!(detail, "Waited for {waiting}.");
                if let Some(remedy) = waiting.remedy() {
                    let _ = writeln!(detail, "{remedy}");
                }
            }
            if let Some(failure) = &failure {
                let _ = writeln!(detail, "The last act failed: failed to {failure}.");
            }
            let _ = write!(detail, "{}{kept}; raise `timeouts` if the machines are slow.", lines(conditions));
            (format!("{what} was not ready after {}{}: {cause}", human(limit), at(gate)), detail)
        }
    };
    Diagnostic::error(summary, detail.trim().to_owned()).into()
}

fn at(gate: Option<Gate>) -> String {
    gate.map_or_else(String::new, |gate| format!(" at gate {gate:?}"))
}

fn lines(conditions: &[Condition]) -> String {
    let mut text = String::new();
    for condition in conditions {
        let _ = writeln!(text, "{} {} ({})", condition.kind, condition.status, condition.reason);
    }
    text
}

fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, seconds) => format!("{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cluster::step::Waiting;

    #[test]
    fn a_stall_says_where_why_and_what_to_do() {
        let waiting =
            Waiting::EtcdUnknown { why: "failed to dial 10.0.0.5:50000: connection refused".into() };
        let stalled = Stalled::TimedOut { waiting: Some(waiting), failure: None, acted: None };
        let limit = Duration::from_secs(45 * 60);
        let shown =
            diagnose("kontinuum_talos_cluster \"eu-1\"", limit, Some(Gate::Bootstrapped), &[], stalled);
        assert_eq!(
            shown.to_string(),
            "Error: kontinuum_talos_cluster \"eu-1\" was not ready after 45m at gate Bootstrapped: waiting for etcd to be \
             observable: failed to dial 10.0.0.5:50000: connection refused: Waited for etcd to be observable: failed to \
             dial 10.0.0.5:50000: connection refused.\nIts console shows which service fails and why; so does `talosctl logs`, \
             with the talosconfig of the state or of the imported cluster.\nThe machines are kept as they are. Apply again to go on from here; \
             raise `timeouts` if the machines are slow."
        );
    }
}
