//! The services of a machine as Talos lists them, and what they say of its readiness. Pure.

use jiff::Timestamp;

use super::Stage;
use crate::kubernetes::{Service as NodeService, ServiceState};
use crate::resources::cluster::Role;

/// A service with its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) id: &'static str,
    pub(crate) state: &'static str,
    /// `None`: not known (yet).
    pub(crate) healthy: Option<bool>,
    pub(crate) message: String,
    pub(crate) since: Timestamp,
    pub(crate) events: Vec<(&'static str, String, Timestamp)>,
}

/// All services by id: Talos' own, which run since `since`, and those of Kubernetes.
pub(crate) fn list(role: Role, since: Timestamp, node: Option<&[NodeService]>) -> Vec<Service> {
    let own: &[&'static str] = match role {
        Role::Unknown => &["apid", "containerd", "machined"],
        Role::ControlPlane => &["apid", "containerd", "cri", "machined", "trustd"],
        Role::Worker => &["apid", "containerd", "cri", "machined"],
    };
    let mut services: Vec<_> = own.iter().map(|id| running(id, since)).collect();
    match node {
        Some(node) => services.extend(node.iter().map(of_node)),
        None => services.extend(kubernetes(role).iter().map(|id| waiting(id, since))),
    }
    services.sort_by_key(|service| service.id);
    services
}

/// The stage of a configured machine that is up: it boots until all services run.
pub(crate) fn stage(services: &[Service], before: Stage) -> Stage {
    let up = services.iter().all(|service| service.state == "Running" && service.healthy == Some(true));
    if up || before == Stage::Running { Stage::Running } else { Stage::Booting }
}

/// The conditions that keep the machine from being ready, with Talos' reasons.
pub(crate) fn unmet(
    services: &[Service],
    time_in_sync: bool,
    nodename: &str,
    node_ready: Option<bool>,
) -> Vec<(&'static str, String)> {
    let mut unmet = Vec::new();
    if !time_in_sync {
        unmet.push(("time", "time is not in sync".to_owned()));
    }
    let problems: Vec<_> = services
        .iter()
        .filter_map(|service| match (service.state, service.healthy) {
            ("Running", Some(true) | None) => None,
            ("Running", Some(false)) => Some(format!("{} not healthy", service.id)),
            _ => Some(format!("{} not running", service.id)),
        })
        .collect();
    if !problems.is_empty() {
        unmet.push(("services", problems.join(", ")));
    }
    match node_ready {
        Some(true) => {}
        Some(false) => unmet.push(("nodeReady", format!("node {nodename:?} is not ready"))),
        None => unmet.push(("nodeReady", format!("node {nodename:?} status is not available yet"))),
    }
    unmet
}

/// The services of Kubernetes that a role has.
const fn kubernetes(role: Role) -> &'static [&'static str] {
    match role {
        Role::Unknown => &[],
        Role::ControlPlane => &["etcd", "kubelet"],
        Role::Worker => &["kubelet"],
    }
}

fn running(id: &'static str, since: Timestamp) -> Service {
    let events = vec![("Running", "Health check successful".to_owned(), since)];
    Service { id, state: "Running", healthy: Some(true), message: String::new(), since, events }
}

fn waiting(id: &'static str, since: Timestamp) -> Service {
    let text = "Waiting for time sync".to_owned();
    let events = vec![("Waiting", text, since)];
    Service { id, state: "Waiting", healthy: None, message: String::new(), since, events }
}

fn of_node(service: &NodeService) -> Service {
    let events = service.events.iter().map(|event| (event.state.as_str(), event.message.clone(), event.time));
    let since = service.events.last().map_or(Timestamp::UNIX_EPOCH, |event| event.time);
    let health = service.health.as_ref().filter(|_| service.state == ServiceState::Running);
    Service {
        id: service.id.as_str(),
        state: service.state.as_str(),
        healthy: health.map(|health| health.healthy),
        message: health.map_or_else(String::new, |health| health.message.clone()),
        since: health.map_or(since, |health| health.since),
        events: events.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_boots_until_all_services_run_and_then_stays_running() {
        let now = Timestamp::UNIX_EPOCH;
        let mut services = list(Role::ControlPlane, now, None);
        assert_eq!(stage(&services, Stage::Booting), Stage::Booting);
        for service in &mut services {
            (service.state, service.healthy) = ("Running", Some(true));
        }
        assert_eq!(stage(&services, Stage::Booting), Stage::Running);
        services[0].healthy = Some(false);
        assert_eq!(stage(&services, Stage::Running), Stage::Running);
    }

    #[test]
    fn what_is_missing_is_named_as_talos_names_it() {
        let services = list(Role::Worker, Timestamp::UNIX_EPOCH, None);
        let unmet = unmet(&services, true, "w-1", None);
        let services = ("services", "kubelet not running".to_owned());
        let node = ("nodeReady", "node \"w-1\" status is not available yet".to_owned());
        assert_eq!(unmet, [services, node]);
    }
}
