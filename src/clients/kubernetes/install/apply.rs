//! Rendering a chart against the live cluster, and applying what comes out.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use helm::release::Record;
use helm::{Environment, HookEvent, Rendered};
use serde_json::Value;
use tokio::runtime::Handle;

use super::super::client::Client;
use super::super::error::{Cause, Error, Result};
use super::super::object::{Object, Reference};
use super::super::resources::{Filter, Write};
use super::super::watch::Watched;
use super::Installation;
use super::lookup::LiveLookup;
use super::manifests::{Owner, groups, is_definition, is_kept, placed, read};

/// How many objects of one kind are on their way at once: enough to hide the round trips, and below what API
/// servers begin to hold back from one client.
const AT_ONCE: usize = 8;

/// Between two looks at which kinds are served: API servers list a new one within a fraction of a second.
const DISCOVERY_PAUSE: Duration = Duration::from_millis(100);

/// What is to be done, decided before anything is written.
pub(super) struct Prepared {
    pub(super) rendered: Rendered,
    owner: Owner,
    before: Vec<Object>,
    objects: Vec<Object>,
    after: Vec<Object>,
    /// Objects of earlier attempts that the chart does not have any more.
    leaving: Vec<Reference>,
}

impl Client {
    /// Renders, and finds out what stands in the way. Only the namespace and definitions of kinds (a chart's folder
    /// `crds/`, which templates may rest on) are written here.
    pub(super) async fn prepare(
        &self,
        wanted: &Installation,
        earlier: &[&Record],
        revision: u32,
        is_upgrade: bool,
    ) -> Result<Prepared> {
        self.ensure_namespace(&wanted.namespace, &wanted.namespace_labels).await?;
        let mut rendered = self.render(wanted, revision, is_upgrade).await?;
        if self.define_kinds(&rendered).await? {
            rendered = self.render(wanted, revision, is_upgrade).await?;
        }
        let kinds = self.refresh_kinds().await?;
        let place = |objects| placed(objects, &wanted.namespace, &kinds);
        let mut objects = Vec::new();
        for manifest in &rendered.manifests {
            objects.extend(read(&manifest.path, &manifest.text)?);
        }
        let objects = place(objects);
        let events = if is_upgrade {
            (HookEvent::PreUpgrade, HookEvent::PostUpgrade)
        } else {
            (HookEvent::PreInstall, HookEvent::PostInstall)
        };
        let before = place(hooks(&rendered, events.0)?);
        let after = place(hooks(&rendered, events.1)?);
        let mut known = BTreeSet::new();
        for record in earlier {
            let objects = place(read(&record.secret_name(), &record.manifest)?);
            known.extend(objects.iter().map(|object| object.reference().clone()));
        }
        let owner = wanted.owner();
        self.refuse_foreign(&objects, &known, &owner).await?;
        let wanted: BTreeSet<_> = objects.iter().map(|object| object.reference().clone()).collect();
        let leaving = known.into_iter().filter(|reference| !is_same(&wanted, reference)).collect();
        Ok(Prepared { rendered, owner, before, objects, after, leaving })
    }

    /// Applies everything, then removes what left the chart.
    pub(super) async fn carry_out(&self, prepared: &Prepared) -> Result<()> {
        for hook in &prepared.before {
            self.apply(hook, Write::Now).await?;
        }
        let mut defined = Vec::new();
        for group in groups(prepared.objects.clone()) {
            defined.extend(
                group.iter().map(Object::reference).filter(|reference| is_definition(reference)).cloned(),
            );
            let marked = group.into_iter().map(|object| prepared.owner.mark(object));
            stream::iter(marked)
                .map(|object| self.apply_once_served(object, &defined))
                .buffer_unordered(AT_ONCE)
                .try_collect::<Vec<_>>()
                .await?;
        }
        for reference in prepared.leaving.iter().rev() {
            self.remove(reference, &prepared.owner).await?;
        }
        for hook in &prepared.after {
            self.apply(hook, Write::Now).await?;
        }
        Ok(())
    }

    /// Whether one of these objects does not exist any more.
    pub(super) async fn is_missing(&self, objects: &[Reference]) -> Result<bool> {
        // Owned, since a borrowing closure makes a future that no other thread may take up.
        let looks = stream::iter(objects.to_vec())
            .map(|reference| async move { self.get(&reference).await })
            .buffer_unordered(AT_ONCE);
        let found: Vec<_> = looks.try_collect().await?;
        Ok(found.iter().any(Option::is_none))
    }

    async fn render(&self, wanted: &Installation, revision: u32, is_upgrade: bool) -> Result<Rendered> {
        let refused =
            |problem: String| Error::new(format!("render release {}", wanted.release), Cause::Chart(problem));
        let values = helm::Values::from_json(&wanted.values).map_err(|error| refused(error.to_string()))?;
        let capabilities = self.capabilities().await?;
        let lookup = LiveLookup { client: self.clone(), runtime: Handle::current() };
        let mut seed = [0; 32];
        aws_lc_rs::rand::fill(&mut seed)
            .map_err(|_| refused("the system has no random numbers".to_owned()))?;
        let environment = Environment { now: wanted.now, seed };
        let release = helm::Release {
            name: wanted.release.clone(),
            namespace: wanted.namespace.clone(),
            revision,
            is_upgrade,
        };
        let chart = Arc::clone(&wanted.chart);
        let rendering = tokio::task::spawn_blocking(move || {
            helm::render(&chart, &values, &release, &capabilities, &lookup, &environment)
        });
        let rendered = rendering.await.map_err(|error| refused(error.to_string()))?;
        rendered.map_err(|error| refused(chain(&error)))
    }

    /// Creates the kinds of a chart's `crds/` that are not there: as Helm, never changing one that is. Says whether
    /// there was anything to do.
    async fn define_kinds(&self, rendered: &Rendered) -> Result<bool> {
        let mut created = Vec::new();
        for manifest in &rendered.crds {
            for definition in read(&manifest.path, &manifest.text)? {
                if self.get(definition.reference()).await?.is_none() {
                    self.apply(&definition, Write::Now).await?;
                    created.push(definition.reference().clone());
                }
            }
        }
        if !created.is_empty() {
            self.established(&created).await?;
        }
        Ok(!created.is_empty())
    }

    async fn refuse_foreign(
        &self,
        objects: &[Object],
        known: &BTreeSet<Reference>,
        owner: &Owner,
    ) -> Result<()> {
        let references = objects.iter().map(Object::reference);
        let new: Vec<_> = references.filter(|reference| !is_same(known, reference)).cloned().collect();
        let looks = stream::iter(new)
            .map(|reference| async move { self.get(&reference).await })
            .buffer_unordered(AT_ONCE);
        let existing: Vec<_> = looks.try_collect().await?;
        let mut objections: Vec<_> =
            existing.into_iter().flatten().filter_map(|existing| owner.objection(&existing)).collect();
        if objections.is_empty() {
            return Ok(());
        }
        objections.sort();
        let text = format!(
            "{}; delete them, or label them app.kubernetes.io/managed-by=Helm and annotate them \
             meta.helm.sh/release-name={} and meta.helm.sh/release-namespace={} to hand them over",
            objections.join(", "),
            owner.release,
            owner.namespace
        );
        Err(Error::new(format!("install release {}", owner.release), Cause::NotOurs(text)))
    }

    /// Applies an object, of a kind that was defined a moment ago as well.
    async fn apply_once_served(&self, object: Object, defined: &[Reference]) -> Result<()> {
        let Err(error) = self.apply_as_helm(&object).await else { return Ok(()) };
        if defined.is_empty() || !matches!(error.cause(), Cause::NoSuchKind { .. }) {
            return Err(error);
        }
        self.established(defined).await?;
        self.apply_as_helm(&object).await
    }

    /// Waits, within one call's deadline, until the server serves what these definitions define.
    async fn established(&self, definitions: &[Reference]) -> Result<()> {
        let deadline = self.deadlines().call;
        tokio::time::timeout(deadline, self.served(definitions)).await.unwrap_or_else(|_| {
            let message =
                format!("the definitions of kinds were not taken up within {} s", deadline.as_secs());
            Err(Error::new("define kinds", Cause::Busy { status: 503, message }))
        })
    }

    async fn served(&self, definitions: &[Reference]) -> Result<()> {
        let all = Watched::new("apiextensions.k8s.io/v1", "CustomResourceDefinition", Filter::default());
        let mut wakeups = self.wakeups(vec![all]);
        let mut kinds = Vec::new();
        for reference in definitions {
            loop {
                if let Some(established) = self.get(reference).await?.filter(is_established) {
                    kinds.extend(defined_kind(&established));
                    break;
                }
                wakeups.changed().await;
            }
        }
        // What is established is listed a moment later, and nothing tells when.
        let mut ticks = tokio::time::interval(DISCOVERY_PAUSE);
        loop {
            ticks.tick().await;
            let served = self.refresh_kinds().await?;
            if kinds.iter().all(|(api_version, kind)| served.find(api_version, kind).is_some()) {
                return Ok(());
            }
        }
    }

    /// Removes an object that left its chart: only the release's own, and none that asks to be kept.
    pub(super) async fn remove(&self, reference: &Reference, owner: &Owner) -> Result<()> {
        match self.get(reference).await? {
            Some(existing) if owner.objection(&existing).is_none() && !is_kept(&existing) => {
                self.delete(reference, existing.uid()).await
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The objects of the hooks of one event, in the order in which they run. A hook that has to run to its end before
/// the installation goes on is refused: nothing here waits for pods.
fn hooks(rendered: &Rendered, event: HookEvent) -> Result<Vec<Object>> {
    let mut hooks: Vec<_> = rendered.hooks.iter().filter(|hook| hook.events.contains(&event)).collect();
    hooks.sort_by(|a, b| (a.weight, &a.manifest.name).cmp(&(b.weight, &b.manifest.name)));
    let mut objects = Vec::new();
    for hook in hooks {
        if matches!(hook.manifest.kind.as_str(), "Job" | "Pod") {
            let problem = format!(
                "its {} hook {} {} has to run to its end first, which is not supported: switch it off in the values",
                event.as_str(),
                hook.manifest.kind,
                hook.manifest.name
            );
            return Err(Error::new("run a hook", Cause::Chart(problem)));
        }
        objects.extend(read(&hook.manifest.path, &hook.manifest.text)?);
    }
    Ok(objects)
}

/// Whether an object of the same group, kind, namespace and name is among `references`: versions of one API show the
/// same object.
fn is_same(references: &BTreeSet<Reference>, reference: &Reference) -> bool {
    references.contains(reference)
        || references.iter().any(|other| {
            other.group() == reference.group()
                && other.kind == reference.kind
                && other.namespace == reference.namespace
                && other.name == reference.name
        })
}

fn is_established(definition: &Object) -> bool {
    let conditions = definition.at(&["status", "conditions"]).and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| {
        condition.get("type").and_then(Value::as_str) == Some("Established")
            && condition.get("status").and_then(Value::as_str) == Some("True")
    })
}

/// The first version that a definition serves, and its kind.
fn defined_kind(definition: &Object) -> Option<(String, String)> {
    let group = definition.text_at(&["spec", "group"])?;
    let kind = definition.text_at(&["spec", "names", "kind"])?;
    let versions = definition.at(&["spec", "versions"])?.as_array()?;
    let served = versions.iter().find(|version| version.get("served") == Some(&Value::Bool(true)))?;
    Some((format!("{group}/{}", served.get("name")?.as_str()?), kind.to_owned()))
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}
