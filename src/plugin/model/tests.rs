//! A model with a field of each type, there and back again.

use proptest::prelude::*;
use serde_json::json;

use super::super::value::testing::{json, value};
use super::super::value::{from_message_pack, to_message_pack};
use super::super::{Attr, List, Map, Path, Secret};
use super::{Model, Visitor, attributes_of, computed, decode, encode, optional, required};

#[derive(Clone, Debug, Default, PartialEq)]
struct Everything {
    flag: Attr<bool>,
    signed: Attr<i64>,
    unsigned: Attr<u64>,
    ratio: Attr<f64>,
    text: Attr<String>,
    token: Attr<Secret>,
    list: Attr<List<String>>,
    map: Attr<Map<i64>>,
    one: Attr<Inner>,
    many: Attr<List<Inner>>,
    named: Attr<Map<Inner>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Inner {
    name: Attr<String>,
    tokens: Attr<List<Secret>>,
}

impl Model for Everything {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("flag", "A flag."), &mut self.flag);
        v.attribute(optional("signed", ""), &mut self.signed);
        v.attribute(optional("unsigned", ""), &mut self.unsigned);
        v.attribute(optional("ratio", ""), &mut self.ratio);
        v.attribute(optional("text", "").deprecated("Use list."), &mut self.text);
        v.attribute(optional("token", ""), &mut self.token);
        v.attribute(optional("list", ""), &mut self.list);
        v.attribute(optional("map", "").sensitive(), &mut self.map);
        v.attribute(optional("one", ""), &mut self.one);
        v.attribute(computed("many", ""), &mut self.many);
        v.attribute(optional("named", ""), &mut self.named);
    }
}

impl Model for Inner {
    fn attributes(&mut self, v: &mut impl Visitor) {
        v.attribute(required("name", ""), &mut self.name);
        v.attribute(optional("tokens", ""), &mut self.tokens);
    }
}

fn attr<T: Clone + std::fmt::Debug + 'static>(
    known: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Attr<T>> {
    prop_oneof![Just(Attr::Null), Just(Attr::Unknown), known.prop_map(Attr::Known)].boxed()
}

fn inner() -> BoxedStrategy<Inner> {
    let secret = ".{0,9}".prop_map(Secret::from);
    (attr(".{0,9}"), attr(prop::collection::vec(attr(secret), 0..3)))
        .prop_map(|(name, tokens)| Inner { name, tokens })
        .boxed()
}

prop_compose! {
    fn everything()(
        flag in attr(any::<bool>()),
        signed in attr(any::<i64>()),
        unsigned in attr(any::<u64>()),
        ratio in attr(any::<f64>().prop_filter("finite", |number| number.is_finite())),
        text in attr(".{0,9}"),
        token in attr(".{0,9}".prop_map(Secret::from)),
        list in attr(prop::collection::vec(attr(".{0,9}"), 0..4)),
        map in attr(prop::collection::btree_map(".{0,9}", attr(any::<i64>()), 0..4)),
        one in attr(inner()),
        many in attr(prop::collection::vec(attr(inner()), 0..4)),
        named in attr(prop::collection::btree_map(".{0,9}", attr(inner()), 0..4)),
    ) -> Everything {
        Everything { flag, signed, unsigned, ratio, text, token, list, map, one, many, named }
    }
}

proptest! {
    #[test]
    fn a_model_survives_the_wire(model in everything()) {
        let bytes = to_message_pack(encode(model.clone())).expect("values are written");
        let value = from_message_pack(&bytes).expect("what was written is read");
        prop_assert_eq!(decode::<Everything>(value, &Path::root()), Ok(model));
    }
}

#[test]
fn every_attribute_of_the_default_is_null() {
    let all = json(&encode(Everything::default()));
    let nulls = all.as_object().map(|all| all.values().filter(|value| value.is_null()).count());
    assert_eq!(nulls, Some(11));
}

#[test]
fn all_that_is_wrong_is_said_at_once_and_where() {
    let wrong = value(json!({
        "flag": "yes", "signed": 1.5, "unsigned": -1, "surprise": 1,
        "many": [{ "name": "a" }, { "name": ["b"] }], "named": { "k": { "tokens": [true] } },
    }));
    let errors = decode::<Everything>(wrong, &Path::root()).expect_err("six things are wrong").to_string();
    assert_eq!(
        errors.lines().collect::<Vec<_>>(),
        [
            "Error: flag has the wrong type (at flag): Expected a bool, got a string.",
            "Error: signed has the wrong type (at signed): Expected a whole number, got 1.5.",
            "Error: unsigned has the wrong type (at unsigned): Expected a whole number of 0 or more, got -1.",
            "Error: many[1].name has the wrong type (at many[1].name): Expected a string, got a list.",
            "Error: named[\"k\"].tokens[0] has the wrong type (at named[\"k\"].tokens[0]): \
             Expected a string, got a bool.",
            "Error: surprise is not an attribute: The schema has no attribute of that name.",
        ]
    );
}

#[test]
fn numbers_are_read_in_each_of_their_forms() {
    let numbers = value(json!({ "signed": "-7", "unsigned": "18446744073709551615", "ratio": "0.1" }));
    let model = decode::<Everything>(numbers, &Path::root());
    assert_eq!(
        model.map(|model| (model.signed, model.unsigned, model.ratio)),
        Ok((Attr::Known(-7), Attr::Known(u64::MAX), Attr::Known(0.1)))
    );
}

#[test]
fn a_number_that_a_model_hands_on_keeps_all_its_digits() {
    let third = "0.3333333333333333333333333333333333333333";
    let original = value(json!({ "ratio": third, "signed": 9_007_199_254_740_993_i64 }));
    let mut answer = decode::<Everything>(original, &Path::root()).map(encode).expect("it is a model");
    let sent = value(json!({ "ratio": 1 }));
    answer.keep_numbers_of(&sent);
    assert_ne!(json(answer.field("ratio")), json!(1), "another number is not overwritten");
    let number = super::super::value::Number::from_text(third).map(super::super::value::Value::Number);
    let original = super::super::value::Value::Object(
        [("ratio".to_owned(), number.expect("it is a number"))].into_iter().collect(),
    );
    answer.keep_numbers_of(&original);
    assert_eq!(json(answer.field("ratio")), json!({ "decimal": third }));
    assert_eq!(json(answer.field("signed")), json!(9_007_199_254_740_993_i64));
}

#[test]
fn a_secret_is_sensitive_wherever_it_stands() {
    let attributes = attributes_of::<Everything>();
    let sensitive: Vec<_> = attributes.iter().filter(|one| one.sensitive).map(|one| one.name).collect();
    assert_eq!(sensitive, ["token", "map"]);
    assert!(attributes_of::<Inner>().iter().any(|one| one.name == "tokens" && one.sensitive));
}
