//! Simulated nodes with a real control plane.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use simulator::kubernetes::{BootstrapError, Component, ServiceId, ServiceState};

mod cluster;
mod lab;

use cluster::{TestCluster, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_control_plane_comes_up_only_after_bootstrap() {
    let cluster = TestCluster::new("127.0.40").await;
    let node = cluster.control_plane(11).await;
    let mut services = node.watch_services();
    let preparing = services.wait_for(|all| {
        all.iter().any(|service| service.id == ServiceId::Etcd && service.state == ServiceState::Preparing)
    });
    within(10, preparing).await.unwrap();
    assert!(node.etcd_members().await.is_err(), "no etcd answers before bootstrap");

    node.bootstrap().unwrap();
    assert_eq!(node.bootstrap(), Err(BootstrapError::AlreadyExists));
    let mut components = node.watch_components();
    within(60, components.wait_for(|all| all.scheduler == Component::Ready)).await.unwrap();
    let members = node.etcd_members().await.unwrap();
    assert_eq!(members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["cp-11"]);

    let kubeconfig = cluster.kubeconfig(&node);
    assert_eq!(cluster.kubectl(&kubeconfig, &["get", "--raw", "/readyz"]).await.unwrap(), "ok");
    let namespaces = cluster.kubectl(&kubeconfig, &["get", "namespaces", "-o", "name"]).await.unwrap();
    assert!(namespaces.contains("namespace/kube-system"), "{namespaces}");
    node.stop().await;
}
