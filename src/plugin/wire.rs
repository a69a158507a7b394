//! Between this layer's types and the protocol's messages.

use super::protocol::tfplugin6::{self as wire, attribute_path::step::Selector};
use super::schema::{AttributeSchema, Kind, Schema};
use super::value::{Value, ValueError, from_message_pack, to_message_pack};
use super::{Diagnostic, Diagnostics, Path, PathStep, Severity};

/// The value of a message; null where there is none.
pub(crate) fn value(message: Option<wire::DynamicValue>) -> Result<Value, Diagnostics> {
    let Some(message) = message else { return Ok(Value::Null) };
    if message.msgpack.is_empty() && !message.json.is_empty() {
        return super::value::from_json(&message.json).map(Value::from).map_err(|error| unreadable(&error));
    }
    from_message_pack(&message.msgpack).map_err(|error| unreadable(&error))
}

/// The message of a value.
pub(crate) fn dynamic(value: Value) -> Result<wire::DynamicValue, Diagnostics> {
    let msgpack = to_message_pack(value).map_err(|error| {
        Diagnostics::from(Diagnostic::bug("the provider's answer cannot be written", report(&error)))
    })?;
    Ok(wire::DynamicValue { msgpack, json: Vec::new() })
}

fn unreadable(error: &ValueError) -> Diagnostics {
    Diagnostics::error(
        "a value from the client cannot be read",
        format!("{}. The client speaks another form of the protocol than this provider.", report(error)),
    )
}

/// An error with its sources, in one line.
pub(crate) fn report(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// The messages of diagnostics.
pub(crate) fn diagnostics(all: Diagnostics) -> Vec<wire::Diagnostic> {
    all.into_iter().map(diagnostic).collect()
}

fn diagnostic(diagnostic: Diagnostic) -> wire::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => wire::diagnostic::Severity::Error,
        Severity::Warning => wire::diagnostic::Severity::Warning,
    };
    wire::Diagnostic {
        severity: severity.into(),
        summary: diagnostic.summary,
        detail: diagnostic.detail,
        attribute: diagnostic.path.map(|path| self::path(&shown(&path))),
    }
}

/// As much of a path as clients find in the user's text: an attribute and one key or index below it. With more, Terraform
/// (1.15) and OpenTofu (1.12) show the resource's first line; the summary names the whole path.
fn shown(path: &Path) -> Path {
    let mut steps = path.steps().iter().cloned();
    let first = steps.next().into_iter();
    let second = steps.next().filter(|step| !matches!(step, PathStep::Attribute(_)));
    first.chain(second).fold(Path::root(), Path::step)
}

/// The message of a path.
pub(crate) fn path(path: &Path) -> wire::AttributePath {
    let steps = path.steps().iter().map(|step| {
        let selector = match step {
            PathStep::Attribute(name) => Selector::AttributeName(name.clone()),
            PathStep::Key(key) => Selector::ElementKeyString(key.clone()),
            PathStep::Index(index) => Selector::ElementKeyInt(i64::try_from(*index).unwrap_or(i64::MAX)),
        };
        wire::attribute_path::Step { selector: Some(selector) }
    });
    wire::AttributePath { steps: steps.collect() }
}

/// The message of a schema.
pub(crate) fn schema(schema: &Schema) -> wire::Schema {
    wire::Schema {
        version: schema.version,
        block: Some(wire::schema::Block {
            version: schema.version,
            attributes: schema.attributes.iter().map(attribute).collect(),
            description: schema.description.clone(),
            description_kind: wire::StringKind::Markdown.into(),
            ..wire::schema::Block::default()
        }),
    }
}

fn attribute(attribute: &AttributeSchema) -> wire::schema::Attribute {
    let nested_type = nested(&attribute.kind);
    // A client refuses an attribute that has both.
    let r#type =
        if nested_type.is_some() { Vec::new() } else { type_json(&attribute.kind).to_string().into() };
    wire::schema::Attribute {
        name: attribute.name.to_owned(),
        r#type,
        nested_type,
        description: attribute.description.to_owned(),
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        description_kind: wire::StringKind::Markdown.into(),
        deprecated: attribute.deprecated.is_some(),
        deprecation_message: attribute.deprecated.unwrap_or_default().to_owned(),
        write_only: false,
    }
}

fn nested(kind: &Kind) -> Option<wire::schema::Object> {
    use wire::schema::object::NestingMode;

    let (nesting, attributes) = match kind {
        Kind::Object(attributes) => (NestingMode::Single, attributes),
        Kind::List(inner) => (NestingMode::List, object(inner)?),
        Kind::Map(inner) => (NestingMode::Map, object(inner)?),
        Kind::Bool | Kind::Number | Kind::String => return None,
    };
    Some(wire::schema::Object {
        attributes: attributes.iter().map(attribute).collect(),
        nesting: nesting.into(),
        ..wire::schema::Object::default()
    })
}

const fn object(kind: &Kind) -> Option<&Vec<AttributeSchema>> {
    match kind {
        Kind::Object(attributes) => Some(attributes),
        Kind::Bool | Kind::Number | Kind::String | Kind::List(_) | Kind::Map(_) => None,
    }
}

/// The type as go-cty writes it in JSON.
fn type_json(kind: &Kind) -> serde_json::Value {
    use serde_json::json;

    match kind {
        Kind::Bool => json!("bool"),
        Kind::Number => json!("number"),
        Kind::String => json!("string"),
        Kind::List(inner) => json!(["list", type_json(inner)]),
        Kind::Map(inner) => json!(["map", type_json(inner)]),
        Kind::Object(attributes) => {
            let attributes: serde_json::Map<_, _> =
                attributes.iter().map(|one| (one.name.to_owned(), type_json(&one.kind))).collect();
            json!(["object", attributes])
        }
    }
}
