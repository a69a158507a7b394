//! A cluster of simulated nodes, made from configurations of Talos' own generator.
#![expect(dead_code, reason = "each test target uses its own part")]

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use simulator::configuration::{Generated, GenerationOptions, Judge};
use simulator::kubernetes::{Clusters, Hardware, Node, NodeSpecification};

use super::lab;

/// Bounds what a test waits for.
pub(crate) async fn within<F: Future>(seconds: u64, awaited: F) -> F::Output {
    match tokio::time::timeout(Duration::from_secs(seconds), awaited).await {
        Ok(output) => output,
        Err(_) => panic!("not within {seconds} s"),
    }
}

/// A cluster on a network of its own, such as `127.0.40`.
pub(crate) struct TestCluster {
    pub(crate) clusters: Clusters,
    pub(crate) judge: Judge,
    pub(crate) folder: tempfile::TempDir,
    network: String,
    generated: Generated,
}

impl TestCluster {
    pub(crate) async fn new(network: &str) -> Self {
        Self::with_options(network, GenerationOptions::default()).await
    }

    pub(crate) async fn with_options(network: &str, options: GenerationOptions) -> Self {
        // RUST_LOG=simulator=debug shows what the nodes do.
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        drop(tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init());
        let judge = Judge::new(lab::program("talos-configuration"));
        let mut patches = vec!["cluster: {proxy: {disabled: true}}".to_owned()];
        patches.extend(options.patches.iter().cloned());
        let options = GenerationOptions {
            cluster_name: "demo".to_owned(),
            endpoint: if options.endpoint.is_empty() {
                format!("https://{network}.11:6443")
            } else {
                options.endpoint.clone()
            },
            talos_version: "v1.13".to_owned(),
            kubernetes_version: "1.36.3".to_owned(),
            install_disk: "/dev/vda".to_owned(),
            cni: if options.cni.is_empty() { "none".to_owned() } else { options.cni.clone() },
            patches,
            ..options
        };
        let generated = judge.generate(&options).await.unwrap();
        lab::program("kube-apiserver");
        let clusters = Clusters::new(lab::folder().join("bin"));
        Self { clusters, judge, folder: tempfile::tempdir().unwrap(), network: network.to_owned(), generated }
    }

    pub(crate) async fn control_plane(&self, host: u8) -> Node {
        self.start(&format!("cp-{host}"), host, self.generated.control_plane.expose()).await
    }

    pub(crate) async fn worker(&self, host: u8) -> Node {
        self.start(&format!("w-{host}"), host, self.generated.worker.expose()).await
    }

    /// A patch that gives another configuration this cluster's id and secret: by these members find one another.
    pub(crate) async fn identity_patch(&self) -> String {
        let decoded = self.judge.decode(self.control_plane_text().as_bytes()).await.unwrap();
        let seen = decoded.configuration.unwrap().cluster;
        format!("cluster: {{id: {:?}, secret: {:?}}}", seen.id, seen.secret.expose())
    }

    pub(crate) fn control_plane_text(&self) -> &str {
        self.generated.control_plane.expose()
    }

    pub(crate) async fn start(&self, hostname: &str, host: u8, configuration: &str) -> Node {
        let decoded = self.judge.decode(configuration.as_bytes()).await.unwrap();
        let address: IpAddr = format!("{}.{host}", self.network).parse().unwrap();
        let specification = NodeSpecification {
            hostname: hostname.to_owned(),
            addresses: vec![address],
            data: self.data(hostname),
            configuration: Arc::new(decoded.configuration.unwrap()),
            hardware: Hardware {
                uuid: "7d1f3c2a-0000-4000-8000-000000000011".to_owned(),
                processors: 4,
                memory_bytes: 8 << 30,
            },
            talos_version: "v1.13.9".to_owned(),
        };
        Node::start(&self.clusters, specification).await.unwrap()
    }

    pub(crate) fn data(&self, hostname: &str) -> PathBuf {
        self.folder.path().join(hostname)
    }

    /// Writes a node's kubeconfig to a file for `kubectl` and `helm`.
    pub(crate) fn kubeconfig(&self, node: &Node) -> PathBuf {
        let path = self.folder.path().join("kubeconfig");
        std::fs::write(&path, node.kubeconfig().unwrap().expose()).unwrap();
        path
    }

    pub(crate) async fn kubectl(&self, kubeconfig: &Path, arguments: &[&str]) -> Result<String, String> {
        run("kubectl", kubeconfig, arguments).await
    }
}

/// Runs a program of the lab with a kubeconfig; its output, or its errors when it fails.
pub(crate) async fn run(program: &str, kubeconfig: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = tokio::process::Command::new(lab::program(program));
    command.arg("--kubeconfig").arg(kubeconfig).args(arguments).kill_on_drop(true);
    let output = within(180, command.output()).await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

impl TestCluster {
    /// Installs Cilium with real Helm, as on Talos without kube-proxy, and waits for its workloads.
    pub(crate) async fn install_cilium(
        &self,
        kubeconfig: &Path,
        settings: &[&str],
    ) -> Result<String, String> {
        let host = format!("k8sServiceHost={}.11", self.network);
        let mut arguments =
            vec!["ipam.mode=kubernetes", "kubeProxyReplacement=true", "k8sServicePort=6443", &host];
        arguments.extend(settings);
        self.helm_install(kubeconfig, "cilium", "cilium-1.20.2.tgz", "kube-system", &arguments).await
    }

    /// Installs cert-manager with real Helm and waits for its workloads.
    pub(crate) async fn install_cert_manager(&self, kubeconfig: &Path) -> Result<String, String> {
        let settings = ["crds.enabled=true", "startupapicheck.enabled=true"];
        self.helm_install(kubeconfig, "cert-manager", "cert-manager-v1.21.2.tgz", "cert-manager", &settings)
            .await
    }

    async fn helm_install(
        &self,
        kubeconfig: &Path,
        release: &str,
        chart: &str,
        namespace: &str,
        settings: &[&str],
    ) -> Result<String, String> {
        let chart = lab::folder().join("charts").join(chart).display().to_string();
        let mut arguments = vec!["install", release, &chart, "--namespace", namespace, "--create-namespace"];
        arguments.extend(["--wait", "--timeout", "120s"]);
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        run("helm", kubeconfig, &arguments).await
    }

    /// Writes a manifest to a file; its path.
    pub(crate) fn manifest(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}
