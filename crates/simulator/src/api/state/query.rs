//! Which resources of a kind are asked for.

use talos_api::cosi::label_term::Operation;
use talos_api::cosi::{IdQuery, LabelQuery, LabelTerm};
use tonic::Status;

use crate::resources::Resource;

/// A query by id and labels; all of an empty one matches everything.
#[derive(Debug)]
pub(super) struct Query {
    id: Option<Pattern>,
    labels: Vec<LabelQuery>,
}

impl Query {
    pub(super) fn new(labels: Vec<LabelQuery>, id: Option<IdQuery>) -> Result<Self, Status> {
        Ok(Self { id: id.map(|query| Pattern::new(&query.regexp)).transpose()?, labels })
    }

    /// Whether the resource is asked for: one of the label queries fits, and the id.
    pub(super) fn matches(&self, resource: &Resource) -> bool {
        let id = self.id.as_ref().is_none_or(|id| id.matches(&resource.id));
        // No simulated resource carries labels.
        let labels =
            self.labels.is_empty() || self.labels.iter().any(|query| query.terms.iter().all(matches_nothing));
        id && labels
    }
}

/// Whether a term holds for a resource without labels.
fn matches_nothing(term: &LabelTerm) -> bool {
    let holds = match term.op() {
        Operation::Exists
        | Operation::Equal
        | Operation::In
        | Operation::Lt
        | Operation::Lte
        | Operation::LtNumeric
        | Operation::LteNumeric => false,
        #[expect(deprecated, reason = "Talos still takes it")]
        Operation::NotExists => true,
    };
    holds != term.invert
}

/// The regular expressions that are played: alternatives of plain text, each with or without anchors.
#[derive(Debug)]
struct Pattern(Vec<Alternative>);

#[derive(Debug)]
struct Alternative {
    from_start: bool,
    to_end: bool,
    text: String,
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, Status> {
        if pattern.matches('(').count() > pattern.matches(')').count() {
            let text =
                format!("failed to compile regexp: error parsing regexp: missing closing ): `{pattern}`");
            return Err(Status::invalid_argument(text));
        }
        pattern.split('|').map(Alternative::new).collect::<Option<_>>().map(Self).ok_or_else(|| {
            super::super::not_simulated(&format!(
                "id queries other than alternatives of plain text: {pattern:?}"
            ))
        })
    }

    fn matches(&self, id: &str) -> bool {
        self.0.iter().any(|alternative| alternative.matches(id))
    }
}

impl Alternative {
    fn new(pattern: &str) -> Option<Self> {
        let (from_start, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
        let (to_end, text) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        let plain = text.chars().all(|letter| letter.is_alphanumeric() || "-_/:".contains(letter));
        plain.then(|| Self { from_start, to_end, text: text.to_owned() })
    }

    fn matches(&self, id: &str) -> bool {
        match (self.from_start, self.to_end) {
            (true, true) => id == self.text,
            (true, false) => id.starts_with(&self.text),
            (false, true) => id.ends_with(&self.text),
            (false, false) => id.contains(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn ids_match_as_a_regular_expression_would() {
        let pattern = Pattern::new("^sd|nvme0n1$").unwrap();
        for (id, matches) in [("sda", true), ("nvme0n1", true), ("nvme0n1p1", false), ("xsda", false)] {
            assert_eq!(pattern.matches(id), matches, "{id}");
        }
    }

    #[test]
    fn what_is_no_expression_is_told_in_go_s_words_and_what_is_not_played_is_refused() {
        let broken = Pattern::new("(").unwrap_err();
        assert_eq!(
            broken.message(),
            "failed to compile regexp: error parsing regexp: missing closing ): `(`"
        );
        assert_eq!(Pattern::new("sd[a-c]").unwrap_err().code(), tonic::Code::Unimplemented);
    }
}
