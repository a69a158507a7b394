//! The keys of the documents about services, registries, logs and trust.

use super::Kind::{Bool, Duration, Expression, List, Struct, Text, TextMap, Url};
use super::{Contract, DocumentKind, Field, Key, always, named, optional, single};

/// The documents of this file.
pub(super) const DOCUMENTS: &[DocumentKind] = &[
    single("EnvironmentConfig", Contract::V1_13, ENVIRONMENT),
    single("EventSinkConfig", Contract::V1_10, EVENT_SINK),
    named("ExtensionServiceConfig", Contract::V1_10, EXTENSION_SERVICE),
    single("ImageVerificationConfig", Contract::V1_13, IMAGE_VERIFICATION),
    named("KmsgLogConfig", Contract::V1_10, KMSG_LOG),
    single("OOMConfig", Contract::V1_12, OOM),
    named("PCIDriverRebindConfig", Contract::V1_10, PCIDRIVER_REBIND),
    named("RegistryAuthConfig", Contract::V1_12, REGISTRY_AUTH),
    named("RegistryMirrorConfig", Contract::V1_12, REGISTRY_MIRROR),
    named("RegistryTLSConfig", Contract::V1_12, REGISTRY_TLS),
    single("SideroLinkConfig", Contract::V1_10, SIDERO_LINK),
    named("TrustedRootsConfig", Contract::V1_10, TRUSTED_ROOTS),
    single("WatchdogTimerConfig", Contract::V1_10, WATCHDOG_TIMER),
];

const ENVIRONMENT: &[Field] = &[always("variables", TextMap)];

const EVENT_SINK: &[Field] = &[always("endpoint", Text)];

const EXTENSION_SERVICE: &[Field] = &[
    always("name", Text),
    optional("configFiles", List(&Struct(CONFIG_FILE))).keyed(Key::Field("mountPath")),
    optional("environment", List(&Text)),
];

const IMAGE_VERIFICATION: &[Field] =
    &[optional("rules", List(&Struct(VERIFICATION_RULE))).keyed(Key::WholeBy("image"))];

const KMSG_LOG: &[Field] = &[always("name", Text), always("url", Url)];

const OOM: &[Field] = &[
    optional("triggerExpression", Expression),
    optional("cgroupRankingExpression", Expression),
    optional("strictCgroupClassOrdering", Bool),
    optional("sampleInterval", Duration),
];

const PCIDRIVER_REBIND: &[Field] = &[always("name", Text), always("targetDriver", Text)];

const REGISTRY_AUTH: &[Field] = &[
    always("name", Text),
    optional("username", Text),
    optional("password", Text),
    optional("auth", Text),
    optional("identityToken", Text),
];

const REGISTRY_MIRROR: &[Field] = &[
    always("name", Text),
    optional("endpoints", List(&Struct(MIRROR_ENDPOINT))),
    optional("skipFallback", Bool),
];

const REGISTRY_TLS: &[Field] = &[
    always("name", Text),
    optional("clientIdentity", Struct(CLIENT_IDENTITY)).pointer(),
    optional("ca", Text),
    optional("insecureSkipVerify", Bool),
];

const SIDERO_LINK: &[Field] = &[always("apiUrl", Url), optional("uniqueToken", Text)];

const TRUSTED_ROOTS: &[Field] = &[always("name", Text), always("certificates", Text)];

const WATCHDOG_TIMER: &[Field] = &[always("device", Text), optional("timeout", Duration)];

const CONFIG_FILE: &[Field] = &[always("content", Text), always("mountPath", Text)];

const VERIFICATION_RULE: &[Field] = &[
    optional("image", Text),
    optional("skip", Bool),
    optional("deny", Bool),
    optional("keyless", Struct(KEYLESS)).pointer(),
    optional("publicKey", Struct(PUBLIC_KEY)).pointer(),
];

const KEYLESS: &[Field] =
    &[optional("issuer", Text), optional("subject", Text), optional("subjectRegex", Text)];

const PUBLIC_KEY: &[Field] = &[optional("certificate", Text)];

const MIRROR_ENDPOINT: &[Field] = &[always("url", Url), optional("overridePath", Bool)];

const CLIENT_IDENTITY: &[Field] = &[optional("cert", Text), optional("key", Text)];
