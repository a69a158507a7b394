//! What the server is and which kinds it serves.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Request;
use kube::core::discovery::v2::{APIGroupDiscoveryList, APIResourceDiscovery, GroupVersionKind};
use serde::Deserialize;
use serde_json::Value;

use super::client::Client;
use super::error::{Cause, Error, Result};
use super::object::Reference;

/// One answer for all groups: since Kubernetes 1.27 by default, as `v2` since 1.30
/// (<https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery>).
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

/// The server's version, as `/version` tells it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Such as `1`.
    pub major: String,
    /// Such as `36`; some distributions add a `+`.
    pub minor: String,
    /// Such as `v1.36.3`.
    pub git_version: String,
}

/// How a kind is addressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The plural in URLs, such as `daemonsets`.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

/// The kinds that a server serves, as of one look.
#[derive(Debug, Default)]
pub struct Kinds {
    served: BTreeMap<(String, String), Kind>,
    api_versions: BTreeSet<String>,
}

impl Kinds {
    /// How `kind` of `api_version` is addressed, if the server serves it.
    #[must_use]
    pub fn find(&self, api_version: &str, kind: &str) -> Option<&Kind> {
        self.served.get(&(api_version.to_owned(), kind.to_owned()))
    }

    /// Each `group/version` and each `group/version/Kind` (`v1` and `v1/Pod` in the core group), as Helm's
    /// `.Capabilities.APIVersions` lists them.
    #[must_use]
    pub fn api_versions(&self) -> &BTreeSet<String> {
        &self.api_versions
    }

    fn add(&mut self, list: APIGroupDiscoveryList) {
        for group in list.items {
            let name = group.metadata.and_then(|metadata| metadata.name).unwrap_or_default();
            for version in group.versions {
                let Some(api_version) = version.version.map(|version| joined(&name, &version)) else {
                    continue;
                };
                self.api_versions.insert(api_version.clone());
                for resource in version.resources {
                    self.add_resource(&api_version, resource);
                }
            }
        }
    }

    fn add_resource(&mut self, api_version: &str, resource: APIResourceDiscovery) {
        let subresources =
            resource.subresources.into_iter().filter_map(|subresource| subresource.response_kind);
        for kind in subresources.chain(resource.response_kind.clone()).filter_map(kind_name) {
            self.api_versions.insert(format!("{api_version}/{kind}"));
        }
        if let (Some(plural), Some(kind)) = (resource.resource, resource.response_kind.and_then(kind_name)) {
            let namespaced = resource.scope.as_deref() == Some("Namespaced");
            self.served.insert((api_version.to_owned(), kind), Kind { plural, namespaced });
        }
    }
}

impl Client {
    /// Asks `/readyz` with our credentials.
    ///
    /// # Errors
    /// [`Cause::Busy`] names the checks that fail; [`Cause::Unauthorized`] and [`Cause::Forbidden`] tell a server
    /// that is up and does not know us, or does not let us, apart from one that is not ready.
    pub async fn ready(&self) -> Result<()> {
        let answer =
            self.text("ask whether the API server is ready", get("/readyz"), self.deadlines().probe).await;
        answer.map(drop).map_err(|error| {
            let Cause::Busy { status, message } = error.cause() else { return error };
            let cause = Cause::Busy { status: *status, message: failing_checks(message) };
            Error::new("find the API server ready", cause)
        })
    }

    /// The server's version.
    ///
    /// # Errors
    /// When the server does not answer, or answers something else.
    pub async fn version(&self) -> Result<Version> {
        let attempt = "read the API server's version";
        let text = self.text(attempt, get("/version"), self.deadlines().probe).await?;
        serde_json::from_str(&text).map_err(|error| Error::new(attempt, Cause::Unreadable(error.to_string())))
    }

    /// The kinds that the server serves: looked up once, then remembered until [`Client::refresh_kinds`].
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn kinds(&self) -> Result<Arc<Kinds>> {
        if let Some(kinds) = self.kinds.read().await.as_ref() {
            return Ok(Arc::clone(kinds));
        }
        self.refresh_kinds().await
    }

    /// Looks the kinds up again, as after custom resource definitions were applied.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn refresh_kinds(&self) -> Result<Arc<Kinds>> {
        let mut kinds = Kinds::default();
        for path in ["/api", "/apis"] {
            let attempt = "discover the API's kinds";
            let request = Request::get(path).header(http::header::ACCEPT, AGGREGATED).body(Vec::new());
            let answer =
                self.json(attempt, request.map_err(kube::core::request::Error::BuildRequest)).await?;
            let list = serde_json::from_value(answer)
                .map_err(|error| Error::new(attempt, Cause::Unreadable(error.to_string())))?;
            kinds.add(list);
        }
        let kinds = Arc::new(kinds);
        *self.kinds.write().await = Some(Arc::clone(&kinds));
        Ok(kinds)
    }

    /// How the kind of `object` is addressed; looks again once when the kind is new to us.
    pub(super) async fn kind_of(&self, attempt: &str, object: &Reference) -> Result<Kind> {
        if let Some(kind) = self.kinds().await?.find(&object.api_version, &object.kind) {
            return Ok(kind.clone());
        }
        let kinds = self.refresh_kinds().await?;
        kinds.find(&object.api_version, &object.kind).cloned().ok_or_else(|| {
            let cause =
                Cause::NoSuchKind { api_version: object.api_version.clone(), kind: object.kind.clone() };
            Error::new(attempt, cause)
        })
    }
}

pub(super) fn get(path: &str) -> Result<Request<Vec<u8>>, kube::core::request::Error> {
    Request::get(path).body(Vec::new()).map_err(kube::core::request::Error::BuildRequest)
}

fn joined(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn kind_name(kind: GroupVersionKind) -> Option<String> {
    let value = serde_json::to_value(kind).ok()?;
    value.get("kind").and_then(Value::as_str).filter(|kind| !kind.is_empty()).map(str::to_owned)
}

/// `/readyz` answers a line a check, `[-]name failed: …` for those that fail.
fn failing_checks(body: &str) -> String {
    let failing: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("[-]")).map(str::trim).collect();
    if failing.is_empty() { body.trim().to_owned() } else { failing.join("; ") }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
    use serde_json::json;

    use super::*;

    fn kinds(list: Value) -> Kinds {
        let mut kinds = Kinds::default();
        kinds.add(serde_json::from_value(list).unwrap());
        kinds
    }

    #[test]
    fn api_versions_hold_versions_and_kinds_of_resources_and_subresources() {
        let kinds = kinds(
            json!({"items": [{"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [{
                "resource": "deployments", "scope": "Namespaced", "verbs": ["get"],
                "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
                "subresources": [{"subresource": "scale", "verbs": ["get"],
                    "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}]
            }]}]}]}),
        );
        let expected = ["apps/v1", "apps/v1/Deployment", "apps/v1/Scale"].map(str::to_owned);
        assert_eq!(kinds.api_versions(), &BTreeSet::from(expected));
        assert_eq!(
            kinds.find("apps/v1", "Deployment"),
            Some(&Kind { plural: "deployments".to_owned(), namespaced: true })
        );
        assert_eq!(kinds.find("apps/v1", "Scale"), None);
    }

    #[test]
    fn the_core_group_has_no_group_in_its_version() {
        let kinds = kinds(json!({"items": [{"metadata": {}, "versions": [{"version": "v1", "resources": [{
            "resource": "nodes", "scope": "Cluster", "verbs": [],
            "responseKind": {"group": "", "version": "v1", "kind": "Node"}
        }]}]}]}));
        assert!(kinds.api_versions().contains("v1/Node"));
        assert!(!kinds.find("v1", "Node").unwrap().namespaced);
    }

    #[test]
    fn readiness_names_only_the_checks_that_fail() {
        let body = "[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\nreadyz check failed\n";
        assert_eq!(failing_checks(body), "etcd failed: reason withheld");
    }
}
