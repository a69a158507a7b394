//! Patches to try: what Talos' documentation shows, what we wrote down, and all of that with faults put in.

use serde_json::json;
use yaml::{Typing, Value, emit_v4_documents, parse_documents};

use super::judge::Judge;
use super::patches;
use super::random::Random;

/// Documents that patches are made of; each is what stood in one text.
pub(crate) struct Corpus(Vec<Vec<Value>>);

/// Scalars that YAML's versions and Go's types read differently, as written.
const ODD: [&str; 24] = [
    "no",
    "1e3",
    "0o17",
    "017",
    "0x1f",
    "1_000",
    "~",
    "yes",
    "off",
    "1:30",
    "2026-01-02",
    ".inf",
    "''",
    "'5'",
    "0",
    "-1",
    "1.5",
    "true",
    "\"a\\tb\"",
    "10.0.0.1",
    "70000",
    "99999999999999999999",
    "1h",
    "a b",
];

impl Corpus {
    pub(crate) fn new(judge: &mut Judge) -> Self {
        let own = patches::APPLIED.iter().chain(patches::REFUSED).copied().flatten().copied();
        let documents = patches::DOCUMENTS.iter().map(|text| whole(text));
        let judged = patches::JUDGED.iter().map(|text| (*text).to_owned());
        let texts = own.map(str::to_owned).chain(documents).chain(judged).chain(examples(judge));
        let read = |text: String| parse_documents(&text, Typing::V4).ok();
        let values = texts.filter_map(read).map(|documents| {
            documents.into_iter().map(|document| document.root.into_value()).collect::<Vec<_>>()
        });
        Self(values.filter(|documents| documents.iter().all(|it| it.as_mapping().is_some())).collect())
    }

    /// A patch; in so many of a hundred with one fault or two.
    pub(crate) fn patch(&self, random: &mut Random, faulty: usize) -> String {
        let mut documents = random.pick(&self.0).clone();
        if random.chance(15) {
            documents.extend(random.pick(&self.0).clone());
        }
        let faults = if random.chance(faulty) { 1 + random.below(2) } else { 0 };
        for _ in 0..faults {
            let chosen = random.below(documents.len());
            mutate(&mut documents[chosen], random);
        }
        emit_v4_documents(&documents)
    }
}

/// The examples of Talos' documentation, each at its place in a document.
pub(crate) fn examples(judge: &mut Judge) -> Vec<String> {
    let answer = judge.ask("samples", &json!({})).unwrap();
    let samples = answer["samples"].as_array().unwrap();
    samples.iter().map(|sample| sample["text"].as_str().unwrap().to_owned()).collect()
}

/// A document of the list without its version.
pub(crate) fn whole(text: &str) -> String {
    text.replacen('{', "{apiVersion: v1alpha1, ", 1)
}

/// A time is written as it stands, whatever the text is.
fn odd(random: &mut Random) -> Value {
    Value::Timestamp(random.word(&ODD).to_owned())
}

/// Puts one fault somewhere into a value.
fn mutate(value: &mut Value, random: &mut Random) {
    let deeper = random.chance(75);
    match value {
        Value::Mapping(pairs) if !pairs.is_empty() && deeper => {
            let chosen = random.below(pairs.len());
            mutate(&mut pairs[chosen].1, random);
        }
        Value::Sequence(items) if !items.is_empty() && deeper => {
            let chosen = random.below(items.len());
            mutate(&mut items[chosen], random);
        }
        Value::Mapping(pairs) => match random.below(5) {
            0 => pairs.push((Value::string("unknwon"), odd(random))),
            1 if !pairs.is_empty() => drop(pairs.remove(random.below(pairs.len()))),
            2 => pairs.push((Value::string("$patch"), Value::string("delete"))),
            3 => *value = odd(random),
            _ => *value = Value::Mapping(Vec::new()),
        },
        Value::Sequence(items) => match random.below(4) {
            0 => items.extend(items.first().cloned()),
            1 => *value = Value::mapping([("$patch", Value::string("delete"))]),
            2 => *value = odd(random),
            _ => items.clear(),
        },
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::String(_) => match random.below(6) {
            0 => *value = Value::mapping([("$patch", Value::string("delete"))]),
            1 => *value = Value::Null,
            2 => *value = Value::Sequence(vec![value.clone()]),
            _ => *value = odd(random),
        },
    }
}

/// Places that JSON patches are tried at, with a value that fits.
const PLACES: [(&str, &str); 26] = [
    ("/machine/certSANs", "[a, b]"),
    ("/machine/certSANs/-", "x"),
    ("/machine/certSANs/0", "'1'"),
    ("/machine/certSANs/-1", "x"),
    ("/machine/certSANs/7", "x"),
    ("/machine/sysctls", "{a: 5, a/b: ~, c: 'no'}"),
    ("/machine/sysctls/a~1b", "1e3"),
    ("/machine/nodeLabels", "{a: b}"),
    ("/machine/nodeLabels/a", "''"),
    ("/machine/kubelet/image", "x:v1.2.3"),
    ("/machine/kubelet/extraArgs", "{a: [b, c], v: 4}"),
    ("/machine/kubelet/extraConfig", "{maxPods: 250, a: {b: [1.5, true, ~, 1e21]}}"),
    ("/machine/install/wipe", "true"),
    ("/machine/install", "{disk: /dev/vdb, image: x}"),
    ("/machine/network", "{hostname: a, interfaces: [{interface: eth0, dhcp: true}]}"),
    ("/machine/files", "[{path: /a, content: \"x\\ny\\n\", permissions: 420, op: create}]"),
    ("/machine/unknwon", "x"),
    ("/cluster/network/podSubnets", "[10.9.0.0/16]"),
    ("/cluster/network/podSubnets/0", "10.8.0.0/16"),
    ("/cluster/clusterName", "other"),
    ("/cluster/apiServer/admissionControl/0/configuration/exemptions", "{namespaces: [a]}"),
    ("/cluster/apiServer/certSANs/0", "y"),
    ("/cluster/controlPlane/endpoint", "'https://a:1'"),
    ("/debug", "true"),
    ("/cluster/discovery/registries", "{service: {disabled: true}}"),
    ("/machine/features/kubePrism/port", "7777"),
];

const VALUES: [&str; 10] = ["x", "5", "true", "[]", "{}", "~", "1.5", "[{name: x}]", "1e3", "no"];

/// A JSON patch of one to three operations.
pub(crate) fn json_patch(random: &mut Random) -> String {
    let operations: Vec<String> = (0..=random.below(3))
        .map(|_| {
            let (path, fitting) = *random.pick(&PLACES);
            let (from, _) = *random.pick(&PLACES);
            let value = if random.chance(85) { fitting } else { random.word(&VALUES) };
            match random.below(12) {
                0..6 => format!("- {{op: add, path: {path}, value: {value}}}"),
                6 => format!("- {{op: remove, path: {path}}}"),
                7..9 => format!("- {{op: replace, path: {path}, value: {value}}}"),
                9 => format!("- {{op: move, from: {from}, path: {path}}}"),
                10 => format!("- {{op: copy, from: {path}, path: {path}}}"),
                _ => format!("- {{op: test, path: {path}, value: {value}}}"),
            }
        })
        .collect();
    operations.join("\n")
}
