//! Where images are pulled from: in the `machine` section, or from 1.12 on in documents of their own.

use std::collections::BTreeMap;

use yaml::Value;

use super::{Document, of_kind, section, text, texts};
use crate::domain::machine_configuration::Contract;
use crate::domain::machine_configuration::inputs::{Credentials, Inputs, Registry};

/// The older form.
pub(super) fn section_of(inputs: &Inputs, contract: Contract) -> Option<Value> {
    if contract.has_network_documents() {
        return None;
    }
    let mirror = |registry: &Registry| {
        section([
            ("endpoints", Some(texts(&registry.endpoints))),
            ("overridePath", on(registry.override_path)),
            ("skipFallback", on(registry.skip_fallback)),
        ])
    };
    let mirrors = inputs.registries.iter().filter(is_mirrored).map(|(host, it)| (host.clone(), mirror(it)));
    let credentials = credentials(&inputs.registries)
        .map(|(host, it)| (host.clone(), section([("auth", Some(account(it)))])));
    let filled = |pairs: Vec<(String, Value)>| (!pairs.is_empty()).then(|| Value::mapping(pairs));
    let (mirrors, config) = (filled(mirrors.collect()), filled(credentials.collect()));
    (mirrors.is_some() || config.is_some()).then(|| section([("mirrors", mirrors), ("config", config)]))
}

/// The newer form of the mirrors, which Talos' generator writes too.
pub(super) fn mirror_documents(inputs: &Inputs) -> impl Iterator<Item = Document> {
    inputs.registries.iter().filter(is_mirrored).filter_map(|(host, registry)| {
        let endpoint =
            |url: &String| section([("url", text(url)), ("overridePath", on(registry.override_path))]);
        let endpoints = registry.endpoints.iter().map(endpoint).collect();
        let mirror = section([
            ("name", text(host)),
            ("endpoints", Some(Value::Sequence(endpoints))),
            ("skipFallback", on(registry.skip_fallback)),
        ]);
        of_kind("RegistryMirrorConfig", mirror)
    })
}

/// The newer form of the credentials; at the end, where a patch would put them.
pub(super) fn credential_documents(inputs: &Inputs) -> impl Iterator<Item = Document> {
    credentials(&inputs.registries).filter_map(|(host, credentials)| {
        let Value::Mapping(mut pairs) = account(credentials) else { return None };
        pairs.insert(0, (Value::string("name"), Value::string(host)));
        of_kind("RegistryAuthConfig", Value::Mapping(pairs))
    })
}

fn is_mirrored((_, registry): &(&String, &Registry)) -> bool {
    !registry.endpoints.is_empty() || registry.skip_fallback
}

fn credentials(registries: &BTreeMap<String, Registry>) -> impl Iterator<Item = (&String, &Credentials)> {
    registries.iter().filter_map(|(host, registry)| Some((host, registry.credentials.as_ref()?)))
}

fn account(credentials: &Credentials) -> Value {
    section([("username", text(&credentials.username)), ("password", text(credentials.password.expose()))])
}

fn on(value: bool) -> Option<Value> {
    value.then_some(Value::Bool(true))
}
