//! Simulated nodes with a real control plane.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use simulator::configuration::GenerationOptions;
use simulator::kubernetes::{BootstrapError, Component, Fate, ServiceId, ServiceState, Workload};

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
    within(180, preparing).await.unwrap();
    assert!(node.etcd_members().await.is_err(), "no etcd answers before bootstrap");

    node.bootstrap().unwrap();
    assert_eq!(node.bootstrap(), Err(BootstrapError::AlreadyExists));
    let mut components = node.watch_components();
    within(180, components.wait_for(|all| all.scheduler == Component::Ready)).await.unwrap();
    let members = node.etcd_members().await.unwrap();
    assert_eq!(members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["cp-11"]);

    let kubeconfig = cluster.kubeconfig(&node);
    assert_eq!(cluster.kubectl(&kubeconfig, &["get", "--raw", "/readyz"]).await.unwrap(), "ok");
    let namespaces = cluster.kubectl(&kubeconfig, &["get", "namespaces", "-o", "name"]).await.unwrap();
    assert!(namespaces.contains("namespace/kube-system"), "{namespaces}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn charts_become_ready_on_a_control_plane_and_a_worker() {
    let cluster = TestCluster::new("127.0.41").await;
    let node = cluster.control_plane(11).await;
    let worker = cluster.worker(21).await;
    node.bootstrap().unwrap();
    let mut components = node.watch_components();
    within(180, components.wait_for(|all| all.scheduler == Component::Ready)).await.unwrap();
    let kubeconfig = cluster.kubeconfig(&node);
    for name in ["node/cp-11", "node/w-21"] {
        cluster.kubectl(&kubeconfig, &["wait", "--for=create", name, "--timeout=180s"]).await.unwrap();
    }
    // No pod network runs yet.
    let unready = r#"--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=KubeletNotReady"#;
    cluster.kubectl(&kubeconfig, &["wait", unready, "node/w-21", "--timeout=180s"]).await.unwrap();

    cluster.install_cilium(&kubeconfig, &["operator.replicas=2"]).await.unwrap();
    cluster
        .kubectl(&kubeconfig, &["wait", "--for=condition=Ready", "node", "--all", "--timeout=180s"])
        .await
        .unwrap();
    cluster.install_cert_manager(&kubeconfig).await.unwrap();
    let deployments = ["wait", "--for=condition=Available", "deployment", "--all", "-A", "--timeout=180s"];
    cluster.kubectl(&kubeconfig, &deployments).await.unwrap();

    // The real API server asks the played webhook.
    let issuer = cluster.manifest(
        "issuer.yaml",
        "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: self}, spec: {selfSigned: {}}}",
    );
    cluster.kubectl(&kubeconfig, &["apply", "--dry-run=server", "-f", &issuer]).await.unwrap();
    let wrong = cluster.manifest(
        "wrong.yaml",
        "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: none}, spec: {}}",
    );
    let denied =
        cluster.kubectl(&kubeconfig, &["apply", "--dry-run=server", "-f", &wrong]).await.unwrap_err();
    assert!(denied.contains(r#"admission webhook "webhook.cert-manager.io" denied the request"#), "{denied}");

    let health = node.health().await;
    health.etcd.unwrap();
    assert!(health.nodes.unwrap().iter().all(|node| node.ready.is_ok() && node.schedulable));
    assert_eq!(health.static_pods.unwrap().iter().filter(|pod| pod.ready).count(), 3);
    assert_eq!(health.core_dns.unwrap().map(|dns| (dns.desired, dns.ready)), Some((2, 2)));
    assert_eq!(health.kube_proxy.unwrap(), None);

    // A worker that comes back goes on with its certificate and its pods, and takes new ones.
    worker.stop().await;
    let worker = cluster.worker(21).await;
    for arguments in [["restart", "daemonset/cilium"], ["status", "daemonset/cilium"]] {
        let arguments = [&["-n", "kube-system", "rollout"][..], &arguments[..]].concat();
        cluster.kubectl(&kubeconfig, &arguments).await.unwrap();
    }
    worker.stop().await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_meet_their_fate_and_need_what_they_mount() {
    let options = GenerationOptions {
        schedule_on_control_planes: true,
        patches: vec![
            "machine: {nodeLabels: {tier: general}, kubelet: {extraConfig: {providerID: 'sim://cp-11'}}}"
                .to_owned(),
        ],
        ..GenerationOptions::default()
    };
    let cluster = TestCluster::with_options("127.0.46", options).await;
    let node = cluster.control_plane(11).await;
    node.bootstrap().unwrap();
    let mut components = node.watch_components();
    within(180, components.wait_for(|all| all.scheduler == Component::Ready)).await.unwrap();
    let kubeconfig = cluster.kubeconfig(&node);
    cluster.kubectl(&kubeconfig, &["wait", "--for=create", "node/cp-11", "--timeout=180s"]).await.unwrap();
    // A pod that mounts the network's folder makes the node ready.
    let network = cluster.manifest("network.yaml", NETWORK);
    cluster.kubectl(&kubeconfig, &["apply", "-f", &network]).await.unwrap();
    cluster
        .kubectl(&kubeconfig, &["wait", "--for=condition=Ready", "node/cp-11", "--timeout=180s"])
        .await
        .unwrap();
    // Talos sets the label after the kubelet has registered the node.
    let labelled = "--for=jsonpath={.metadata.labels.tier}=general";
    cluster.kubectl(&kubeconfig, &["wait", labelled, "node/cp-11", "--timeout=180s"]).await.unwrap();
    let provider = ["get", "node", "cp-11", "-o", "jsonpath={.spec.providerID}"];
    assert_eq!(cluster.kubectl(&kubeconfig, &provider).await.unwrap(), "sim://cp-11");

    let workload = Workload { namespace: "default".to_owned(), name: "app".to_owned() };
    cluster.clusters.set_fate(workload.clone(), Fate::CrashLoop { exit_code: 3 });
    let app = cluster.manifest("app.yaml", APP);
    cluster.kubectl(&kubeconfig, &["apply", "-f", &app]).await.unwrap();
    let waiting = |reason: &str| {
        format!("--for=jsonpath={{.status.containerStatuses[0].state.waiting.reason}}={reason}")
    };
    let pod = ["wait", "pod", "-l", "app=app", "--timeout=180s"];
    cluster
        .kubectl(&kubeconfig, &["wait", "--for=create", "deployment/app", "--timeout=180s"])
        .await
        .unwrap();
    cluster
        .kubectl(
            &kubeconfig,
            &["wait", "--for=jsonpath={.status.replicas}=1", "deployment/app", "--timeout=180s"],
        )
        .await
        .unwrap();
    // It mounts a ConfigMap that isn't there: nothing runs before.
    cluster.kubectl(&kubeconfig, &[&pod[..], &[&waiting("ContainerCreating")]].concat()).await.unwrap();
    cluster.kubectl(&kubeconfig, &["create", "configmap", "wanted"]).await.unwrap();
    cluster.kubectl(&kubeconfig, &[&pod[..], &[&waiting("CrashLoopBackOff")]].concat()).await.unwrap();
    let code = "jsonpath={.items[0].status.containerStatuses[0].lastState.terminated.exitCode}";
    let code = cluster.kubectl(&kubeconfig, &["get", "pods", "-l", "app=app", "-o", code]).await.unwrap();
    assert_eq!(code, "3");
    cluster.clusters.set_fate(workload.clone(), Fate::ImagePullError);
    cluster.kubectl(&kubeconfig, &[&pod[..], &[&waiting("ImagePullBackOff")]].concat()).await.unwrap();
    cluster.clusters.set_fate(workload, Fate::Healthy);
    cluster.kubectl(&kubeconfig, &["rollout", "status", "deployment/app", "--timeout=180s"]).await.unwrap();
    // Deletion is honoured.
    cluster
        .kubectl(&kubeconfig, &["delete", "deployment/app", "--cascade=foreground", "--timeout=180s"])
        .await
        .unwrap();
    cluster
        .kubectl(&kubeconfig, &["wait", "--for=delete", "pod", "-l", "app=app", "--timeout=180s"])
        .await
        .unwrap();
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn talos_own_manifests_bring_a_network_and_what_the_configuration_adds() {
    let manifest = "{apiVersion: v1, kind: ConfigMap, metadata: {name: added, namespace: default}}";
    let options = GenerationOptions {
        cni: "flannel".to_owned(),
        kube_prism_port: Some(0),
        patches: vec!["cluster: {proxy: {disabled: false}}".to_owned()],
        control_plane_patches: vec![format!(
            "cluster: {{inlineManifests: [{{name: added, contents: {manifest:?}}}]}}"
        )],
        ..GenerationOptions::default()
    };
    let cluster = TestCluster::with_options("127.0.48", options).await;
    let node = cluster.control_plane(11).await;
    let worker = cluster.worker(21).await;
    node.bootstrap().unwrap();
    let mut components = node.watch_components();
    within(180, components.wait_for(|all| all.scheduler == Component::Ready)).await.unwrap();
    let kubeconfig = cluster.kubeconfig(&node);
    for object in ["node/w-21", "configmap/added"] {
        cluster.kubectl(&kubeconfig, &["wait", "--for=create", object, "--timeout=180s"]).await.unwrap();
    }
    cluster
        .kubectl(&kubeconfig, &["wait", "--for=condition=Ready", "node", "--all", "--timeout=180s"])
        .await
        .unwrap();
    for workload in ["daemonset/kube-flannel", "daemonset/kube-proxy", "deployment/coredns"] {
        let arguments = ["-n", "kube-system", "rollout", "status", workload, "--timeout=180s"];
        cluster.kubectl(&kubeconfig, &arguments).await.unwrap();
    }
    worker.stop().await;
    node.stop().await;
}

const NETWORK: &str = "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: network, namespace: kube-system}
spec:
  selector: {matchLabels: {app: network}}
  template:
    metadata: {labels: {app: network}}
    spec:
      hostNetwork: true
      tolerations: [{operator: Exists}]
      containers: [{name: network, image: example.org/network}]
      volumes: [{name: cni, hostPath: {path: /etc/cni/net.d}}]
";

const APP: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      initContainers: [{name: first, image: example.org/first}]
      containers: [{name: app, image: example.org/app}]
      volumes: [{name: wanted, configMap: {name: wanted}}]
";
