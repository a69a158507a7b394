//! What a configured machine shows of its configuration and its cluster.

use std::net::IpAddr;

use serde_json::{Value, json};
use talos_api::resource::cluster::{ControlPlane, InfoSpec, MemberSpec};
use talos_api::resource::config::{MachineConfigSpec, MachineType, MachineTypeSpec};
use talos_api::resource::{enums, etcd, k8s};

use super::network::net_ip;
use super::{Resource, Spec};
use crate::world::TalosVersion;

/// A machine's role in its cluster; unknown as long as it has no configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Unknown,
    ControlPlane,
    Worker,
}

/// The machine's type.
pub(crate) fn machine_type(role: Role) -> Resource {
    let (number, word) = match role {
        Role::Unknown => (MachineType::Unknown, "unknown"),
        Role::ControlPlane => (MachineType::ControlPlane, "controlplane"),
        Role::Worker => (MachineType::Worker, "worker"),
    };
    let message = MachineTypeSpec { machine_type: number.into() };
    let spec = Spec::new(&message, &json!(word));
    Resource::new("MachineTypes.config.talos.dev", "machine-type", "config.MachineTypeController", spec)
}

/// The configuration: `v1alpha1` is the active one, `persistent` what is on the disk.
pub(crate) fn machine_config(id: &str, text: &[u8]) -> Resource {
    let message = MachineConfigSpec { yaml_marshalled: text.to_vec() };
    let spec = Spec::new(&message, &Value::from(String::from_utf8_lossy(text).into_owned()));
    let mut resource = Resource::new("MachineConfigs.config.talos.dev", id, "config.AcquireController", spec);
    // Tells clients that the YAML is a string that holds YAML.
    resource.annotations.insert("talos.dev/yaml-spec".to_owned(), "true".to_owned());
    resource
}

/// The node's name in Kubernetes.
pub(crate) fn nodename(name: &str) -> Resource {
    let message = k8s::NodenameSpec {
        nodename: name.to_owned(),
        hostname_version: "1".to_owned(),
        skip_node_registration: false,
    };
    let value = json!({"nodename": name, "hostnameVersion": "1", "skipNodeRegistration": false});
    let spec = Spec::new(&message, &value);
    Resource::new("Nodenames.kubernetes.talos.dev", "nodename", "k8s.NodenameController", spec)
}

/// The cluster's identity.
pub(crate) fn info(id: &str, name: &str) -> Resource {
    let message = InfoSpec { cluster_id: id.to_owned(), cluster_name: name.to_owned() };
    let spec = Spec::new(&message, &json!({"clusterId": id, "clusterName": name}));
    Resource::new("Infos.cluster.talos.dev", "current", "cluster.InfoController", spec)
}

/// The machine itself as a member of its cluster. The discovery service is not simulated, so that, as on an isolated
/// network, no other member is listed.
pub(crate) fn member(
    hostname: &str,
    addresses: &[IpAddr],
    role: Role,
    version: TalosVersion,
    node_id: &str,
) -> Resource {
    let control_plane = role == Role::ControlPlane;
    let kind =
        if control_plane { enums::MachineType::TypeControlPlane } else { enums::MachineType::TypeWorker };
    let message = MemberSpec {
        node_id: node_id.to_owned(),
        addresses: addresses.iter().copied().map(net_ip).collect(),
        hostname: hostname.to_owned(),
        machine_type: kind.into(),
        operating_system: format!("Talos ({version})"),
        control_plane: control_plane.then_some(ControlPlane { api_server_port: 6443 }),
    };
    let mut value = json!({
        "nodeId": node_id,
        "addresses": addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
        "hostname": hostname,
        "machineType": if control_plane { "controlplane" } else { "worker" },
        "operatingSystem": message.operating_system,
    });
    if control_plane {
        value["controlPlane"] = json!({"port": 6443});
    }
    Resource::new(
        "Members.cluster.talos.dev",
        hostname,
        "cluster.LocalAffiliateController",
        Spec::new(&message, &value),
    )
}

/// The affiliate of the machine itself, which is what the discovery service would be told.
pub(crate) fn affiliate(hostname: &str, addresses: &[IpAddr], node_id: &str) -> Resource {
    let message = MemberSpec {
        node_id: node_id.to_owned(),
        addresses: addresses.iter().copied().map(net_ip).collect(),
        hostname: hostname.to_owned(),
        ..MemberSpec::default()
    };
    let value = json!({
        "nodeId": node_id,
        "addresses": addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
        "hostname": hostname,
    });
    let spec = Spec::new(&message, &value);
    Resource::new("Affiliates.cluster.talos.dev", node_id, "cluster.LocalAffiliateController", spec)
}

/// Which CNI the control plane installs; its absence is what the health check looks at.
pub(crate) fn bootstrap_manifests(cni: &str) -> Resource {
    /// The only field that is served: `cni_name` of `k8s.BootstrapManifestsConfigSpec`.
    #[derive(Clone, PartialEq, prost::Message)]
    struct BootstrapManifests {
        #[prost(string, tag = "21")]
        cni_name: String,
    }
    let message = BootstrapManifests { cni_name: cni.to_owned() };
    let spec = Spec::new(&message, &json!({"cniName": cni}));
    let controller = "k8s.ControlPlaneBootstrapManifestsController";
    Resource::new("BootstrapManifestsConfigs.kubernetes.talos.dev", "manifests", controller, spec)
}

/// The machine's own etcd member.
pub(crate) fn etcd_member(id: u64) -> Resource {
    let message = etcd::MemberSpec { member_id: format!("{id:x}") };
    let spec = Spec::new(&message, &json!({"memberID": message.member_id}));
    Resource::new("EtcdMembers.etcd.talos.dev", "local", "etcd.MemberController", spec)
}

/// The API certificate's place: what it holds is never served.
pub(crate) fn api_certificate() -> Resource {
    /// `secrets.APICertsSpec` with nothing in it.
    #[derive(Clone, PartialEq, prost::Message)]
    struct ApiCertificates {}
    let spec = Spec::new(&ApiCertificates {}, &json!({}));
    Resource::new("ApiCertificates.secrets.talos.dev", "api", "secrets.APIController", spec)
}
