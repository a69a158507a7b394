//! A provider whose things behave by their names and modes, and tell the test what they do.

use std::sync::Arc;

use kontinuum::plugin::{
    Attr, Change, DataSource, Diagnostic, Diagnostics, Failure, List, Map, Model, Operation, Path, Provider,
    Registry, Resource, Secret, Visitor, computed, optional, optional_computed, required,
};
use serde_json::json;
use tokio::sync::mpsc;

/// The provider; what happens goes to `events`.
pub(crate) struct Example {
    pub(crate) events: mpsc::UnboundedSender<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Config {
    region: Attr<String>,
    fail: Attr<bool>,
}

/// What is configured.
pub(crate) struct World {
    region: String,
    events: mpsc::UnboundedSender<String>,
}

impl World {
    fn tell(&self, event: &str) {
        self.events.send(event.to_owned()).expect("the test listens to its provider");
    }
}

impl Model for Config {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(optional("region", "Where.").default_value("here"), &mut self.region);
        v.attribute(optional("fail", "Refuse to be configured."), &mut self.fail);
    }
}

impl Provider for Example {
    type Config = Config;
    type Data = World;

    const ADDRESS: &'static str = "example/example";
    const DESCRIPTION: &'static str = "An example.";

    async fn configure(&self, config: Config, _: &Operation<World>) -> Result<World, Diagnostics> {
        if config.fail == Attr::Known(true) {
            return Err(Diagnostic::error("the example refuses", "As asked.").at(Path::new("fail")).into());
        }
        let region = match config.region {
            Attr::Known(region) => region,
            Attr::Unknown => "known later".to_owned(),
            Attr::Null => "nowhere".to_owned(),
        };
        Ok(World { region, events: self.events.clone() })
    }

    fn register(&self, registry: &mut Registry<World>) {
        registry.resource(Things).data_source(Echoes);
    }
}

#[derive(Clone, Default)]
pub(crate) struct Thing {
    name: Attr<String>,
    mode: Attr<String>,
    size: Attr<u64>,
    ratio: Attr<f64>,
    token: Attr<Secret>,
    version: Attr<String>,
    labels: Attr<Map<String>>,
    addresses: Attr<List<String>>,
    limits: Attr<Limits>,
    parts: Attr<Map<Part>>,
    uid: Attr<String>,
    region: Attr<String>,
    members: Attr<List<Member>>,
}

#[derive(Clone, Default)]
pub(crate) struct Limits {
    create: Attr<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Part {
    kind: Attr<String>,
    serial: Attr<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Member {
    name: Attr<String>,
}

impl Model for Thing {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "Its name.").replaces(), &mut self.name);
        v.attribute(optional("mode", "How it behaves."), &mut self.mode);
        v.attribute(optional("size", "How many members.").default_value(1_i64), &mut self.size);
        v.attribute(optional("ratio", "Any number."), &mut self.ratio);
        v.attribute(optional("token", "Not to be shown."), &mut self.token);
        v.attribute(optional_computed("version", "Kept as it was made."), &mut self.version);
        v.attribute(optional("labels", "Labels."), &mut self.labels);
        v.attribute(optional("addresses", "Addresses.").deprecated("Use labels."), &mut self.addresses);
        v.attribute(optional("limits", "Limits."), &mut self.limits);
        v.attribute(optional("parts", "Parts by name."), &mut self.parts);
        v.attribute(computed("uid", "Assigned."), &mut self.uid);
        v.attribute(computed("region", "Where it is."), &mut self.region);
        v.attribute(computed("members", "Who is in it.").recomputed(), &mut self.members);
    }
}

impl Model for Limits {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(optional("create", "How long.").default_value("10m"), &mut self.create);
    }
}

impl Model for Part {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("kind", "Its kind."), &mut self.kind);
        v.attribute(computed("serial", "Its number."), &mut self.serial);
    }
}

impl Model for Member {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "Its name."), &mut self.name);
    }
}

impl Thing {
    fn behaves(&self, mode: &str) -> bool {
        self.mode.known().is_some_and(|known| known == mode)
    }

    /// With all that was unknown.
    fn made(mut self) -> Self {
        if self.version.is_unknown() {
            self.version = "v1".into();
        }
        let size = self.size.known().copied().unwrap_or(0);
        self.members = (0..size).map(|number| Member { name: format!("m{number}").into() }).collect();
        for (name, part) in self.parts.known_mut().into_iter().flatten() {
            if let Some(part) = part.known_mut()
                && part.serial.is_unknown()
            {
                part.serial = format!("serial of {name}").into();
            }
        }
        self
    }
}

/// The resource `example_thing`.
struct Things;

impl Resource for Things {
    type Model = Thing;
    type Data = World;

    const NAME: &'static str = "example_thing";
    const DESCRIPTION: &'static str = "A thing.";
    const VERSION: i64 = 1;

    async fn validate(&self, config: Thing, operation: &Operation<World>) -> Result<(), Diagnostics> {
        if config.name.known().is_some_and(String::is_empty) {
            return Err(Diagnostic::error("a thing needs a name", "Set one.").at(Path::new("name")).into());
        }
        if config.behaves("odd") {
            operation.warn(Diagnostics::warning("an odd thing", "It is odd."));
        }
        Ok(())
    }

    async fn plan(&self, change: Change<Thing>, operation: &Operation<World>) -> Result<Thing, Diagnostics> {
        let mut planned = change.planned;
        if planned.behaves("renames itself") {
            planned.name = "another".into();
        }
        if planned.behaves("moves") {
            operation.require_replacement(Path::new("mode"));
        }
        if change.prior.is_none() {
            operation.set_private(b"planned".to_vec());
        }
        Ok(planned)
    }

    async fn plan_delete(&self, prior: Thing, operation: &Operation<World>) -> Result<(), Diagnostics> {
        if prior.behaves("stays") {
            return Err(Diagnostics::error("the thing refuses to go", "Change its mode first."));
        }
        operation.warn(Diagnostics::warning("a thing goes", "For good."));
        Ok(())
    }

    async fn create(&self, mut planned: Thing, operation: &Operation<World>) -> Result<Thing, Diagnostics> {
        let world = operation.data()?;
        if planned.behaves("fails") {
            return Err(Diagnostics::error("the thing cannot be made", "It never can."));
        }
        if planned.behaves("fails silently") {
            return Err(Diagnostics::new());
        }
        assert!(!planned.behaves("panics"), "the thing exploded");
        if planned.behaves("waits") {
            world.tell("waiting");
            operation.stop().cancelled().await;
            world.tell("stopped");
            return Err(Diagnostics::error("stopped while waiting", "Apply again."));
        }
        if planned.behaves("lies") {
            planned.size = 99.into();
        }
        planned.uid = "4711".into();
        planned.region = world.region.clone().into();
        operation.set_private([operation.private(), b" and made".to_vec()].concat());
        Ok(planned.made())
    }

    async fn read(&self, prior: Thing, operation: &Operation<World>) -> Result<Option<Thing>, Diagnostics> {
        if prior.behaves("vanishes") {
            return Ok(None);
        }
        if prior.behaves("unreadable") {
            return Err(Diagnostics::error("the thing cannot be read", "Not now."));
        }
        if prior.behaves("unreachable") {
            operation.warn(Diagnostics::warning("the thing is not reachable", "Its state is as it was."));
        }
        Ok(Some(prior))
    }

    async fn update(
        &self,
        prior: Thing,
        planned: Thing,
        _: &Operation<World>,
    ) -> Result<Thing, Failure<Thing>> {
        if planned.behaves("fails") {
            return Err(Diagnostics::error("the thing cannot be changed", "It never can.").into());
        }
        assert!(!planned.behaves("panics"), "the thing exploded");
        let failed = Diagnostics::error("the thing half changed", "Apply again.");
        if planned.behaves("fails and shows") {
            let seen = Thing { uid: "seen".into(), ..prior };
            return Err(Failure::observed(failed, seen));
        }
        if planned.behaves("fails and lies") {
            return Err(Failure::observed(failed, planned.made()));
        }
        Ok(planned.made())
    }

    async fn delete(&self, prior: Thing, operation: &Operation<World>) -> Result<(), Diagnostics> {
        if prior.behaves("holds on") {
            return Err(Diagnostics::error("the thing cannot be deleted", "It holds on."));
        }
        operation.data()?.tell("deleted");
        Ok(())
    }

    async fn import(&self, id: &str, operation: &Operation<World>) -> Result<Thing, Diagnostics> {
        if id == "nothing" {
            return Err(Diagnostics::error("there is no such thing", "Look for its uid."));
        }
        operation.set_private(b"imported".to_vec());
        let thing = Thing { name: id.into(), size: 1.into(), uid: "4711".into(), ..Thing::default() };
        Ok(Thing { region: operation.data()?.region.clone().into(), version: "v1".into(), ..thing }.made())
    }

    /// Version 0 had `title` instead of `name`.
    fn upgrade(&self, _: i64, mut state: serde_json::Value) -> Result<serde_json::Value, Diagnostics> {
        let title = state.get("title").cloned();
        let (Some(title), Some(fields)) = (title, state.as_object_mut()) else {
            return Err(Diagnostics::error("the state has no title", "It is not one of version 0."));
        };
        fields.insert("name".to_owned(), json!(title));
        Ok(state)
    }
}

#[derive(Clone, Default)]
struct Echo {
    text: Attr<String>,
    times: Attr<u64>,
    lines: Attr<List<String>>,
}

impl Model for Echo {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("text", "What to say."), &mut self.text);
        v.attribute(optional("times", "How often.").default_value(2_i64), &mut self.times);
        v.attribute(computed("lines", "What is said."), &mut self.lines);
    }
}

/// The data source `example_echo`.
struct Echoes;

impl DataSource for Echoes {
    type Model = Echo;
    type Data = World;

    const NAME: &'static str = "example_echo";
    const DESCRIPTION: &'static str = "Says things.";

    async fn validate(&self, config: Echo, _: &Operation<World>) -> Result<(), Diagnostics> {
        if config.times == Attr::Known(0) {
            return Err(Diagnostic::error("an echo is heard once at least", "Ask for more.")
                .at(Path::new("times"))
                .into());
        }
        Ok(())
    }

    async fn read(&self, mut config: Echo, operation: &Operation<World>) -> Result<Echo, Diagnostics> {
        let region = &Arc::clone(operation.data()?).region;
        let text = config.text.require(&Path::new("text"))?;
        let times = *config.times.require(&Path::new("times"))?;
        config.lines = (0..times).map(|_| format!("{text} from {region}")).collect();
        Ok(config)
    }
}
