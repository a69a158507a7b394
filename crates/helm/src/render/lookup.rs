//! The template function `lookup`: what templates may ask the cluster.

use serde_json::Value as Json;

/// Answers templates that look at the cluster.
pub trait Lookup {
    /// The object with that name, or, when `name` is empty, the list of all (as the API server answers it, with
    /// `items`). Without a namespace, cluster-wide. What does not exist is an empty object.
    ///
    /// # Errors
    /// [`LookupError`] when the cluster cannot answer; rendering ends with it.
    fn lookup(&self, api_version: &str, kind: &str, namespace: &str, name: &str)
    -> Result<Json, LookupError>;
}

/// The cluster cannot answer; the text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LookupError(pub String);

/// There is no cluster: nothing exists.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCluster;

impl Lookup for NoCluster {
    fn lookup(&self, _: &str, _: &str, _: &str, _: &str) -> Result<Json, LookupError> {
        Ok(Json::Object(serde_json::Map::new()))
    }
}
