//! Plans of one small schema that has an attribute of each sort.

use serde_json::{Value as Json, json};

use super::super::model::attributes_of;
use super::super::value::testing::{json, value};
use super::super::value::{Number, Value};
use super::super::{Attr, List, Map, Model, Visitor, computed, optional, optional_computed, required};
use super::{applied, asked, observed, planned, propose, replacements};

#[derive(Clone, Default)]
struct Thing {
    name: Attr<String>,
    size: Attr<i64>,
    note: Attr<String>,
    version: Attr<String>,
    uid: Attr<String>,
    generation: Attr<i64>,
    parts: Attr<Map<Part>>,
    disks: Attr<List<Part>>,
}

#[derive(Clone, Default)]
struct Part {
    kind: Attr<String>,
    serial: Attr<String>,
    spare: Attr<bool>,
}

impl Model for Thing {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", "").replaces(), &mut self.name);
        v.attribute(optional("size", "").default_value(1_i64), &mut self.size);
        v.attribute(optional("note", ""), &mut self.note);
        v.attribute(optional_computed("version", ""), &mut self.version);
        v.attribute(computed("uid", ""), &mut self.uid);
        v.attribute(computed("generation", "").recomputed(), &mut self.generation);
        v.attribute(optional("parts", ""), &mut self.parts);
        v.attribute(optional("disks", ""), &mut self.disks);
    }
}

impl Model for Part {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("kind", "").replaces(), &mut self.kind);
        v.attribute(computed("serial", ""), &mut self.serial);
        v.attribute(optional("spare", "").default_value(false), &mut self.spare);
    }
}

#[derive(Clone, Default)]
struct Ratio {
    ratio: Attr<f64>,
}

impl Model for Ratio {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(optional("ratio", ""), &mut self.ratio);
    }
}

/// A whole object: all null but what is given.
fn thing(given: Json) -> Json {
    let mut all = json!({
        "name": null, "size": null, "note": null, "version": null,
        "uid": null, "generation": null, "parts": null, "disks": null,
    });
    if let (Json::Object(all), Json::Object(given)) = (&mut all, given) {
        all.extend(given);
    }
    all
}

fn part(kind: &str, serial: Json, spare: Json) -> Json {
    json!({ "kind": kind, "serial": serial, "spare": spare })
}

fn plan(config: Json, prior: Json) -> Json {
    json(&propose(&attributes_of::<Thing>(), &value(config), &value(prior)))
}

fn prior() -> Json {
    thing(json!({
        "name": "a", "size": 1, "version": "v1", "uid": "u", "generation": 3,
        "parts": { "x": part("wheel", json!("s1"), json!(false)) },
    }))
}

fn same_config() -> Json {
    thing(json!({ "name": "a", "parts": { "x": part("wheel", json!(null), json!(null)) } }))
}

/// `config` with some attributes set otherwise.
fn with(mut config: Json, changes: Json) -> Json {
    if let (Json::Object(config), Json::Object(changes)) = (&mut config, changes) {
        config.extend(changes);
    }
    config
}

#[test]
fn a_new_object_has_defaults_and_unknown_computed_values() {
    assert_eq!(
        plan(thing(json!({ "name": "a", "disks": [part("ssd", json!(null), json!(true))] })), json!(null)),
        thing(json!({
            "name": "a", "size": 1, "version": "<unknown>", "uid": "<unknown>", "generation": "<unknown>",
            "disks": [part("ssd", json!("<unknown>"), json!(true))],
        }))
    );
}

#[test]
fn an_object_that_does_not_change_is_planned_as_it_is() {
    assert_eq!(plan(same_config(), prior()), prior());
}

#[test]
fn a_change_keeps_computed_values_but_recomputed_ones() {
    assert_eq!(
        plan(with(same_config(), json!({ "note": "n" })), prior()),
        with(prior(), json!({ "note": "n", "generation": "<unknown>" }))
    );
}

#[test]
fn a_new_element_has_unknown_computed_values_and_an_old_one_keeps_its_own() {
    let parts = json!({
        "x": part("wheel", json!(null), json!(null)), "y": part("door", json!(null), json!(null)),
    });
    let planned = plan(with(same_config(), json!({ "parts": parts })), prior());
    assert_eq!(
        planned.get("parts"),
        Some(&json!({
            "x": part("wheel", json!("s1"), json!(false)), "y": part("door", json!("<unknown>"), json!(false)),
        }))
    );
}

#[test]
fn what_the_user_leaves_unknown_stays_unknown() {
    let planned = plan(with(same_config(), json!({ "note": "<unknown>", "parts": "<unknown>" })), prior());
    assert_eq!(
        (planned.get("note"), planned.get("parts")),
        (Some(&json!("<unknown>")), Some(&json!("<unknown>")))
    );
}

#[test]
fn a_number_that_is_the_same_as_stored_does_not_change() {
    let number = |text| Number::from_text(text).map_or(Value::Null, Value::Number);
    let object = |ratio| Value::Object([("ratio".to_owned(), ratio)].into_iter().collect());
    let attributes = attributes_of::<Ratio>();
    let stored = object(number("0.3333333333333333"));
    let planned = propose(&attributes, &object(number("0.3333333333333333333333333")), &stored);
    assert_eq!(json(&planned), json(&stored));
    let planned = propose(&attributes, &object(number("0.34")), &stored);
    assert_eq!(json(&planned), json!({ "ratio": { "decimal": "0.34" } }));
}

#[test]
fn only_marked_attributes_replace_and_only_where_both_objects_have_them() {
    let attributes = attributes_of::<Thing>();
    let paths = |planned: Json| -> Vec<String> {
        let paths = replacements(&attributes, &value(prior()), &value(planned));
        paths.iter().map(ToString::to_string).collect()
    };
    assert!(paths(with(prior(), json!({ "note": "n" }))).is_empty());
    assert_eq!(paths(with(prior(), json!({ "name": "b" }))), ["name"]);
    assert_eq!(paths(with(prior(), json!({ "name": "<unknown>" }))), ["name"]);
    let parts = json!({
        "x": part("door", json!("s1"), json!(false)), "y": part("door", json!(null), json!(false)),
    });
    assert_eq!(paths(with(prior(), json!({ "parts": parts }))), [r#"parts["x"].kind"#]);
    assert!(replacements(&attributes, &value(json!(null)), &value(prior())).is_empty());
}

#[test]
fn defaults_alone_fill_in_what_is_looked_up() {
    let config = thing(json!({ "name": "a", "note": "<unknown>" }));
    assert_eq!(
        json(&asked(&attributes_of::<Thing>(), &value(config))),
        thing(json!({ "name": "a", "note": "<unknown>", "size": 1 }))
    );
}

#[test]
fn a_plan_may_set_what_is_computed_and_nothing_else() {
    let check = |planned_value: Json| {
        let [config, prior, plan] = [same_config(), prior(), planned_value].map(value);
        planned(&attributes_of::<Thing>(), &config, &prior, &plan).to_string()
    };
    assert_eq!(check(prior()), "");
    assert_eq!(check(with(prior(), json!({ "uid": "<unknown>", "version": "v2", "size": 7 }))), "");
    assert!(
        check(with(prior(), json!({ "name": "b" })))
            .contains("At name: expected a string with another value")
    );
    assert!(check(with(prior(), json!({ "note": "n" }))).contains("At note: expected null, got a string"));
    let parts = json!({ "x": part("door", json!("s2"), json!(false)) });
    assert!(check(with(prior(), json!({ "parts": parts }))).contains(r#"At parts["x"].kind"#));
    assert!(check(with(prior(), json!({ "parts": {} }))).contains("At parts: expected an object"));
}

#[test]
fn a_result_is_what_was_planned_where_that_was_known() {
    let check = |result: Json| {
        let planned = with(prior(), json!({ "uid": "<unknown>", "disks": ["<unknown>", null] }));
        applied(&value(planned), &value(result)).to_string()
    };
    let disk = part("ssd", json!("s"), json!(false));
    assert_eq!(check(with(prior(), json!({ "disks": [disk, null] }))), "");
    assert!(
        check(with(prior(), json!({ "disks": [disk] }))).contains("At disks: expected 2 elements, got 1")
    );
    assert!(check(with(prior(), json!({ "disks": [disk, disk] }))).contains("At disks[1]: expected null"));
    let unknown = json!({ "disks": [part("ssd", json!("<unknown>"), json!(false)), null] });
    assert!(check(with(prior(), unknown)).contains("At disks[0].serial: the value is still unknown"));
    let changed = json!({ "version": "v2", "disks": [disk, null] });
    assert!(check(with(prior(), changed)).contains("At version"));
}

#[test]
fn a_failed_update_may_change_what_only_the_provider_sets() {
    let check =
        |result: Json| observed(&attributes_of::<Thing>(), &value(prior()), &value(result)).to_string();
    assert_eq!(check(with(prior(), json!({ "uid": "u2", "generation": 4 }))), "");
    assert_eq!(
        check(with(prior(), json!({ "parts": { "x": part("wheel", json!("s2"), json!(false)) } }))),
        ""
    );
    assert!(check(with(prior(), json!({ "version": "v2" }))).contains("At version"));
    assert!(check(with(prior(), json!({ "note": "n" }))).contains("At note"));
    assert!(
        check(with(prior(), json!({ "uid": "<unknown>" }))).contains("At uid: the value is still unknown")
    );
}

#[test]
fn no_message_shows_a_value() {
    let [config, prior, plan] =
        [same_config(), prior(), with(prior(), json!({ "name": "hunter2" }))].map(value);
    assert!(!planned(&attributes_of::<Thing>(), &config, &prior, &plan).to_string().contains("hunter2"));
}
