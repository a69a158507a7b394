//! What users of Talos' tools complain of in public, each answered here; where Talos has an answer, it is the same.

use std::fmt::Write as _;

use kontinuum::domain::machine_configuration::{
    Contract, MachineConfiguration, ParseError, Patch, Role, SecretsBundle, generate, patch, validate,
};
use serde_json::json;

use super::judge::Judge;
use super::{inputs, secrets};

fn generated(judge: &mut Judge, contract: Contract) -> MachineConfiguration {
    let bundle = SecretsBundle::from_yaml(&secrets(judge)).unwrap();
    generate(&inputs(Role::Worker), &bundle, contract).unwrap()
}

/// A configuration after a patch, or what is wrong with the patch.
fn ours(configuration: &MachineConfiguration, text: &str) -> Result<MachineConfiguration, ParseError> {
    let read = Patch::parse(text)?;
    patch(configuration, &[read]).map(|patched| patched.configuration).map_err(|error| error.source)
}

/// The same by Talos' library, read again and written anew.
fn theirs(judge: &mut Judge, configuration: &MachineConfiguration, text: &str) -> Result<String, String> {
    let question = json!({ "configuration": configuration.to_yaml().expose(), "patches": [text] });
    let answer = judge.ask("case", &question)?;
    match answer["refused"].as_str() {
        Some("") | None => Ok(answer["configuration"].as_str().unwrap_or_default().to_owned()),
        Some(refused) => Err(refused.to_owned()),
    }
}

/// Both take the patch and make the same of it.
#[track_caller]
fn is_taken_alike(judge: &mut Judge, text: &str) -> String {
    let configuration = generated(judge, Contract::V1_13);
    let ours = ours(&configuration, text).unwrap().to_yaml().expose().to_owned();
    assert_eq!(Ok(ours.as_str()), theirs(judge, &configuration, text).as_deref(), "{text}");
    ours
}

/// Both refuse the patch, we at this line and in these words.
#[track_caller]
fn is_refused_alike(judge: &mut Judge, text: &str, words: &str) {
    let configuration = generated(judge, Contract::V1_13);
    assert!(theirs(judge, &configuration, text).is_err(), "Talos takes {text}");
    let error = ours(&configuration, text).unwrap_err();
    let said = match &error {
        ParseError::Yaml(error) => format!("{error}"),
        ParseError::Problems(_) => error.to_string(),
    };
    assert!(said.contains(words), "{text}: {said}");
}

#[test]
fn a_hostname_patch_against_the_document_that_makes_names_up_is_told_what_to_add() {
    let mut judge = Judge::start();
    let configuration = generated(&mut judge, Contract::V1_13);
    let text = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: node-1\n";
    let named = ours(&configuration, text).unwrap();
    assert!(judge.refusal(named.to_yaml().expose()).is_some());
    let error = validate(&named, false).errors.remove(0).to_string();
    assert!(error.contains("HostnameConfig") && error.contains("auto"), "{error}");
    let whole = ours(&configuration, &format!("{text}auto: \"off\"\n")).unwrap();
    assert!(validate(&whole, false).is_acceptable());
    assert_eq!(judge.refusal(whole.to_yaml().expose()), None);
}

#[test]
fn a_field_that_is_newer_than_the_machine_is_named_with_the_version_that_brought_it() {
    let mut judge = Judge::start();
    let configuration = generated(&mut judge, Contract::V1_11);
    for (text, words) in [
        (
            "machine: {install: {grubUseUKICmdline: true}}",
            "machine.install.grubUseUKICmdline: needs Talos 1.12",
        ),
        ("{apiVersion: v1alpha1, kind: LinkConfig, name: eth0}", "LinkConfig \"eth0\": needs Talos 1.12"),
        (
            "{apiVersion: v1alpha1, kind: EnvironmentConfig, variables: {A: b}}",
            "EnvironmentConfig: needs Talos 1.13",
        ),
    ] {
        let patched = ours(&configuration, text).unwrap();
        let found: Vec<String> =
            patched.newer_than(Contract::V1_11).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|problem| problem.starts_with(words)), "{text}: {found:?}");
    }
}

#[test]
fn tabs_and_keys_that_stand_twice_are_refused_with_their_line() {
    let mut judge = Judge::start();
    is_refused_alike(&mut judge, "machine:\n\tcertSANs: [a]\n", "line 2");
    is_refused_alike(&mut judge, "machine:\n  env: {A: b}\n  env: {C: d}\n", "line 3");
    is_refused_alike(&mut judge, "machine:\n  sysctls:\n    a: b\n    a: c\n", "line 4");
}

#[test]
fn anchors_are_taken_and_merge_keys_where_keys_are_free() {
    let mut judge = Judge::start();
    let text = "machine:\n  certSANs: &names [a, b]\ncluster:\n  apiServer:\n    certSANs: *names\n";
    assert!(is_taken_alike(&mut judge, text).matches("- a\n").count() >= 2);
    for merged in [
        "machine:\n  sysctls: &s {a: b, C: e}\n  env:\n    <<: *s\n    C: d\n",
        "machine:\n  kubelet:\n    extraConfig: {a: &a {x: 1, y: [1]}, b: {<<: *a, x: 2}}\n",
    ] {
        is_taken_alike(&mut judge, merged);
    }
    let in_section = "machine:\n  env: &e {A: b}\n  network:\n    <<: *e\n";
    is_refused_alike(&mut judge, in_section, "machine.network.<<: unknown key");
    for not_a_mapping in ["5", "[{a: b}]"] {
        is_refused_alike(
            &mut judge,
            &format!("machine: {{env: {{<<: {not_a_mapping}}}}}"),
            "`<<` takes a mapping",
        );
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_change_nothing() {
    let mut judge = Judge::start();
    let plain = "machine:\n  certSANs:\n    - a\n  files:\n    - {path: /a, content: b, op: create, permissions: 0o644}\n";
    let expected = is_taken_alike(&mut judge, plain);
    for text in [format!("\u{feff}{plain}"), plain.replace('\n', "\r\n")] {
        assert_eq!(is_taken_alike(&mut judge, &text), expected);
    }
}

#[test]
fn scalars_that_versions_of_yaml_read_differently_are_read_as_talos_reads_them() {
    let mut judge = Judge::start();
    for scalar in ["no", "off", "1e3", "0o17", "017", "1_000", "1:30", "~", "2026-01-02"] {
        is_taken_alike(&mut judge, &format!("machine: {{sysctls: {{a: {scalar}}}}}"));
        is_taken_alike(&mut judge, &format!("machine: {{kubelet: {{extraConfig: {{a: {scalar}}}}}}}"));
    }
    for scalar in ["no", "off", "yes"] {
        is_taken_alike(&mut judge, &format!("machine: {{install: {{wipe: {scalar}}}}}"));
    }
    for scalar in ["1e3", "0o17", "017"] {
        is_taken_alike(
            &mut judge,
            &format!("{{apiVersion: v1alpha1, kind: LinkConfig, name: a, mtu: {scalar}}}"),
        );
    }
    is_refused_alike(
        &mut judge,
        "machine: {install: {wipe: 1e3}}",
        "machine.install.wipe: expected true or false",
    );
}

#[test]
fn a_patch_of_a_mebibyte_is_applied() {
    let mut judge = Judge::start();
    let mut text = "machine:\n  files:\n".to_owned();
    while text.len() < 1 << 20 {
        let number = text.len();
        write!(
            text,
            "    - path: /var/f{number}\n      op: create\n      permissions: 0o600\n      content: |\n"
        )
        .unwrap();
        for line in 0..200 {
            writeln!(text, "        line {line} of a file that is not short").unwrap();
        }
    }
    assert!(is_taken_alike(&mut judge, &text).len() > 1 << 20);
}

#[test]
fn a_disk_that_is_missing_is_asked_for() {
    let mut judge = Judge::start();
    let configuration = generated(&mut judge, Contract::V1_13);
    let without = ours(&configuration, "machine: {install: {disk: {$patch: delete}}}").unwrap();
    assert!(judge.refusal(without.to_yaml().expose()).is_some());
    assert!(validate(&without, false).errors[0].to_string().contains("either disk or diskSelector"));
    assert!(validate(&without, true).is_acceptable(), "a machine that is installed needs none");
}
