//! Our hand-written protos against the descriptors that Talos' own programs are built with: every message, field,
//! enumeration value and method of ours is there, and is the same.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod talos_judge;

use std::collections::BTreeMap;

use prost::Message;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorSet, MethodDescriptorProto,
};

#[test]
fn every_message_enumeration_and_method_is_talos_own() {
    let ours = index(talos_api::FILE_DESCRIPTOR_SET);
    let talos = index(&talos_judge::ask("talos-descriptors", &[]));
    assert!(ours.len() > 900, "only {} things were compared", ours.len());
    let differences: Vec<String> = ours
        .iter()
        .filter_map(|(name, shape)| match talos.get(name) {
            Some(theirs) if theirs == shape => None,
            Some(theirs) => Some(format!("{name}: ours is {shape}, Talos' {theirs}")),
            None => Some(format!("{name}: Talos has no such thing")),
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Everything in a set by its full name, with what the wire depends on. Google's own types are left out, but for the
/// status, which we wrote ourselves.
fn index(encoded: &[u8]) -> BTreeMap<String, String> {
    let set = FileDescriptorSet::decode(encoded).unwrap();
    let mut found = BTreeMap::new();
    for file in &set.file {
        let package = file.package();
        if package == "google.protobuf" {
            continue;
        }
        for message in &file.message_type {
            add_message(package, message, &mut found);
        }
        for enumeration in &file.enum_type {
            add_enumeration(package, enumeration, &mut found);
        }
        for service in &file.service {
            for method in &service.method {
                found.insert(format!("{package}.{}/{}", service.name(), method.name()), of_method(method));
            }
        }
    }
    found
}

fn add_message(parent: &str, message: &DescriptorProto, found: &mut BTreeMap<String, String>) {
    let name = format!("{parent}.{}", message.name());
    found.insert(name.clone(), "message".to_owned());
    for field in &message.field {
        found.insert(format!("{name}.{}", field.name()), of_field(message, field));
    }
    for nested in &message.nested_type {
        add_message(&name, nested, found);
    }
    for enumeration in &message.enum_type {
        add_enumeration(&name, enumeration, found);
    }
}

fn add_enumeration(parent: &str, enumeration: &EnumDescriptorProto, found: &mut BTreeMap<String, String>) {
    let name = format!("{parent}.{}", enumeration.name());
    found.insert(name.clone(), "enumeration".to_owned());
    for value in &enumeration.value {
        found.insert(format!("{name}.{}", value.name()), value.number().to_string());
    }
}

fn of_field(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let choice = field.oneof_index.and_then(|index| message.oneof_decl.get(usize::try_from(index).unwrap()));
    format!(
        "{} {:?} {:?} {} {}",
        field.number(),
        field.label(),
        field.r#type(),
        field.type_name(),
        choice.map_or("", |choice| choice.name()),
    )
}

fn of_method(method: &MethodDescriptorProto) -> String {
    format!(
        "{}{} -> {}{}",
        method.input_type(),
        if method.client_streaming() { " stream" } else { "" },
        method.output_type(),
        if method.server_streaming() { " stream" } else { "" },
    )
}
