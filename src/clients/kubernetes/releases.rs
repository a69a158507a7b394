//! Helm's release records: one Secret a revision, as Helm 3 and 4 keep them
//! (<https://helm.sh/docs/topics/advanced/#storage-backends>).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use helm::release::{OWNER_SELECTOR, Record, SECRET_KEY, SECRET_TYPE, secret_name};
use jiff::Timestamp;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::client::Client;
use super::error::{Cause, Error, Result, attempt};
use super::object::{Object, Reference};
use super::resources::{Filter, Write, read};

/// The annotation of our own records: what they were made from, so that the same need not be applied again.
const INPUTS: &str = "kontinuum.sh/inputs";

/// One revision as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Revision {
    pub(super) record: Record,
    /// What our own installation was made from; none of others'.
    pub(super) inputs: Option<String>,
    /// The version of the Secret, so that nobody's change is overwritten.
    version: Option<String>,
}

#[cfg(test)]
impl Revision {
    /// A revision as tests need it.
    pub(super) fn of(record: Record, inputs: Option<&str>) -> Self {
        Self { record, inputs: inputs.map(str::to_owned), version: None }
    }
}

impl Client {
    /// All stored revisions of a release, the oldest first.
    pub(super) async fn revisions(&self, namespace: &str, release: &str) -> Result<Vec<Revision>> {
        let filter = Filter {
            namespace: Some(namespace.to_owned()),
            labels: Some(format!("{OWNER_SELECTOR},name={release}")),
            ..Filter::default()
        };
        let secrets = self.list("v1", "Secret", &filter).await?;
        let mut revisions: Vec<_> = secrets.iter().map(decode).collect::<Result<_>>()?;
        revisions.sort_by_key(|revision| revision.record.version);
        Ok(revisions)
    }

    /// The newest stored revision of a release. Only its own record is transferred.
    pub(super) async fn newest_revision(&self, namespace: &str, release: &str) -> Result<Option<Revision>> {
        let doing = format!("list the revisions of release {release}");
        let secrets = Reference::namespaced("v1", "Secret", namespace, "");
        let labels = format!("{OWNER_SELECTOR},name={release}");
        let request = self.request_for(&doing, &secrets).await?;
        let list = self.json(&doing, request.list_metadata(&ListParams::default().labels(&labels))).await?;
        let items = list.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let Some(newest) = items.iter().filter_map(revision_number).max() else { return Ok(None) };
        let secret = Reference { name: secret_name(release, newest), ..secrets };
        // Gone meanwhile means that someone uninstalls it: the next look tells more.
        self.get(&secret).await?.as_ref().map(decode).transpose()
    }

    /// Stores a new revision. That it exists already means that someone else works on the release.
    pub(super) async fn store_revision(
        &self,
        record: Record,
        inputs: &str,
        now: Timestamp,
    ) -> Result<Revision> {
        let labels = record.labels_created(now);
        let secret = encode(&record, &labels, Some(inputs), None)?;
        let stored = self.create(&secret, Write::Now).await?;
        Ok(Revision {
            record,
            inputs: Some(inputs.to_owned()),
            version: stored.resource_version().map(str::to_owned),
        })
    }

    /// Stores what became of a revision.
    pub(super) async fn update_revision(&self, revision: Revision, now: Timestamp) -> Result<Revision> {
        let labels = revision.record.labels_modified(now);
        let secret =
            encode(&revision.record, &labels, revision.inputs.as_deref(), revision.version.as_deref())?;
        let stored = self.replace(&secret).await?;
        Ok(Revision { version: stored.resource_version().map(str::to_owned), ..revision })
    }

    /// Forgets an old revision.
    pub(super) async fn forget_revision(&self, record: &Record) -> Result<()> {
        self.delete(&reference(record), None).await
    }
}

fn reference(record: &Record) -> Reference {
    Reference::namespaced("v1", "Secret", &record.namespace, &secret_name(&record.name, record.version))
}

fn encode(
    record: &Record,
    labels: &BTreeMap<String, String>,
    inputs: Option<&str>,
    version: Option<&str>,
) -> Result<Object> {
    let reference = reference(record);
    let doing = attempt("write", &reference);
    let text = record.encode().map_err(|error| Error::new(&doing, Cause::Unreadable(error.to_string())))?;
    let mut secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": SECRET_TYPE,
        "metadata": {"name": reference.name, "namespace": record.namespace, "labels": labels},
        "data": {SECRET_KEY: BASE64.encode(text)},
    });
    if let Some(inputs) = inputs {
        secret["metadata"]["annotations"] = json!({INPUTS: inputs});
    }
    if let Some(version) = version {
        secret["metadata"]["resourceVersion"] = json!(version);
    }
    read(&doing, secret)
}

fn revision_number(secret: &Value) -> Option<u32> {
    secret.pointer("/metadata/labels/version")?.as_str()?.parse().ok()
}

fn decode(secret: &Object) -> Result<Revision> {
    let unreadable = |problem: String| {
        Error::new(attempt("read the release record", secret.reference()), Cause::Unreadable(problem))
    };
    let data =
        secret.text_at(&["data", SECRET_KEY]).ok_or_else(|| unreadable("it has no record".to_owned()))?;
    let text = BASE64.decode(data).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    let record = Record::decode(&text).map_err(|error| unreadable(error.to_string()))?;
    Ok(Revision {
        record,
        inputs: secret.annotations().get(INPUTS).map(|inputs| (*inputs).to_owned()),
        version: secret.resource_version().map(str::to_owned),
    })
}
