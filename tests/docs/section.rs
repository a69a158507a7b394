//! The schema's part of a page.

use std::fmt::Write as _;

use kontinuum::plugin::schema::{AttributeSchema, DefaultValue, Kind};

/// A heading, and which attributes stand below it.
type Group = (&'static str, fn(&AttributeSchema) -> bool);

/// Who gives an attribute its value, in the order and with the words of the registries' pages.
const GROUPS: [Group; 3] = [
    ("Required", |one| one.required),
    ("Optional", |one| one.optional),
    ("Read-Only", |one| !one.required && !one.optional),
];

/// The attributes of an object and, below them, of those that it nests.
pub(crate) fn of(attributes: &[AttributeSchema]) -> String {
    let mut text = "## Schema\n".to_owned();
    for (title, belongs) in GROUPS {
        list(&mut text, &format!("### {title}"), attributes, belongs, "");
    }
    nested(&mut text, attributes, "");
    text
}

fn nested(text: &mut String, attributes: &[AttributeSchema], above: &str) {
    for attribute in in_order(attributes) {
        let Some(inner) = object(&attribute.kind) else { continue };
        let path = format!("{above}{}", attribute.name);
        write(text, &format!("\n<a id=\"{}\"></a>\n### Nested Schema for `{path}`\n", anchor(&path)));
        for (title, belongs) in GROUPS {
            list(text, &format!("{title}:"), inner, belongs, &format!("{path}."));
        }
        nested(text, inner, &format!("{path}."));
    }
}

/// In the order in which the lists above show them.
fn in_order(attributes: &[AttributeSchema]) -> impl Iterator<Item = &AttributeSchema> {
    GROUPS.into_iter().flat_map(|(_, belongs)| attributes.iter().filter(move |one| belongs(one)))
}

fn list(
    text: &mut String,
    title: &str,
    attributes: &[AttributeSchema],
    belongs: fn(&AttributeSchema) -> bool,
    above: &str,
) {
    let lines: String = attributes.iter().filter(|one| belongs(one)).map(|one| line(one, above)).collect();
    if !lines.is_empty() {
        write(text, &format!("\n{title}\n\n{lines}"));
    }
}

fn line(attribute: &AttributeSchema, above: &str) -> String {
    let AttributeSchema { name, description, kind, sensitive, deprecated, .. } = attribute;
    let mut words = vec![type_name(kind)];
    words.extend(sensitive.then(|| "Sensitive".to_owned()));
    words.extend(deprecated.map(|_| "Deprecated".to_owned()));
    let mut sentences = vec![(*description).to_owned()];
    sentences.extend(default_sentence(attribute));
    sentences.extend(attribute.replaces.then(|| "A change replaces the resource.".to_owned()));
    sentences.extend(deprecated.map(str::to_owned));
    if object(kind).is_some() {
        sentences.push(format!("(see [below for nested schema](#{}))", anchor(&format!("{above}{name}"))));
    }
    format!("- `{name}` ({}) {}\n", words.join(", "), sentences.join(" "))
}

/// The default, where the description does not say it already.
fn default_sentence(attribute: &AttributeSchema) -> Option<String> {
    let value = match attribute.default? {
        DefaultValue::Bool(value) => value.to_string(),
        DefaultValue::Integer(value) => value.to_string(),
        DefaultValue::String(value) => format!("{value:?}"),
    };
    let sentence = format!("Default: `{value}`.");
    match attribute.description.contains("Default: ") {
        false => Some(sentence),
        true => {
            let name = attribute.name;
            assert!(attribute.description.contains(&sentence), "{name}'s description says another default");
            None
        }
    }
}

fn type_name(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "Boolean".to_owned(),
        Kind::Number => "Number".to_owned(),
        Kind::String => "String".to_owned(),
        Kind::List(inner) => collection("List", inner),
        Kind::Map(inner) => collection("Map", inner),
        Kind::Object(_) => "Attributes".to_owned(),
    }
}

fn collection(what: &str, inner: &Kind) -> String {
    match object(inner) {
        Some(_) => format!("Attributes {what}"),
        None => format!("{what} of {}", type_name(inner)),
    }
}

/// The attributes of an object, or of each object in a list or map.
fn object(kind: &Kind) -> Option<&[AttributeSchema]> {
    match kind {
        Kind::Object(attributes) => Some(attributes),
        Kind::List(inner) | Kind::Map(inner) => object(inner),
        Kind::Bool | Kind::Number | Kind::String => None,
    }
}

fn anchor(path: &str) -> String {
    format!("nestedatt--{}", path.replace('.', "--"))
}

fn write(text: &mut String, more: &str) {
    text.write_str(more).expect("a string takes everything");
}

#[test]
fn an_attribute_shows_all_that_a_user_must_know() {
    let plain = AttributeSchema {
        name: "level",
        description: "How high.",
        kind: Kind::Number,
        required: false,
        optional: true,
        computed: false,
        sensitive: false,
        replaces: false,
        recomputed: false,
        default: None,
        deprecated: None,
    };
    assert_eq!(line(&plain, ""), "- `level` (Number) How high.\n");
    let all = AttributeSchema {
        kind: Kind::List(Box::new(Kind::Object(vec![plain.clone()]))),
        sensitive: true,
        replaces: true,
        default: Some(DefaultValue::String("x")),
        deprecated: Some("Use another."),
        ..plain
    };
    assert_eq!(
        line(&all, "top."),
        "- `level` (Attributes List, Sensitive, Deprecated) How high. Default: `\"x\"`. A change replaces the \
         resource. Use another. (see [below for nested schema](#nestedatt--top--level))\n"
    );
    let page = of(&[all]);
    assert!(page.contains("### Nested Schema for `level`\n\nOptional:\n\n- `level` (Number)"), "{page}");
}
