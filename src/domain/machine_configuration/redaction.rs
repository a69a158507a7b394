//! Which values of a machine configuration may be shown to a person.
//!
//! Decided by where a value stands, never by what it looks like.

use super::difference::Step;

/// What stands for a secret.
pub(super) const SENSITIVE: &str = "(sensitive)";

/// How much of a value is shown. Of several that apply the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Treatment {
    Shown,
    /// A URL, or a kernel argument that is one: without a user and a query, which may hold a password or a token.
    WithoutCredentials,
    Hidden,
}

use Treatment::{Hidden, Shown, WithoutCredentials};

/// A kind of document (the main one has none), a path of keys in it, and how all below that path is treated. `*` is any
/// key of a map, `[]` any item of a list.
type Rule = (&'static str, &'static str, Treatment);

/// Every place whose values are not simply shown, and every free-form part that is.
///
/// Free-form parts of which nothing stands here are hidden: what they hold is not known.
const RULES: &[Rule] = &[
    // The cluster's own secrets.
    ("", "machine.token", Hidden),
    ("", "machine.ca.key", Hidden),
    ("", "cluster.id", Hidden),
    ("", "cluster.secret", Hidden),
    ("", "cluster.token", Hidden),
    ("", "cluster.aescbcEncryptionSecret", Hidden),
    ("", "cluster.secretboxEncryptionSecret", Hidden),
    ("", "cluster.ca.key", Hidden),
    ("", "cluster.aggregatorCA.key", Hidden),
    ("", "cluster.serviceAccount.key", Hidden),
    ("", "cluster.etcd.ca.key", Hidden),
    // Files, manifests and environments, which hold whatever their user puts there.
    ("", "machine.files.[].content", Hidden),
    ("", "machine.pods", Hidden),
    ("", "machine.env", Hidden),
    ("", "machine.baseRuntimeSpecOverrides", Hidden),
    ("", "machine.logging.destinations.[].extraTags", Hidden),
    ("", "cluster.apiServer.env", Hidden),
    ("", "cluster.controllerManager.env", Hidden),
    ("", "cluster.scheduler.env", Hidden),
    ("", "cluster.inlineManifests.[].contents", Hidden),
    ("", "cluster.extraManifestHeaders", Hidden),
    ("EnvironmentConfig", "variables", Hidden),
    ("ExtensionServiceConfig", "configFiles.[].content", Hidden),
    ("ExtensionServiceConfig", "environment", Hidden),
    // Registries.
    ("", "machine.registries.config.*.tls.clientIdentity.key", Hidden),
    ("", "machine.registries.config.*.auth.password", Hidden),
    ("", "machine.registries.config.*.auth.auth", Hidden),
    ("", "machine.registries.config.*.auth.identityToken", Hidden),
    ("RegistryAuthConfig", "password", Hidden),
    ("RegistryAuthConfig", "auth", Hidden),
    ("RegistryAuthConfig", "identityToken", Hidden),
    ("RegistryTLSConfig", "clientIdentity.key", Hidden),
    // Networks.
    ("", "machine.network.interfaces.[].wireguard.privateKey", Hidden),
    ("", "machine.network.interfaces.[].vip.equinixMetal.apiToken", Hidden),
    ("", "machine.network.interfaces.[].vip.hcloud.apiToken", Hidden),
    ("", "machine.network.interfaces.[].vlans.[].vip.equinixMetal.apiToken", Hidden),
    ("", "machine.network.interfaces.[].vlans.[].vip.hcloud.apiToken", Hidden),
    ("WireguardConfig", "privateKey", Hidden),
    ("WireguardConfig", "peers.[].presharedKey", Hidden),
    ("HCloudVIPConfig", "apiToken", Hidden),
    ("SideroLinkConfig", "uniqueToken", Hidden),
    // Disks.
    ("", "machine.systemDiskEncryption.*.keys.[].static.passphrase", Hidden),
    ("VolumeConfig", "encryption.keys.[].static.passphrase", Hidden),
    ("UserVolumeConfig", "encryption.keys.[].static.passphrase", Hidden),
    ("RawVolumeConfig", "encryption.keys.[].static.passphrase", Hidden),
    ("SwapVolumeConfig", "encryption.keys.[].static.passphrase", Hidden),
    // Free-form parts: those of Kubernetes' types in which only some keys can hold a secret.
    ("", "machine.kubelet.credentialProviderConfig", Hidden),
    ("", "machine.kubelet.extraConfig", Shown),
    ("", "machine.kubelet.extraConfig.staticPodURL", WithoutCredentials),
    ("", "machine.kubelet.extraConfig.staticPodURLHeader", Hidden),
    ("", "machine.seccompProfiles.[].value", Shown),
    ("", "cluster.apiServer.admissionControl.[].configuration", Shown),
    ("", "cluster.apiServer.auditPolicy", Shown),
    ("", "cluster.apiServer.authorizationConfig.[].webhook", Shown),
    ("", "cluster.apiServer.resources", Shown),
    ("", "cluster.controllerManager.resources", Shown),
    ("", "cluster.scheduler.resources", Shown),
    ("", "cluster.scheduler.config", Shown),
    ("", "cluster.scheduler.config.extenders", Hidden),
    // URLs.
    ("", "machine.install.extraKernelArgs", WithoutCredentials),
    ("", "machine.registries.mirrors.*.endpoints", WithoutCredentials),
    ("", "machine.logging.destinations.[].endpoint", WithoutCredentials),
    ("", "machine.systemDiskEncryption.*.keys.[].kms.endpoint", WithoutCredentials),
    ("", "cluster.controlPlane.endpoint", WithoutCredentials),
    ("", "cluster.network.cni.urls", WithoutCredentials),
    ("", "cluster.extraManifests", WithoutCredentials),
    ("", "cluster.externalCloudProvider.manifests", WithoutCredentials),
    ("", "cluster.discovery.registries.service.endpoint", WithoutCredentials),
    ("VolumeConfig", "encryption.keys.[].kms.endpoint", WithoutCredentials),
    ("UserVolumeConfig", "encryption.keys.[].kms.endpoint", WithoutCredentials),
    ("RawVolumeConfig", "encryption.keys.[].kms.endpoint", WithoutCredentials),
    ("SwapVolumeConfig", "encryption.keys.[].kms.endpoint", WithoutCredentials),
    ("RegistryMirrorConfig", "endpoints.[].url", WithoutCredentials),
    ("SideroLinkConfig", "apiUrl", WithoutCredentials),
    ("EventSinkConfig", "endpoint", WithoutCredentials),
    ("KmsgLogConfig", "url", WithoutCredentials),
];

/// How a value is treated that stands at the end of some steps in a kind of document; `is_free` says that it stands in
/// a part of which the schema knows nothing.
pub(super) fn treatment(kind: &str, steps: &[Step], is_free: bool) -> Treatment {
    RULES
        .iter()
        .filter(|(document, path, _)| *document == kind && leads_to(path, steps))
        .map(|(_, _, treatment)| *treatment)
        .max()
        .unwrap_or(if is_free { Hidden } else { Shown })
}

/// Whether the steps start with a path of the table. Go's JSON reads keys in any letter case.
fn leads_to(path: &str, steps: &[Step]) -> bool {
    let mut steps = steps.iter();
    path.split('.').all(|part| match (part, steps.next()) {
        ("[]", Some(Step::Item(_))) | ("*", Some(Step::Key(_))) => true,
        (part, Some(Step::Key(key))) => key.eq_ignore_ascii_case(part),
        (_, Some(Step::Item(_)) | None) => false,
    })
}

/// A URL without its user and its query, each replaced where it is there. What stands before the last `@` counts as the
/// user, wherever that is: passwords are not always escaped.
pub(super) fn without_credentials(text: &str) -> String {
    let (scheme, rest) = text.find("://").map_or(("", text), |at| text.split_at(at + 3));
    let (user, rest) = match rest.rsplit_once('@') {
        Some((_, rest)) => (format!("{SENSITIVE}@"), rest),
        None => (String::new(), rest),
    };
    let (rest, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let query = if query.is_empty() { String::new() } else { format!("?{SENSITIVE}") };
    format!("{scheme}{user}{rest}{query}")
}

#[cfg(test)]
mod tests;
