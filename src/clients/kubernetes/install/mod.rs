//! Installing and upgrading a chart's release, so that Helm sees a release of its own making.
//!
//! - Nothing waits for pods: objects are applied, the record says `deployed`, health is looked at elsewhere.
//! - May die anywhere and be run again: the pending record is ours to go on with, applying an object twice changes
//!   nothing, and what a dead attempt applied and the newest chart has not is removed.
//! - What was applied from the same chart with the same values, and is still there, is not written again.
//! - An object that exists and is not the release's is never taken over; all of them are named.

mod apply;
mod decide;
mod lookup;
mod managed;
mod manifests;
mod uninstall;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use helm::release::{Info, Record, RecordedChart, RecordedHook, Status};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::client::Client;
use super::error::{Cause, Error, Result};
use super::object::Reference;
use super::releases::Revision;
use decide::{Decision, UNDER_WAY, decide, forgettable, superseded, traces};
use manifests::Owner;
pub use manifests::objects;

/// A chart to be installed as a release.
#[derive(Clone)]
pub struct Installation {
    /// The release's name.
    pub release: String,
    /// Its namespace, created when missing.
    pub namespace: String,
    /// Labels that the namespace has to have.
    pub namespace_labels: BTreeMap<String, String>,
    /// The chart.
    pub chart: Arc<helm::Chart>,
    /// The chart's digest.
    pub digest: String,
    /// The values.
    pub values: Value,
    /// The time for the records and for templates that ask for it.
    pub now: Timestamp,
}

/// A release as its newest record tells it.
///
/// `Debug` does not show its values, which may hold secrets.
#[derive(Clone, PartialEq)]
pub struct Installed {
    /// The revision, counted from 1.
    pub revision: u32,
    /// Whether all of it was applied; else an attempt is unfinished or failed.
    pub is_complete: bool,
    /// The chart's name.
    pub chart: String,
    /// The chart's version.
    pub version: String,
    /// The values it was made with.
    pub values: Value,
    /// Its objects, without hooks.
    pub objects: Vec<Reference>,
}

impl Client {
    /// The release as its newest record tells it; `None` when there is no record.
    ///
    /// # Errors
    /// When the server does not answer, or a record cannot be read.
    pub async fn installed(&self, namespace: &str, release: &str) -> Result<Option<Installed>> {
        match self.newest_revision(namespace, release).await? {
            Some(latest) if latest.record.info.status != Status::Uninstalled => {
                self.describe(&latest.record).await.map(Some)
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Brings a release to what is wanted: installs, upgrades, goes on with an attempt that died, or sees that
    /// nothing is to be done.
    ///
    /// # Errors
    /// [`Cause::NotOurs`] names objects that belong to someone else, [`Cause::FieldConflicts`] fields that do,
    /// [`Cause::Held`] a release that someone else works on, [`Cause::Chart`] a chart that does not render.
    pub async fn install(&self, wanted: &Installation) -> Result<Installed> {
        let inputs = wanted.inputs();
        let revisions = self.revisions(&wanted.namespace, &wanted.release).await?;
        let (revision, resume, is_upgrade) = match decide(&revisions, &inputs) {
            Decision::Refuse(text) => {
                return Err(Error::new(format!("install release {}", wanted.release), Cause::Held(text)));
            }
            Decision::Apply { revision, resume, is_upgrade } => (revision, resume, is_upgrade),
            Decision::Applied { revision, record } => {
                let installed = self.describe(record).await?;
                if !self.is_missing(&installed.objects).await? {
                    self.tidy(&revisions, revision, wanted.now).await?;
                    return Ok(installed);
                }
                (revision + 1, false, true)
            }
        };
        let prepared = self.prepare(wanted, &traces(&revisions), revision, is_upgrade).await?;
        let pending = wanted.record(&prepared.rendered, revision, is_upgrade, &revisions);
        let pending = self.begin(pending, &revisions, resume, &inputs, wanted.now).await?;
        if let Err(error) = self.carry_out(&prepared).await {
            return Err(self.give_up(pending, error, wanted.now).await);
        }
        let deployed = finished(pending, is_upgrade);
        let deployed = self.update_revision(deployed, wanted.now).await?;
        self.tidy(&revisions, revision, wanted.now).await?;
        self.describe(&deployed.record).await
    }

    /// Takes the release: who creates the record works on it.
    async fn begin(
        &self,
        pending: Record,
        revisions: &[Revision],
        resume: bool,
        inputs: &str,
        now: Timestamp,
    ) -> Result<Revision> {
        match revisions.last() {
            Some(latest) if resume => {
                let mut resumed = latest.clone();
                resumed.record = pending;
                resumed.inputs = Some(inputs.to_owned());
                self.update_revision(resumed, now).await
            }
            Some(_) | None => self.store_revision(pending, inputs, now).await,
        }
    }

    /// Says in the record that an attempt failed for good, so that Helm isn't locked out by it.
    async fn give_up(&self, pending: Revision, error: Error, now: Timestamp) -> Error {
        if error.is_transient() {
            return error;
        }
        let mut failed = pending;
        failed.record.info.status = Status::Failed;
        // The cause is left out: a server's message may quote values.
        failed.record.info.description = format!("failed to {error}");
        if let Err(second) = self.update_revision(failed, now).await {
            tracing::debug!(error = %second, cause = %second.cause(), "the release record stays pending");
        }
        error
    }

    /// Puts older records into the state that Helm would have left them in.
    async fn tidy(&self, revisions: &[Revision], revision: u32, now: Timestamp) -> Result<()> {
        for mut older in superseded(revisions, revision) {
            older.record.info.status = Status::Superseded;
            self.update_revision(older, now).await?;
        }
        for old in forgettable(revisions, revision) {
            self.forget_revision(old).await?;
        }
        Ok(())
    }

    async fn describe(&self, record: &Record) -> Result<Installed> {
        let objects = manifests::read(&record.secret_name(), &record.manifest)?;
        let objects = manifests::placed(objects, &record.namespace, &*self.kinds().await?);
        Ok(Installed {
            revision: record.version,
            is_complete: record.info.status == Status::Deployed,
            chart: record.chart.name().to_owned(),
            version: record.chart.version().to_owned(),
            // A record leaves out values where there are none.
            values: if record.config.is_null() { json!({}) } else { record.config.clone() },
            objects: objects.iter().map(|object| object.reference().clone()).collect(),
        })
    }
}

impl Installation {
    /// What a record is compared by: the same chart with the same values is applied once.
    fn inputs(&self) -> String {
        let mut digest = Sha256::new();
        digest.update(&self.digest);
        digest.update([0]);
        digest.update(sorted(&self.values).to_string());
        digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn owner(&self) -> Owner {
        Owner { release: self.release.clone(), namespace: self.namespace.clone() }
    }

    fn record(
        &self,
        rendered: &helm::Rendered,
        revision: u32,
        is_upgrade: bool,
        revisions: &[Revision],
    ) -> Record {
        let first = revisions.iter().find_map(|revision| revision.record.info.first_deployed);
        Record {
            name: self.release.clone(),
            namespace: self.namespace.clone(),
            version: revision,
            info: Info {
                first_deployed: first.or(Some(self.now)),
                last_deployed: Some(self.now),
                status: if is_upgrade { Status::PendingUpgrade } else { Status::PendingInstall },
                description: UNDER_WAY.to_owned(),
                notes: rendered.notes.clone().unwrap_or_default(),
                ..Info::default()
            },
            chart: RecordedChart::of(&self.chart),
            config: self.values.clone(),
            manifest: rendered.manifest_text.clone(),
            hooks: rendered.hooks.iter().map(RecordedHook::from).collect(),
            apply_method: "ssa".to_owned(),
        }
    }
}

impl fmt::Debug for Installation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Installation").field("release", &self.release).finish_non_exhaustive()
    }
}

impl fmt::Debug for Installed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Installed")
            .field("revision", &self.revision)
            .field("is_complete", &self.is_complete)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

fn finished(pending: Revision, is_upgrade: bool) -> Revision {
    let mut deployed = pending;
    deployed.record.info.status = Status::Deployed;
    // Helm's own words.
    deployed.record.info.description =
        if is_upgrade { "Upgrade complete" } else { "Install complete" }.to_owned();
    deployed
}

/// The value with all keys in one order, whatever order the user wrote them in.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> =
                fields.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
