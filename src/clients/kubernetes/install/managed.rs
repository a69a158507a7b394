//! Fields that Helm wrote by updates. Helm 3, and Helm 4 without server-side apply, are the same manager by another
//! operation, which server-side apply takes for someone else: those fields become Helm's applied ones, as Helm 4
//! itself does when it takes over such a release.

use serde_json::{Map, Value, json};

use super::super::client::Client;
use super::super::error::{Cause, Error, Result};
use super::super::object::{Object, Reference};
use super::super::resources::{FIELD_MANAGER, Write};

impl Client {
    /// Applies an object; where only Helm's own updates stand in the way, they are taken over first.
    pub(super) async fn apply_as_helm(&self, object: &Object) -> Result<()> {
        let Err(error) = self.apply(object, Write::Now).await else { return Ok(()) };
        if !is_by_helm_alone(&error) {
            return Err(error);
        }
        self.adopt_updates(object.reference()).await?;
        self.apply(object, Write::Now).await.map(drop)
    }

    async fn adopt_updates(&self, reference: &Reference) -> Result<()> {
        let Some(existing) = self.get(reference).await? else { return Ok(()) };
        let entries = existing.at(&["metadata", "managedFields"]).and_then(Value::as_array);
        let Some(entries) = entries.and_then(|entries| adopted(entries)) else { return Ok(()) };
        let version = existing.resource_version();
        // The version makes it fail if somebody writes in between.
        let patch = json!({"metadata": {"resourceVersion": version, "managedFields": entries}});
        self.merge(reference, &patch).await.map(drop)
    }
}

fn is_by_helm_alone(error: &Error) -> bool {
    let Cause::FieldConflicts(conflicts) = error.cause() else { return false };
    let own = format!("\"{FIELD_MANAGER}\"");
    conflicts.iter().all(|conflict| conflict.manager.starts_with(&own))
}

/// The entries with Helm's updates made part of what Helm applied; nothing when there are none.
fn adopted(entries: &[Value]) -> Option<Vec<Value>> {
    let (updates, mut others): (Vec<Value>, Vec<Value>) =
        entries.iter().cloned().partition(|entry| is_helms(entry, "Update"));
    let mut updates = updates.into_iter();
    let mut whole = match others.iter().position(|entry| is_helms(entry, "Apply")) {
        Some(place) => others.remove(place),
        None => updates.next()?,
    };
    if updates.len() == 0 && is_helms(&whole, "Apply") {
        return None;
    }
    for update in updates {
        let fields = united(&whole["fieldsV1"], &update["fieldsV1"]);
        whole["fieldsV1"] = fields;
    }
    whole["operation"] = json!("Apply");
    others.push(whole);
    Some(others)
}

fn is_helms(entry: &Value, operation: &str) -> bool {
    let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
    text("manager") == FIELD_MANAGER && text("operation") == operation && text("subresource").is_empty()
}

/// All fields of either set. Sets of fields are nested mappings, empty at their leaves.
fn united(a: &Value, b: &Value) -> Value {
    let (Value::Object(a), Value::Object(b)) = (a, b) else {
        return if a.is_null() { b.clone() } else { a.clone() };
    };
    let mut all: Map<String, Value> = a.clone();
    for (field, below) in b {
        let below = all.get(field).map_or_else(|| below.clone(), |known| united(known, below));
        all.insert(field.clone(), below);
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "fieldsV1": fields})
    }

    #[test]
    fn updates_become_part_of_what_was_applied() {
        let entries = [
            entry("helm", "Apply", json!({"f:data": {"f:a": {}}})),
            entry("kubectl", "Update", json!({"f:data": {"f:c": {}}})),
            entry("helm", "Update", json!({"f:data": {"f:b": {}}})),
        ];
        let adopted = adopted(&entries).unwrap();
        assert_eq!(
            adopted,
            [entries[1].clone(), entry("helm", "Apply", json!({"f:data": {"f:a": {}, "f:b": {}}}))]
        );
    }

    #[test]
    fn updates_alone_become_an_application_and_others_stay() {
        let entries = [entry("helm", "Update", json!({"f:data": {}}))];
        assert_eq!(adopted(&entries).unwrap(), [entry("helm", "Apply", json!({"f:data": {}}))]);
        let foreign = [entry("kubectl", "Update", json!({}))];
        assert_eq!(adopted(&foreign), None);
        let applied = [entry("helm", "Apply", json!({}))];
        assert_eq!(adopted(&applied), None);
    }
}
