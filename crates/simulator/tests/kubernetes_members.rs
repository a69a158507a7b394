//! Control planes that join, leave and come back.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use simulator::configuration::GenerationOptions;
use simulator::kubernetes::{BootstrapError, Component, EtcdError, Node, ServiceId, ServiceState, wipe};

mod cluster;
mod lab;

use cluster::{TestCluster, within};

async fn etcd_healthy(node: &Node) {
    let mut services = node.watch_services();
    let healthy = services.wait_for(|all| {
        all.iter().any(|service| {
            service.id == ServiceId::Etcd && service.health.as_ref().is_some_and(|health| health.healthy)
        })
    });
    within(180, healthy).await.unwrap();
}

async fn etcd_in(node: &Node, state: ServiceState) {
    let mut services = node.watch_services();
    let entered = services
        .wait_for(|all| all.iter().any(|service| service.id == ServiceId::Etcd && service.state == state));
    within(180, entered).await.unwrap();
}

async fn api_server_ready(node: &Node) {
    let mut components = node.watch_components();
    within(180, components.wait_for(|all| all.api_server == Component::Ready)).await.unwrap();
}

/// Removes a member through another, over whatever time the cluster needs to be healthy enough for it.
async fn removed(through: &Node, id: u64) {
    within(180, async {
        loop {
            match through.etcd_members().await {
                Ok(members) if members.iter().all(|member| member.id != id) => return,
                Ok(_) => drop(through.etcd_remove_member(id).await),
                Err(error) => assert!(!matches!(error, EtcdError::NotRunning { .. }), "{error}"),
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_control_planes_form_one_etcd_and_survive_the_loss_of_one() {
    let cluster = TestCluster::new("127.0.42").await;
    let first = cluster.control_plane(11).await;
    let second = cluster.control_plane(12).await;
    let third = cluster.control_plane(13).await;
    etcd_in(&third, ServiceState::Preparing).await;
    first.bootstrap().unwrap();
    for node in [&first, &second, &third] {
        etcd_healthy(node).await;
        api_server_ready(node).await;
    }
    let members = second.etcd_members().await.unwrap();
    let mut names: Vec<_> = members.iter().map(|member| member.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["cp-11", "cp-12", "cp-13"]);
    assert!(members.iter().all(|member| !member.is_learner));
    assert_eq!(second.bootstrap(), Err(BootstrapError::AlreadyExists), "it joined");

    // The leadership goes to another, and only the leader can give it.
    let leader = first.etcd_status().await.unwrap().leader;
    for node in [&first, &second, &third] {
        let status = node.etcd_status().await.unwrap();
        if status.member_id == leader {
            let successor = node.etcd_forfeit_leadership().await.unwrap().unwrap();
            assert_ne!(successor.id, leader);
            break;
        }
    }

    // One goes without a word: the others serve on, remove it, and take it in again with an empty disk.
    let lost = third.etcd_status().await.unwrap().member_id;
    third.stop().await;
    let kubeconfig = cluster.kubeconfig(&first);
    removed(&first, lost).await;
    cluster.kubectl(&kubeconfig, &["create", "namespace", "written-by-two"]).await.unwrap();
    let back = cluster.control_plane(13).await;
    let mut services = back.watch_services();
    let told = services.wait_for(|all| {
        all.iter().flat_map(|service| &service.events).any(|event| {
            event.state == ServiceState::Failed
                && event.message.contains("permanently removed from the cluster")
        })
    });
    within(180, told).await.unwrap();
    back.stop().await;
    wipe(&cluster.data("cp-13")).await.unwrap();
    let back = cluster.control_plane(13).await;
    etcd_healthy(&back).await;
    api_server_ready(&back).await;

    // It leaves by itself, and can't be asked any more.
    within(180, back.etcd_leave()).await.unwrap();
    etcd_in(&back, ServiceState::Finished).await;
    assert!(back.etcd_data_is_empty());
    assert!(matches!(back.etcd_members().await, Err(EtcdError::NotRunning { .. })));
    assert_eq!(first.etcd_members().await.unwrap().len(), 2);
    for node in [first, second, back] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_plane_comes_back_with_its_data_and_the_last_member_cannot_leave() {
    let cluster = TestCluster::new("127.0.43").await;
    let node = cluster.control_plane(11).await;
    node.bootstrap().unwrap();
    api_server_ready(&node).await;
    let kubeconfig = cluster.kubeconfig(&node);
    cluster.kubectl(&kubeconfig, &["create", "namespace", "kept"]).await.unwrap();
    assert!(matches!(node.etcd_leave().await, Err(EtcdError::Refused { .. })));
    assert!(matches!(node.etcd_remove_member(1).await, Err(EtcdError::Refused { .. })));
    node.stop().await;

    let node = cluster.control_plane(11).await;
    assert_eq!(node.bootstrap(), Err(BootstrapError::AlreadyExists));
    api_server_ready(&node).await;
    let kept = cluster.kubectl(&kubeconfig, &["get", "namespace", "kept", "-o", "name"]).await.unwrap();
    assert_eq!(kept.trim(), "namespace/kept");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_plane_of_another_etcd_authority_never_joins() {
    let cluster = TestCluster::new("127.0.44").await;
    let other = TestCluster::new("127.0.45").await;
    let node = cluster.control_plane(11).await;
    node.bootstrap().unwrap();
    etcd_healthy(&node).await;
    // The same meeting point, another CA: what a wrong byte in the CA's key comes to.
    let identity = cluster.identity_patch().await;
    let patched = cluster.judge.patch(other.control_plane_text().as_bytes(), &[identity]).await.unwrap();
    let stranger = cluster.start("cp-12", 12, std::str::from_utf8(&patched).unwrap()).await;
    let mut services = stranger.watch_services();
    let refused = services.wait_for(|all| {
        all.iter().any(|service| {
            service.id == ServiceId::Etcd
                && service.state == ServiceState::Preparing
                && service
                    .events
                    .iter()
                    .any(|event| event.message.contains("failed to build initial etcd cluster"))
        })
    });
    within(180, refused).await.unwrap();
    assert_eq!(node.etcd_members().await.unwrap().len(), 1);
    stranger.stop().await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_virtual_address_leads_to_a_ready_api_server_and_moves_when_its_holder_stops() {
    let options = GenerationOptions {
        endpoint: "https://127.0.47.10:6443".to_owned(),
        control_plane_patches: vec![
            "machine: {network: {interfaces: [{interface: eth0, vip: {ip: 127.0.47.10}}]}}".to_owned(),
        ],
        ..GenerationOptions::default()
    };
    let cluster = TestCluster::with_options("127.0.47", options).await;
    let first = cluster.control_plane(11).await;
    first.bootstrap().unwrap();
    api_server_ready(&first).await;
    let second = cluster.control_plane(12).await;
    etcd_healthy(&second).await;
    api_server_ready(&second).await;
    let kubeconfig = cluster.kubeconfig(&first);
    let ready = ["get", "--raw", "/readyz"];
    assert_eq!(cluster.kubectl(&kubeconfig, &ready).await.unwrap(), "ok");
    // A worker reaches the cluster through the endpoint alone, and joins by its token.
    let worker = cluster.worker(21).await;
    cluster.kubectl(&kubeconfig, &["wait", "--for=create", "node/w-21", "--timeout=180s"]).await.unwrap();

    // Of two, one is removed before it goes, so that the other keeps its quorum.
    let id = first.etcd_status().await.unwrap().member_id;
    removed(&second, id).await;
    first.stop().await;
    within(180, async { while cluster.kubectl(&kubeconfig, &ready).await.is_err() {} }).await;
    for node in [second, worker] {
        node.stop().await;
    }
}
