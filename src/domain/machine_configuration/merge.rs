//! A patch's section laid over another one, as Talos merges (`pkg/machinery/config/merge`).

use yaml::Value;

use super::decode::join;
use super::problem::Problem;
use super::schema::{Field, Key, Kind, Merge};

/// Lays a section over another. Lists are appended, sections merged key by key, all else is replaced.
pub(super) fn section(left: &mut Value, right: Value, fields: &[Field], path: &str) -> Result<(), Problem> {
    let Value::Mapping(right) = right else { return Ok(()) };
    let mut pairs = take_pairs(left);
    for (key, value) in right {
        let name = key.as_str().unwrap_or_default();
        let Some(field) = fields.iter().find(|field| field.key == name) else { continue };
        let place = join(path, name);
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, existing)) => field_value(existing, value, field, &place)?,
            None => {
                // Items of the patch that are the same thing become one.
                let is_keyed = matches!(field.merge, Merge::Keyed(_));
                let mut new = if is_keyed { Value::Sequence(Vec::new()) } else { Value::Null };
                if is_keyed {
                    field_value(&mut new, value, field, &place)?;
                } else {
                    new = value;
                }
                pairs.push((key, new));
            }
        }
    }
    *left = Value::Mapping(pairs);
    Ok(())
}

/// Takes the pairs of a mapping out, to be put back; anything else becomes none.
fn take_pairs(value: &mut Value) -> Vec<(Value, Value)> {
    if let Value::Mapping(pairs) = std::mem::take(value) { pairs } else { Vec::new() }
}

fn field_value(left: &mut Value, right: Value, field: &Field, path: &str) -> Result<(), Problem> {
    match (field.merge, &field.kind) {
        (Merge::Keyed(key), Kind::List(Kind::Struct(fields))) => keyed(left, right, key, fields, path),
        (Merge::Replace, kind) => {
            // An empty free-form map is Go's zero value, which replaces nothing.
            let is_zero = matches!((kind, &right), (Kind::Free, Value::Mapping(pairs)) if pairs.is_empty());
            if !is_zero {
                *left = right;
            }
            Ok(())
        }
        (Merge::Deep | Merge::Keyed(_), kind) => any_value(left, right, kind, path),
    }
}

fn any_value(left: &mut Value, right: Value, kind: &Kind, path: &str) -> Result<(), Problem> {
    match kind {
        Kind::Struct(fields) => section(left, right, fields, path),
        Kind::List(_) => {
            append(left, right);
            Ok(())
        }
        Kind::TextMap => {
            each(left, right, path, |existing, value, _| {
                // An empty text is Go's zero value and replaces nothing.
                if value.as_str() != Some("") {
                    *existing = value;
                }
                Ok(())
            })
        }
        Kind::BoolMap | Kind::Arguments => each(left, right, path, |existing, value, _| {
            *existing = value;
            Ok(())
        }),
        Kind::Map(of) => {
            each(left, right, path, |existing, value, path| any_value(existing, value, of, path))
        }
        Kind::Free => free(left, right, path),
        Kind::Url => {
            *left = Value::String(merged_url(
                left.as_str().unwrap_or_default(),
                right.as_str().unwrap_or_default(),
            ));
            Ok(())
        }
        Kind::SizeMatch => Err(Problem::invalid(
            path,
            "a size is set already and Talos cannot merge two: delete it first, with `size: {$patch: delete}`",
        )),
        Kind::Text
        | Kind::Bool
        | Kind::PlainBool
        | Kind::Integer(_)
        | Kind::Duration
        | Kind::Permissions
        | Kind::PartitionSize
        | Kind::ByteSize
        | Kind::Size
        | Kind::Base64
        | Kind::Expression
        | Kind::Prefix
        | Kind::Address
        | Kind::AddressAndPort
        | Kind::HardwareAddress
        | Kind::RoutingTable
        | Kind::PortRange
        | Kind::Word(_) => {
            *left = right;
            Ok(())
        }
    }
}

fn append(left: &mut Value, right: Value) {
    match (left, right) {
        (Value::Sequence(items), Value::Sequence(more)) => items.extend(more),
        (left, right) => *left = right,
    }
}

/// Merges the values of keys that both sides have and takes over the others.
fn each(
    left: &mut Value,
    right: Value,
    path: &str,
    mut merge: impl FnMut(&mut Value, Value, &str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let Value::Mapping(right) = right else { return Ok(()) };
    let mut pairs = take_pairs(left);
    for (key, value) in right {
        match pairs.iter_mut().find(|(known, _)| *known == key) {
            Some((_, existing)) => {
                merge(existing, value, &join(path, key.as_str().unwrap_or_default()))?;
            }
            None => pairs.push((key, value)),
        }
    }
    *left = Value::Mapping(pairs);
    Ok(())
}

/// Free-form maps: key by key, lists appended; what is of another type than before is refused.
fn free(left: &mut Value, right: Value, path: &str) -> Result<(), Problem> {
    each(left, right, path, |existing, value, path| match (&mut *existing, value) {
        (Value::Mapping(_), value @ Value::Mapping(_)) => free(existing, value, path),
        (Value::Sequence(_), value @ Value::Sequence(_)) => {
            append(existing, value);
            Ok(())
        }
        (Value::Null, value) => {
            *existing = value;
            Ok(())
        }
        (_, Value::Null) => Err(Problem::invalid(
            path,
            "null does not remove a key that is set: use `$patch: delete` on the mapping around it",
        )),
        (existing, value) if std::mem::discriminant(existing) != std::mem::discriminant(&value) => {
            Err(Problem::invalid(
                path,
                format!("merge type mismatch: set to {}, patched with {}", existing.kind(), value.kind()),
            ))
        }
        // Zero values replace nothing, except false.
        (_, Value::String(text)) if text.is_empty() => Ok(()),
        (_, Value::Int(0) | Value::Uint(0)) => Ok(()),
        (_, Value::Float(0.0)) => Ok(()),
        (existing, value) => {
            *existing = value;
            Ok(())
        }
    })
}

fn keyed(left: &mut Value, right: Value, key: Key, fields: &[Field], path: &str) -> Result<(), Problem> {
    let Value::Sequence(more) = right else { return Ok(()) };
    if !matches!(left, Value::Sequence(_)) {
        *left = Value::Sequence(Vec::new());
    }
    let Value::Sequence(items) = left else { return Ok(()) };
    for item in more {
        let position = items.iter().position(|existing| is_same(existing, &item, key));
        match (position, key) {
            (None, _) => items.push(item),
            (Some(index), Key::WholeBy(_)) => items[index] = item,
            (Some(index), Key::Field(_) | Key::Interface) => {
                section(&mut items[index], item, fields, &format!("{path}[{index}]"))?;
            }
        }
    }
    Ok(())
}

fn is_same(existing: &Value, item: &Value, key: Key) -> bool {
    let field = |value: &Value, name: &str| value.field(name).cloned().unwrap_or_default();
    match key {
        Key::Field(name) | Key::WholeBy(name) => field(existing, name) == field(item, name),
        Key::Interface => match (item.field("interface"), item.field("deviceSelector")) {
            (Some(name), _) => existing.field("interface") == Some(name),
            (None, Some(selector)) => {
                existing.field("deviceSelector").is_some_and(|known| same_fields(known, selector))
            }
            (None, None) => false,
        },
    }
}

/// Equal whatever the order of the keys.
fn same_fields(left: &Value, right: &Value) -> bool {
    let (Some(left), Some(right)) = (left.as_mapping(), right.as_mapping()) else { return false };
    left.len() == right.len() && left.iter().all(|pair| right.contains(pair))
}

/// Talos merges URLs by their components: those of the patch count where they are not empty.
fn merged_url(left: &str, right: &str) -> String {
    let (left, right) = (Url::parse(left), Url::parse(right));
    let scheme = or(right.scheme, left.scheme);
    let authority = [or(right.user, left.user), or(right.host, left.host)].concat();
    format!("{scheme}://{authority}{}{}", or(right.path, left.path), or(right.query, left.query))
}

/// The first text unless it is empty.
const fn or<'text>(first: &'text str, second: &'text str) -> &'text str {
    if first.is_empty() { second } else { first }
}

/// The components of a URL with their separators.
struct Url<'text> {
    scheme: &'text str,
    user: &'text str,
    host: &'text str,
    path: &'text str,
    query: &'text str,
}

impl<'text> Url<'text> {
    fn parse(text: &'text str) -> Self {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (rest, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = authority.split_at(authority.find('@').map_or(0, |at| at + 1));
        Self { scheme, user, host, path, query }
    }
}
