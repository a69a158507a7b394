//! A real Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager and kube-scheduler from
//! the lab, as plain processes on an address of 127/8 that no other run uses. No kubelet: where pods matter, a test
//! plays it.
#![allow(dead_code, unused_imports, reason = "each test program uses a part of it")]
#![allow(clippy::allow_attributes, reason = "which part is unused differs from program to program")]

mod certificates;
mod processes;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, MutexGuard, Weak};
use std::time::Duration;

use kontinuum::clients::kubernetes::{Client, Options};
use tokio::sync::Mutex;

use certificates::Authority;
use processes::Processes;
pub(crate) use processes::{free_address, run_in};

/// A running control plane; its processes end with the last holder.
pub(crate) struct Rig {
    pub(crate) address: String,
    authority: Authority,
    folder: tempfile::TempDir,
    processes: std::sync::Mutex<Processes>,
}

/// Who a client is to the API server.
pub(crate) enum Identity {
    /// May do everything.
    Administrator,
    /// Is known, and may do nothing.
    Stranger,
    /// Carries a certificate that the cluster's authority never signed.
    Impostor,
}

/// The administrator's kubeconfig in the rig's folder.
const KUBECONFIG: &str = "administrator.kubeconfig";

static SHARED: Mutex<Weak<Rig>> = Mutex::const_new(Weak::new());
static NAMESPACES: AtomicU16 = AtomicU16::new(0);

impl Rig {
    /// The control plane that the tests of one program share.
    pub(crate) async fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().await;
        if let Some(rig) = shared.upgrade() {
            return rig;
        }
        let rig = Arc::new(Self::start().await);
        *shared = Arc::downgrade(&rig);
        rig
    }

    async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the control plane");
        let address = free_address();
        let authority = Authority::new(folder.path(), &address);
        let processes = Processes::start_servers(folder.path(), &address);
        let rig = Self { address, authority, folder, processes: processes.into() };
        let client = rig.client().await;
        let ready = async || {
            rig.processes().assert_running();
            client.ready().await.ok()
        };
        eventually("the API server is ready", Duration::from_secs(120), ready).await;
        // Written once: a program that reads it while it is written would find nothing.
        let kubeconfig = rig.folder.path().join(KUBECONFIG);
        std::fs::write(&kubeconfig, rig.kubeconfig(&Identity::Administrator)).expect("write a kubeconfig");
        rig.processes().start_controllers(rig.folder.path(), &kubeconfig);
        rig
    }

    fn processes(&self) -> MutexGuard<'_, Processes> {
        self.processes.lock().expect("the processes")
    }

    /// The server's URL.
    pub(crate) fn server(&self) -> String {
        format!("https://{}:6443", self.address)
    }

    /// A kubeconfig's text.
    pub(crate) fn kubeconfig(&self, identity: &Identity) -> String {
        self.authority.kubeconfig(&self.server(), identity)
    }

    /// A kubeconfig that leads to this server and trusts another cluster's authority.
    pub(crate) fn kubeconfig_of_another_cluster(&self) -> String {
        self.authority.kubeconfig_of_another_cluster(&self.server())
    }

    /// A client of the administrator.
    pub(crate) async fn client(&self) -> Client {
        self.client_of(&Identity::Administrator).await
    }

    /// A client of anyone.
    pub(crate) async fn client_of(&self, identity: &Identity) -> Client {
        let kubeconfig = self.kubeconfig(identity);
        Client::from_kubeconfig(&kubeconfig, &Options::default()).await.expect("a client")
    }

    /// A namespace of its own for a test.
    pub(crate) async fn namespace(&self) -> String {
        let name = format!("test-{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
        self.client().await.ensure_namespace(&name, &Default::default()).await.expect("a namespace");
        name
    }

    /// Runs one of the lab's programs against this server and gives what it printed.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        processes::run(program, arguments, &self.folder.path().join(KUBECONFIG), self.folder.path())
    }
}

/// The path of one of the lab's programs.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = lab().join("bin").join(name);
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    path
}

/// The path of one of the lab's charts.
pub(crate) fn chart(name: &str) -> PathBuf {
    let path = lab().join("charts").join(format!("{name}.tgz"));
    assert!(path.exists(), "{} is missing: run `make lab`", path.display());
    path
}

/// Waits until `look` sees something, for at most `limit`.
pub(crate) async fn eventually<T>(what: &str, limit: Duration, look: impl AsyncFn() -> Option<T>) -> T {
    let mut ticks = tokio::time::interval(Duration::from_millis(50));
    let seen = tokio::time::timeout(limit, async {
        loop {
            ticks.tick().await;
            if let Some(seen) = look().await {
                return seen;
            }
        }
    });
    seen.await.unwrap_or_else(|_| panic!("not within {limit:?}: {what}"))
}

fn lab() -> PathBuf {
    if let Some(lab) = std::env::var_os("KONTINUUM_LAB") {
        return lab.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    cache.or_else(home).expect("a cache folder").join("kontinuum/lab")
}
