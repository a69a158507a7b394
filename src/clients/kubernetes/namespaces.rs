//! Namespaces, made to be there with the labels that their pods need.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::client::Client;
use super::error::{Cause, Error, Result, attempt};
use super::object::{Object, Reference};
use super::resources::Write;

/// The label that Helm gives to namespaces that it creates.
const NAME_LABEL: &str = "name";

impl Client {
    /// Makes sure that a namespace exists and has these labels; all its other labels stay.
    ///
    /// # Errors
    /// [`Cause::Busy`] while the namespace is being deleted, …
    pub async fn ensure_namespace(&self, name: &str, labels: &BTreeMap<String, String>) -> Result<()> {
        let reference = Reference::cluster_wide("v1", "Namespace", name);
        match self.get(&reference).await? {
            None => {
                let mut all = labels.clone();
                all.entry(NAME_LABEL.to_owned()).or_insert_with(|| name.to_owned());
                self.apply(&namespace(&reference, &all)?, Write::Now).await.map(drop)
            }
            Some(existing) if existing.text_at(&["status", "phase"]) == Some("Terminating") => {
                let message = "the namespace is being deleted".to_owned();
                Err(Error::new(attempt("use", &reference), Cause::Busy { status: 409, message }))
            }
            Some(existing) => match missing(&existing, labels) {
                missing if missing.is_empty() => Ok(()),
                missing => self.merge(&reference, &json!({"metadata": {"labels": missing}})).await.map(drop),
            },
        }
    }
}

fn namespace(reference: &Reference, labels: &BTreeMap<String, String>) -> Result<Object> {
    let json: Value = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": reference.name, "labels": labels},
    });
    super::resources::read(&attempt("apply", reference), json)
}

fn missing(existing: &Object, labels: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let present = existing.labels();
    let differs = |(key, value): &(&String, &String)| present.get(key.as_str()) != Some(&value.as_str());
    labels.iter().filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect()
}
