//! Where we mean to differ from Talos' library. The same rows stand, with their reasons, in
//! docs/design/machine-configuration.md.

use super::differential::{Outcome, Reason};

/// A deviation's name, and which outcomes it explains.
type Deviation = (&'static str, fn(&[String], &Outcome, &Outcome) -> bool);

pub(crate) const DEVIATIONS: &[Deviation] = &[
    ("absent-document", |patches, _, ours| {
        let deletes = |index: usize| patches[index].contains("$patch: delete");
        matches!(ours, Outcome::Warned(_))
            || said(ours, "expected apiVersion v1alpha1").is_some_and(deletes)
            || said(ours, "knows no document of kind").is_some_and(deletes)
    }),
    ("crash", |_, theirs, ours| {
        let crashes = ["panic: cannot deep copy time.Time", "panic: runtime error: invalid memory address"];
        crashes.iter().any(|crash| refused(theirs, crash).is_some()) && !matches!(ours, Outcome::Warned(_))
    }),
    ("directive", |_, _, ours| said(ours, "the only directive is").is_some()),
    ("duplicate-key", |patches, _, ours| {
        said(ours, "no YAML").is_some_and(|index| patches[index].contains("$patch: delete"))
    }),
    (
        "kept-expression",
        |_, theirs, ours| matches!((theirs, ours), (Outcome::Made(theirs), Outcome::Made(ours)) if keeps_expressions(theirs, ours)),
    ),
    ("null-item", |_, _, ours| said(ours, "expected a mapping, found a value of type null").is_some()),
    ("rule-networks", |_, theirs, _| refused(theirs, "merge field netip.Prefix.ip").is_some()),
    ("unversioned-document", |_, _, ours| said(ours, "missing apiVersion").is_some()),
    ("url", |_, _, ours| said(ours, "expected a URL such as").is_some()),
    ("empty-patch", |patches, theirs, _| {
        refused(theirs, "JSON6902 patches are not supported")
            .is_some_and(|index| matches!(patches[index].trim(), "" | "~" | "null" | "[]" | "''"))
    }),
];

/// Whether we only have lines more, and only such as lead to an expression.
fn keeps_expressions(theirs: &str, ours: &str) -> bool {
    let keys = [
        "match:",
        "Expression:",
        "iskSelector:",
        "volumeSelector:",
        "selector:",
        "discovery:",
        "provisioning:",
    ];
    let mut left = theirs.lines().peekable();
    let more = ours.lines().filter(|line| left.next_if_eq(line).is_none()).collect::<Vec<_>>();
    left.next().is_none() && more.iter().all(|line| keys.iter().any(|key| line.contains(key)))
}

/// Which patch we refused, if we did with this text.
fn said(outcome: &Outcome, words: &str) -> Option<usize> {
    match outcome {
        Outcome::Refused(index, Reason::Ours(error)) if error.to_string().contains(words) => *index,
        Outcome::Made(_) | Outcome::Refused(..) | Outcome::Warned(_) => None,
    }
}

/// Which patch Talos refused, if it did with this text.
fn refused(outcome: &Outcome, words: &str) -> Option<usize> {
    match outcome {
        Outcome::Refused(index, Reason::Theirs(text)) if text.contains(words) => *index,
        Outcome::Made(_) | Outcome::Refused(..) | Outcome::Warned(_) => None,
    }
}

/// The deviation that explains why two outcomes differ.
pub(crate) fn explaining(patches: &[String], theirs: &Outcome, ours: &Outcome) -> Option<&'static str> {
    DEVIATIONS.iter().find(|(_, explains)| explains(patches, theirs, ours)).map(|(id, _)| *id)
}

/// Whether Talos refused a configuration for an expression in CEL, which we don't compile (`expression` in the table).
pub(crate) fn is_expression(refused: &str) -> bool {
    refused.contains("ERROR: <input>") || refused.contains("is invalid: ERROR")
}

/// Rows that are met where no two outcomes are compared.
const ELSEWHERE: [&str; 2] = ["expression", "leading-space"];

#[test]
fn every_deviation_has_a_row_with_its_reason_and_every_row_a_deviation() {
    let page = include_str!("../../docs/design/machine-configuration.md");
    let rows: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter(|line| line.split('|').filter(|cell| !cell.trim().is_empty()).count() == 4)
        .filter_map(|line| line.split('`').next())
        .collect();
    let mut known: Vec<&str> = DEVIATIONS.iter().map(|(id, _)| *id).chain(ELSEWHERE).collect();
    known.sort_unstable();
    assert_eq!(rows, known);
}
