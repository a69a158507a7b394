//! What a change of a machine configuration comes to, against Talos' own library.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "machine_configuration/judge.rs"]
#[expect(dead_code, reason = "other tests ask the judge for more")]
mod judge;
#[path = "machine_configuration_changes/values.rs"]
mod values;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use judge::Judge;
use kontinuum::domain::machine_configuration::{
    Application, Change, Contract, Difference, Effect, Inputs, InstallTarget, MachineConfiguration, Patch,
    Role, SecretsBundle, effects, generate, how, installer_image, patch,
};
use kontinuum::domain::version::Version;
use serde_json::json;
use values::{KEYS, SECTIONS};

const ROLES: [Role; 2] = [Role::ControlPlane, Role::Worker];
const CONTRACTS: [(Contract, &str); 2] = [(Contract::V1_12, "1.12.4"), (Contract::V1_13, "1.13.9")];
/// How often each key is the first that a pair differs in, for each form and role.
const ROUNDS: u64 = 4;

fn bundle(judge: &mut Judge) -> SecretsBundle {
    let answer = judge.ask("secrets", &json!({ "talos_version": "1.13" })).unwrap();
    SecretsBundle::from_yaml(answer["secrets"].as_str().unwrap()).unwrap()
}

fn generated(bundle: &SecretsBundle, role: Role, contract: Contract) -> MachineConfiguration {
    let mut inputs = Inputs::new(role, "prod", "https://10.0.0.10:6443", "1.35.0");
    inputs.install_disk = Some(InstallTarget::Path("/dev/sda".to_owned()));
    inputs.installer_image = installer_image("", false, "v1.12.4");
    generate(&inputs, bundle, contract).unwrap()
}

/// A sequence that is the same for the same seed (SplitMix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(count).unwrap()).unwrap()
    }

    /// A change of any key or section.
    fn change(&mut self) -> String {
        match self.below(KEYS.len() + SECTIONS.len()) {
            key if key < KEYS.len() => self.change_of(key),
            section => SECTIONS[section - KEYS.len()].to_owned(),
        }
    }

    /// A change of one key: to one of its values, or away with it.
    fn change_of(&mut self, key: usize) -> String {
        let (path, values) = &KEYS[key];
        set(path, values.get(self.below(values.len() + 1)).copied().unwrap_or("{$patch: delete}"))
    }
}

/// A patch that sets a key.
fn set(path: &str, value: &str) -> String {
    let patch = path.rsplit('.').fold(value.to_owned(), |inner, key| format!("{{{key}: {inner}}}"));
    // A version alone does not make a main document.
    if path == "version" { format!("{{version: {value}, machine: {{}}}}") } else { patch }
}

/// A configuration after changes; one that cannot be made there, since its section is gone, is left out.
fn changed(configuration: &MachineConfiguration, changes: &[String]) -> MachineConfiguration {
    changes.iter().fold(configuration.clone(), |configuration, change| {
        let parsed = Patch::parse(change).unwrap();
        patch(&configuration, &[parsed]).map_or(configuration, |patched| patched.configuration)
    })
}

/// What Talos says: whether anything differs, whether that needs a reboot, and what of it does.
fn judged(judge: &mut Judge, old: &MachineConfiguration, new: &MachineConfiguration) -> (bool, bool, String) {
    let answer = judge
        .ask(
            "diff",
            &json!({
                "configuration": STANDARD.encode(old.to_yaml().expose()),
                "new": STANDARD.encode(new.to_yaml().expose()),
            }),
        )
        .unwrap();
    let reason = answer["reason"].as_str().unwrap().to_owned();
    (!answer["unchanged"].as_bool().unwrap(), answer["apply"] == "reboot", reason)
}

/// Which keys Talos' reason names and ours do not, and which of ours it does not name.
fn unnamed(difference: &Difference, paths: &[String], reason: &str) -> Vec<String> {
    let lines: Vec<&str> = reason
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .map(|line| line[1..].trim_start())
        .collect();
    let below = |path: &str| -> Vec<&Change> {
        difference.changes().iter().filter(|change| is_below(&change.place(), path)).collect()
    };
    let named: Vec<String> = paths.iter().flat_map(|path| below(path)).map(Change::place).collect();
    let theirs = lines.iter().filter_map(|line| {
        let (key, _) = line.trim_start_matches("- ").split_once(':')?;
        let is_named = named.iter().any(|place| place.split(['.', '[', ']']).any(|part| part == key));
        (!is_named && key.chars().all(char::is_alphanumeric)).then(|| (*line).to_owned())
    });
    let ours = paths.iter().filter(|path| {
        let mut values =
            below(path).into_iter().flat_map(|change| [change.before(), change.after()]).flatten();
        !values.any(|value| lines.iter().any(|line| line.contains(value.expose())))
    });
    theirs.chain(ours.cloned()).collect()
}

fn is_below(place: &str, path: &str) -> bool {
    place.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[test]
fn changes_come_to_what_talos_makes_of_them() {
    let mut judge = Judge::start();
    let bundle = bundle(&mut judge);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut changed_keys = BTreeSet::new();
    let mut seed = 0;
    for (contract, version) in CONTRACTS {
        let talos = Version::parse(version, "v1.13.9").unwrap();
        for role in ROLES {
            let generated = generated(&bundle, role, contract);
            for (key, round) in (0..KEYS.len()).flat_map(|key| (0..ROUNDS).map(move |round| (key, round))) {
                seed += 1;
                let mut choices = Choices(seed);
                // Some keys are set before, so that there is something to change and to take away.
                let before: Vec<String> = (0..choices.below(4)).map(|_| choices.change()).collect();
                let before = [before, vec![choices.change_of(key)]].concat();
                let old = changed(&generated, &before[..before.len() - usize::from(round % 2 == 0)]);
                let mut after = vec![choices.change_of(key)];
                after.extend((0..choices.below(3)).map(|_| choices.change()));
                let new = changed(&old, &after);

                let difference = Difference::between(&old, &new);
                let application = how(&difference, &talos);
                let (differs, reboots, reason) = judged(&mut judge, &old, &new);
                let case =
                    format!("seed {seed}: {before:#?} {after:#?}\n{reason}\n{}", difference.redacted());
                assert_eq!(!difference.is_empty(), differs, "{case}");
                let ours = match &application {
                    Application::Nothing => "nothing",
                    Application::Live => "live",
                    Application::Reboot { .. } => "reboot",
                    Application::AfterReinstall { .. } => "after reinstall",
                };
                assert_eq!(ours == "reboot", reboots, "{case}");
                assert_eq!(ours == "nothing", !differs, "{case}");
                if let Application::Reboot { paths, .. } = &application {
                    assert_eq!(unnamed(&difference, paths, &reason), Vec::<String>::new(), "{case}");
                }
                *seen.entry(ours).or_default() += 1;
                changed_keys.extend(difference.changes().iter().map(Change::place));
            }
        }
    }
    assert!(seen.values().sum::<usize>() >= 300, "{seen:?}");
    for answer in ["nothing", "live", "reboot", "after reinstall"] {
        assert!(seen.get(answer).is_some_and(|count| *count >= 20), "{answer}: {seen:?}");
    }
    for (path, _) in KEYS {
        assert!(changed_keys.iter().any(|place| is_below(place, path)), "{path} was never changed");
    }
}

#[test]
fn every_key_of_the_two_upper_levels_is_among_those_that_are_changed() {
    let known: BTreeSet<String> = effects().into_iter().map(|(path, _)| path).collect();
    let tried: BTreeSet<String> = KEYS.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(tried, known);
}

#[test]
fn each_key_alone_has_the_effect_that_is_said_of_it() {
    let mut judge = Judge::start();
    let bundle = bundle(&mut judge);
    let generated = generated(&bundle, Role::ControlPlane, Contract::V1_13);
    for (path, effect) in effects() {
        let (_, values) = KEYS.iter().find(|(known, _)| *known == path).unwrap();
        let [old, new] = values.map(|value| changed(&generated, &[set(&path, value)]));
        let (differs, reboots, reason) = judged(&mut judge, &old, &new);
        assert!(differs, "{path}");
        assert_eq!(reboots, effect == Effect::Reboot, "{path} {reason}");
    }
}

#[test]
fn exchanged_secrets_are_never_shown() {
    let mut judge = Judge::start();
    let bundles = [bundle(&mut judge), bundle(&mut judge)];
    for (contract, _) in CONTRACTS {
        for role in ROLES {
            let [old, new] = bundles.each_ref().map(|bundle| generated(bundle, role, contract));
            let listing = Difference::between(&old, &new).redacted();
            assert!(listing.contains("cluster.token\n  - (sensitive)\n  + (sensitive)\n"), "{listing}");
            for secret in bundles.iter().flat_map(secrets) {
                assert!(!listing.contains(&secret), "{role:?} {contract}");
                // Long values are shown in part: what comes after the label of a key, in base64.
                let encoded = STANDARD.encode(&secret);
                if let Some(part) = encoded.get(60..100) {
                    assert!(!listing.contains(part), "{role:?} {contract}");
                }
            }
        }
    }
}

fn secrets(bundle: &SecretsBundle) -> Vec<String> {
    let texts = [
        &bundle.cluster_id,
        &bundle.cluster_secret,
        &bundle.bootstrap_token,
        &bundle.secretbox_encryption_secret,
        &bundle.trustd_token,
    ];
    let authorities = [&bundle.etcd, &bundle.kubernetes, &bundle.kubernetes_aggregator, &bundle.os];
    texts
        .into_iter()
        .chain(authorities.into_iter().map(|authority| &authority.key))
        .chain([&bundle.service_account_key])
        .map(|secret| secret.expose().to_owned())
        .collect()
}
