//! The Kubernetes side of simulated machines: real etcd, kube-apiserver, kube-controller-manager and
//! kube-scheduler with Talos' flags, certificates and manifests, made from the configuration that a machine
//! was given, and a strict simulated kubelet.
//!
//! A [`Node`] is one booted and configured machine. Nodes of one [`Clusters`] find one another as Talos' members
//! do: by the cluster id and secret of their configurations; everything beyond (certificates, tokens, SANs) must
//! fit as on metal, since real processes judge it.
//!
//! What differs from metal: everything listens on the node's own address within 127/8, the pod network is
//! played (see [`Fate`] for what can be let happen to pods), and the binaries are the lab's, whatever version the
//! configuration's images name.

mod arguments;
mod certificates;
mod client;
mod clusters;
mod components;
mod context;
mod control_plane;
mod etcd;
mod fate;
mod files;
mod forward;
mod health;
mod https;
mod kubelet;
mod manifests;
mod network;
mod node;
mod process;
mod services;

pub use clusters::Clusters;
pub use components::{Component, Components};
pub use etcd::{EtcdError, EtcdMember, EtcdStatus};
pub use fate::{Fate, Workload};
pub use health::{Health, HealthError, NodeReport, Readiness, StaticPodReport};
pub use node::{
    BootstrapError, Hardware, KubeconfigError, Node, NodeSpecification, StartError, WipeError, wipe,
};
pub use services::{Service, ServiceEvent, ServiceHealth, ServiceId, ServiceState};
