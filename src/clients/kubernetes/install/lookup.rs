//! What templates may ask the cluster while they render, and what they know of it.

use helm::{Capabilities, KubeVersion, Lookup, LookupError};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use super::super::client::Client;
use super::super::error::Result;
use super::super::object::{Object, Reference};
use super::super::resources::Filter;

/// Answers `lookup` from the live cluster. Rendering runs on a thread of its own, so waiting for an answer there
/// holds nobody up; each answer has the client's deadline.
pub(super) struct LiveLookup {
    pub(super) client: Client,
    pub(super) runtime: Handle,
}

impl Lookup for LiveLookup {
    fn lookup(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Value, LookupError> {
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        let answer = self.runtime.block_on(async {
            if name.is_empty() {
                let filter = Filter { namespace, ..Filter::default() };
                let items = self.client.list(api_version, kind, &filter).await?;
                Ok(list(api_version, kind, items))
            } else {
                let reference = Reference { namespace, ..Reference::cluster_wide(api_version, kind, name) };
                Ok(self.client.get(&reference).await?.map_or_else(empty, Object::into_json))
            }
        });
        answer.map_err(|error: super::super::Error| {
            LookupError(format!("failed to {error}: {}", error.cause()))
        })
    }
}

impl Client {
    /// What charts see of the cluster: its version and its API.
    pub(super) async fn capabilities(&self) -> Result<Capabilities> {
        let version = self.version().await?;
        let kinds = self.kinds().await?;
        Ok(Capabilities {
            kube_version: KubeVersion::live(&version.git_version, &version.major, &version.minor),
            api_versions: kinds.api_versions().iter().cloned().collect(),
        })
    }
}

/// Nothing found is an empty object, for lists as for single objects.
fn list(api_version: &str, kind: &str, items: Vec<Object>) -> Value {
    if items.is_empty() {
        return empty();
    }
    let items: Vec<_> = items.into_iter().map(Object::into_json).collect();
    json!({"apiVersion": api_version, "kind": format!("{kind}List"), "metadata": {}, "items": items})
}

fn empty() -> Value {
    Value::Object(Map::new())
}
