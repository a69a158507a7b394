//! Which kubelets' requests for serving certificates are approved.

use std::net::IpAddr;

use super::super::gates::{Gate, evaluate, shortcomings};
use super::super::serving_certificates::{RequestId, RequestState, ServingRequest, WantedCertificate};
use super::super::spec::Spec;
use super::super::step::{Action, Step};
use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn id() -> RequestId {
    RequestId { name: "csr-1".to_owned(), uid: "uid-1".to_owned() }
}

/// A cluster of `cp-0` at 10.0.0.1 and `w-0` at 10.0.0.2 that approves, and what is seen of it.
fn approving(requests: Vec<ServingRequest>) -> (Spec, Observed) {
    let mut spec = Spec { serving_certificates: true, ..grown(1, 1) };
    for (member, own) in spec.members.iter_mut().zip(["10.0.0.1", "10.0.0.2"]) {
        member.addresses = [address(own)].into();
    }
    let seen = Observed { serving_requests: Some(Seen::Present(requests)), ..all_good(&spec) };
    (spec, seen)
}

/// What the kubelet of `w-0` asks for.
fn of_worker() -> ServingRequest {
    ServingRequest {
        id: id(),
        requestor: "system:node:w-0".to_owned(),
        groups: vec!["system:nodes".to_owned(), "system:authenticated".to_owned()],
        usages: vec!["digital signature".to_owned(), "server auth".to_owned()],
        wanted: Ok(WantedCertificate {
            common_name: "system:node:w-0".to_owned(),
            organizations: vec!["system:nodes".to_owned()],
            dns_names: vec!["w-0".to_owned()],
            addresses: vec![address("10.0.0.2")],
            others: Vec::new(),
        }),
        state: RequestState::Pending,
    }
}

fn changed(change: impl FnOnce(&mut ServingRequest, &mut WantedCertificate)) -> ServingRequest {
    let mut request = of_worker();
    let mut wanted = request.wanted.clone().expect("it can be read");
    change(&mut request, &mut wanted);
    request.wanted = Ok(wanted);
    request
}

#[test]
fn what_a_node_asks_for_itself_is_approved_at_the_last_gate() {
    let (spec, seen) = approving(vec![of_worker()]);
    let evaluation = evaluate(&spec, &seen);
    assert_eq!(evaluation.gate, Some(Gate::Everything));
    let approve = Action::ApproveServingCertificates(vec![id()]);
    assert_eq!(evaluation.step, Step::Act(vec![approve]));

    let approved = changed(|request, _| request.state = RequestState::Approved);
    let (spec, seen) = approving(vec![approved]);
    assert_eq!(evaluate(&spec, &seen).step, Step::Done);
}

#[test]
fn nothing_is_approved_where_nobody_asked_us_to() {
    let (spec, seen) = approving(vec![of_worker()]);
    let spec = Spec { serving_certificates: false, ..spec };
    assert_eq!(evaluate(&spec, &seen).step, Step::Done);
}

#[test]
fn what_a_node_may_not_speak_for_is_left_and_named() {
    let cases: [(&str, ServingRequest); 13] = [
        ("\"system:node:\" is no node", changed(|request, _| request.requestor = "system:node:".to_owned())),
        ("\"jane\" is no node", changed(|request, _| request.requestor = "jane".to_owned())),
        ("not in group system:nodes", changed(|request, _| request.groups.clear())),
        ("its subject is not", changed(|_, wanted| wanted.common_name = "system:node:cp-0".to_owned())),
        ("its subject is not", changed(|_, wanted| wanted.organizations.push("system:masters".to_owned()))),
        ("usage \"client auth\"", changed(|request, _| request.usages.push("client auth".to_owned()))),
        ("no serving certificate", changed(|request, _| drop(request.usages.pop()))),
        ("the name \"kubernetes\"", changed(|_, wanted| wanted.dns_names.push("kubernetes".to_owned()))),
        ("the name \"a@b\"", changed(|_, wanted| wanted.others.push("a@b".to_owned()))),
        ("the address 10.0.0.1,", changed(|_, wanted| wanted.addresses.push(address("10.0.0.1")))),
        ("the address 10.9.9.9,", changed(|_, wanted| wanted.addresses.push(address("10.9.9.9")))),
        (
            "names no host",
            changed(|_, wanted| {
                *wanted = WantedCertificate { dns_names: Vec::new(), addresses: Vec::new(), ..wanted.clone() }
            }),
        ),
        ("can't be read: no PEM", ServingRequest { wanted: Err("no PEM".to_owned()), ..of_worker() }),
    ];
    for (why, request) in cases {
        let of_nobody = request.node() != Some("w-0");
        let (mut spec, seen) = approving(vec![request.clone()]);
        assert_eq!(evaluate(&spec, &seen).step, Step::Done, "nobody waits for it: {request:?}");
        spec.members
            .iter_mut()
            .for_each(|member| member.asks_for_certificate = member.hostname.as_str() == "w-0");
        let evaluation = evaluate(&spec, &seen);
        assert!(matches!(evaluation.step, Step::Wait(_)), "{request:?}");
        let said = shortcomings(&spec, &seen).iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert!(of_nobody || said.contains(why), "{why}: {said}");
    }
}

#[test]
fn a_node_of_no_pool_and_an_address_that_two_machines_have_are_not_approved() {
    let stranger = changed(|request, wanted| {
        request.requestor = "system:node:stranger".to_owned();
        wanted.common_name = request.requestor.clone();
        *wanted = WantedCertificate {
            dns_names: vec!["stranger".to_owned()],
            addresses: vec![address("10.0.0.3")],
            ..wanted.clone()
        };
    });
    let (spec, seen) = approving(vec![stranger]);
    assert_eq!(evaluate(&spec, &seen).step, Step::Done);

    let (mut spec, seen) = approving(vec![of_worker()]);
    spec.members[0].addresses.extend([address("10.0.0.2")]);
    assert_eq!(evaluate(&spec, &seen).step, Step::Done);
}

#[test]
fn a_kubelet_that_was_told_to_ask_is_waited_for_until_it_did() {
    let (mut spec, seen) = approving(Vec::new());
    assert_eq!(evaluate(&spec, &seen).step, Step::Done);
    spec.members
        .iter_mut()
        .for_each(|member| member.asks_for_certificate = member.hostname.as_str() == "w-0");
    let Step::Wait(waiting) = evaluate(&spec, &seen).step else { panic!("it does not wait") };
    assert_eq!(
        waiting.to_string(),
        "the kubelet of node \"w-0\" to get its serving certificate: its kubelet has not asked for it yet"
    );
    let refused = changed(|request, _| request.state = RequestState::Refused);
    let (_, seen) = approving(vec![refused]);
    assert!(matches!(evaluate(&spec, &seen).step, Step::Wait(_)));
}

#[test]
fn requests_that_could_not_be_looked_at_are_waited_for() {
    let (spec, mut seen) = approving(Vec::new());
    seen.serving_requests = Some(Seen::Unknown("timed out".to_owned()));
    assert!(matches!(evaluate(&spec, &seen).step, Step::Wait(_)));
}
