//! The attributes of `kontinuum_instance_pool`, and their parsing.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::condition::{self, Condition};
use super::super::timeouts::{self, Defaults, Limits, Timeouts};
use crate::domain::claim::Machine;
use crate::domain::names::{Label, Uid};
use crate::domain::record::PoolRecord;
use crate::domain::selector::{LabelError, Labels, Operator, Requirement, Selector};
use crate::plugin::{
    Attr, Diagnostic, Diagnostics, List, Map, Model, Path, Visitor, computed, optional, required,
};

/// A pool waits for machines that boot; releasing one resets it.
const DEFAULTS: Defaults = Defaults {
    create: Duration::from_secs(10 * 60),
    update: Duration::from_secs(20 * 60),
    delete: Duration::from_secs(20 * 60),
};

/// A claim on machines.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub(super) name: Attr<String>,
    pub(super) instances: Attr<Map<Reference>>,
    pub(super) selector: Attr<SelectorModel>,
    pub(super) replicas: Attr<i64>,
    pub(super) require_discovered: Attr<bool>,
    pub(super) require_capacity: Attr<bool>,
    pub(super) timeouts: Attr<Timeouts>,
    pub(super) uid: Attr<String>,
    pub(super) members: Attr<List<Member>>,
    pub(super) ready_replicas: Attr<u64>,
    pub(super) conditions: Attr<List<Condition>>,
}

impl Model for Pool {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            required(
                "name",
                "The pool's name, a DNS label. It can be renamed in place: claims hang on the `uid`.",
            ),
            &mut self.name,
        );
        v.attribute(
            optional(
                "instances",
                "The candidates, whole: `kontinuum_instance.node`. Without it, every machine of the inventory is one.",
            ),
            &mut self.instances,
        );
        v.attribute(
            optional("selector", "Which labels a candidate must have; Kubernetes' semantics."),
            &mut self.selector,
        );
        v.attribute(required("replicas", "How many machines to claim."), &mut self.replicas);
        v.attribute(
            optional(
                "require_discovered",
                "Whether a machine must have answered in maintenance mode before it is claimed. Default: `true`.",
            )
            .default_value(true),
            &mut self.require_discovered,
        );
        v.attribute(
            optional(
                "require_capacity",
                "Whether too few machines are an error instead of the condition `InsufficientCapacity` and a warning. \
                 Default: `false`.",
            )
            .default_value(false),
            &mut self.require_capacity,
        );
        v.attribute(
            optional(
                "timeouts",
                "How long operations may take. Defaults: `create` 10m, `update` and `delete` 20m.",
            ),
            &mut self.timeouts,
        );
        v.attribute(computed("uid", "The identity of this pool, to which claims refer."), &mut self.uid);
        v.attribute(computed("members", "The claimed machines, sorted by name."), &mut self.members);
        v.attribute(
            computed("ready_replicas", "How many machines are claimed and Discovered."),
            &mut self.ready_replicas,
        );
        v.attribute(computed("conditions", condition::DESCRIPTION), &mut self.conditions);
    }
}

/// A machine, as a pool needs to know it. A whole `kontinuum_instance` fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Reference {
    /// Its name.
    pub name: Attr<String>,
    /// Its identity.
    pub uid: Attr<String>,
    /// What its resource says of its configuration.
    pub configuration_digest: Attr<String>,
}

impl Model for Reference {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "The machine's name."), &mut self.name);
        v.attribute(required("uid", "The machine's `uid`: a replaced machine has another."), &mut self.uid);
        v.attribute(
            optional(
                "configuration_digest",
                "The machine's `configuration_digest`: an edit of its resource reaches the cluster by it.",
            ),
            &mut self.configuration_digest,
        );
    }
}

/// A claimed machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// Its name.
    pub name: Attr<String>,
    /// Its identity.
    pub uid: Attr<String>,
    /// What its resource says of its configuration.
    pub configuration_digest: Attr<String>,
}

impl Model for Member {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(computed("name", "The machine's name."), &mut self.name);
        v.attribute(computed("uid", "The machine's `uid`."), &mut self.uid);
        v.attribute(
            computed(
                "configuration_digest",
                "The machine's `configuration_digest`, where the machine is listed in `instances`.",
            ),
            &mut self.configuration_digest,
        );
    }
}

/// A label selector.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SelectorModel {
    match_labels: Attr<Map<String>>,
    match_expressions: Attr<List<Expression>>,
}

impl Model for SelectorModel {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(
            optional("match_labels", "Labels that must have exactly these values."),
            &mut self.match_labels,
        );
        v.attribute(
            optional("match_expressions", "Further requirements; all must hold."),
            &mut self.match_expressions,
        );
    }
}

/// A requirement on one label.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expression {
    key: Attr<String>,
    operator: Attr<String>,
    values: Attr<List<String>>,
}

impl Model for Expression {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("key", "The label's key."), &mut self.key);
        v.attribute(required("operator", "`In`, `NotIn`, `Exists` or `DoesNotExist`."), &mut self.operator);
        v.attribute(optional("values", "The values for `In` and `NotIn`."), &mut self.values);
    }
}

/// What the user says of a pool, parsed.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) name: Label,
    pub(super) record: PoolRecord,
    pub(super) require_capacity: bool,
    pub(super) limits: Limits,
}

impl Pool {
    /// The only place where the attributes are judged. Unknown values count as not given and are no error.
    pub(super) fn parse(&self) -> Result<Parsed, Diagnostics> {
        let mut wrong = Diagnostics::new();
        let name = match self.name.known() {
            Some(text) => {
                Label::parse(text).map_err(|error| refuse(&mut wrong, Path::new("name"), &error)).ok()
            }
            // A name that is unknown while planning is judged once it is known.
            None => Label::parse("unknown").ok(),
        };
        if self.instances.is_null() && self.selector.is_null() {
            wrong.push(
                Diagnostic::error(
                    "neither instances nor selector is given",
                    "Give the candidates (`instances = kontinuum_instance.node`), a label `selector`, or both.",
                )
                .at(Path::new("instances")),
            );
        }
        let replicas = match self.replicas.known().copied() {
            None => 0,
            Some(count) => u32::try_from(count).unwrap_or_else(|_| {
                wrong.push(
                    Diagnostic::error(
                        "replicas is not valid",
                        format!("Expected a whole number of machines, 0 or more, got {count}."),
                    )
                    .at(Path::new("replicas")),
                );
                0
            }),
        };
        let instances = self.parse_instances(&mut wrong);
        let selector = self.selector.known().and_then(|selector| selector.parse(&mut wrong));
        let limits = timeouts::parse(&self.timeouts, DEFAULTS).map_err(|errors| wrong.extend(errors)).ok();
        match (name, limits) {
            (Some(name), Some(limits)) if !wrong.has_errors() => Ok(Parsed {
                name,
                record: PoolRecord {
                    instances,
                    selector,
                    replicas,
                    require_discovered: self.require_discovered.known().copied().unwrap_or(true),
                    conditions: Vec::new(),
                    acknowledged: false,
                },
                require_capacity: self.require_capacity.known().copied().unwrap_or(false),
                limits,
            }),
            _ => Err(wrong),
        }
    }

    fn parse_instances(&self, wrong: &mut Diagnostics) -> Option<BTreeMap<Label, Uid>> {
        let entries = self.instances.known()?;
        let mut listed = BTreeMap::new();
        for (key, reference) in entries {
            let Some(reference) = reference.known() else { continue };
            let Some(name) = reference.name.known() else { continue };
            match Label::parse(name) {
                Ok(name) => {
                    let uid = reference.uid.known().cloned().unwrap_or_default();
                    drop(listed.insert(name, Uid::new(uid)));
                }
                Err(error) => refuse(wrong, Path::new("instances").key(key).attribute("name"), &error),
            }
        }
        Some(listed)
    }

    /// What a machine's resource says of its configuration, where it is listed in `instances`.
    pub(super) fn digest_of(&self, name: &str) -> Attr<String> {
        let entries = match &self.instances {
            Attr::Known(entries) => entries,
            Attr::Null => return Attr::Null,
            Attr::Unknown => return Attr::Unknown,
        };
        let mut unclear = false;
        for entry in entries.values() {
            match entry.known().map(|reference| (&reference.name, &reference.configuration_digest)) {
                Some((Attr::Known(listed), digest)) if listed == name => return digest.clone(),
                Some((Attr::Known(_) | Attr::Null, _)) => {}
                Some((Attr::Unknown, _)) | None => unclear = true,
            }
        }
        if unclear { Attr::Unknown } else { Attr::Null }
    }

    /// Shows what the inventory says.
    pub(super) fn shown(mut self, uid: &str, record: &PoolRecord, members: &[Machine]) -> Self {
        self.uid = uid.into();
        self.ready_replicas =
            (members.iter().filter(|m| crate::domain::claim::is_discovered(&m.record)).count() as u64).into();
        self.members = members
            .iter()
            .map(|machine| Member {
                name: machine.name.as_str().into(),
                uid: machine.uid.as_str().into(),
                configuration_digest: self.digest_of(machine.name.as_str()),
            })
            .collect();
        self.conditions = condition::listed(&record.conditions);
        self
    }

    /// What is imported: what the record says.
    pub(super) fn imported(name: &str, uid: &str, record: &PoolRecord, members: &[Machine]) -> Self {
        let pool = Self {
            name: name.into(),
            instances: record.instances.as_ref().map_or(Attr::Null, |listed| {
                listed
                    .iter()
                    .map(|(name, uid)| {
                        let reference = Reference {
                            name: name.as_str().into(),
                            uid: uid.as_str().into(),
                            configuration_digest: Attr::Null,
                        };
                        (name.to_string(), reference)
                    })
                    .collect()
            }),
            selector: record.selector.as_ref().map(SelectorModel::from).into(),
            replicas: i64::from(record.replicas).into(),
            require_discovered: record.require_discovered.into(),
            require_capacity: false.into(),
            ..Self::default()
        };
        pool.shown(uid, record, members)
    }
}

impl SelectorModel {
    fn parse(&self, wrong: &mut Diagnostics) -> Option<Selector> {
        let path = Path::new("selector");
        let mut labels = Labels::new();
        let mut unknown = self.match_labels.is_unknown() || self.match_expressions.is_unknown();
        for (key, value) in self.match_labels.known().into_iter().flatten() {
            let Some(value) = value.known() else {
                unknown = true;
                continue;
            };
            let at = || path.clone().attribute("match_labels").key(key);
            match Requirement::new(key.clone(), Operator::In, vec![value.clone()]) {
                Ok(_) => drop(labels.insert(key.clone(), value.clone())),
                Err(error) => refuse(wrong, at(), &error),
            }
        }
        let mut expressions = Vec::new();
        for (index, expression) in self.match_expressions.known().into_iter().flatten().enumerate() {
            let at = path.clone().attribute("match_expressions").index(index);
            match expression.known().and_then(Expression::parse) {
                None => unknown = true,
                Some(Ok(requirement)) => expressions.push(requirement),
                Some(Err(error)) => refuse(wrong, at.attribute(blamed(&error)), &error),
            }
        }
        if unknown || wrong.has_errors() {
            return None;
        }
        Selector::new(labels, expressions).map_err(|error| refuse(wrong, path, &error)).ok()
    }
}

impl Expression {
    /// `None` while something is unknown.
    fn parse(&self) -> Option<Result<Requirement, LabelError>> {
        let (key, operator) = (self.key.known()?, self.operator.known()?);
        let values = self.values.known_items()?.into_iter().cloned().collect();
        Some(Operator::parse(operator).and_then(|operator| Requirement::new(key.clone(), operator, values)))
    }
}

fn blamed(error: &LabelError) -> &'static str {
    match error {
        LabelError::Operator(_) => "operator",
        LabelError::Value(_) | LabelError::ValuesMissing(_) | LabelError::ValuesGiven(_) => "values",
        LabelError::Key(_) | LabelError::Reserved(_) | LabelError::Empty => "key",
    }
}

impl From<&Selector> for SelectorModel {
    fn from(selector: &Selector) -> Self {
        let expressions = selector.requirements().iter().map(|requirement| Expression {
            key: requirement.key().into(),
            operator: requirement.operator().to_string().into(),
            values: if requirement.values().is_empty() {
                Attr::Null
            } else {
                requirement.values().iter().cloned().collect()
            },
        });
        Self { match_labels: Attr::Null, match_expressions: expressions.collect() }
    }
}

fn refuse(wrong: &mut Diagnostics, path: Path, error: &dyn std::error::Error) {
    wrong.push(Diagnostic::error(format!("{path} is not valid"), format!("{error}.")).at(path));
}
