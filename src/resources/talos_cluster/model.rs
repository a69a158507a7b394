//! The attributes of `kontinuum_talos_cluster`.

use std::collections::BTreeMap;

use super::super::condition::{self, Condition};
use super::super::timeouts::Timeouts;
use super::image::Image;
use crate::domain::names::{Label, Uid};
use crate::domain::record::MemberRecord;
use crate::plugin::{
    Attr, List, Map, Model, Secret, Visitor, computed, optional, optional_computed, required,
};

/// A cluster.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    pub(super) name: Attr<String>,
    pub(super) endpoint: Attr<String>,
    pub(super) vip: Attr<String>,
    pub(super) talos_version: Attr<String>,
    pub(super) kubernetes_version: Attr<String>,
    pub(super) control_plane: Attr<ControlPlane>,
    pub(super) workers: Attr<Map<Workers>>,
    pub(super) config_patches: Attr<List<String>>,
    pub(super) apply_mode: Attr<String>,
    pub(super) approve_kubelet_serving_certificates: Attr<bool>,
    pub(super) cilium: Attr<AddonModel>,
    pub(super) cert_manager: Attr<AddonModel>,
    pub(super) addons: Attr<Map<FurtherAddonModel>>,
    pub(super) machine_secrets: Attr<Secret>,
    pub(super) timeouts: Attr<Timeouts>,
    pub(super) uid: Attr<String>,
    pub(super) members: Attr<List<ClusterMember>>,
    pub(super) configuration_digests: Attr<Map<String>>,
    pub(super) conditions: Attr<List<Condition>>,
    pub(super) ready: Attr<bool>,
    pub(super) kubeconfig: Attr<Secret>,
    pub(super) talosconfig: Attr<Secret>,
}

impl Model for Cluster {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "The cluster's name, a DNS label.").replaces(), &mut self.name);
        v.attribute(
            optional_computed(
                "endpoint",
                "Where clients and nodes reach the API server, as in `https://10.0.0.10:6443`: a load balancer, a name, \
                 or a machine. Default: the `vip`, else the first control-plane member; frozen at creation.",
            ),
            &mut self.endpoint,
        );
        v.attribute(
            optional(
                "vip",
                "An address that Talos lets one of the control planes hold at a time, in the same network as they are. \
                 Instead of `endpoint`.",
            ),
            &mut self.vip,
        );
        v.attribute(
            required("talos_version", "The Talos version that machines are installed with, as in `v1.13.9`."),
            &mut self.talos_version,
        );
        v.attribute(
            required("kubernetes_version", "The Kubernetes version, as in `1.36.3`."),
            &mut self.kubernetes_version,
        );
        v.attribute(required("control_plane", "The control plane."), &mut self.control_plane);
        v.attribute(
            optional("workers", "Worker pools by a name of your choice. More can be added later."),
            &mut self.workers,
        );
        v.attribute(
            optional(
                "config_patches",
                "Strategic merge patches (YAML) of every machine's Talos configuration, applied first.",
            ),
            &mut self.config_patches,
        );
        v.attribute(
            optional(
                "apply_mode",
                "How a machine that runs takes a changed configuration: `auto` (in the running machine, else by a \
                 reboot), `no_reboot` (a change that needs one is refused) or `staged` (used from its next boot on). \
                 Default: `auto`.",
            ),
            &mut self.apply_mode,
        );
        v.attribute(
            optional(
                "approve_kubelet_serving_certificates",
                "Whether kubelets get the certificates that they serve with (for metrics, logs and exec) from the \
                 cluster's authority instead of signing them themselves. Each apply approves what the cluster's own \
                 machines ask for under their own names and addresses (those of `interfaces`, and those that they had \
                 when they were discovered); what they ask for later (a renewal, once a year) shows in the next plan as \
                 a change. Default: false.",
            ),
            &mut self.approve_kubelet_serving_certificates,
        );
        v.attribute(
            optional_computed(
                "cilium",
                "The network. It is installed with the values of Talos' guide, yours on top. Default: enabled.",
            ),
            &mut self.cilium,
        );
        v.attribute(
            optional_computed("cert_manager", "Certificates for workloads. Default: enabled."),
            &mut self.cert_manager,
        );
        v.attribute(
            optional(
                "addons",
                "Further addons by a name of your choice, which is the name of their Helm release: charts, or objects in \
                 YAML. Each is applied as soon as all that it depends on is healthy, and the cluster is Ready when all are. \
                 What is taken out is uninstalled.",
            ),
            &mut self.addons,
        );
        v.attribute(
            optional_computed(
                "machine_secrets",
                "The secrets bundle, as `talosctl gen secrets` writes it. Made once where it is not given. Whoever has \
                 it owns the cluster; with it, a create goes on even where the inventory was lost.",
            )
            .replaces(),
            &mut self.machine_secrets,
        );
        v.attribute(
            optional(
                "timeouts",
                "How long operations may take. Defaults: `create` and `update` 45m, `delete` 30m.",
            ),
            &mut self.timeouts,
        );
        v.attribute(computed("uid", "The identity of this cluster."), &mut self.uid);
        v.attribute(computed("members", "Its machines, control planes first."), &mut self.members);
        v.attribute(
            computed(
                "configuration_digests",
                "For each machine a short digest of what this resource says of its Talos configuration: a plan in which one \
                 changes sends that machine another configuration.",
            ),
            &mut self.configuration_digests,
        );
        v.attribute(computed("conditions", condition::DESCRIPTION), &mut self.conditions);
        v.attribute(computed("ready", "Whether the condition `Ready` is True."), &mut self.ready);
        v.attribute(
            computed("kubeconfig", "Administrator access to Kubernetes, valid for a year."),
            &mut self.kubeconfig,
        );
        v.attribute(
            computed("talosconfig", "Administrator access to the machines (talosctl), valid for a year."),
            &mut self.talosconfig,
        );
    }
}

/// The control plane.
#[derive(Clone, Debug, Default)]
pub(super) struct ControlPlane {
    pub(super) pool: Attr<PoolReference>,
    pub(super) config_patches: Attr<List<String>>,
    pub(super) image: Image,
}

impl Model for ControlPlane {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            required("pool", "Its pool, whole: `kontinuum_instance_pool.control_plane`."),
            &mut self.pool,
        );
        v.attribute(
            optional("config_patches", "Patches (YAML) of the control planes' configuration."),
            &mut self.config_patches,
        );
        self.image.attributes(v);
    }
}

/// A pool of workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    pub(super) pool: Attr<PoolReference>,
    pub(super) node_labels: Attr<Map<String>>,
    pub(super) node_taints: Attr<Map<String>>,
    pub(super) config_patches: Attr<List<String>>,
    pub(super) image: Image,
}

impl Model for Workers {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("pool", "The pool, whole: `kontinuum_instance_pool.general`."), &mut self.pool);
        v.attribute(optional("node_labels", "Labels of its nodes."), &mut self.node_labels);
        v.attribute(
            optional("node_taints", "Taints that its nodes register with, as `key = \"value:NoSchedule\"`."),
            &mut self.node_taints,
        );
        v.attribute(
            optional("config_patches", "Patches (YAML) of these machines' configuration."),
            &mut self.config_patches,
        );
        self.image.attributes(v);
    }
}

/// A pool, as a cluster needs to know it. A whole `kontinuum_instance_pool` fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PoolReference {
    pub(super) name: Attr<String>,
    pub(super) uid: Attr<String>,
    pub(super) members: Attr<List<Machine>>,
}

impl Model for PoolReference {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "The pool's name."), &mut self.name);
        v.attribute(required("uid", "The pool's `uid`."), &mut self.uid);
        v.attribute(required("members", "The pool's `members`."), &mut self.members);
    }
}

/// A machine of a pool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub(super) name: Attr<String>,
    pub(super) uid: Attr<String>,
    pub(super) configuration_digest: Attr<String>,
}

impl Model for Machine {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "The machine's name."), &mut self.name);
        v.attribute(required("uid", "The machine's `uid`."), &mut self.uid);
        v.attribute(
            optional(
                "configuration_digest",
                "The machine's `configuration_digest`, by which an edit of its resource reaches the cluster.",
            ),
            &mut self.configuration_digest,
        );
    }
}

/// An addon.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AddonModel {
    pub(super) enabled: Attr<bool>,
    pub(super) version: Attr<String>,
    pub(super) values: Attr<String>,
    pub(super) repository: Attr<String>,
}

impl Model for AddonModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional_computed("enabled", "Whether it is installed. Default: `true`."),
            &mut self.enabled,
        );
        v.attribute(
            optional_computed(
                "version",
                "The chart's version. Default: the one that this version of the provider is tested with, kept from then \
                 on.",
            ),
            &mut self.version,
        );
        v.attribute(
            optional("values", "Values in YAML, laid over the provider's own, as `yamlencode({ … })`."),
            &mut self.values,
        );
        v.attribute(
            optional(
                "repository",
                "Where the chart comes from: a repository's URL, `oci://…`, a folder or an archive. Default: the \
                 project's own repository.",
            ),
            &mut self.repository,
        );
    }
}

impl AddonModel {
    /// Whether something about it is known after apply only.
    pub(super) const fn is_open(&self) -> bool {
        self.enabled.is_unknown()
            || self.version.is_unknown()
            || self.values.is_unknown()
            || self.repository.is_unknown()
    }
}

/// One of the user's own addons.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FurtherAddonModel {
    pub(super) repository: Attr<String>,
    pub(super) chart: Attr<String>,
    pub(super) version: Attr<String>,
    pub(super) values: Attr<String>,
    pub(super) manifests: Attr<String>,
    pub(super) namespace: Attr<String>,
    pub(super) namespace_labels: Attr<Map<String>>,
    pub(super) depends_on: Attr<List<String>>,
    pub(super) before_health: Attr<bool>,
}

impl Model for FurtherAddonModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional(
                "repository",
                "Where the chart comes from: a repository's URL, `oci://…`, a folder or an archive.",
            ),
            &mut self.repository,
        );
        v.attribute(
            optional("chart", "The chart's name in the repository. Default: the addon's name."),
            &mut self.chart,
        );
        v.attribute(
            optional(
                "version",
                "The chart's version or a range, resolved once. Default: the newest when it is first installed.",
            ),
            &mut self.version,
        );
        v.attribute(optional("values", "Values in YAML, as `yamlencode({ … })`."), &mut self.values);
        v.attribute(
            optional(
                "manifests",
                "Objects in YAML instead of a chart, as `file(\"pools.yaml\")`. Braces in them are no templates.",
            ),
            &mut self.manifests,
        );
        v.attribute(
            optional("namespace", "The release's namespace, made where it is missing. Default: `default`."),
            &mut self.namespace,
        );
        v.attribute(
            optional(
                "namespace_labels",
                "Labels that the namespace gets. Talos enforces the Pod Security level `baseline` outside of \
                 `kube-system`: what needs more wants `pod-security.kubernetes.io/enforce = \"privileged\"` here.",
            ),
            &mut self.namespace_labels,
        );
        v.attribute(
            optional(
                "depends_on",
                "What has to be healthy before: keys of `addons`, `cilium`, `cert-manager`.",
            ),
            &mut self.depends_on,
        );
        v.attribute(
            optional(
                "before_health",
                "Whether the control plane is not healthy without it: it comes right after Cilium, before the health check \
                 and the workers. Default: `false`, after cert-manager.",
            ),
            &mut self.before_health,
        );
    }
}

impl FurtherAddonModel {
    /// Whether something about what it renders to is known after apply only.
    pub(super) const fn is_open(&self) -> bool {
        self.repository.is_unknown()
            || self.chart.is_unknown()
            || self.version.is_unknown()
            || self.values.is_unknown()
            || self.manifests.is_unknown()
            || self.namespace.is_unknown()
    }
}

/// A machine of the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClusterMember {
    pub(super) name: Attr<String>,
    pub(super) uid: Attr<String>,
    pub(super) hostname: Attr<String>,
    pub(super) address: Attr<String>,
    pub(super) role: Attr<String>,
    pub(super) pool: Attr<String>,
}

impl Model for ClusterMember {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "The instance's name."), &mut self.name);
        v.attribute(computed("uid", "The instance's `uid`."), &mut self.uid);
        v.attribute(computed("hostname", "The node's name."), &mut self.hostname);
        v.attribute(computed("address", "The address at which it is reached."), &mut self.address);
        v.attribute(computed("role", "`control-plane` or `worker`."), &mut self.role);
        v.attribute(
            computed("pool", "The key of its worker pool; empty for the control plane."),
            &mut self.pool,
        );
    }
}

impl Cluster {
    /// The members that a saved state shows, for an inventory that lost them.
    pub(super) fn remembered_members(&self) -> BTreeMap<Uid, MemberRecord> {
        let members = self.members.known_items().unwrap_or_default();
        members
            .into_iter()
            .filter_map(|member| {
                let record = MemberRecord {
                    name: Label::parse(member.name.known()?).ok()?,
                    control_plane: member.role.known().is_some_and(|role| role == "control-plane"),
                    configuration: None,
                    instance: None,
                    proven: false,
                };
                Some((Uid::new(member.uid.known()?), record))
            })
            .collect()
    }
}
