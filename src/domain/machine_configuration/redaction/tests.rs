//! Secrets are planted wherever a configuration can hold one, and looked for in what is shown.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use super::*;
use crate::domain::machine_configuration::schema::{Field, Kind, MAIN, document_kinds};
use crate::domain::machine_configuration::{Difference, MachineConfiguration};

/// A secret, and what it is in base64.
const PLANTED: [&str; 2] = ["planted", "cGxhbnRlZ"];

/// A value wherever a secret can stand, and `harmless` beside it. `<URL>` is a URL with a user and a query.
const WITH_SECRETS: &str = r#"
version: v1alpha1
machine:
  type: harmless
  token: planted
  ca: {crt: aGFybWxlc3M=, key: cGxhbnRlZA==}
  kubelet:
    extraArgs: {v: harmless, w: [harmless]}
    extraConfig: {maxPods: 7, StaticPodURLHeader: {Authorization: [planted]}, staticPodURL: <URL>}
    credentialProviderConfig: {providers: [{name: a, env: [{name: A, value: planted}]}]}
  pods:
    - {spec: {containers: [{name: a, env: [{name: A, value: planted}], args: [planted, {a: planted}]}]}}
  network:
    interfaces:
      - interface: harmless
        wireguard: {privateKey: planted, listenPort: 1}
        vip: {ip: harmless, equinixMetal: {apiToken: planted}, hcloud: {apiToken: planted}}
        vlans: [{vlanId: 1, vip: {equinixMetal: {apiToken: planted}, hcloud: {apiToken: planted}}}]
  install: {disk: harmless, extraKernelArgs: [talos.config=<URL>, harmless], wipe: false}
  files: [{content: "a\nplanted\n", permissions: 0o600, path: harmless, op: create}]
  env: {A: planted}
  registries:
    mirrors: {a: {endpoints: [<URL>]}}
    config:
      a.b:
        tls: {clientIdentity: {crt: aGFybWxlc3M=, key: cGxhbnRlZA==}}
        auth: {username: harmless, password: planted, auth: planted, identityToken: planted}
  systemDiskEncryption:
    state: {provider: luks2, keys: [{slot: 0, static: {passphrase: planted}}, {slot: 1, kms: {endpoint: <URL>}}]}
    ephemeral: {provider: luks2, keys: [{slot: 0, static: {passphrase: planted}}]}
  logging: {destinations: [{endpoint: <URL>, format: json_lines, extraTags: {a: planted}}]}
  seccompProfiles: [{name: a, value: {defaultAction: harmless}}]
  baseRuntimeSpecOverrides: {process: {env: [A=planted]}, Process: {Env: [A=planted]}}
cluster:
  id: planted
  secret: planted
  controlPlane: {endpoint: <URL>}
  clusterName: harmless
  network: {cni: {name: custom, urls: [<URL>]}}
  token: planted
  aescbcEncryptionSecret: planted
  secretboxEncryptionSecret: planted
  ca: {crt: aGFybWxlc3M=, key: cGxhbnRlZA==}
  aggregatorCA: {crt: aGFybWxlc3M=, key: cGxhbnRlZA==}
  serviceAccount: {key: cGxhbnRlZA==}
  apiServer:
    env: {A: planted}
    admissionControl: [{name: a, configuration: {a: harmless}}]
    auditPolicy: {kind: harmless}
    authorizationConfig: [{type: a, name: b, webhook: {a: harmless}}]
    resources: {requests: {cpu: harmless}}
  controllerManager: {env: {A: planted}, resources: {limits: {cpu: harmless}}}
  scheduler:
    env: {A: planted}
    resources: {limits: {cpu: harmless}}
    config: {kind: harmless, extenders: [{tlsConfig: {keyData: planted}}]}
  discovery: {registries: {service: {endpoint: <URL>}}}
  etcd: {ca: {crt: aGFybWxlc3M=, key: cGxhbnRlZA==}}
  externalCloudProvider: {manifests: [<URL>]}
  extraManifests: [<URL>]
  extraManifestHeaders: {Authorization: planted}
  inlineManifests: [{name: harmless, contents: "kind: Secret\ndata: planted\n"}]
---
{apiVersion: v1alpha1, kind: EnvironmentConfig, variables: {A: planted}}
---
{apiVersion: v1alpha1, kind: ExtensionServiceConfig, name: a, configFiles: [{content: planted, mountPath: harmless}], environment: [A=planted]}
---
{apiVersion: v1alpha1, kind: RegistryAuthConfig, name: a, username: harmless, password: planted, auth: planted, identityToken: planted}
---
{apiVersion: v1alpha1, kind: RegistryTLSConfig, name: a, clientIdentity: {cert: harmless, key: planted}}
---
{apiVersion: v1alpha1, kind: RegistryMirrorConfig, name: a, endpoints: [{url: <URL>}]}
---
{apiVersion: v1alpha1, kind: WireguardConfig, name: a, privateKey: planted, peers: [{publicKey: harmless, presharedKey: planted}]}
---
{apiVersion: v1alpha1, kind: HCloudVIPConfig, name: 1.2.3.4, link: harmless, apiToken: planted}
---
{apiVersion: v1alpha1, kind: SideroLinkConfig, apiUrl: <URL>, uniqueToken: planted}
---
{apiVersion: v1alpha1, kind: EventSinkConfig, endpoint: <URL>}
---
{apiVersion: v1alpha1, kind: KmsgLogConfig, name: a, url: <URL>}
---
{apiVersion: v1alpha1, kind: VolumeConfig, name: a, ENCRYPTION}
---
{apiVersion: v1alpha1, kind: UserVolumeConfig, name: a, ENCRYPTION}
---
{apiVersion: v1alpha1, kind: RawVolumeConfig, name: a, ENCRYPTION}
---
{apiVersion: v1alpha1, kind: SwapVolumeConfig, name: a, ENCRYPTION}
"#;

const ENCRYPTION: &str = "encryption: {provider: luks2, keys: [{slot: 0, static: {passphrase: planted}}, {slot: 1, kms: {endpoint: <URL>}}]}";

fn with_secrets() -> MachineConfiguration {
    let text = WITH_SECRETS
        .replace("ENCRYPTION", ENCRYPTION)
        .replace("<URL>", "\"https://planted:planted@harmless.example/x?planted=planted\"");
    // A kernel argument is no URL as a whole.
    let text = text.replace("talos.config=\"https", "\"talos.config=https");
    MachineConfiguration::parse(&text).unwrap()
}

/// The same places with other secrets.
fn with_other_secrets() -> MachineConfiguration {
    let text = with_secrets().to_yaml();
    let other = text.expose().replace("planted", "planted2").replace("cGxhbnRlZA==", "cGxhbnRlZDI=");
    MachineConfiguration::parse(&other).unwrap()
}

fn empty() -> MachineConfiguration {
    MachineConfiguration::parse("machine: {type: worker}").unwrap()
}

fn shows_a_secret(listing: &str) -> bool {
    PLANTED.iter().any(|planted| listing.contains(planted))
}

#[test]
fn shows_no_secret_that_comes_goes_or_changes() {
    let (with, other, without) = (with_secrets(), with_other_secrets(), empty());
    for (old, new) in [(&without, &with), (&with, &without), (&with, &other), (&other, &with)] {
        let difference = Difference::between(old, new);
        let listing = difference.redacted();
        let shown: Vec<&str> = listing.lines().filter(|line| shows_a_secret(line)).collect();
        assert!(shown.is_empty(), "{shown:#?}");
        assert!(difference.changes().len() > 60, "{listing}");
        assert!(!shows_a_secret(&format!("{difference:?}")));
    }
}

#[test]
fn shows_what_is_no_secret() {
    let listing = Difference::between(&empty(), &with_secrets()).redacted();
    let harmless = WITH_SECRETS.matches("harmless").count() - 1;
    assert!(listing.matches("harmless").count() > harmless, "{listing}");
    for shown in [
        "machine.kubelet.extraArgs.v\n  + harmless\n",
        "machine.network.interfaces[0].wireguard.listenPort\n  + 1\n",
        "cluster.controlPlane.endpoint\n  + https://(sensitive)@harmless.example/x?(sensitive)\n",
        "cluster.token\n  + (sensitive)\n",
        "RegistryAuthConfig \"a\": username\n  + harmless\n",
        "RegistryAuthConfig \"a\": password\n  + (sensitive)\n",
        "machine.registries.config[a.b].auth.username\n  + harmless\n",
    ] {
        assert!(listing.contains(shown), "{shown}{listing}");
    }
    // The scan finds what is shown: the same value where no secret can stand.
    let planted = MachineConfiguration::parse("machine: {type: worker, sysctls: {a: planted}}").unwrap();
    assert!(shows_a_secret(&Difference::between(&empty(), &planted).redacted()));
}

#[test]
fn something_was_planted_at_every_place_of_the_table() {
    let difference = Difference::between(&empty(), &with_secrets());
    for (kind, path, treatment) in RULES {
        let is_there = difference
            .changes()
            .iter()
            .filter(|change| change.kind == *kind && leads_to(path, &change.steps))
            .filter_map(|change| change.after())
            .any(|value| *treatment == Shown || shows_a_secret(value.expose()));
        assert!(is_there, "{kind} {path}");
    }
}

#[test]
fn what_the_schema_does_not_know_is_hidden_unless_the_table_says_otherwise() {
    let steps = |path: &str| path.split('.').map(|key| Step::Key(key.to_owned())).collect::<Vec<_>>();
    assert_eq!(treatment("", &steps("machine.future.a"), true), Hidden);
    assert_eq!(treatment("", &steps("machine.future.a"), false), Shown);
    assert_eq!(treatment("", &steps("machine.kubelet.extraConfig.a"), true), Shown);
    assert_eq!(treatment("", &steps("machine.kubelet.extraConfig.STATICPODURLHEADER.a"), true), Hidden);
    assert_eq!(treatment("FutureConfig", &steps("a"), true), Hidden);
}

#[test]
fn urls_lose_user_and_query() {
    for (url, shown) in [
        ("https://a.example:6443/b", "https://a.example:6443/b"),
        ("https://u:p@a.example/b?c=d#e", "https://(sensitive)@a.example/b?(sensitive)"),
        ("https://u:p/w?x@a.example", "https://(sensitive)@a.example"),
        ("u:p@a.example:5000", "(sensitive)@a.example:5000"),
        ("siderolink.api=grpc://a.example?jointoken=x", "siderolink.api=grpc://a.example?(sensitive)"),
        ("console=ttyS0", "console=ttyS0"),
        ("", ""),
    ] {
        assert_eq!(without_credentials(url), shown);
    }
}

/// Every key of the schema, with its kind and its document's.
fn every_key() -> Vec<(&'static str, Vec<Step>, &'static Kind)> {
    let mut found = Vec::new();
    below("", &[], MAIN.fields, &mut found);
    for document in document_kinds() {
        below(document.kind, &[], document.fields, &mut found);
    }
    found
}

fn below(
    document: &'static str,
    steps: &[Step],
    fields: &'static [Field],
    found: &mut Vec<(&'static str, Vec<Step>, &'static Kind)>,
) {
    for field in fields {
        let mut steps = steps.to_vec();
        steps.push(Step::Key(field.key.to_owned()));
        let mut kind = &field.kind;
        while let Kind::List(inner) | Kind::Map(inner) = kind {
            let is_list = matches!(kind, Kind::List(_));
            steps.push(if is_list { Step::Item(0) } else { Step::Key("any".to_owned()) });
            kind = inner;
        }
        if let Kind::Struct(fields) = kind {
            below(document, &steps, fields, found);
        } else {
            found.push((document, steps, kind));
        }
    }
}

#[test]
fn every_url_and_every_free_form_part_of_the_schema_stands_in_the_table() {
    for (document, steps, kind) in every_key() {
        let decided = RULES.iter().any(|(of, path, _)| *of == document && leads_to(path, &steps));
        assert!(decided || !matches!(kind, Kind::Free), "{document} {steps:?}");
        let is_shown = treatment(document, &steps, false) == Shown;
        assert!(!is_shown || !matches!(kind, Kind::Url), "{document} {steps:?}");
    }
}

/// Words in keys whose values are secrets, as a net under the table: a key that the schema gets later and that is
/// called so must be decided upon.
const SECRET_WORDS: [&str; 8] =
    ["token", "secret", "password", "passphrase", "privatekey", "presharedkey", "content", "env"];

#[test]
fn every_key_of_the_schema_that_is_called_a_secret_is_hidden() {
    let mut caught = 0;
    for (document, steps, _) in every_key() {
        let Some(Step::Key(key)) = steps.iter().rev().find(|step| matches!(step, Step::Key(_))) else {
            continue;
        };
        let name = key.to_lowercase();
        let is_called_secret =
            name == "key" || name == "auth" || SECRET_WORDS.iter().any(|word| name.contains(word));
        if is_called_secret {
            caught += 1;
            assert_eq!(treatment(document, &steps, false), Hidden, "{document} {steps:?}");
        }
    }
    assert!(caught > 30, "{caught}");
}

#[test]
fn every_path_of_the_table_is_one_of_the_schema() {
    let keys = every_key();
    for (kind, path, _) in RULES {
        let is_known = keys.iter().any(|(document, steps, of)| {
            // Below a free-form part the schema knows no keys, and above a key the table may name a section.
            let parts: Vec<&str> = path.split('.').collect();
            let known = parts.len().min(steps.len());
            document == kind
                && leads_to(&parts[..known].join("."), steps)
                && (known == parts.len() || matches!(of, Kind::Free))
        });
        assert!(is_known, "{kind} {path}");
    }
}
