//! The API server, the controller manager and the scheduler of a control plane, in Talos' order: each is started
//! once what it needs is there, and started anew when it ends.

use std::sync::Arc;
use std::time::Duration;

use http::Method;

use super::components::{Component, Components};
use super::context::Context;
use super::https::Https;
use super::process::{Process, Program, last_words};
use super::{arguments, files, manifests};

/// Pause before a component that ended is started anew.
const RESTART: Duration = Duration::from_millis(500);
/// Between looks at a component that isn't ready.
const STARTING: Duration = Duration::from_millis(100);
/// Between looks at one that is.
const READY: Duration = Duration::from_secs(1);
/// How long one look may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// Runs the API server until the node stops: it needs a healthy etcd beside it.
pub(super) async fn run_api_server(context: Arc<Context>) {
    let mut etcd = context.etcd_healthy.subscribe();
    if etcd.wait_for(|healthy| *healthy).await.is_err() {
        return;
    }
    let part = Part { context: &context, name: "kube-apiserver", set: |all, now| all.api_server = now };
    loop {
        let prepared = context.write(files::api_server).and_then(|()| {
            arguments::api_server(
                context.configuration(),
                context.address,
                &context.secrets(),
                &context.logs(),
            )
            .map_err(|denied| denied.to_string())
        });
        part.run(prepared, context.configuration().cluster.local_api_server_port).await;
        if !context.pause(RESTART).await {
            return;
        }
    }
}

/// Runs the controller manager until the node stops. Started beside an API server that isn't ready it ends for good,
/// so it waits for that.
pub(super) async fn run_controller_manager(context: Arc<Context>) {
    if context.configuration().cluster.controller_manager.disabled {
        return;
    }
    let part = Part {
        context: &context,
        name: "kube-controller-manager",
        set: |all, now| all.controller_manager = now,
    };
    while api_server_ready(&context).await {
        let prepared = context.write(files::controller_manager).and_then(|()| {
            arguments::controller_manager(context.configuration(), context.address, &context.secrets())
                .map_err(|denied| denied.to_string())
        });
        part.run(prepared, 10257).await;
        if !context.pause(RESTART).await {
            return;
        }
    }
}

/// Runs the scheduler until the node stops, beside a ready API server.
pub(super) async fn run_scheduler(context: Arc<Context>) {
    if context.configuration().cluster.scheduler.disabled {
        return;
    }
    let part = Part { context: &context, name: "kube-scheduler", set: |all, now| all.scheduler = now };
    while api_server_ready(&context).await {
        let prepared = context.write(files::scheduler).and_then(|()| {
            arguments::scheduler(context.configuration(), context.address, &context.secrets())
                .map_err(|denied| denied.to_string())
        });
        part.run(prepared, 10259).await;
        if !context.pause(RESTART).await {
            return;
        }
    }
}

/// Creates the manifests that Talos brings once the API server is ready, those that are missing.
pub(super) async fn create_manifests(context: Arc<Context>) {
    while api_server_ready(&context).await {
        match manifests::create_missing(&context).await {
            Ok(()) => return,
            Err(reason) => tracing::info!(node = context.hostname(), %reason, "create bootstrap manifests"),
        }
        if !context.pause(RESTART).await {
            return;
        }
    }
}

/// Waits for this node's own API server; false when there will be none.
pub(super) async fn api_server_ready(context: &Context) -> bool {
    let mut components = context.components.subscribe();
    let ready = components.wait_for(|all| all.api_server == Component::Ready);
    tokio::select! {
        () = context.stop.cancelled() => false,
        ready = ready => ready.is_ok(),
    }
}

struct Part<'a> {
    context: &'a Context,
    name: &'static str,
    set: fn(&mut Components, Component),
}

impl Part<'_> {
    /// One life of the process.
    async fn run(&self, prepared: Result<Vec<String>, String>, port: u16) {
        let context = self.context;
        let result = async {
            let program = self.program(prepared?);
            let process = program.start().await.map_err(|error| format!("start {}: {error}", self.name))?;
            self.enter(Component::Starting);
            self.attend(process, port)
                .await
                .map_err(|status| format!("{status}: {}", last_words(&program.log)))
        };
        if let Err(reason) = result.await {
            tracing::info!(node = context.hostname(), component = self.name, %reason, "component failed");
        }
        self.enter(Component::Absent);
    }

    fn program(&self, arguments: Vec<String>) -> Program {
        let cluster = &self.context.configuration().cluster;
        let environment = match self.name {
            "kube-apiserver" => &cluster.api_server.environment,
            "kube-controller-manager" => &cluster.controller_manager.environment,
            _ => &cluster.scheduler.environment,
        };
        let mut program = self.context.program(self.name, arguments);
        program.environment = environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        program
    }

    fn enter(&self, state: Component) {
        self.context.components.send_if_modified(|components| {
            let before = *components;
            (self.set)(components, state);
            *components != before
        });
    }

    /// Watches a process until it ends or the node stops.
    async fn attend(&self, mut process: Process, port: u16) -> Result<(), String> {
        let admin = files::talos_admin(self.context.configuration()).map_err(|error| error.to_string())?;
        let cluster = &self.context.configuration().cluster;
        let ca = files::accepted(cluster.ca.as_ref(), &cluster.accepted_cas);
        let https = Https::new(&ca, &admin.certificate, admin.key.expose())?;
        let mut pause = STARTING;
        loop {
            tokio::select! {
                ended = process.ended() => {
                    return Err(match ended {
                        Ok(status) => status.to_string(),
                        Err(error) => error.to_string(),
                    });
                }
                () = self.context.stop.cancelled() => {
                    process.stop().await;
                    return Ok(());
                }
                state = self.look(&https, port, pause) => {
                    pause = if state == Component::Ready { READY } else { STARTING };
                    self.enter(state);
                }
            }
        }
    }

    async fn look(&self, https: &Https, port: u16, pause: Duration) -> Component {
        tokio::time::sleep(pause).await;
        let address = self.context.address;
        if self.name != "kube-apiserver" {
            // Controllers serve with a certificate of their own making: that they listen is what can be seen.
            let connected =
                tokio::time::timeout(DEADLINE, tokio::net::TcpStream::connect((address, port))).await;
            return if matches!(connected, Ok(Ok(_))) { Component::Ready } else { Component::Starting };
        }
        match https.request(Method::GET, (address, port), "/readyz", None, DEADLINE).await {
            Ok(answer) if answer.status.is_success() => Component::Ready,
            Ok(_) | Err(_) => Component::Starting,
        }
    }
}
