//! The processes of one control plane.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};

use super::program;

static ADDRESSES: AtomicU8 = AtomicU8::new(1);

/// An address of 127/8 that no other run of tests uses at the same time.
pub(crate) fn free_address() -> String {
    let process = std::process::id();
    let low = ADDRESSES.fetch_add(1, Ordering::Relaxed);
    format!("127.{}.{}.{low}", 64 + (process >> 8) % 128, process % 256)
}

/// Child processes; killed when dropped.
pub(crate) struct Processes(Vec<(PathBuf, Child)>);

impl Processes {
    pub(crate) fn start_servers(folder: &Path, address: &str) -> Self {
        let file = |name: &str| folder.join(name).display().to_string();
        let (client, peer) = (format!("http://{address}:2379"), format!("http://{address}:2380"));
        let etcd = start(
            folder,
            "etcd",
            &[
                format!("--data-dir={}", file("etcd")),
                format!("--listen-client-urls={client}"),
                format!("--advertise-client-urls={client}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                "--unsafe-no-fsync".to_owned(),
            ],
        );
        let server = start(
            folder,
            "kube-apiserver",
            &[
                format!("--etcd-servers={client}"),
                format!("--bind-address={address}"),
                format!("--advertise-address={address}"),
                "--endpoint-reconciler-type=none".to_owned(),
                "--secure-port=6443".to_owned(),
                format!("--tls-cert-file={}", file("server.crt")),
                format!("--tls-private-key-file={}", file("server.key")),
                format!("--client-ca-file={}", file("ca.crt")),
                format!("--service-account-key-file={}", file("accounts.pub")),
                format!("--service-account-signing-key-file={}", file("accounts.key")),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                "--service-cluster-ip-range=10.96.0.0/12".to_owned(),
                "--authorization-mode=Node,RBAC".to_owned(),
                "--anonymous-auth=false".to_owned(),
                "--allow-privileged=true".to_owned(),
            ],
        );
        Self(vec![etcd, server])
    }

    /// Fails the test, with the end of its log, when a process has ended.
    pub(crate) fn assert_running(&mut self) {
        for (log, child) in &mut self.0 {
            if let Ok(Some(status)) = child.try_wait() {
                let text = std::fs::read_to_string(&log).unwrap_or_default();
                let end: Vec<_> = text.lines().rev().take(5).collect();
                panic!("{} ended with {status}: {end:#?}", log.display());
            }
        }
    }

    pub(crate) fn start_controllers(&mut self, folder: &Path, kubeconfig: &Path) {
        let file = |name: &str| folder.join(name).display().to_string();
        let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
        self.0.push(start(
            folder,
            "kube-controller-manager",
            &[
                kubeconfig.clone(),
                format!("--service-account-private-key-file={}", file("accounts.key")),
                format!("--root-ca-file={}", file("ca.crt")),
                format!("--cluster-signing-cert-file={}", file("ca.crt")),
                format!("--cluster-signing-key-file={}", file("ca.key")),
                "--use-service-account-credentials=true".to_owned(),
                "--leader-elect=false".to_owned(),
                "--secure-port=0".to_owned(),
            ],
        ));
        let scheduler = [kubeconfig, "--leader-elect=false".to_owned(), "--secure-port=0".to_owned()];
        self.0.push(start(folder, "kube-scheduler", &scheduler));
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // In reverse: controllers that lose their server first fill their logs.
        for (_, child) in self.0.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn start(folder: &Path, name: &str, arguments: &[String]) -> (PathBuf, Child) {
    let path = folder.join(format!("{name}.log"));
    let log = File::create(&path).expect("a log");
    let mut command = Command::new(program(name));
    command.args(arguments).stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
    let child = command.spawn().unwrap_or_else(|error| panic!("start {name}: {error}"));
    (path, child)
}

/// Runs a program to its end and gives what it printed.
pub(crate) fn run(name: &str, arguments: &[&str], kubeconfig: &Path, home: &Path) -> String {
    let mut command = Command::new(program(name));
    command.args(arguments).env("KUBECONFIG", kubeconfig).env("HOME", home);
    finish(command)
}

/// Runs a program, the lab's or the system's, in a folder, and gives what it printed.
pub(crate) fn run_in(folder: &Path, name: &str, arguments: &[&str]) -> String {
    let program = if name == "tar" { PathBuf::from(name) } else { program(name) };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("HOME", folder);
    finish(command)
}

fn finish(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // Helm says what it pushed on the error stream.
    let printed =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{printed}", output.status);
    printed
}
