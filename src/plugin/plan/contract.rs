//! What a client demands of a provider's answers, checked before they are sent.
//!
//! The rules are Terraform's (`internal/plans/objchange`, `AssertPlanValid` and `AssertObjectCompatible`). A
//! client that finds them broken marks a resource as tainted; here the state stays what it was, and the
//! message says whose fault it is.

use crate::plugin::schema::{AttributeSchema, Kind};
use crate::plugin::value::Value;
use crate::plugin::{Diagnostic, Diagnostics, Path};

/// A planned object: what the user set is as it was set (or as it is already), and what nobody may set is null.
pub(crate) fn planned(
    attributes: &[AttributeSchema],
    config: &Value,
    prior: &Value,
    planned: &Value,
) -> Diagnostics {
    let mut found = Findings::new("the provider planned a value that the configuration does not allow");
    found.plan(attributes, [config, prior, planned], &Path::root());
    found.diagnostics
}

/// A result: as planned wherever the plan was known, and nothing unknown.
pub(crate) fn applied(planned: &Value, result: &Value) -> Diagnostics {
    let mut found = Findings::new("the provider made something else than what was planned");
    found.apply(planned, result, &Path::root());
    found.diagnostics
}

/// An object that was read: nothing unknown.
pub(crate) fn no_unknown(result: &Value) -> Diagnostics {
    let mut found = Findings::new("the provider answered an unknown value");
    found.known(result, &Path::root());
    found.diagnostics
}

/// The prior object after a failed update: differs in attributes that only the provider sets.
pub(crate) fn observed(attributes: &[AttributeSchema], prior: &Value, observed: &Value) -> Diagnostics {
    let mut found = Findings::new("the provider answered a planned value although the update failed");
    found.observe(attributes, prior, observed, &Path::root());
    found.known(observed, &Path::root());
    found.diagnostics
}

struct Findings {
    summary: &'static str,
    diagnostics: Diagnostics,
}

impl Findings {
    const fn new(summary: &'static str) -> Self {
        Self { summary, diagnostics: Diagnostics::new() }
    }

    fn push(&mut self, path: &Path, detail: &str) {
        self.diagnostics
            .push(Diagnostic::bug(self.summary, format!("At {path}: {detail}.")).at(path.clone()));
    }

    fn differs(&mut self, path: &Path, expected: &Value, came: &Value) {
        let (expected, came) = (expected.what(), came.what());
        if expected == came {
            self.push(path, &format!("expected {expected} with another value"));
        } else {
            self.push(path, &format!("expected {expected}, got {came}"));
        }
    }

    fn plan(&mut self, attributes: &[AttributeSchema], [config, prior, planned]: [&Value; 3], path: &Path) {
        for attribute in attributes {
            let name = attribute.name;
            let [config, prior, planned] = [config, prior, planned].map(|object| object.field(name));
            let path = path.clone().attribute(name);
            match config {
                // The provider's to set; what it is follows from nothing that is known here.
                Value::Null if attribute.computed => {}
                Value::Null if !planned.is_null() => self.differs(&path, config, planned),
                Value::Null
                | Value::Unknown
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::List(_)
                | Value::Object(_) => self.plan_set(&attribute.kind, [config, prior, planned], &path),
            }
        }
    }

    fn plan_set(&mut self, kind: &Kind, [config, prior, planned]: [&Value; 3], path: &Path) {
        if planned == config || (planned == prior && !prior.is_null()) {
            return;
        }
        match (kind, config, planned) {
            (Kind::Object(attributes), Value::Object(_), Value::Object(_)) => {
                self.plan(attributes, [config, prior, planned], path);
            }
            (Kind::List(kind), Value::List(set), Value::List(items)) if set.len() == items.len() => {
                for (index, (set, item)) in set.iter().zip(items).enumerate() {
                    self.plan_set(kind, [set, prior.item(index), item], &path.clone().index(index));
                }
            }
            (Kind::Map(kind), Value::Object(set), Value::Object(entries))
                if set.keys().eq(entries.keys()) =>
            {
                for (key, set) in set {
                    self.plan_set(kind, [set, prior.field(key), planned.field(key)], &path.clone().key(key));
                }
            }
            (
                Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) | Kind::Object(_),
                _,
                _,
            ) => {
                self.differs(path, config, planned);
            }
        }
    }

    fn apply(&mut self, planned: &Value, result: &Value, path: &Path) {
        match (planned, result) {
            (Value::Unknown, _) => self.known(result, path),
            (Value::Object(before), Value::Object(after)) if before.keys().eq(after.keys()) => {
                for (name, before) in before {
                    self.apply(before, result.field(name), &path.clone().attribute(name));
                }
            }
            (Value::List(before), Value::List(after)) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    self.apply(before, after, &path.clone().index(index));
                }
            }
            (Value::List(before), Value::List(after)) => {
                let (before, after) = (before.len(), after.len());
                self.push(path, &format!("expected {before} elements, got {after}"));
            }
            _ if planned == result => {}
            _ => self.differs(path, planned, result),
        }
    }

    fn known(&mut self, value: &Value, path: &Path) {
        match value {
            Value::Unknown => self.push(path, "the value is still unknown"),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.known(value, &path.clone().attribute(name));
                }
            }
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.known(item, &path.clone().index(index));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn observe(&mut self, attributes: &[AttributeSchema], prior: &Value, observed: &Value, path: &Path) {
        for attribute in attributes {
            let path = path.clone().attribute(attribute.name);
            if attribute.required || attribute.optional {
                self.observe_set(
                    &attribute.kind,
                    prior.field(attribute.name),
                    observed.field(attribute.name),
                    &path,
                );
            }
        }
    }

    fn observe_set(&mut self, kind: &Kind, prior: &Value, observed: &Value, path: &Path) {
        if prior == observed {
            return;
        }
        match (kind, prior, observed) {
            (Kind::Object(attributes), Value::Object(_), Value::Object(_)) => {
                self.observe(attributes, prior, observed, path);
            }
            (Kind::List(kind), Value::List(before), Value::List(after)) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    self.observe_set(kind, before, after, &path.clone().index(index));
                }
            }
            (Kind::Map(kind), Value::Object(before), Value::Object(after))
                if before.keys().eq(after.keys()) =>
            {
                for (key, before) in before {
                    self.observe_set(kind, before, observed.field(key), &path.clone().key(key));
                }
            }
            (
                Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) | Kind::Object(_),
                _,
                _,
            ) => {
                self.differs(path, prior, observed);
            }
        }
    }
}
