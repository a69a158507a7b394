//! The rules, key by key and together.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;
use crate::domain::machine_configuration::MachineConfiguration;

fn difference(old: &str, new: &str) -> Difference {
    let read = |text: &str| {
        MachineConfiguration::parse(&format!("version: v1alpha1\ndebug: false\n{text}")).unwrap()
    };
    Difference::between(&read(old), &read(new))
}

fn applied(old: &str, new: &str) -> Application {
    how(&difference(old, new), &talos("1.13.9"))
}

fn talos(version: &str) -> Version {
    Version::parse(version, "v1.13.9").unwrap()
}

fn reboot(paths: &[&str]) -> Application {
    Application::Reboot { paths: owned(paths), after_reinstall: Vec::new() }
}

fn owned(paths: &[&str]) -> Vec<String> {
    paths.iter().map(ToString::to_string).collect()
}

#[test]
fn is_nothing_where_nothing_differs() {
    assert_eq!(applied("machine: {type: worker}", "machine: {type: worker}"), Application::Nothing);
}

#[test]
fn a_sysctl_a_flag_and_a_further_document_change_live() {
    let old = "machine: {sysctls: {a: b}, kubelet: {extraArgs: {v: 4}}}";
    let new = "machine: {sysctls: {a: c}, kubelet: {extraArgs: {v: 5}}}\n---\n{apiVersion: v1alpha1, kind: ZswapConfig}";
    assert_eq!(applied(old, new), Application::Live);
}

#[test]
fn one_key_that_needs_a_reboot_makes_it_one_and_is_named_once() {
    let old = "machine: {sysctls: {a: b}, env: {A: b}}";
    let new = "machine: {sysctls: {a: c}, env: {A: c, B: d}, files: [{path: /a, content: b}]}";
    assert_eq!(applied(old, new), reboot(&["machine.env", "machine.files"]));
}

#[test]
fn what_only_the_installer_reads_has_no_effect_before_a_reinstall() {
    let old = "machine: {install: {disk: /dev/sda, image: a, extraKernelArgs: [a]}}";
    let new = "machine: {sysctls: {a: b}, install: {diskSelector: {serial: x}, image: b, extraKernelArgs: [b], wipe: true}}";
    let install = [
        "machine.install.disk",
        "machine.install.extraKernelArgs",
        "machine.install.image",
        "machine.install.wipe",
        "machine.install.diskSelector",
    ];
    assert_eq!(applied(old, new), Application::AfterReinstall { paths: owned(&install) });
    let new = format!("{}{}", new.trim_end_matches('}'), "}, token: a}");
    assert_eq!(
        applied(old, &new),
        Application::Reboot { paths: owned(&["machine.token"]), after_reinstall: owned(&install) }
    );
}

#[test]
fn a_section_that_comes_or_goes_as_a_whole_needs_a_reboot_though_its_keys_do_not() {
    let without = "machine: {type: worker}";
    let with = "machine: {type: worker, features: {kubePrism: {enabled: true}}}";
    assert_eq!(applied(without, with), reboot(&["machine.features"]));
    assert_eq!(applied(with, without), reboot(&["machine.features"]));
    let other = "machine: {type: worker, features: {kubePrism: {enabled: false}}}";
    assert_eq!(applied(with, other), Application::Live);
    assert_eq!(applied("cluster: {}", "machine: {sysctls: {a: b}}\ncluster: {}"), reboot(&["machine"]));
    assert_eq!(applied(without, "machine: {type: worker}\ncluster: {id: a}"), Application::Live);
}

#[test]
fn from_talos_1_14_on_nothing_needs_a_reboot() {
    let difference = difference("machine: {type: worker}", "machine: {type: worker, env: {A: b}}");
    for (version, expected) in [
        ("1.12.0", reboot(&["machine.env"])),
        ("1.13.9", reboot(&["machine.env"])),
        ("1.14.0", Application::Live),
        ("2.0.0", Application::Live),
    ] {
        assert_eq!(how(&difference, &talos(version)), expected, "{version}");
    }
}

#[test]
fn no_reboot_refuses_a_reboot_and_names_what_needs_it() {
    let needs = reboot(&["machine.env", "machine.files"]);
    let error = allows(ApplyMode::NoReboot, &needs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "apply_mode is \"no_reboot\", but Talos takes a change of machine.env, machine.files only by a reboot: take \
         the change back, or set apply_mode to \"auto\" (the machine reboots) or \"staged\" (it is used from the next \
         boot on)"
    );
    let later = Application::AfterReinstall { paths: owned(&["machine.install.disk"]) };
    for mode in ApplyMode::ALL {
        assert_eq!(allows(mode, &needs).is_ok(), mode != ApplyMode::NoReboot, "{mode:?}");
        for application in [&Application::Nothing, &Application::Live, &later] {
            assert_eq!(allows(mode, application), Ok(()), "{mode:?} {application:?}");
        }
    }
}

#[test]
fn modes_have_words_that_read_back() {
    for mode in ApplyMode::ALL {
        assert_eq!(ApplyMode::of_word(mode.as_str()), Some(mode));
    }
    assert_eq!(ApplyMode::of_word("reboot"), None);
}

#[test]
fn says_what_it_comes_to() {
    let both = Application::Reboot {
        paths: owned(&["machine.env"]),
        after_reinstall: owned(&["machine.install.disk"]),
    };
    for (application, words) in [
        (Application::Nothing, "nothing changes"),
        (Application::Live, "Talos applies it in the running machine"),
        (reboot(&["machine.env"]), "Talos applies it by a reboot, for machine.env"),
        (
            both,
            "Talos applies it by a reboot, for machine.env; machine.install.disk has no effect before Talos' installer runs \
             again",
        ),
        (
            Application::AfterReinstall { paths: owned(&["machine.install.disk"]) },
            "Talos applies it in the running machine; machine.install.disk has no effect before Talos' installer runs again",
        ),
    ] {
        assert_eq!(application.to_string(), words);
    }
}

#[test]
fn every_key_that_changes_live_is_one_that_talos_knows() {
    let effects = effects();
    let live: Vec<String> = LIVE
        .iter()
        .map(ToString::to_string)
        .chain(LIVE_OF_MACHINE.iter().map(|key| format!("machine.{key}")))
        .chain(LIVE_OF_FEATURES.iter().map(|key| format!("machine.features.{key}")))
        .collect();
    for key in &live {
        let is_known = effects.iter().any(|(known, _)| known == key || known.starts_with(&format!("{key}.")));
        assert!(is_known, "{key}");
    }
    for (key, effect) in effects {
        let is_live = live.contains(&key) || key.starts_with("cluster.");
        let expected = match key.as_str() {
            "machine.install" => Effect::Reinstall,
            _ if is_live => Effect::Live,
            _ => Effect::Reboot,
        };
        assert_eq!(effect, expected, "{key}");
    }
}
