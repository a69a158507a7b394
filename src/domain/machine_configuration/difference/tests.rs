//! Differences as a person reads them.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;

fn difference(old: &str, new: &str) -> Difference {
    let read = |text| MachineConfiguration::parse(text).unwrap();
    Difference::between(&read(old), &read(new))
}

fn lines(old: &str, new: &str) -> Vec<String> {
    difference(old, new).redacted().lines().map(str::to_owned).collect()
}

#[test]
fn names_each_value_by_its_path_with_before_and_after() {
    assert_eq!(
        lines(
            "machine: {type: worker, sysctls: {vm.swappiness: 1}, certSANs: [a, b], kubelet: {extraArgs: {v: 4}}}",
            "machine: {type: worker, sysctls: {vm.swappiness: 2, a: b}, certSANs: [b], kubelet: {extraArgs: {v: [5, 6]}}}",
        ),
        [
            "machine.certSANs[0]",
            "  - a",
            "  + b",
            "machine.certSANs[1]",
            "  - b",
            "machine.kubelet.extraArgs.v",
            "  - \"4\"",
            "machine.kubelet.extraArgs.v[0]",
            "  + \"5\"",
            "machine.kubelet.extraArgs.v[1]",
            "  + \"6\"",
            "machine.sysctls[vm.swappiness]",
            "  - \"1\"",
            "  + \"2\"",
            "machine.sysctls.a",
            "  + b",
        ]
    );
}

#[test]
fn names_documents_by_kind_and_name() {
    let main = "machine: {type: worker}\n---\napiVersion: v1alpha1\n";
    assert_eq!(
        lines(
            &format!("{main}kind: LinkConfig\nname: eth0\nmtu: 1500\n"),
            &format!(
                "{main}kind: LinkConfig\nname: eth0\nmtu: 9000\n---\n{{apiVersion: v1alpha1, kind: HostnameConfig, hostname: a}}\n---\n{{apiVersion: v1alpha1, kind: DHCPv4Config, name: eth0}}"
            ),
        ),
        [
            "LinkConfig \"eth0\": mtu",
            "  - 1500",
            "  + 9000",
            "HostnameConfig: hostname",
            "  + a",
            "DHCPv4Config \"eth0\"",
            "  + {}",
        ]
    );
}

#[test]
fn order_and_spelling_are_no_difference() {
    let documents = [
        "{apiVersion: v1alpha1, kind: LinkConfig, name: a, up: yes}",
        "{apiVersion: v1alpha1, kind: LinkConfig, name: b}",
    ];
    let old = format!(
        "machine: {{type: worker, env: {{A: b, C: d}}}}\n---\n{}\n---\n{}",
        documents[0], documents[1]
    );
    let new = format!(
        "{}\n---\n{}\n---\nmachine: {{env: {{C: d, A: \"b\"}}, type: 'worker'}}",
        documents[1], documents[0]
    )
    .replace("yes", "true");
    let difference = difference(&old, &new);
    assert!(difference.is_empty(), "{}", difference.redacted());
    assert_eq!(difference.redacted(), "");
}

#[test]
fn tells_texts_from_what_they_look_like() {
    assert_eq!(
        lines(
            "machine: {kubelet: {extraConfig: {a: true}}}",
            "machine: {kubelet: {extraConfig: {a: 'true'}}}"
        ),
        ["machine.kubelet.extraConfig.a", "  - true", "  + \"true\""]
    );
}

#[test]
fn keeps_every_value_on_its_line_and_long_ones_short() {
    let long = "x".repeat(LONGEST_SHOWN + 1);
    let found = lines(
        "machine: {udev: {rules: []}}",
        &format!("machine: {{udev: {{rules: [\"a\\n\\e[2J\", {long}]}}}}"),
    );
    assert_eq!(
        found,
        [
            "machine.udev.rules[0]".to_owned(),
            "  + a\\n\\u{1b}[2J".to_owned(),
            "machine.udev.rules[1]".to_owned(),
            format!("  + {}… ({} characters)", "x".repeat(LONGEST_SHOWN), LONGEST_SHOWN + 1),
        ]
    );
}

#[test]
fn holds_values_that_debug_does_not_print() {
    let difference = difference("machine: {token: topsecret}", "machine: {token: topsecret2}");
    assert_eq!(difference.changes()[0].before().map(Secret::expose), Some("topsecret"));
    assert_eq!(difference.changes()[0].after().map(Secret::expose), Some("topsecret2"));
    assert!(difference.changes()[0].is_secret());
    assert!(!format!("{difference:?}").contains("topsecret"));
}

#[test]
fn says_which_values_are_not_to_be_shown_as_they_are() {
    let difference = difference(
        "machine: {type: worker}",
        "machine: {type: worker, token: a, sysctls: {a: b}}\ncluster: {controlPlane: {endpoint: 'https://a.example'}}",
    );
    let is_secret = |place: &str| {
        difference.changes().iter().find(|change| change.place() == place).map(Change::is_secret)
    };
    assert_eq!(is_secret("machine.token"), Some(true));
    assert_eq!(is_secret("cluster.controlPlane.endpoint"), Some(true));
    assert_eq!(is_secret("machine.sysctls.a"), Some(false));
}
