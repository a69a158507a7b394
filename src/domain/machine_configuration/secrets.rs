//! A cluster's secrets, as `talosctl gen secrets` keeps them.
//!
//! Created once and never regenerated: whoever loses them cannot add a machine, whoever has them owns the cluster.
//! They are carried in types that print nothing.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use yaml::{Node, Typing, Value, emit_v4, parse_document};
use zeroize::Zeroizing;

/// A text that must not be seen: it prints as nothing and is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a text that must not be seen from now on.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself, for the wire and for files of mode 0600.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("(secret)")
    }
}

/// A certificate authority: its certificate and its key, both as PEM texts that end in a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateAndKey {
    /// The certificate.
    pub certificate: String,
    /// The private key, under the label of its kind: `ED25519 PRIVATE KEY`, `EC PRIVATE KEY` or `RSA PRIVATE KEY`.
    pub key: Secret,
}

/// All secrets of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsBundle {
    /// What discovery knows the cluster by: 32 bytes in URL-safe base64.
    pub cluster_id: Secret,
    /// What discovery encrypts with: 32 bytes in base64.
    pub cluster_secret: Secret,
    /// The token that kubelets join with: 6 characters, a dot, 16 characters.
    pub bootstrap_token: Secret,
    /// What Kubernetes' secrets are encrypted with in etcd: 32 bytes in base64.
    pub secretbox_encryption_secret: Secret,
    /// The token that machines ask for their certificate with, in the form of the bootstrap token.
    pub trustd_token: Secret,
    /// etcd's authority (ECDSA P-256).
    pub etcd: CertificateAndKey,
    /// Kubernetes' authority (ECDSA P-256).
    pub kubernetes: CertificateAndKey,
    /// The authority of Kubernetes' aggregation layer (ECDSA P-256).
    pub kubernetes_aggregator: CertificateAndKey,
    /// What service account tokens are signed with (RSA 4096), as a PEM text.
    pub service_account_key: Secret,
    /// The authority of Talos' own API (Ed25519).
    pub os: CertificateAndKey,
}

/// Why a text is no usable secrets bundle. No part of the text is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// It is no YAML.
    #[error("read the secrets bundle: no YAML at line {line}, column {column}")]
    NotYaml {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
    },
    /// Parts are missing or malformed; all that are, at once.
    #[error("use the secrets bundle: {}", .0.join("; "))]
    Unusable(Vec<String>),
}

impl SecretsBundle {
    /// Reads what `talosctl gen secrets` writes. As Talos does, it ignores keys that it does not know.
    ///
    /// # Errors
    /// A text that is no YAML, or everything in it that is missing or malformed.
    pub fn from_yaml(text: &str) -> Result<Self, SecretsError> {
        let document = parse_document(text, Typing::V4)
            .map_err(|error| SecretsError::NotYaml { line: error.line, column: error.column })?;
        let mut reader = Reader { root: document.map(|document| document.root), problems: Vec::new() };
        let bundle = reader.bundle();
        if reader.problems.is_empty() { Ok(bundle) } else { Err(SecretsError::Unusable(reader.problems)) }
    }

    /// A bundle whose parts only name themselves: what a configuration is judged with before there are secrets. Nothing
    /// takes it for real.
    #[must_use]
    pub fn placeholder() -> Self {
        let pem =
            |label: &str, name: &str| format!("-----BEGIN {label}-----\n{name}\n-----END {label}-----\n");
        let authority = |name: &str, label: &str| CertificateAndKey {
            certificate: pem("CERTIFICATE", name),
            key: Secret::new(pem(label, name)),
        };
        Self {
            cluster_id: Secret::new("aWQtb2YtdGhlLWNsdXN0ZXI="),
            cluster_secret: Secret::new("c2VjcmV0LW9mLXRoZS1jbHVzdGVy"),
            bootstrap_token: Secret::new("abcdef.0123456789abcdef"),
            secretbox_encryption_secret: Secret::new("c2VjcmV0Ym94"),
            trustd_token: Secret::new("123456.1234567890123456"),
            etcd: authority("etcd", "EC PRIVATE KEY"),
            kubernetes: authority("kubernetes", "EC PRIVATE KEY"),
            kubernetes_aggregator: authority("aggregator", "EC PRIVATE KEY"),
            service_account_key: Secret::new(pem("RSA PRIVATE KEY", "service account")),
            os: authority("os", "ED25519 PRIVATE KEY"),
        }
    }

    /// Writes the bundle byte for byte as `talosctl gen secrets` does.
    #[must_use]
    pub fn to_yaml(&self) -> Secret {
        let text = |secret: &Secret| Value::string(secret.expose());
        let authority = |authority: &CertificateAndKey| {
            Value::mapping([
                ("crt", Value::String(encode(&authority.certificate))),
                ("key", Value::String(encode(authority.key.expose()))),
            ])
        };
        let service_account =
            Value::mapping([("key", Value::String(encode(self.service_account_key.expose())))]);
        let bundle = Value::mapping([
            (
                "cluster",
                Value::mapping([("id", text(&self.cluster_id)), ("secret", text(&self.cluster_secret))]),
            ),
            (
                "secrets",
                Value::mapping([
                    ("bootstraptoken", text(&self.bootstrap_token)),
                    ("secretboxencryptionsecret", text(&self.secretbox_encryption_secret)),
                ]),
            ),
            ("trustdinfo", Value::mapping([("token", text(&self.trustd_token))])),
            (
                "certs",
                Value::mapping([
                    ("etcd", authority(&self.etcd)),
                    ("k8s", authority(&self.kubernetes)),
                    ("k8saggregator", authority(&self.kubernetes_aggregator)),
                    ("k8sserviceaccount", service_account),
                    ("os", authority(&self.os)),
                ]),
            ),
        ]);
        Secret::new(emit_v4(&bundle))
    }
}

/// A PEM text as machine configurations and bundles carry it.
pub(super) fn encode(pem: &str) -> String {
    STANDARD.encode(pem)
}

/// Reads part after part and notes what is wrong with each.
struct Reader {
    root: Option<Node>,
    problems: Vec<String>,
}

impl Reader {
    fn bundle(&mut self) -> SecretsBundle {
        let bundle = SecretsBundle {
            cluster_id: self.required(&["cluster", "id"]),
            cluster_secret: self.required(&["cluster", "secret"]),
            bootstrap_token: self.required(&["secrets", "bootstraptoken"]),
            secretbox_encryption_secret: self.required(&["secrets", "secretboxencryptionsecret"]),
            trustd_token: self.required(&["trustdinfo", "token"]),
            etcd: self.authority("etcd"),
            kubernetes: self.authority("k8s"),
            kubernetes_aggregator: self.authority("k8saggregator"),
            service_account_key: self.pem(&["certs", "k8sserviceaccount", "key"], KEY_LABELS),
            os: self.authority("os"),
        };
        if self.text(&["secrets", "aescbcencryptionsecret"]).is_some() {
            // Talos' generator would drop it without a word from contract 1.3 on, and etcd's secrets would be lost.
            self.problems.push(
                "secrets.aescbcencryptionsecret is of clusters older than Talos 1.3: expected \
                 secrets.secretboxencryptionsecret alone"
                    .to_owned(),
            );
        }
        bundle
    }

    fn authority(&mut self, name: &str) -> CertificateAndKey {
        let certificate = self.pem(&["certs", name, "crt"], &["CERTIFICATE"]);
        CertificateAndKey {
            certificate: certificate.expose().to_owned(),
            key: self.pem(&["certs", name, "key"], KEY_LABELS),
        }
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        let mut node = self.root.as_ref()?;
        for key in path {
            node = node.field(key)?;
        }
        node.as_scalar()
            .filter(|scalar| !scalar.value.is_null() && !scalar.text.is_empty())
            .map(|scalar| scalar.text.clone())
    }

    fn required(&mut self, path: &[&str]) -> Secret {
        let Some(text) = self.text(path) else {
            self.problems.push(format!("{} is required", path.join(".")));
            return Secret::new("");
        };
        Secret::new(text)
    }

    fn pem(&mut self, path: &[&str], labels: &[&str]) -> Secret {
        let encoded = self.required(path);
        if encoded.expose().is_empty() {
            return encoded;
        }
        let decoded = STANDARD.decode(encoded.expose()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let is_pem = |pem: &String| labels.iter().any(|label| has_label(pem, label));
        if let Some(pem) = decoded.filter(is_pem) {
            return Secret::new(pem);
        }
        self.problems.push(format!(
            "{} is invalid: expected the base64 of a PEM text labelled {}",
            path.join("."),
            labels.join(" or ")
        ));
        Secret::new("")
    }
}

/// The labels that Talos 1.10 and later take a key under.
const KEY_LABELS: &[&str] = &["ED25519 PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "PRIVATE KEY"];

fn has_label(pem: &str, label: &str) -> bool {
    pem.trim_start().starts_with(&format!("-----BEGIN {label}-----"))
        && pem.trim_end().ends_with(&format!("-----END {label}-----"))
}

#[cfg(test)]
pub(super) mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    /// A bundle whose parts name themselves.
    pub(in super::super) fn bundle() -> SecretsBundle {
        SecretsBundle::placeholder()
    }

    #[test]
    fn reads_what_it_writes() {
        let text = bundle().to_yaml();
        assert_eq!(SecretsBundle::from_yaml(text.expose()).unwrap(), bundle());
        assert!(text.expose().starts_with("cluster:\n    id: aWQtb2YtdGhlLWNsdXN0ZXI=\n    secret: "));
        assert!(
            text.expose().contains("trustdinfo:\n    token: \"123456.1234567890123456\"\n"),
            "a number in form"
        );
    }

    #[test]
    fn prints_no_secret() {
        let bundle = bundle();
        let printed = format!("{bundle:?} {:#?}", bundle.to_yaml());
        for secret in ["abcdef", "PRIVATE KEY", "c2VjcmV0"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }

    #[test]
    fn names_all_that_is_missing_or_malformed_and_no_secret() {
        let text = bundle()
            .to_yaml()
            .expose()
            .replace("bootstraptoken: abcdef.0123456789abcdef", "aescbcencryptionsecret: topsecret")
            .replace(&encode(bundle().os.key.expose()), "dG9wc2VjcmV0");
        let error = SecretsBundle::from_yaml(&text).unwrap_err().to_string();
        assert!(error.contains("secrets.bootstraptoken is required"), "{error}");
        assert!(error.contains("certs.os.key is invalid"), "{error}");
        assert!(error.contains("aescbcencryptionsecret is of clusters older"), "{error}");
        assert!(!error.contains("topsecret") && !error.contains("dG9wc2VjcmV0"), "{error}");
    }

    #[test]
    fn a_text_that_is_no_bundle_misses_everything() {
        let SecretsError::Unusable(problems) = SecretsBundle::from_yaml("[]").unwrap_err() else {
            unreachable!("a list is YAML")
        };
        assert_eq!(problems.len(), 14);
        assert_eq!(
            SecretsBundle::from_yaml("{").unwrap_err().to_string().split(" at ").next(),
            Some("read the secrets bundle: no YAML")
        );
    }
}
