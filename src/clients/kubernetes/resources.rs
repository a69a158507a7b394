//! Objects of any kind: get, list, create, replace, apply, delete.

use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions, ValidationDirective,
};
use kube::core::Request;
use serde_json::Value;

use super::client::Client;
use super::discovery::Kind;
use super::error::{Cause, Error, Result, attempt};
use super::object::{Object, Reference};

/// The name under which fields are managed: Helm's, so that a later `helm upgrade` meets no foreign manager.
pub const FIELD_MANAGER: &str = "helm";

/// Lists are read in pages of this size, as `kubectl` does.
const PAGE: u32 = 500;

/// Whether a write is carried out or only judged by the server and its admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// Carry it out.
    Now,
    /// Judge it and change nothing.
    DryRun,
}

/// Which objects of a kind a list holds; empty selectors hold all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The namespace; all of them if none.
    pub namespace: Option<String>,
    /// A label selector, such as `app=a,tier!=b`.
    pub labels: Option<String>,
    /// A field selector, such as `spec.nodeName=w-1`.
    pub fields: Option<String>,
}

impl Client {
    /// The object, or `None` when it, its namespace or its kind does not exist.
    ///
    /// # Errors
    /// When the server does not answer or does not let us: that is not the same as absence.
    pub async fn get(&self, object: &Reference) -> Result<Option<Object>> {
        let doing = attempt("read", object);
        let request = match self.request_for(&doing, object).await {
            Ok(request) => request,
            Err(error) if matches!(error.cause(), Cause::NoSuchKind { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        match self.json(&doing, request.get(&object.name, &GetParams::default())).await {
            Ok(json) => read(&doing, json).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All objects of a kind that `filter` holds; none when the server does not serve the kind.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn list(&self, api_version: &str, kind: &str, filter: &Filter) -> Result<Vec<Object>> {
        let doing = format!("list objects of kind {kind}");
        let of_kind = Reference {
            namespace: filter.namespace.clone(),
            ..Reference::cluster_wide(api_version, kind, "")
        };
        let request = match self.request_for(&doing, &of_kind).await {
            Ok(request) => request,
            Err(error) if matches!(error.cause(), Cause::NoSuchKind { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut parameters = ListParams {
            label_selector: filter.labels.clone(),
            field_selector: filter.fields.clone(),
            limit: Some(PAGE),
            ..ListParams::default()
        };
        let mut objects = Vec::new();
        loop {
            let page = self.json(&doing, request.list(&parameters)).await?;
            let next = page.pointer("/metadata/continue").and_then(Value::as_str).map(str::to_owned);
            objects.extend(items(&doing, page, api_version, kind)?);
            match next {
                Some(token) if !token.is_empty() => parameters.continue_token = Some(token),
                Some(_) | None => return Ok(objects),
            }
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// [`Cause::AlreadyExists`] when there is one of that name, [`Cause::Invalid`] with the server's words, …
    pub async fn create(&self, object: &Object, write: Write) -> Result<Object> {
        let doing = attempt("create", object.reference());
        let request = self.request_for(&doing, object.reference()).await?;
        let parameters =
            PostParams { dry_run: write == Write::DryRun, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let answer = self.json(&doing, request.create(&parameters, bytes(&doing, object)?)).await?;
        read(&doing, answer)
    }

    /// Replaces an object, if it still is at the `resourceVersion` that `object` carries.
    ///
    /// # Errors
    /// [`Cause::Stale`] when it was changed meanwhile, [`Cause::NotFound`] when it is gone.
    pub async fn replace(&self, object: &Object) -> Result<Object> {
        let doing = attempt("replace", object.reference());
        let request = self.request_for(&doing, object.reference()).await?;
        let parameters = PostParams { dry_run: false, field_manager: Some(FIELD_MANAGER.to_owned()) };
        let body = bytes(&doing, object)?;
        let answer = self.json(&doing, request.replace(&object.reference().name, &parameters, body)).await?;
        read(&doing, answer)
    }

    /// Server-side apply as [`FIELD_MANAGER`], without force and with strict field validation.
    ///
    /// # Errors
    /// [`Cause::FieldConflicts`] names the fields that another manager owns and that manager.
    pub async fn apply(&self, object: &Object, write: Write) -> Result<Object> {
        let doing = attempt("apply", object.reference());
        let request = self.request_for(&doing, object.reference()).await?;
        let parameters = PatchParams {
            dry_run: write == Write::DryRun,
            force: false,
            field_manager: Some(FIELD_MANAGER.to_owned()),
            field_validation: Some(ValidationDirective::Strict),
        };
        let body = Patch::Apply(object.clone().into_json());
        let answer = self.json(&doing, request.patch(&object.reference().name, &parameters, &body)).await?;
        read(&doing, answer)
    }

    /// A JSON merge patch (RFC 7386): only what `patch` names changes.
    ///
    /// # Errors
    /// [`Cause::NotFound`] when the object does not exist, [`Cause::Invalid`] with the server's words, …
    pub async fn merge(&self, object: &Reference, patch: &Value) -> Result<Object> {
        let doing = attempt("change", object);
        let request = self.request_for(&doing, object).await?;
        let parameters =
            PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let answer =
            self.json(&doing, request.patch(&object.name, &parameters, &Patch::Merge(patch))).await?;
        read(&doing, answer)
    }

    /// Deletes an object and, in the background, what it owns. One that is gone already is success.
    ///
    /// With `uid`, only the object of that identity is deleted: [`Cause::Stale`] when another took its place.
    ///
    /// # Errors
    /// When the server does not answer or does not let us.
    pub async fn delete(&self, object: &Reference, uid: Option<&str>) -> Result<()> {
        let doing = attempt("delete", object);
        let request = match self.request_for(&doing, object).await {
            Ok(request) => request,
            Err(error) if matches!(error.cause(), Cause::NoSuchKind { .. }) => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut parameters = DeleteParams::background();
        parameters.preconditions =
            uid.map(|uid| Preconditions { uid: Some(uid.to_owned()), resource_version: None });
        match self.json(&doing, request.delete(&object.name, &parameters)).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The URL path under which objects like this one live.
    pub(super) async fn request_for(&self, doing: &str, object: &Reference) -> Result<Request> {
        let kind = self.kind_of(doing, object).await?;
        Ok(Request::new(path(object, &kind)))
    }
}

pub(super) fn read(doing: &str, json: Value) -> Result<Object> {
    Object::new(json).map_err(|error| Error::new(doing, Cause::Unreadable(error.to_string())))
}

pub(super) fn bytes(doing: &str, object: &Object) -> Result<Vec<u8>> {
    object.to_bytes().map_err(|error| Error::new(doing, Cause::Unreadable(error.to_string())))
}

/// The items of a list leave out what the list says for all of them.
fn items(doing: &str, list: Value, api_version: &str, kind: &str) -> Result<Vec<Object>> {
    let Value::Object(mut list) = list else {
        return Err(Error::new(doing, Cause::Unreadable("expected a list".to_owned())));
    };
    let items = match list.remove("items") {
        Some(Value::Array(items)) => items,
        Some(_) | None => Vec::new(),
    };
    let complete = items.into_iter().map(|mut item| {
        if let Value::Object(fields) = &mut item {
            fields.entry("apiVersion").or_insert_with(|| Value::from(api_version));
            fields.entry("kind").or_insert_with(|| Value::from(kind));
        }
        read(doing, item)
    });
    complete.collect()
}

fn path(object: &Reference, kind: &Kind) -> String {
    let root = if object.api_version.contains('/') { "apis" } else { "api" };
    let version = &object.api_version;
    match &object.namespace {
        Some(namespace) if kind.namespaced => {
            format!("/{root}/{version}/namespaces/{namespace}/{}", kind.plural)
        }
        Some(_) | None => format!("/{root}/{version}/{}", kind.plural),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_follow_the_scope_of_the_kind_and_not_the_reference() {
        let deployments = Kind { plural: "deployments".to_owned(), namespaced: true };
        let nodes = Kind { plural: "nodes".to_owned(), namespaced: false };
        let deployment = Reference::namespaced("apps/v1", "Deployment", "a", "b");
        let node = Reference::namespaced("v1", "Node", "a", "b");
        assert_eq!(path(&deployment, &deployments), "/apis/apps/v1/namespaces/a/deployments");
        assert_eq!(path(&node, &nodes), "/api/v1/nodes");
    }

    #[test]
    fn items_of_a_list_know_their_kind() {
        let list = json!({"kind": "PodList", "items": [{"metadata": {"name": "a", "namespace": "b"}}]});
        let items = items("list", list, "v1", "Pod").unwrap();
        assert_eq!(items[0].reference(), &Reference::namespaced("v1", "Pod", "b", "a"));
    }
}
