//! Whether an addon's values render, seen while planning: a chart that fails on them would fail in the middle of an
//! apply otherwise. A chart that can't be fetched now proves nothing, and is no reason to fail a plan; one that is not
//! where it should be is worth a warning.

use std::time::Duration;

use super::super::Clients;
use super::super::report::chain;
use super::model::Cluster;
use super::parse::Parsed;
use crate::clients::kubernetes;
use crate::domain::addon::{Addon, cert_manager, cilium};
use crate::plugin::{Attr, Diagnostic, Diagnostics, Operation, Path};

/// How long a plan may take over fetching a chart: a look that gives diagnostics only.
const PATIENCE: Duration = Duration::from_secs(15);

/// Renders what is new about a planned cluster's addons, without a cluster.
pub(super) async fn check(
    operation: &Operation<Clients>,
    prior: Option<&Cluster>,
    planned: &Cluster,
) -> Result<(), Diagnostics> {
    let parsed = planned.parse()?;
    let control_planes = planned.control_plane_size().unwrap_or(1);
    let news = |addon: fn(&Cluster) -> &Attr<super::model::AddonModel>| {
        let known = addon(planned).known().is_some_and(|addon| !addon.is_open());
        known && prior.is_none_or(|prior| addon(prior) != addon(planned))
    };
    let mut news_of: Vec<(Path, Addon)> = Vec::new();
    if let (true, Some(overrides)) = (news(|cluster| &cluster.cilium), &parsed.cilium)
        && let Ok(addon) = cilium::addon(overrides, control_planes)
    {
        news_of.push((Path::new("cilium"), addon));
    }
    if let (true, Some(overrides)) = (news(|cluster| &cluster.cert_manager), &parsed.cert_manager)
        && let Ok(addon) = cert_manager::addon(overrides)
    {
        news_of.push((Path::new("cert_manager"), addon));
    }
    let entry =
        |cluster: &Cluster, name: &str| cluster.addons.known().and_then(|addons| addons.get(name).cloned());
    for (name, further) in &parsed.addons {
        let planned = entry(planned, name.as_str());
        let known = planned.as_ref().and_then(Attr::known).is_some_and(|addon| !addon.is_open());
        if known && prior.is_none_or(|prior| entry(prior, name.as_str()) != planned) {
            news_of.push((Path::new("addons").key(name.as_str()), further.addon.clone()));
        }
    }
    // At once: a source that is silent holds up the plan for one time only.
    let looks = news_of.into_iter().map(|(path, addon)| failure(operation, &parsed, path, addon));
    let failures = futures::future::join_all(looks).await;
    let wrong: Diagnostics = failures.into_iter().flatten().collect();
    wrong.into_result(())
}

async fn failure(
    operation: &Operation<Clients>,
    parsed: &Parsed,
    attribute: Path,
    addon: Addon,
) -> Option<Diagnostic> {
    let clients = operation.data().ok()?;
    if let Some(manifests) = &addon.manifests {
        return unreadable(&attribute, manifests);
    }
    let fetching = clients.charts.fetch(&addon.repository, &addon.chart, &addon.version);
    let fetched = match tokio::time::timeout(PATIENCE, fetching).await {
        Ok(Ok(fetched)) => fetched,
        Ok(Err(error)) if !error.is_transient() => {
            operation.warn([Diagnostic::warning(
                "a chart is not where it should be",
                format!(
                    "Failed to {}. Unless that changes before the apply comes to it, the apply will fail there: correct \
                     {attribute}.repository or {attribute}.version.",
                    chain(&error)
                ),
            )
            .at(attribute)]);
            return None;
        }
        Ok(Err(error)) => {
            tracing::warn!(
                addon = addon.name,
                error = chain(&error),
                "Failed to fetch a chart while planning"
            );
            return None;
        }
        Err(_) => {
            tracing::warn!(addon = addon.name, "A chart was not fetched in time while planning");
            return None;
        }
    };
    let values = helm::Values::from_json(&addon.values).ok()?;
    let kube_version = helm::KubeVersion::parse(&parsed.kubernetes_version.tag()).ok()?;
    let capabilities = helm::Capabilities { kube_version, ..helm::Capabilities::offline() };
    let release = helm::Release {
        name: addon.name.clone(),
        namespace: addon.namespace,
        revision: 1,
        is_upgrade: false,
    };
    // The same in every plan of the same chart and values: nothing of the output is kept.
    let environment = helm::Environment { now: jiff::Timestamp::UNIX_EPOCH, seed: [0; 32] };
    let rendering = tokio::task::spawn_blocking(move || {
        helm::render(&fetched.chart, &values, &release, &capabilities, &helm::NoCluster, &environment)
            .map(drop)
    });
    let error = rendering.await.ok()?.err()?;
    let diagnostic = Diagnostic::error(
        format!("{attribute} does not render: {}", chain(&error)),
        format!(
            "Chart {} {} fails on these values. Correct {attribute}.values; nothing was changed.",
            addon.chart, addon.version
        ),
    );
    Some(diagnostic.at(attribute))
}

/// Objects that can't be read.
fn unreadable(attribute: &Path, manifests: &str) -> Option<Diagnostic> {
    let why = kubernetes::objects(manifests).err()?;
    let path = attribute.clone().attribute("manifests");
    let detail = "Expected Kubernetes objects in YAML, each with apiVersion, kind and metadata.name. Nothing was changed.";
    Some(Diagnostic::error(format!("{path} can't be read: {why}"), detail).at(path))
}
