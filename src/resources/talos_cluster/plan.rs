//! What a changed cluster will look like, and which changes can't be made.

use super::super::records::Private;
use super::model::{AddonModel, Cluster, PoolReference};
use crate::domain::addon::{cert_manager, cilium};
use crate::plugin::{Attr, Change, Diagnostic, Diagnostics, Path};

/// Plans a new or changed cluster: a pure function of the change and of what Read kept beside the state.
pub(super) fn plan(change: Change<Cluster>, private: &Private) -> Result<Cluster, Diagnostics> {
    let Change { config, prior, mut planned } = change;
    let given =
        |addon: fn(&Cluster) -> &Attr<AddonModel>| addon(&config).known().cloned().unwrap_or_default();
    let kept = |addon: fn(&Cluster) -> &Attr<AddonModel>| {
        prior.as_ref().and_then(|prior| addon(prior).known().cloned())
    };
    planned.cilium =
        defaulted(given(|cluster| &cluster.cilium), kept(|cluster| &cluster.cilium), cilium::VERSION).into();
    planned.cert_manager = defaulted(
        given(|cluster| &cluster.cert_manager),
        kept(|cluster| &cluster.cert_manager),
        cert_manager::VERSION,
    )
    .into();
    planned.configuration_digests = planned.digests();
    let Some(prior) = prior else {
        if let (true, Some(vip)) =
            (config.endpoint.is_null(), config.vip.known().and_then(|vip| vip.parse().ok()))
        {
            // The first member matters only where there is no VIP.
            if let Ok(address) = crate::domain::names::Address::parse(&std::net::IpAddr::to_string(&vip)) {
                planned.endpoint = super::parse::default_endpoint(Some(vip), &address).to_string().into();
            }
        }
        return Ok(planned);
    };
    if config.endpoint.is_null() {
        planned.endpoint = prior.endpoint.clone();
    }
    refuse_what_cannot_change(&prior, &planned)?;
    let open = private.unfinished.is_some() || private.drift.is_some() || differs(&prior, &planned);
    if open {
        planned.conditions = Attr::Unknown;
        planned.ready = Attr::Unknown;
        planned.members = Attr::Unknown;
    }
    Ok(planned)
}

/// What the user left out: what the cluster has, else this version's default. A newer provider changes no cluster.
fn defaulted(given: AddonModel, kept: Option<AddonModel>, version: &'static str) -> AddonModel {
    let kept = kept.unwrap_or_default();
    let or = |given: Attr<String>, kept: Attr<String>, default: &str| match (given, kept) {
        (Attr::Null, Attr::Known(kept)) => Attr::Known(kept),
        (Attr::Null, Attr::Null | Attr::Unknown) => default.into(),
        (given, _) => given,
    };
    AddonModel {
        // Not kept, as a version is: what is off is off because the configuration says so.
        enabled: if given.enabled.is_null() { true.into() } else { given.enabled },
        version: or(given.version, kept.version, version),
        values: given.values,
        repository: given.repository,
    }
}

fn differs(prior: &Cluster, planned: &Cluster) -> bool {
    let pool = |cluster: &Cluster| {
        cluster
            .control_plane
            .known()
            .map(|plane| (plane.pool.clone(), plane.config_patches.clone(), plane.image.clone()))
    };
    let workers = |cluster: &Cluster| {
        cluster.workers.known().map(|workers| {
            workers
                .iter()
                .map(|(key, entry)| {
                    let entry = entry.known().cloned().unwrap_or_default();
                    (
                        key.clone(),
                        entry.pool,
                        (entry.node_labels, entry.node_taints),
                        entry.config_patches,
                        entry.image,
                    )
                })
                .collect::<Vec<_>>()
        })
    };
    pool(prior) != pool(planned)
        || workers(prior) != workers(planned)
        || prior.config_patches != planned.config_patches
        || prior.approve_kubelet_serving_certificates != planned.approve_kubelet_serving_certificates
        || prior.cilium != planned.cilium
        || prior.cert_manager != planned.cert_manager
        || prior.addons != planned.addons
}

fn refuse_what_cannot_change(prior: &Cluster, planned: &Cluster) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    let mut refuse = |path: Path, summary: &str, detail: &str| {
        wrong.push(Diagnostic::error(summary, detail).at(path));
    };
    let version = |attr: &Attr<String>| attr.known().map(|text| text.trim_start_matches('v').to_owned());
    for (name, before, after) in [
        ("talos_version", &prior.talos_version, &planned.talos_version),
        ("kubernetes_version", &prior.kubernetes_version, &planned.kubernetes_version),
    ] {
        if !after.is_unknown() && version(before) != version(after) {
            refuse(
                Path::new(name),
                &format!("{name} of a running cluster cannot be changed yet"),
                "This version of the provider does not upgrade. Upgrade by talosctl; a cluster that is newer than its \
                 configuration says is left alone. Set the version back for now.",
            );
        }
    }
    if !planned.endpoint.is_unknown() && !prior.endpoint.is_null() && prior.endpoint != planned.endpoint {
        refuse(
            Path::new("endpoint"),
            "the endpoint of a cluster cannot be changed",
            "It stands in every machine's configuration, in every kubeconfig, and is the issuer of every service \
             account token. Set it back; create another cluster to move.",
        );
    }
    if prior.vip != planned.vip && !planned.vip.is_unknown() {
        refuse(
            Path::new("vip"),
            "the VIP of a cluster cannot be changed yet",
            "Set it back; create another cluster to move.",
        );
    }
    let uid = |cluster: &Cluster| {
        cluster
            .control_plane
            .known()
            .and_then(|plane| plane.pool.known().cloned())
            .map(|pool: PoolReference| pool.uid)
    };
    if let (Some(Attr::Known(before)), Some(after)) = (uid(prior), uid(planned))
        && (after.is_unknown() || after.known().is_some_and(|after| *after != before))
    {
        refuse(
            Path::new("control_plane").attribute("pool"),
            "the control plane's pool of a cluster cannot be exchanged",
            "Its machines hold etcd. Change the pool in place (`replicas`, `instances`), one machine after another.",
        );
    }
    let enabled = |addon: &Attr<AddonModel>| addon.known().and_then(|addon| addon.enabled.known().copied());
    // An imported cluster doesn't say yet; what its machines run is seen when it is applied.
    if let (Some(before), Some(after)) = (enabled(&prior.cilium), enabled(&planned.cilium))
        && before != after
    {
        refuse(
            Path::new("cilium").attribute("enabled"),
            "the network of a cluster cannot be exchanged",
            "Whether Cilium or Talos' own network is used stands in every machine's configuration. Set it back.",
        );
    }
    wrong.into_result(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn cluster(cilium: Option<AddonModel>, cert_manager: Option<AddonModel>) -> Cluster {
        Cluster {
            name: "c".into(),
            talos_version: "v1.13.9".into(),
            kubernetes_version: "1.36.3".into(),
            endpoint: "https://10.0.0.1:6443".into(),
            cilium: cilium.into(),
            cert_manager: cert_manager.into(),
            ..Cluster::default()
        }
    }

    fn addon(enabled: Option<bool>, version: &str) -> AddonModel {
        AddonModel { enabled: enabled.into(), version: version.into(), ..AddonModel::default() }
    }

    fn planned(prior: Option<Cluster>, config: Cluster) -> Result<Cluster, Diagnostics> {
        plan(Change { planned: config.clone(), config, prior }, &Private::default())
    }

    fn cert_manager(cluster: &Cluster) -> (bool, String) {
        let addon = cluster.cert_manager.known().unwrap();
        (addon.enabled.known().copied().unwrap(), addon.version.known().cloned().unwrap())
    }

    #[test]
    fn an_addon_that_was_off_is_on_again_when_nothing_says_off() {
        let off = cluster(Some(addon(Some(true), "1.20.0")), Some(addon(Some(false), "v1.20.0")));
        let again = planned(Some(off), cluster(None, Some(AddonModel::default()))).unwrap();
        assert_eq!(cert_manager(&again), (true, "v1.20.0".to_owned()));
    }

    #[test]
    fn a_version_that_nobody_asked_for_is_the_one_that_the_cluster_has() {
        assert_eq!(cert_manager(&planned(None, cluster(None, None)).unwrap()).1, cert_manager::VERSION);
        let old = cluster(Some(addon(Some(true), "1.19.0")), Some(addon(Some(true), "v1.20.0")));
        assert_eq!(cert_manager(&planned(Some(old), cluster(None, None)).unwrap()).1, "v1.20.0");
    }

    #[test]
    fn cert_manager_is_switched_off_and_cilium_is_not() {
        let on = cluster(Some(addon(Some(true), "1.20.2")), Some(addon(Some(true), "v1.21.2")));
        let off = || Some(AddonModel { enabled: false.into(), ..AddonModel::default() });
        let planned_off = planned(Some(on.clone()), cluster(None, off())).unwrap();
        assert!(planned_off.conditions.is_unknown(), "it is an update");
        let refused = planned(Some(on), cluster(off(), None)).unwrap_err();
        assert!(refused.to_string().contains("the network of a cluster cannot be exchanged"), "{refused}");
    }
}
