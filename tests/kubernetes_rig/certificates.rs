//! The certificates of one control plane.

use std::path::Path;

use base64::Engine as _;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

use super::Identity;

/// A certificate authority and what it signed.
pub(crate) struct Authority {
    certificate: String,
    other_certificate: String,
    administrator: Pair,
    stranger: Pair,
    impostor: Pair,
}

struct Pair {
    certificate: String,
    key: String,
}

impl Authority {
    /// Writes `ca.crt`, `ca.key`, `server.crt`, `server.key`, `accounts.key` and `accounts.pub` into `folder`.
    pub(crate) fn new(folder: &Path, address: &str) -> Self {
        let (certificate, issuer) = authority();
        let (other_certificate, other) = authority();
        let server = sign(&issuer, "kube-apiserver", None, &[address]);
        let accounts = KeyPair::generate().expect("a key");
        for (name, content) in [
            ("ca.crt", certificate.as_str()),
            ("ca.key", &issuer.key().serialize_pem()),
            ("server.crt", &server.certificate),
            ("server.key", &server.key),
            ("accounts.key", &accounts.serialize_pem()),
            ("accounts.pub", &accounts.public_key_pem()),
        ] {
            std::fs::write(folder.join(name), content).expect("write a certificate");
        }
        Self {
            administrator: sign(&issuer, "admin", Some("system:masters"), &[]),
            stranger: sign(&issuer, "stranger", None, &[]),
            impostor: sign(&other, "admin", Some("system:masters"), &[]),
            certificate,
            other_certificate,
        }
    }

    pub(crate) fn kubeconfig(&self, server: &str, identity: &Identity) -> String {
        self.kubeconfig_trusting(&self.certificate, server, identity)
    }

    pub(crate) fn kubeconfig_of_another_cluster(&self, server: &str) -> String {
        self.kubeconfig_trusting(&self.other_certificate, server, &Identity::Administrator)
    }

    fn kubeconfig_trusting(&self, authority: &str, server: &str, identity: &Identity) -> String {
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        let pair = match identity {
            Identity::Administrator => &self.administrator,
            Identity::Stranger => &self.stranger,
            Identity::Impostor => &self.impostor,
        };
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: lab\n\
             clusters:\n- name: lab\n  cluster:\n    server: {server}\n    certificate-authority-data: {}\n\
             users:\n- name: lab\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\n\
             contexts:\n- name: lab\n  context: {{cluster: lab, user: lab}}\n",
            encode(authority),
            encode(&pair.certificate),
            encode(&pair.key),
        )
    }
}

fn authority() -> (String, Issuer<'static, KeyPair>) {
    let mut parameters = CertificateParams::new(Vec::new()).expect("parameters");
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    parameters.distinguished_name.push(DnType::CommonName, "lab");
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    (certificate.pem(), Issuer::new(parameters, key))
}

fn sign(issuer: &Issuer<'_, KeyPair>, name: &str, group: Option<&str>, addresses: &[&str]) -> Pair {
    let addresses: Vec<String> = addresses.iter().map(|&address| address.to_owned()).collect();
    let mut parameters = CertificateParams::new(addresses).expect("parameters");
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        parameters.distinguished_name.push(DnType::OrganizationName, group);
    }
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().expect("a key");
    let certificate = parameters.signed_by(&key, issuer).expect("a certificate");
    Pair { certificate: certificate.pem(), key: key.serialize_pem() }
}
