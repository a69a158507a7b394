//! The keys of `cluster`.

use super::Kind::{Arguments, Bool, Duration, Free, Integer, List, PlainBool, Struct, Text, TextMap, Url};
use super::common::{CERTIFICATE, CERTIFICATE_AND_KEY, KEY, SWITCH};
use super::{Contract, Field, IntegerKind::I64, Key, always, optional};

/// What the cluster is.
pub(super) const CLUSTER: &[Field] = &[
    optional("id", Text),
    optional("secret", Text),
    always("controlPlane", Struct(CLUSTER_CONTROL_PLANE)).pointer(),
    optional("clusterName", Text),
    optional("network", Struct(CLUSTER_NETWORK)).pointer(),
    optional("token", Text),
    optional("aescbcEncryptionSecret", Text),
    optional("secretboxEncryptionSecret", Text),
    optional("ca", Struct(CERTIFICATE_AND_KEY)).pointer().replaced(),
    optional("acceptedCAs", List(&Struct(CERTIFICATE))),
    optional("aggregatorCA", Struct(CERTIFICATE_AND_KEY)).pointer().replaced(),
    optional("serviceAccount", Struct(KEY)).pointer().replaced(),
    optional("apiServer", Struct(API_SERVER)).pointer(),
    optional("controllerManager", Struct(CONTROLLER_MANAGER)).pointer(),
    optional("proxy", Struct(PROXY)).pointer(),
    optional("scheduler", Struct(SCHEDULER)).pointer(),
    optional("discovery", Struct(DISCOVERY)).pointer(),
    optional("etcd", Struct(ETCD)).pointer(),
    optional("coreDNS", Struct(CORE_DNS)).pointer(),
    optional("externalCloudProvider", Struct(EXTERNAL_CLOUD_PROVIDER)).pointer(),
    optional("extraManifests", List(&Text)),
    optional("extraManifestHeaders", TextMap),
    optional("inlineManifests", List(&Struct(INLINE_MANIFEST))),
    optional("adminKubeconfig", Struct(ADMIN_KUBECONFIG)).pointer(),
    optional("allowSchedulingOnMasters", Bool),
    optional("allowSchedulingOnControlPlanes", Bool),
];

const CLUSTER_CONTROL_PLANE: &[Field] =
    &[always("endpoint", Url).pointer(), optional("localAPIServerPort", Integer(I64))];

const CLUSTER_NETWORK: &[Field] = &[
    optional("cni", Struct(CNI)).pointer(),
    always("dnsDomain", Text),
    always("podSubnets", List(&Text)).replaced(),
    always("serviceSubnets", List(&Text)).replaced(),
];

const CNI: &[Field] =
    &[optional("name", Text), optional("urls", List(&Text)), optional("flannel", Struct(FLANNEL)).pointer()];

const FLANNEL: &[Field] = &[
    optional("extraArgs", List(&Text)),
    optional("kubeNetworkPoliciesEnabled", Bool).since(Contract::V1_13),
];

const API_SERVER: &[Field] = &[
    optional("image", Text),
    optional("extraArgs", Arguments),
    optional("extraVolumes", List(&Struct(VOLUME))),
    optional("env", TextMap),
    optional("certSANs", List(&Text)),
    optional("disablePodSecurityPolicy", Bool),
    optional("admissionControl", List(&Struct(ADMISSION_CONTROL))).keyed(Key::Field("name")),
    optional("auditPolicy", Free).replaced(),
    optional("resources", Struct(RESOURCES)).pointer(),
    optional("authorizationConfig", List(&Struct(AUTHORIZER))),
];

const VOLUME: &[Field] =
    &[always("hostPath", Text), always("mountPath", Text), optional("readonly", PlainBool)];

const ADMISSION_CONTROL: &[Field] = &[always("name", Text), always("configuration", Free)];

const RESOURCES: &[Field] = &[optional("requests", Free), optional("limits", Free)];

const AUTHORIZER: &[Field] = &[always("type", Text), always("name", Text), optional("webhook", Free)];

const CONTROLLER_MANAGER: &[Field] = &[
    optional("image", Text),
    optional("extraArgs", Arguments),
    optional("extraVolumes", List(&Struct(VOLUME))),
    optional("env", TextMap),
    optional("resources", Struct(RESOURCES)).pointer(),
];

const PROXY: &[Field] = &[
    optional("disabled", Bool),
    optional("image", Text),
    optional("mode", Text),
    optional("extraArgs", Arguments),
];

const SCHEDULER: &[Field] = &[
    optional("image", Text),
    optional("extraArgs", Arguments),
    optional("extraVolumes", List(&Struct(VOLUME))),
    optional("env", TextMap),
    optional("resources", Struct(RESOURCES)).pointer(),
    optional("config", Free),
];

const DISCOVERY: &[Field] = &[optional("enabled", Bool), always("registries", Struct(DISCOVERY_REGISTRIES))];

const DISCOVERY_REGISTRIES: &[Field] =
    &[always("kubernetes", Struct(SWITCH)), always("service", Struct(SERVICE))];

const SERVICE: &[Field] = &[optional("disabled", Bool), optional("endpoint", Text)];

const ETCD: &[Field] = &[
    optional("image", Text),
    always("ca", Struct(CERTIFICATE_AND_KEY)).pointer().replaced(),
    optional("extraArgs", Arguments),
    optional("subnet", Text),
    optional("advertisedSubnets", List(&Text)),
    optional("listenSubnets", List(&Text)),
];

const CORE_DNS: &[Field] = &[optional("disabled", Bool), optional("image", Text)];

const EXTERNAL_CLOUD_PROVIDER: &[Field] = &[optional("enabled", Bool), optional("manifests", List(&Text))];

const INLINE_MANIFEST: &[Field] = &[always("name", Text), always("contents", Text)];

const ADMIN_KUBECONFIG: &[Field] = &[optional("certLifetime", Duration)];
