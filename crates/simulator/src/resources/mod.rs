//! The COSI resources of a machine: what it shows of itself, with versions and watches.
//!
//! [`Store`] holds them; the other modules describe single kinds as Talos 1.13 does, each in both forms that the API
//! carries: protobuf and the YAML that Talos prints.

pub(crate) mod block;
pub(crate) mod cluster;
pub(crate) mod hardware;
pub(crate) mod kinds;
pub(crate) mod kubernetes;
pub(crate) mod network;
pub(crate) mod runtime;
mod store;
mod yaml;

use std::collections::BTreeMap;

use jiff::Timestamp;
use prost::Message;
use serde_json::Value;

pub(crate) use store::{Change, ChangeKind, Position, Store};

/// A specification in both forms.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(crate) proto: Vec<u8>,
    pub(crate) yaml: String,
}

/// One resource.
#[derive(Clone)]
pub(crate) struct Resource {
    pub(crate) namespace: String,
    pub(crate) kind: String,
    pub(crate) id: String,
    /// 0: it doesn't exist (`undefined`), else counted up by the store.
    pub(crate) version: u64,
    pub(crate) owner: String,
    pub(crate) created: Timestamp,
    pub(crate) updated: Timestamp,
    pub(crate) annotations: BTreeMap<String, String>,
    pub(crate) spec: Spec,
}

impl Spec {
    /// A specification from its message and the value that its YAML prints.
    pub(crate) fn new(message: &impl Message, value: &Value) -> Self {
        Self { proto: message.encode_to_vec(), yaml: yaml::print(value) }
    }
}

impl Resource {
    /// A resource in its kind's own namespace; the controller is who Talos says owns it.
    pub(crate) fn new(kind: &str, id: impl Into<String>, controller: &str, spec: Spec) -> Self {
        Self::within(kinds::default_namespace(kind), kind, id, controller, spec)
    }

    /// A resource in a namespace that isn't its kind's default.
    pub(crate) fn within(
        namespace: &str,
        kind: &str,
        id: impl Into<String>,
        controller: &str,
        spec: Spec,
    ) -> Self {
        Self {
            namespace: namespace.to_owned(),
            kind: kind.to_owned(),
            id: id.into(),
            version: 0,
            owner: controller.to_owned(),
            created: Timestamp::UNIX_EPOCH,
            updated: Timestamp::UNIX_EPOCH,
            annotations: BTreeMap::new(),
            spec,
        }
    }

    /// What stands for a resource that isn't there.
    pub(crate) fn tombstone(namespace: &str, kind: &str, id: &str) -> Self {
        Self::within(namespace, kind, id, "", Spec { proto: Vec::new(), yaml: String::new() })
    }
}

impl std::fmt::Debug for Resource {
    /// Without the specification, which may be secret.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { namespace, kind, id, version, .. } = self;
        write!(formatter, "{kind}({namespace}/{id}@{version})")
    }
}
