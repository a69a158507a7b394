//! Uninstalling a release: its objects go, then its records. May die anywhere and be run again.

use std::collections::BTreeSet;

use helm::HookEvent;
use helm::release::{Record, Status};
use jiff::Timestamp;

use super::super::client::Client;
use super::super::error::{Cause, Error, Result};
use super::super::object::{Object, Reference};
use super::super::resources::Write;
use super::decide::{UNDER_WAY, is_under_way_elsewhere, traces};
use super::manifests::{Owner, placed, read};

impl Client {
    /// Uninstalls a release, as `helm uninstall` does without keeping its history: objects that ask to be kept stay, so
    /// do definitions of a chart's folder `crds/` and the namespace. A release that is not there is success. Nothing
    /// waits until the objects are gone.
    ///
    /// # Errors
    /// [`Cause::Held`] when someone else works on the release, [`Cause::Chart`] for a hook that would have to run to its
    /// end first, …
    pub async fn uninstall(&self, namespace: &str, release: &str, now: Timestamp) -> Result<()> {
        let revisions = self.revisions(namespace, release).await?;
        let Some(latest) = revisions.last().cloned() else { return Ok(()) };
        if let Some(text) = is_under_way_elsewhere(&latest.record) {
            return Err(Error::new(format!("uninstall release {release}"), Cause::Held(text)));
        }
        let kinds = self.refresh_kinds().await?;
        let place = |objects| placed(objects, namespace, &kinds);
        let before = place(hooks(&latest.record, HookEvent::PreDelete)?);
        let after = place(hooks(&latest.record, HookEvent::PostDelete)?);
        let mut seen = BTreeSet::new();
        let mut objects: Vec<Reference> = Vec::new();
        for record in traces(&revisions) {
            for object in place(read(&record.secret_name(), &record.manifest)?) {
                if seen.insert(object.reference().clone()) {
                    objects.push(object.reference().clone());
                }
            }
        }
        let mut going = latest;
        going.record.info.status = Status::Uninstalling;
        going.record.info.description = UNDER_WAY.to_owned();
        let going = self.update_revision(going, now).await?;
        for hook in &before {
            self.apply(hook, Write::Now).await?;
        }
        // What was applied last goes first: custom objects while their controllers are still there.
        let owner = Owner { release: release.to_owned(), namespace: namespace.to_owned() };
        for reference in objects.iter().rev() {
            self.remove(reference, &owner).await?;
        }
        for hook in &after {
            self.apply(hook, Write::Now).await?;
        }
        // The newest goes last: as long as it is there, this can be gone on with.
        for revision in &revisions {
            if revision.record.version != going.record.version {
                self.forget_revision(&revision.record).await?;
            }
        }
        self.forget_revision(&going.record).await
    }
}

/// The objects of a record's hooks of one event, in the order in which they run.
fn hooks(record: &Record, event: HookEvent) -> Result<Vec<Object>> {
    let concerned =
        |hook: &&helm::release::RecordedHook| hook.events.iter().any(|name| name == event.as_str());
    let mut hooks: Vec<_> = record.hooks.iter().filter(concerned).collect();
    hooks.sort_by(|a, b| (a.weight, &a.name).cmp(&(b.weight, &b.name)));
    let mut objects = Vec::new();
    for hook in hooks {
        if matches!(hook.kind.as_str(), "Job" | "Pod") {
            let problem = format!(
                "its {} hook {} {} has to run to its end first, which is not supported: run `helm uninstall {} --namespace \
                 {}`, then apply again",
                event.as_str(),
                hook.kind,
                hook.name,
                record.name,
                record.namespace
            );
            return Err(Error::new("run a hook", Cause::Chart(problem)));
        }
        objects.extend(read(&hook.path, &hook.manifest)?);
    }
    Ok(objects)
}
