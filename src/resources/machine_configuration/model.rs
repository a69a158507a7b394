//! The attributes.

use crate::plugin::{
    Attr, List, Map, Model, Secret, Visitor, computed, optional, optional_computed, required,
};

/// One machine's configuration and what it is made from.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub(super) cluster_name: Attr<String>,
    pub(super) cluster_endpoint: Attr<String>,
    pub(super) machine_type: Attr<String>,
    pub(super) talos_version: Attr<String>,
    pub(super) kubernetes_version: Attr<String>,
    pub(super) machine_secrets: Attr<Secret>,
    pub(super) install_disk: Attr<String>,
    pub(super) install_disk_selector: Attr<DiskSelectorModel>,
    pub(super) install_image: Attr<String>,
    pub(super) schematic: Attr<String>,
    pub(super) system_extensions: Attr<List<String>>,
    pub(super) kernel_arguments: Attr<List<String>>,
    pub(super) secure_boot: Attr<bool>,
    pub(super) hostname: Attr<String>,
    pub(super) subject_alternative_names: Attr<List<String>>,
    pub(super) network_plugin: Attr<String>,
    pub(super) kube_proxy: Attr<bool>,
    pub(super) scheduling_on_control_planes: Attr<bool>,
    pub(super) kube_prism_port: Attr<i64>,
    pub(super) discovery: Attr<bool>,
    pub(super) dns_domain: Attr<String>,
    pub(super) pod_subnets: Attr<List<String>>,
    pub(super) service_subnets: Attr<List<String>>,
    pub(super) vip: Attr<VipModel>,
    pub(super) provider_id: Attr<String>,
    pub(super) node_labels: Attr<Map<String>>,
    pub(super) node_annotations: Attr<Map<String>>,
    pub(super) node_taints: Attr<Map<String>>,
    pub(super) sysctls: Attr<Map<String>>,
    pub(super) time_servers: Attr<List<String>>,
    pub(super) registries: Attr<Map<RegistryModel>>,
    pub(super) config_patches: Attr<List<String>>,
    pub(super) machine_configuration: Attr<Secret>,
}

impl Model for Configuration {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("cluster_name", "The cluster's name."), &mut self.cluster_name);
        v.attribute(
            required(
                "cluster_endpoint",
                "Where clients and machines reach the Kubernetes API: `https://HOST:PORT`.",
            ),
            &mut self.cluster_endpoint,
        );
        v.attribute(
            required("machine_type", "The machine's part in the cluster: `controlplane` or `worker`."),
            &mut self.machine_type,
        );
        v.attribute(
            required(
                "talos_version",
                "The Talos version that the machine runs, as in `v1.13.9`. It decides the form of the configuration, \
                 which no older machine takes.",
            ),
            &mut self.talos_version,
        );
        v.attribute(
            required("kubernetes_version", "The Kubernetes version, as in `1.36.3`."),
            &mut self.kubernetes_version,
        );
        v.attribute(
            required(
                "machine_secrets",
                "The cluster's secrets, as `talosctl gen secrets` writes them and `kontinuum_talos_cluster` exports \
                 them.",
            ),
            &mut self.machine_secrets,
        );
        self.install_attributes(v);
        self.cluster_attributes(v);
        self.node_attributes(v);
        v.attribute(
            optional(
                "config_patches",
                "Patches (YAML), applied in this order: strategic merges, or JSON patches up to Talos 1.11.",
            ),
            &mut self.config_patches,
        );
        v.attribute(
            computed("machine_configuration", "The configuration, with the cluster's secrets in it."),
            &mut self.machine_configuration,
        );
    }
}

impl Configuration {
    fn install_attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "install_disk",
                "The path of the disk that Talos is installed on. Default: `/dev/sda`, unless \
                 `install_disk_selector` is given.",
            ),
            &mut self.install_disk,
        );
        v.attribute(
            optional(
                "install_disk_selector",
                "The disk that Talos is installed on, by what it says of itself; all that is given must match.",
            ),
            &mut self.install_disk_selector,
        );
        v.attribute(
            optional_computed(
                "install_image",
                "The image that installs Talos. Default: the image factory's for `schematic`, `secure_boot` and \
                 `talos_version`.",
            ),
            &mut self.install_image,
        );
        v.attribute(
            optional_computed(
                "schematic",
                "The id of the image factory's schematic. Default: that of `system_extensions` and \
                 `kernel_arguments`, computed without asking the factory. The factory builds images of schematics \
                 that it was shown once; see below.",
            ),
            &mut self.schematic,
        );
        v.attribute(
            optional(
                "system_extensions",
                "Official system extensions of the image, as in `siderolabs/qemu-guest-agent`. Their order is part \
                 of the schematic.",
            ),
            &mut self.system_extensions,
        );
        v.attribute(
            optional("kernel_arguments", "Further kernel arguments of the image, as in `console=ttyS0`."),
            &mut self.kernel_arguments,
        );
        v.attribute(
            optional("secure_boot", "Whether the machine boots by secure boot. Default: `false`.")
                .default_value(false),
            &mut self.secure_boot,
        );
    }

    fn cluster_attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "subject_alternative_names",
                "Further names and addresses at which the Kubernetes API and Talos' API are reached.",
            ),
            &mut self.subject_alternative_names,
        );
        v.attribute(
            optional(
                "network_plugin",
                "Who connects the pods: `flannel`, or `none` where something is installed into the running \
                 cluster.",
            )
            .default_value("flannel"),
            &mut self.network_plugin,
        );
        v.attribute(
            optional("kube_proxy", "Whether kube-proxy runs. Default: `true`.").default_value(true),
            &mut self.kube_proxy,
        );
        v.attribute(
            optional(
                "scheduling_on_control_planes",
                "Whether pods may be scheduled on control planes. Default: `false`.",
            )
            .default_value(false),
            &mut self.scheduling_on_control_planes,
        );
        v.attribute(
            optional(
                "kube_prism_port",
                "The port of the Kubernetes API's load balancer on each machine; 0 turns it off. Default: `7445`.",
            ),
            &mut self.kube_prism_port,
        );
        v.attribute(
            optional(
                "discovery",
                "Whether the machines find each other by Talos' discovery service. Default: `true`.",
            )
            .default_value(true),
            &mut self.discovery,
        );
        v.attribute(
            optional("dns_domain", "The domain of the cluster's services.").default_value("cluster.local"),
            &mut self.dns_domain,
        );
        v.attribute(
            optional("pod_subnets", "Where the pods' addresses are from. Default: `[\"10.244.0.0/16\"]`."),
            &mut self.pod_subnets,
        );
        v.attribute(
            optional(
                "service_subnets",
                "Where the services' addresses are from. Default: `[\"10.96.0.0/12\"]`.",
            ),
            &mut self.service_subnets,
        );
        v.attribute(optional("vip", "An address that the control planes share."), &mut self.vip);
    }

    fn node_attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional("hostname", "The machine's name. Default: one that Talos makes up, and that stays."),
            &mut self.hostname,
        );
        v.attribute(
            optional(
                "provider_id",
                "What the node is registered with as `providerID`; it cannot be changed later.",
            ),
            &mut self.provider_id,
        );
        v.attribute(optional("node_labels", "Labels of the node."), &mut self.node_labels);
        v.attribute(optional("node_annotations", "Annotations of the node."), &mut self.node_annotations);
        v.attribute(
            optional(
                "node_taints",
                "Taints that a worker registers with, by key: `VALUE:EFFECT`, the effect `NoSchedule`, \
                 `PreferNoSchedule` or `NoExecute`.",
            ),
            &mut self.node_taints,
        );
        v.attribute(optional("sysctls", "Kernel parameters by name."), &mut self.sysctls);
        v.attribute(
            optional("time_servers", "Whom the machine asks for the time. Default: Talos' own."),
            &mut self.time_servers,
        );
        v.attribute(
            optional(
                "registries",
                "Where images of a registry are pulled from, by the registry's host; `*` is all.",
            ),
            &mut self.registries,
        );
    }
}

/// What a disk says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskSelectorModel {
    pub(super) size: Attr<String>,
    pub(super) model: Attr<String>,
    pub(super) serial: Attr<String>,
    pub(super) wwid: Attr<String>,
    pub(super) kind: Attr<String>,
    pub(super) bus_path: Attr<String>,
}

impl Model for DiskSelectorModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(optional("size", "The size with a comparison, as in `>= 100GB`."), &mut self.size);
        v.attribute(optional("model", "The model; `*` stands for any characters."), &mut self.model);
        v.attribute(optional("serial", "The serial number."), &mut self.serial);
        v.attribute(optional("wwid", "The World Wide Identifier."), &mut self.wwid);
        v.attribute(optional("type", "`nvme`, `ssd`, `hdd` or `sd`."), &mut self.kind);
        v.attribute(optional("bus_path", "The bus path; `*` stands for any characters."), &mut self.bus_path);
    }
}

/// An address that control planes share.
#[derive(Clone, Debug, Default)]
pub(super) struct VipModel {
    pub(super) address: Attr<String>,
    pub(super) link: Attr<String>,
}

impl Model for VipModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("address", "The address."), &mut self.address);
        v.attribute(required("link", "The network link that holds it, as in `eth0`."), &mut self.link);
    }
}

/// Where and how images of a registry are pulled.
#[derive(Clone, Debug, Default)]
pub(super) struct RegistryModel {
    pub(super) endpoints: Attr<List<String>>,
    pub(super) override_path: Attr<bool>,
    pub(super) skip_fallback: Attr<bool>,
    pub(super) username: Attr<String>,
    pub(super) password: Attr<Secret>,
}

impl Model for RegistryModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional("endpoints", "Its mirrors, tried in this order before the registry itself."),
            &mut self.endpoints,
        );
        v.attribute(
            optional(
                "override_path",
                "Whether the paths of the endpoints are complete, so that `/v2` is not added. Default: `false`.",
            )
            .default_value(false),
            &mut self.override_path,
        );
        v.attribute(
            optional(
                "skip_fallback",
                "Whether the registry itself is left out when no mirror has an image. Default: `false`.",
            )
            .default_value(false),
            &mut self.skip_fallback,
        );
        v.attribute(optional("username", "The name by which the machine logs in."), &mut self.username);
        v.attribute(optional("password", "The password or token to it."), &mut self.password);
    }
}
