//! The flags that Talos 1.13.9 passes to etcd and to Kubernetes' components, and how a configuration's own are
//! merged into them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use crate::configuration::{Arguments, MachineConfiguration};

/// A flag of the configuration that Talos doesn't let a user set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("extra arg {flag:?} is not allowed")]
pub(super) struct Denied {
    flag: String,
}

/// What is done with a flag that the configuration gives too.
enum Merge {
    Overwrite,
    Append,
    Deny,
}

/// How an etcd member starts.
pub(super) enum EtcdStart<'a> {
    /// With the data it has.
    Restart,
    /// As the first member.
    New,
    /// As a new member of a cluster whose members are these, as etcd's flag wants them.
    Join { initial_cluster: &'a str },
}

/// etcd's arguments.
pub(super) fn etcd(
    configuration: &MachineConfiguration,
    hostname: &str,
    address: IpAddr,
    data: &Path,
    secrets: &Path,
    start: &EtcdStart<'_>,
) -> Result<Vec<String>, Denied> {
    let peer = format!("https://{}", socket(address, 2380));
    let client = format!("https://{}", socket(address, 2379));
    let secret = |name: &str| secrets.join("etcd").join(name).display().to_string();
    let mut flags = table(&[
        ("name", hostname.to_owned()),
        ("auto-tls", "false".to_owned()),
        ("peer-auto-tls", "false".to_owned()),
        ("data-dir", data.display().to_string()),
        ("listen-peer-urls", peer.clone()),
        ("listen-client-urls", client.clone()),
        ("client-cert-auth", "true".to_owned()),
        ("cert-file", secret("server.crt")),
        ("key-file", secret("server.key")),
        ("trusted-ca-file", secret("ca.crt")),
        ("peer-client-cert-auth", "true".to_owned()),
        ("peer-cert-file", secret("peer.crt")),
        ("peer-key-file", secret("peer.key")),
        ("peer-trusted-ca-file", secret("ca.crt")),
        ("experimental-initial-corrupt-check", "true".to_owned()),
        ("experimental-watch-progress-notify-interval", "5s".to_owned()),
        ("experimental-compact-hash-check-enabled", "true".to_owned()),
        ("advertise-client-urls", client),
        ("initial-advertise-peer-urls", peer.clone()),
    ]);
    match start {
        EtcdStart::Restart => {}
        EtcdStart::New => {
            set(&mut flags, "initial-cluster-state", "new");
            set(&mut flags, "initial-cluster", &format!("{hostname}={peer}"));
        }
        EtcdStart::Join { initial_cluster } => {
            set(&mut flags, "initial-cluster-state", "existing");
            set(&mut flags, "initial-cluster", initial_cluster);
        }
    }
    let free =
        ["initial-cluster-state", "initial-cluster", "advertise-client-urls", "initial-advertise-peer-urls"];
    let own: Vec<String> = flags.keys().filter(|flag| !free.contains(&flag.as_str())).cloned().collect();
    merge(&mut flags, &configuration.cluster.etcd.extra_arguments, |flag| {
        if own.iter().any(|denied| denied == flag) { Merge::Deny } else { Merge::Overwrite }
    })?;
    // Connections within 127/8 come from 127.0.0.1, which no peer's certificate names.
    set(&mut flags, "peer-skip-client-san-verification", "true");
    Ok(rendered(flags))
}

/// The API server's arguments.
pub(super) fn api_server(
    configuration: &MachineConfiguration,
    address: IpAddr,
    secrets: &Path,
    logs: &Path,
) -> Result<Vec<String>, Denied> {
    let cluster = &configuration.cluster;
    let file = |name: &str| secrets.join("kube-apiserver").join(name).display().to_string();
    let mut flags = table(&[
        ("admission-control-config-file", file("admission-control-config.yaml")),
        ("allow-privileged", "true".to_owned()),
        ("anonymous-auth", "false".to_owned()),
        ("api-audiences", cluster.endpoint.clone()),
        ("bind-address", "0.0.0.0".to_owned()),
        ("client-ca-file", file("ca.crt")),
        ("enable-admission-plugins", "NodeRestriction".to_owned()),
        ("requestheader-client-ca-file", file("aggregator-ca.crt")),
        ("requestheader-allowed-names", "front-proxy-client".to_owned()),
        ("requestheader-extra-headers-prefix", "X-Remote-Extra-".to_owned()),
        ("requestheader-group-headers", "X-Remote-Group".to_owned()),
        ("requestheader-username-headers", "X-Remote-User".to_owned()),
        ("proxy-client-cert-file", file("front-proxy-client.crt")),
        ("proxy-client-key-file", file("front-proxy-client.key")),
        ("enable-bootstrap-token-auth", "true".to_owned()),
        ("tls-min-version", "VersionTLS12".to_owned()),
        ("encryption-provider-config", file("encryptionconfig.yaml")),
        ("audit-policy-file", file("auditpolicy.yaml")),
        ("audit-log-path", logs.join("kube-apiserver-audit.log").display().to_string()),
        ("audit-log-maxage", "30".to_owned()),
        ("audit-log-maxbackup", "10".to_owned()),
        ("audit-log-maxsize", "100".to_owned()),
        ("profiling", "false".to_owned()),
        ("etcd-cafile", file("etcd-client-ca.crt")),
        ("etcd-certfile", file("etcd-client.crt")),
        ("etcd-keyfile", file("etcd-client.key")),
        ("etcd-servers", format!("https://{}", socket(address, 2379))),
        ("kubelet-client-certificate", file("apiserver-kubelet-client.crt")),
        ("kubelet-client-key", file("apiserver-kubelet-client.key")),
        ("secure-port", cluster.local_api_server_port.to_string()),
        ("service-account-issuer", cluster.endpoint.clone()),
        ("service-account-key-file", file("service-account.pub")),
        ("service-account-signing-key-file", file("service-account.key")),
        ("service-cluster-ip-range", cluster.network.service_subnets.join(",")),
        ("tls-cert-file", file("apiserver.crt")),
        ("tls-private-key-file", file("apiserver.key")),
        ("kubelet-preferred-address-types", "InternalIP,ExternalIP,Hostname".to_owned()),
        ("advertise-address", address.to_string()),
    ]);
    let extra = &cluster.api_server.extra_arguments;
    let own_modes =
        extra.keys().any(|flag| flag == "authorization-mode" || flag.starts_with("authorization-webhook-"));
    if own_modes {
        set(&mut flags, "authorization-mode", "Node,RBAC");
    } else {
        set(&mut flags, "authorization-config", &file("authorization-config.yaml"));
    }
    merge(&mut flags, extra, |flag| match flag {
        "enable-admission-plugins" | "feature-gates" | "authorization-mode" | "tls-cipher-suites" => {
            Merge::Append
        }
        "etcd-servers"
        | "client-ca-file"
        | "requestheader-client-ca-file"
        | "proxy-client-cert-file"
        | "proxy-client-key-file"
        | "encryption-provider-config"
        | "etcd-cafile"
        | "etcd-certfile"
        | "etcd-keyfile"
        | "kubelet-client-certificate"
        | "kubelet-client-key"
        | "service-account-key-file"
        | "service-account-signing-key-file"
        | "tls-cert-file"
        | "tls-private-key-file"
        | "authorization-config" => Merge::Deny,
        _ => Merge::Overwrite,
    })?;
    set(&mut flags, "bind-address", &address.to_string());
    // Loopback addresses may not stand in Endpoints.
    set(&mut flags, "endpoint-reconciler-type", "none");
    set(&mut flags, "egress-selector-config-file", &file("egress-selector.yaml"));
    Ok(rendered(flags))
}

/// The controller manager's arguments.
pub(super) fn controller_manager(
    configuration: &MachineConfiguration,
    address: IpAddr,
    secrets: &Path,
) -> Result<Vec<String>, Denied> {
    let cluster = &configuration.cluster;
    let file = |name: &str| secrets.join("kube-controller-manager").join(name).display().to_string();
    let mut flags = table(&[
        ("use-service-account-credentials", "true".to_owned()),
        ("allocate-node-cidrs", "true".to_owned()),
        ("bind-address", "127.0.0.1".to_owned()),
        ("cluster-cidr", cluster.network.pod_subnets.join(",")),
        ("service-cluster-ip-range", cluster.network.service_subnets.join(",")),
        ("cluster-signing-cert-file", file("ca.crt")),
        ("cluster-signing-key-file", file("ca.key")),
        ("controllers", "*,tokencleaner".to_owned()),
        ("configure-cloud-routes", "false".to_owned()),
        ("kubeconfig", file("kubeconfig")),
        ("authentication-kubeconfig", file("kubeconfig")),
        ("authorization-kubeconfig", file("kubeconfig")),
        ("leader-elect", "true".to_owned()),
        ("root-ca-file", file("ca.crt")),
        ("service-account-private-key-file", file("service-account.key")),
        ("profiling", "false".to_owned()),
        ("tls-min-version", "VersionTLS13".to_owned()),
    ]);
    merge(&mut flags, &cluster.controller_manager.extra_arguments, |flag| match flag {
        "service-cluster-ip-range" | "controllers" => Merge::Append,
        "cluster-signing-cert-file"
        | "cluster-signing-key-file"
        | "authentication-kubeconfig"
        | "authorization-kubeconfig"
        | "root-ca-file"
        | "service-account-private-key-file" => Merge::Deny,
        _ => Merge::Overwrite,
    })?;
    set(&mut flags, "bind-address", &address.to_string());
    Ok(rendered(flags))
}

/// The scheduler's arguments.
pub(super) fn scheduler(
    configuration: &MachineConfiguration,
    address: IpAddr,
    secrets: &Path,
) -> Result<Vec<String>, Denied> {
    let file = |name: &str| secrets.join("kube-scheduler").join(name).display().to_string();
    let mut flags = table(&[
        ("config", file("scheduler-config.yaml")),
        ("authentication-tolerate-lookup-failure", "false".to_owned()),
        ("authentication-kubeconfig", file("kubeconfig")),
        ("authorization-kubeconfig", file("kubeconfig")),
        ("bind-address", "127.0.0.1".to_owned()),
        ("leader-elect", "true".to_owned()),
        ("profiling", "false".to_owned()),
        ("tls-min-version", "VersionTLS13".to_owned()),
    ]);
    merge(&mut flags, &configuration.cluster.scheduler.extra_arguments, |flag| match flag {
        "kubeconfig" | "authentication-kubeconfig" | "authorization-kubeconfig" | "config" => Merge::Deny,
        _ => Merge::Overwrite,
    })?;
    set(&mut flags, "bind-address", &address.to_string());
    Ok(rendered(flags))
}

/// An address with a port, as URLs want it.
pub(super) fn socket(address: IpAddr, port: u16) -> String {
    std::net::SocketAddr::new(address, port).to_string()
}

type Flags = BTreeMap<String, Vec<String>>;

fn table(entries: &[(&str, String)]) -> Flags {
    entries.iter().map(|(flag, value)| ((*flag).to_owned(), vec![value.clone()])).collect()
}

fn set(flags: &mut Flags, flag: &str, value: &str) {
    flags.insert(flag.to_owned(), vec![value.to_owned()]);
}

fn merge(flags: &mut Flags, extra: &Arguments, policy: impl Fn(&str) -> Merge) -> Result<(), Denied> {
    for (flag, values) in extra {
        match policy(flag) {
            Merge::Deny => return Err(Denied { flag: flag.clone() }),
            Merge::Overwrite => {
                flags.insert(flag.clone(), values.clone());
            }
            Merge::Append => {
                let present = flags.entry(flag.clone()).or_default();
                let mut merged: Vec<String> = Vec::new();
                for value in present.iter().chain(values).flat_map(|list| list.split(',')) {
                    let value = value.trim();
                    if !value.is_empty() && !merged.iter().any(|seen| seen == value) {
                        merged.push(value.to_owned());
                    }
                }
                *present = vec![merged.join(",")];
            }
        }
    }
    Ok(())
}

fn rendered(flags: Flags) -> Vec<String> {
    flags
        .into_iter()
        .flat_map(|(flag, values)| values.into_iter().map(move |value| format!("--{flag}={value}")))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn extra(flag: &str, value: &str) -> Arguments {
        Arguments::from([(flag.to_owned(), vec![value.to_owned()])])
    }

    #[test]
    fn additive_flags_keep_what_talos_sets() {
        let mut flags = table(&[("enable-admission-plugins", "NodeRestriction".to_owned())]);
        merge(&mut flags, &extra("enable-admission-plugins", "NodeRestriction, PodNodeSelector"), |_| {
            Merge::Append
        })
        .unwrap();
        assert_eq!(rendered(flags), ["--enable-admission-plugins=NodeRestriction,PodNodeSelector"]);
    }

    #[test]
    fn a_flag_that_names_talos_own_files_is_denied_in_talos_words() {
        let mut flags = table(&[]);
        let denied = merge(&mut flags, &extra("etcd-cafile", "/x"), |_| Merge::Deny).unwrap_err();
        assert_eq!(denied.to_string(), r#"extra arg "etcd-cafile" is not allowed"#);
    }
}
