//! What to do about a release, from what its records say. Pure.

use helm::release::{Record, Status};

use super::super::releases::Revision;

/// Begins the description of our own records while we work on them: a pending record that begins so was left behind
/// by a run of ours that died (the cluster's lease keeps two runs apart), and is ours to go on with.
pub(super) const UNDER_WAY: &str = "under way: terraform-provider-kontinuum";

/// How many revisions are kept, as many as `helm upgrade` keeps unless told otherwise.
const HISTORY: usize = 10;

/// What to do.
#[derive(Debug, PartialEq)]
pub(super) enum Decision<'a> {
    /// The records say that what is wanted was applied.
    Applied {
        /// As this revision.
        revision: u32,
        /// Its record.
        record: &'a Record,
    },
    /// Apply, as this revision.
    Apply {
        /// The revision.
        revision: u32,
        /// Whether its record exists: an apply that died is gone on with.
        resume: bool,
        /// Whether templates see an upgrade.
        is_upgrade: bool,
    },
    /// Someone else is at work on it; the text says who and what to do.
    Refuse(String),
}

/// Decides; `inputs` stands for the chart and the values that are wanted.
pub(super) fn decide<'a>(revisions: &'a [Revision], inputs: &str) -> Decision<'a> {
    let Some(latest) = revisions.last() else {
        return Decision::Apply { revision: 1, resume: false, is_upgrade: false };
    };
    let record = &latest.record;
    let is_upgrade = |revisions: &[Revision]| {
        revisions
            .iter()
            .any(|revision| matches!(revision.record.info.status, Status::Deployed | Status::Superseded))
    };
    match record.info.status {
        Status::Deployed if latest.inputs.as_deref() == Some(inputs) => {
            Decision::Applied { revision: record.version, record }
        }
        Status::PendingInstall | Status::PendingUpgrade if is_ours(record) => Decision::Apply {
            revision: record.version,
            resume: true,
            is_upgrade: record.info.status == Status::PendingUpgrade,
        },
        // What a dead uninstallation left is replaced like an older version.
        Status::Uninstalling if is_ours(record) => {
            Decision::Apply { revision: record.version + 1, resume: false, is_upgrade: false }
        }
        Status::PendingInstall | Status::PendingUpgrade | Status::PendingRollback | Status::Uninstalling => {
            Decision::Refuse(held(record))
        }
        Status::Deployed | Status::Failed | Status::Superseded | Status::Unknown | Status::Uninstalled => {
            let is_upgrade = record.info.status != Status::Uninstalled && is_upgrade(revisions);
            Decision::Apply { revision: record.version + 1, resume: false, is_upgrade }
        }
    }
}

/// Who else works on a release, when someone does.
pub(super) fn is_under_way_elsewhere(record: &Record) -> Option<String> {
    let under_way = matches!(
        record.info.status,
        Status::PendingInstall | Status::PendingUpgrade | Status::PendingRollback | Status::Uninstalling
    );
    (under_way && !is_ours(record)).then(|| held(record))
}

fn held(record: &Record) -> String {
    format!(
        "release {name} is {status} at revision {revision}, by someone else: wait for it, or, if no such operation runs \
         any more, run `helm rollback {name}` or delete the Secret {secret}",
        name = record.name,
        status = record.info.status,
        revision = record.version,
        secret = record.secret_name(),
    )
}

/// The records whose objects may still be there although the newest manifest has them no more: the last one that was
/// applied completely, and all attempts since.
pub(super) fn traces(revisions: &[Revision]) -> Vec<&Record> {
    let records = revisions.iter().map(|revision| &revision.record);
    let complete = |record: &&Record| matches!(record.info.status, Status::Deployed | Status::Superseded);
    let last = records.clone().filter(complete).map(|record| record.version).max().unwrap_or_default();
    records.filter(|record| record.version >= last && record.info.status != Status::Uninstalled).collect()
}

/// Older records that still say "deployed" although `revision` is.
pub(super) fn superseded(revisions: &[Revision], revision: u32) -> Vec<Revision> {
    let older = revisions.iter().filter(|other| other.record.version < revision);
    older.filter(|other| other.record.info.status == Status::Deployed).cloned().collect()
}

/// Records beyond the history that is kept; `revision` and what is deployed stay.
pub(super) fn forgettable(revisions: &[Revision], revision: u32) -> Vec<&Record> {
    let older: Vec<_> = revisions.iter().filter(|other| other.record.version < revision).collect();
    let surplus = older.len().saturating_sub(HISTORY - 1);
    older.into_iter().take(surplus).map(|revision| &revision.record).collect()
}

fn is_ours(record: &Record) -> bool {
    record.info.description.starts_with(UNDER_WAY)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    fn revision(version: u32, status: Status, description: &str, inputs: Option<&str>) -> Revision {
        let json = json!({"name": "web", "namespace": "apps", "version": version,
            "info": {"status": status.as_str(), "description": description}});
        Revision::of(serde_json::from_value(json).unwrap(), inputs)
    }

    #[test]
    fn the_same_inputs_are_applied_once() {
        let revisions = [revision(1, Status::Deployed, "Install complete", Some("a"))];
        assert!(matches!(decide(&revisions, "a"), Decision::Applied { revision: 1, .. }));
        assert_eq!(decide(&revisions, "b"), Decision::Apply { revision: 2, resume: false, is_upgrade: true });
    }

    #[test]
    fn a_release_that_helm_installed_is_taken_over_as_an_upgrade() {
        let revisions = [revision(3, Status::Deployed, "Upgrade complete", None)];
        assert_eq!(decide(&revisions, "a"), Decision::Apply { revision: 4, resume: false, is_upgrade: true });
    }

    #[test]
    fn our_own_unfinished_work_is_gone_on_with_and_others_is_not_touched() {
        let ours = [revision(1, Status::PendingInstall, UNDER_WAY, Some("a"))];
        assert_eq!(decide(&ours, "a"), Decision::Apply { revision: 1, resume: true, is_upgrade: false });
        for status in
            [Status::PendingInstall, Status::PendingUpgrade, Status::PendingRollback, Status::Uninstalling]
        {
            let theirs = [revision(2, status, "Preparing upgrade", None)];
            assert!(matches!(decide(&theirs, "a"), Decision::Refuse(_)), "{status:?}");
        }
    }

    #[test]
    fn a_dead_uninstallation_of_ours_is_gone_on_with_or_replaced_and_another_s_is_not() {
        let ours = [revision(4, Status::Uninstalling, UNDER_WAY, Some("a"))];
        assert_eq!(decide(&ours, "a"), Decision::Apply { revision: 5, resume: false, is_upgrade: false });
        assert_eq!(is_under_way_elsewhere(&ours[0].record), None);
        let theirs = revision(4, Status::Uninstalling, "Deletion in progress", None);
        let said = is_under_way_elsewhere(&theirs.record);
        assert!(said.is_some_and(|text| text.contains("uninstalling at revision 4, by someone else")));
    }

    #[test]
    fn a_failed_first_attempt_is_no_upgrade() {
        let revisions = [revision(1, Status::Failed, "", Some("a"))];
        assert_eq!(
            decide(&revisions, "a"),
            Decision::Apply { revision: 2, resume: false, is_upgrade: false }
        );
    }

    #[test]
    fn traces_go_back_to_the_last_complete_revision() {
        let revisions = [
            revision(1, Status::Superseded, "", None),
            revision(2, Status::Deployed, "", None),
            revision(3, Status::Failed, "", None),
            revision(4, Status::PendingUpgrade, UNDER_WAY, None),
        ];
        let versions: Vec<_> = traces(&revisions).iter().map(|record| record.version).collect();
        assert_eq!(versions, [2, 3, 4]);
    }

    #[test]
    fn ten_revisions_are_kept() {
        let revisions: Vec<_> =
            (1..=12).map(|version| revision(version, Status::Superseded, "", None)).collect();
        let forgotten: Vec<_> = forgettable(&revisions, 12).iter().map(|record| record.version).collect();
        assert_eq!(forgotten, [1, 2]);
    }
}
