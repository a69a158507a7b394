//! Our keys, certificates and access files, judged by Talos' own library: it loads and validates them, shakes hands
//! with them, and describes them exactly as those that it generates itself.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod talos_judge;

use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use kontinuum::clients::talos::pki::{
    self, Error, Random, SystemRandom, administrator, generate_secrets_blocking, kubeconfig,
    kubernetes_administrator, talosconfig,
};
use kontinuum::domain::machine_configuration::{Secret, SecretsBundle};
use serde_json::{Value, json};

const THEN: &str = "2021-02-03T04:05:06Z";

#[test]
fn talos_finds_them_valid_and_equal_to_its_own() {
    let mut answer = judge(secrets(), secrets());
    assert_eq!(answer["problems"], json!([]));
    for client in ["talos client", "kubernetes client"] {
        let hours = &mut answer["ours"]["certificates"][client]["lifetime_hours"];
        assert_eq!(*hours, json!(24 * 365 + 1), "ours start an hour earlier");
        *hours = json!(24 * 365);
    }
    let described = |answer: &Value, whose: &str| serde_json::to_string_pretty(&answer[whose]).unwrap();
    assert_eq!(described(&answer, "ours"), described(&answer, "talos"));
}

#[test]
fn a_certificate_of_another_cluster_is_found_out() {
    let problems = judge(secrets(), other_secrets())["problems"].to_string();
    assert!(problems.contains("shake hands with the talosconfig"), "{problems}");
    assert!(problems.contains("shake hands with the kubeconfig"), "{problems}");
}

/// Authorities that others made: kubeadm's is named by a common name, and keys come under other labels.
#[test]
fn authorities_of_other_makers_can_sign_too() {
    let mut secrets = secrets().clone();
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(rcgen::DnType::CommonName, "kubernetes");
    parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    secrets.kubernetes.certificate = parameters.self_signed(&key).unwrap().pem();
    secrets.kubernetes.key = Secret::new(key.serialize_pem());
    let answer = judge(&secrets, &secrets);
    assert_eq!(answer["problems"], json!([]));
    assert_eq!(answer["ours"]["certificates"]["kubernetes client"]["signed_by_authority"], json!(true));
}

#[test]
fn a_key_of_another_authority_never_signs() {
    let random = &mut SystemRandom::default();
    let mut secrets = secrets().clone();
    secrets.os.key = other_secrets().os.key.clone();
    let error = administrator(&secrets, Timestamp::now(), random).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sign with Talos' certificate authority: its key does not fit its certificate"
    );
    secrets.os.key = Secret::new("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    let error = administrator(&secrets, Timestamp::now(), random).unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
}

#[test]
fn certificates_are_dated_by_the_given_clock() {
    let now: Timestamp = THEN.parse().unwrap();
    let secrets = other_secrets();
    let client = administrator(secrets, now, &mut SystemRandom::default()).unwrap();
    let dates = |pem: &str| {
        let (_, pem) = x509_parser::pem::parse_x509_pem(pem.as_bytes()).unwrap();
        let validity = pem.parse_x509().unwrap().validity().clone();
        (validity.not_before.timestamp(), validity.not_after.timestamp())
    };
    let year = SignedDuration::try_from(pki::LIFETIME).unwrap();
    let backdated = SignedDuration::try_from(pki::BACKDATED).unwrap();
    assert_eq!(dates(&client.certificate), ((now - backdated).as_second(), (now + year).as_second()));
    let ten_years = SignedDuration::from_hours(87_600);
    assert_eq!(dates(&secrets.os.certificate), (now.as_second(), (now + ten_years).as_second()));
}

#[test]
fn no_randomness_is_an_error_and_no_weak_key() {
    struct Exhausted;
    impl Random for Exhausted {
        fn fill(&mut self, _: &mut [u8]) -> Result<(), Error> {
            Err(Error::Cryptography("random bytes"))
        }
    }
    let error = generate_secrets_blocking(Timestamp::now(), &mut Exhausted).unwrap_err();
    assert_eq!(error, Error::Cryptography("random bytes"));
}

#[test]
fn nothing_secret_is_printed() {
    let secrets = secrets();
    let client = administrator(secrets, Timestamp::now(), &mut SystemRandom::default()).unwrap();
    let printed = format!("{secrets:?} {client:?} {:?}", client.credentials().unwrap());
    assert!(!printed.contains("PRIVATE KEY"), "{printed}");
    assert!(!printed.contains(secrets.bootstrap_token.expose()), "{printed}");
}

/// Computing an RSA key takes seconds: all tests share two bundles.
fn secrets() -> &'static SecretsBundle {
    static SECRETS: LazyLock<SecretsBundle> =
        LazyLock::new(|| generate_secrets_blocking(Timestamp::now(), &mut SystemRandom::default()).unwrap());
    &SECRETS
}

/// Another cluster's, made at [`THEN`].
fn other_secrets() -> &'static SecretsBundle {
    static SECRETS: LazyLock<SecretsBundle> = LazyLock::new(|| {
        generate_secrets_blocking(THEN.parse().unwrap(), &mut SystemRandom::default()).unwrap()
    });
    &SECRETS
}

/// What Talos says of a bundle, and of access files that were made with the other one.
fn judge(bundle: &SecretsBundle, of_clients: &SecretsBundle) -> Value {
    let (now, random) = (Timestamp::now(), &mut SystemRandom::default());
    let talos = administrator(of_clients, now, random).unwrap();
    let kubernetes = kubernetes_administrator(of_clients, now, random).unwrap();
    let request = json!({
        "bundle": bundle.to_yaml().expose(),
        "talosconfig": talosconfig("prod", &["10.0.0.1".to_owned()], &[], &talos).expose(),
        "kubeconfig": kubeconfig("prod", "https://10.0.0.10:6443", &kubernetes).unwrap().expose(),
    });
    serde_json::from_slice(&talos_judge::ask("talos-credentials", request.to_string().as_bytes())).unwrap()
}
