//! The files by which people and tools reach a cluster, as Talos writes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use yaml::{Value, emit_v2, emit_v4};

use super::client::ClientCertificate;
use super::error::Error;
use crate::domain::machine_configuration::Secret;

/// A talosconfig with one context, named after the cluster: `endpoints` are dialled, `nodes` are asked by default.
#[must_use]
pub fn talosconfig(
    cluster: &str,
    endpoints: &[String],
    nodes: &[String],
    client: &ClientCertificate,
) -> Secret {
    let list = |texts: &[String]| Value::Sequence(texts.iter().map(Value::string).collect());
    let mut context = vec![("endpoints", list(endpoints))];
    if !nodes.is_empty() {
        context.push(("nodes", list(nodes)));
    }
    context.extend([
        ("ca", base64(&client.authority)),
        ("crt", base64(&client.certificate)),
        ("key", base64(client.key.expose())),
    ]);
    let file = Value::mapping([
        ("context", Value::string(cluster)),
        ("contexts", Value::mapping([(cluster, Value::mapping(context))])),
    ]);
    Secret::new(emit_v4(&file))
}

/// A kubeconfig with one context, `admin@<cluster>`, for the API server at `server` (`https://HOST:PORT`).
///
/// # Errors
///
/// [`Error::Yaml`], which no text that comes here can cause.
pub fn kubeconfig(cluster: &str, server: &str, client: &ClientCertificate) -> Result<Secret, Error> {
    let user = format!("admin@{cluster}");
    let named = |name: &str, key: &str, value: Value| {
        Value::Sequence(vec![Value::mapping([(key, value), ("name", Value::string(name))])])
    };
    let file = Value::mapping([
        ("apiVersion", Value::string("v1")),
        (
            "clusters",
            named(
                cluster,
                "cluster",
                Value::mapping([
                    ("certificate-authority-data", base64(&client.authority)),
                    ("server", Value::string(server)),
                ]),
            ),
        ),
        (
            "contexts",
            named(
                &user,
                "context",
                Value::mapping([
                    ("cluster", Value::string(cluster)),
                    ("namespace", Value::string("default")),
                    ("user", Value::string(user.as_str())),
                ]),
            ),
        ),
        ("current-context", Value::string(user.as_str())),
        ("kind", Value::string("Config")),
        (
            "users",
            Value::Sequence(vec![Value::mapping([
                ("name", Value::string(user.as_str())),
                (
                    "user",
                    Value::mapping([
                        ("client-certificate-data", base64(&client.certificate)),
                        ("client-key-data", base64(client.key.expose())),
                    ]),
                ),
            ])]),
        ),
    ]);
    emit_v2(&file).map(Secret::new).map_err(|error| Error::Yaml("the kubeconfig", error.to_string()))
}

fn base64(pem: &str) -> Value {
    Value::String(STANDARD.encode(pem))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn client() -> ClientCertificate {
        ClientCertificate { authority: "a".into(), certificate: "c".into(), key: Secret::new("k") }
    }

    #[test]
    fn a_talosconfig_reads_as_talosctl_writes_it() {
        let endpoints = ["10.0.0.1".to_owned(), "fd00::1".to_owned()];
        assert_eq!(
            talosconfig("prod", &endpoints, &[], &client()).expose(),
            "context: prod\ncontexts:\n    prod:\n        endpoints:\n            - 10.0.0.1\n            - fd00::1\n        \
             ca: YQ==\n        crt: Yw==\n        key: aw==\n"
        );
        assert_eq!(
            talosconfig("1", &[], &["10.0.0.1".to_owned()], &client()).expose(),
            "context: \"1\"\ncontexts:\n    \"1\":\n        endpoints: []\n        nodes:\n            - 10.0.0.1\n        \
             ca: YQ==\n        crt: Yw==\n        key: aw==\n"
        );
    }

    #[test]
    fn a_kubeconfig_reads_as_talos_writes_it() {
        let expected = "apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: YQ==
    server: https://10.0.0.10:6443
  name: prod
contexts:
- context:
    cluster: prod
    namespace: default
    user: admin@prod
  name: admin@prod
current-context: admin@prod
kind: Config
users:
- name: admin@prod
  user:
    client-certificate-data: Yw==
    client-key-data: aw==
";
        assert_eq!(kubeconfig("prod", "https://10.0.0.10:6443", &client()).unwrap().expose(), expected);
    }
}
