//! The keys of `machine`.

use super::Kind::{
    Arguments, Base64, Bool, Duration, Free, Integer, List, Map, PartitionSize, Permissions, SizeMatch,
    Struct, Text, TextMap, Url,
};
use super::common::{CERTIFICATE, CERTIFICATE_AND_KEY, SWITCH};
use super::machine_network::NETWORK;
use super::{
    Contract, Field,
    IntegerKind::{I64, U32, U64},
    always, optional,
};

/// What the machine itself is.
pub(super) const MACHINE: &[Field] = &[
    always("type", Text),
    always("token", Text),
    optional("ca", Struct(CERTIFICATE_AND_KEY)).pointer().replaced(),
    optional("acceptedCAs", List(&Struct(CERTIFICATE))),
    always("certSANs", List(&Text)),
    optional("controlPlane", Struct(CONTROL_PLANE)).pointer(),
    optional("kubelet", Struct(KUBELET)).pointer(),
    optional("pods", List(&Free)),
    optional("network", Struct(NETWORK)).pointer(),
    optional("disks", List(&Struct(DISK))),
    optional("install", Struct(INSTALL)).pointer(),
    optional("files", List(&Struct(FILE))),
    optional("env", TextMap),
    optional("time", Struct(TIME)).pointer(),
    optional("sysctls", TextMap),
    optional("sysfs", TextMap),
    optional("registries", Struct(REGISTRIES)),
    optional("systemDiskEncryption", Struct(SYSTEM_DISK_ENCRYPTION)).pointer(),
    optional("features", Struct(FEATURES)).pointer(),
    optional("udev", Struct(UDEV)).pointer(),
    optional("logging", Struct(LOGGING)).pointer(),
    optional("kernel", Struct(KERNEL)).pointer(),
    optional("seccompProfiles", List(&Struct(SECCOMP_PROFILE))),
    optional("baseRuntimeSpecOverrides", Free),
    optional("nodeLabels", TextMap),
    optional("nodeAnnotations", TextMap),
    optional("nodeTaints", TextMap),
];

const CONTROL_PLANE: &[Field] = &[
    optional("controllerManager", Struct(SWITCH)).pointer(),
    optional("scheduler", Struct(SWITCH)).pointer(),
];

const KUBELET: &[Field] = &[
    optional("image", Text),
    optional("clusterDNS", List(&Text)),
    optional("extraArgs", Arguments),
    optional("extraMounts", List(&Struct(MOUNT))),
    optional("extraConfig", Free),
    optional("credentialProviderConfig", Free),
    optional("defaultRuntimeSeccompProfileEnabled", Bool),
    optional("registerWithFQDN", Bool),
    optional("nodeIP", Struct(NODE_IP)).pointer(),
    optional("skipNodeRegistration", Bool),
    optional("disableManifestsDirectory", Bool),
];

const MOUNT: &[Field] = &[
    always("destination", Text),
    optional("type", Text),
    optional("source", Text),
    optional("options", List(&Text)),
    optional("uidMappings", List(&Struct(ID_MAPPING))),
    optional("gidMappings", List(&Struct(ID_MAPPING))),
];

const ID_MAPPING: &[Field] =
    &[always("containerID", Integer(U32)), always("hostID", Integer(U32)), always("size", Integer(U32))];

const NODE_IP: &[Field] = &[optional("validSubnets", List(&Text))];

const DISK: &[Field] = &[optional("device", Text), optional("partitions", List(&Struct(PARTITION)))];

const PARTITION: &[Field] = &[optional("size", PartitionSize), optional("mountpoint", Text)];

const INSTALL: &[Field] = &[
    optional("disk", Text),
    optional("diskSelector", Struct(DISK_SELECTOR)).pointer(),
    optional("extraKernelArgs", List(&Text)),
    optional("image", Text),
    optional("extensions", List(&Struct(EXTENSION))),
    optional("bootloader", Bool),
    always("wipe", Bool),
    optional("legacyBIOSSupport", Bool),
    optional("grubUseUKICmdline", Bool).since(Contract::V1_12),
];

const DISK_SELECTOR: &[Field] = &[
    optional("size", SizeMatch).pointer(),
    optional("name", Text),
    optional("model", Text),
    optional("serial", Text),
    optional("modalias", Text),
    optional("uuid", Text),
    optional("wwid", Text),
    optional("type", Text),
    optional("busPath", Text),
];

const EXTENSION: &[Field] = &[always("image", Text)];

const FILE: &[Field] =
    &[always("content", Text), always("permissions", Permissions), always("path", Text), always("op", Text)];

const TIME: &[Field] =
    &[optional("disabled", Bool), optional("servers", List(&Text)), optional("bootTimeout", Duration)];

const REGISTRIES: &[Field] =
    &[optional("mirrors", Map(&Struct(MIRROR))), optional("config", Map(&Struct(REGISTRY)))];

const MIRROR: &[Field] =
    &[always("endpoints", List(&Text)), optional("overridePath", Bool), optional("skipFallback", Bool)];

const REGISTRY: &[Field] =
    &[optional("tls", Struct(TLS)).pointer(), optional("auth", Struct(AUTH)).pointer()];

const TLS: &[Field] = &[
    optional("clientIdentity", Struct(CERTIFICATE_AND_KEY)).pointer().replaced(),
    optional("ca", Base64),
    optional("insecureSkipVerify", Bool),
];

const AUTH: &[Field] = &[
    optional("username", Text),
    optional("password", Text),
    optional("auth", Text),
    optional("identityToken", Text),
];

const SYSTEM_DISK_ENCRYPTION: &[Field] =
    &[optional("state", Struct(ENCRYPTION)).pointer(), optional("ephemeral", Struct(ENCRYPTION)).pointer()];

const ENCRYPTION: &[Field] = &[
    always("provider", Text),
    always("keys", List(&Struct(ENCRYPTION_KEY))),
    optional("cipher", Text),
    optional("keySize", Integer(U64)),
    optional("blockSize", Integer(U64)),
    optional("options", List(&Text)),
];

const ENCRYPTION_KEY: &[Field] = &[
    optional("static", Struct(STATIC)).pointer(),
    optional("nodeID", Struct(NODE_ID)).pointer(),
    optional("kms", Struct(KMS)).pointer(),
    always("slot", Integer(I64)),
    optional("tpm", Struct(TPM)).pointer(),
];

const STATIC: &[Field] = &[optional("passphrase", Text)];

const NODE_ID: &[Field] = &[];

const KMS: &[Field] = &[always("endpoint", Text)];

const TPM: &[Field] = &[optional("checkSecurebootStatusOnEnroll", Bool)];

const FEATURES: &[Field] = &[
    optional("rbac", Bool),
    optional("stableHostname", Bool),
    optional("kubernetesTalosAPIAccess", Struct(KUBERNETES_TALOS_API_ACCESS)).pointer(),
    optional("apidCheckExtKeyUsage", Bool),
    optional("diskQuotaSupport", Bool),
    optional("kubePrism", Struct(KUBE_PRISM)).pointer(),
    optional("hostDNS", Struct(HOST_DNS)).pointer(),
    optional("imageCache", Struct(IMAGE_CACHE)).pointer(),
    optional("nodeAddressSortAlgorithm", Text),
];

const KUBERNETES_TALOS_API_ACCESS: &[Field] = &[
    optional("enabled", Bool),
    optional("allowedRoles", List(&Text)),
    optional("allowedKubernetesNamespaces", List(&Text)),
];

const KUBE_PRISM: &[Field] = &[optional("enabled", Bool), optional("port", Integer(I64))];

const HOST_DNS: &[Field] = &[
    optional("enabled", Bool),
    optional("forwardKubeDNSToHost", Bool),
    optional("resolveMemberNames", Bool),
];

const IMAGE_CACHE: &[Field] = &[optional("localEnabled", Bool)];

const UDEV: &[Field] = &[optional("rules", List(&Text))];

const LOGGING: &[Field] = &[always("destinations", List(&Struct(DESTINATION)))];

const DESTINATION: &[Field] =
    &[always("endpoint", Url).pointer(), always("format", Text), optional("extraTags", TextMap)];

const KERNEL: &[Field] = &[optional("modules", List(&Struct(MODULE)))];

const MODULE: &[Field] = &[always("name", Text), optional("parameters", List(&Text))];

const SECCOMP_PROFILE: &[Field] = &[always("name", Text), always("value", Free)];
