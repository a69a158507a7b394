//! What a machine sees of Kubernetes: its node and its static pods.

use std::collections::BTreeMap;

use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Value as WireValue};
use serde_json::json;
use talos_api::resource::k8s::{NodeStatusSpec, StaticPodStatusSpec};

use super::{Resource, Spec};

/// The machine's own node.
pub(crate) fn node_status(name: &str, ready: bool, schedulable: bool) -> Resource {
    let message = NodeStatusSpec {
        nodename: name.to_owned(),
        node_ready: ready,
        unschedulable: !schedulable,
        ..NodeStatusSpec::default()
    };
    let value = json!({
        "nodename": name,
        "nodeReady": ready,
        "unschedulable": !schedulable,
        "labels": {},
        "annotations": {},
    });
    let spec = Spec::new(&message, &value);
    Resource::new("NodeStatuses.kubernetes.talos.dev", name, "k8s.NodeStatusController", spec)
}

/// A static pod of the control plane on the machine.
pub(crate) fn static_pod_status(component: &str, node: &str, ready: bool) -> Resource {
    let status = if ready { "True" } else { "False" };
    let condition = object([("type", text("Ready")), ("status", text(status))]);
    let conditions = WireValue { kind: Some(Kind::ListValue(ListValue { values: vec![condition] })) };
    let fields =
        BTreeMap::from([("phase".to_owned(), text("Running")), ("conditions".to_owned(), conditions)]);
    let message = StaticPodStatusSpec { pod_status: Some(Struct { fields }) };
    let value = json!({"conditions": [{"status": status, "type": "Ready"}], "phase": "Running"});
    let id = format!("kube-system/{component}-{node}");
    let spec = Spec::new(&message, &value);
    Resource::new("StaticPodStatuses.kubernetes.talos.dev", id, "k8s.KubeletStaticPodController", spec)
}

fn text(text: &str) -> WireValue {
    WireValue { kind: Some(Kind::StringValue(text.to_owned())) }
}

fn object<const N: usize>(fields: [(&str, WireValue); N]) -> WireValue {
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    WireValue { kind: Some(Kind::StructValue(Struct { fields: BTreeMap::from(fields) })) }
}
