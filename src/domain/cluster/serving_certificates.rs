//! Kubelets' requests for the certificates that they serve their API with: which of them are approved.
//!
//! Kubernetes approves none of them itself, since only who knows the machines can tell whether a node may speak for an
//! address (<https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/#certificate-rotation>).

use std::net::IpAddr;

use super::observed::Observed;
use super::spec::{Member, Spec};
use super::step::Waiting;
use crate::domain::seen::Seen;

/// Who signs kubelets' serving certificates.
pub const SIGNER: &str = "kubernetes.io/kubelet-serving";

/// Before every node's name.
const NODE: &str = "system:node:";
/// The group of all nodes.
const NODES: &str = "system:nodes";

/// A request, and no later one of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId {
    /// The name.
    pub name: String,
    /// The object's identity.
    pub uid: String,
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// A request to [`SIGNER`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingRequest {
    /// Which request it is.
    pub id: RequestId,
    /// Who asked, as the API server authenticated it.
    pub requestor: String,
    /// The groups of who asked.
    pub groups: Vec<String>,
    /// What the certificate is asked for.
    pub usages: Vec<String>,
    /// What should stand in the certificate, or why that can't be read.
    pub wanted: Result<WantedCertificate, String>,
    /// What became of it.
    pub state: RequestState,
}

/// What should stand in a certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WantedCertificate {
    /// The subject's common name.
    pub common_name: String,
    /// The subject's organisations.
    pub organizations: Vec<String>,
    /// Host names.
    pub dns_names: Vec<String>,
    /// IP addresses.
    pub addresses: Vec<IpAddr>,
    /// Names of other kinds, which no kubelet has.
    pub others: Vec<String>,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// Nobody has judged it yet.
    Pending,
    /// It was approved.
    Approved,
    /// It was denied, or could not be signed.
    Refused,
}

impl ServingRequest {
    /// The node that asks, when a node does.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.requestor.strip_prefix(NODE).filter(|node| !node.is_empty())
    }

    /// Why it may not be approved; `None` when it may.
    fn objection(&self, members: &[Member]) -> Option<String> {
        let wanted = match &self.wanted {
            Ok(wanted) => wanted,
            Err(why) => return Some(format!("it can't be read: {why}")),
        };
        let Some(node) = self.node() else { return Some(format!("{:?} is no node", self.requestor)) };
        let Some(own) = members.iter().find(|member| member.hostname.as_str() == node) else {
            return Some("it is no machine of this cluster's pools".to_owned());
        };
        if !self.groups.iter().any(|group| group == NODES) {
            return Some(format!("who asked is not in group {NODES}"));
        }
        if wanted.common_name != self.requestor || wanted.organizations != [NODES] {
            return Some(format!("its subject is not {}", self.requestor));
        }
        let allowed = ["key encipherment", "digital signature", "server auth"];
        if let Some(usage) = self.usages.iter().find(|usage| !allowed.contains(&usage.as_str())) {
            return Some(format!("it asks for usage {usage:?}"));
        }
        if !self.usages.iter().any(|usage| usage == "server auth") {
            return Some("it asks for no serving certificate".to_owned());
        }
        if wanted.dns_names.is_empty() && wanted.addresses.is_empty() {
            return Some("it names no host".to_owned());
        }
        if let Some(name) = wanted.dns_names.iter().chain(&wanted.others).find(|name| *name != node) {
            return Some(format!("it asks for the name {name:?}"));
        }
        // What a node says of its own addresses proves nothing: it could name the endpoint's, and speak for it.
        let foreign = |address: &&IpAddr| {
            let others = members.iter().filter(|other| other.uid != own.uid);
            !own.addresses.contains(address)
                || others.flat_map(|other| &other.addresses).any(|other| other == *address)
        };
        wanted.addresses.iter().find(foreign).map(|address| {
            format!(
                "it asks for the address {address}, which is not known as the machine's own: list it in the instance's \
                 `interfaces` if it is"
            )
        })
    }
}

/// The requests that are to be approved now.
#[must_use]
pub fn approvable(spec: &Spec, seen: &Observed) -> Vec<RequestId> {
    let requests = seen.serving_requests.as_ref().and_then(Seen::present);
    let requests = requests.filter(|_| spec.serving_certificates).map(Vec::as_slice).unwrap_or_default();
    approvable_of(&spec.members, requests).map(|request| request.id.clone()).collect()
}

/// The requests among these that may be approved and were not yet.
pub fn approvable_of<'a>(
    members: &'a [Member],
    requests: &'a [ServingRequest],
) -> impl Iterator<Item = &'a ServingRequest> {
    requests
        .iter()
        .filter(|request| request.state == RequestState::Pending)
        .filter(move |request| request.objection(members).is_none())
}

/// What is missing until every kubelet has the certificate that it asks for.
#[must_use]
pub fn shortcomings(spec: &Spec, seen: &Observed) -> Vec<Waiting> {
    if !spec.serving_certificates {
        return Vec::new();
    }
    let requests = match &seen.serving_requests {
        Some(Seen::Present(requests)) => requests,
        Some(Seen::Unknown(why)) => return vec![Waiting::Workloads { why: why.clone() }],
        Some(Seen::Absent) | None => return Vec::new(),
    };
    let missing = |member: &Member| {
        let hostname = member.hostname.as_str();
        let own = || requests.iter().filter(|request| request.node() == Some(hostname));
        // Whoever asks for what is not theirs holds nobody up: only a certificate that must come is waited for.
        if !member.asks_for_certificate || own().any(|request| request.state == RequestState::Approved) {
            return None;
        }
        let pending = own().find(|request| request.state == RequestState::Pending);
        let why = pending.map_or_else(
            || "its kubelet has not asked for it yet".to_owned(),
            |request| match request.objection(&spec.members) {
                Some(why) => format!("request {} is not approved, since {why}", request.id),
                None => format!("request {} is about to be approved", request.id),
            },
        );
        Some(Waiting::ServingCertificate { hostname: member.hostname.clone(), why })
    };
    spec.members.iter().filter_map(missing).collect()
}
