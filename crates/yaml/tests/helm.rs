//! Against the real Helm: its `toYaml` and `toYamlPretty` of random values, byte for byte.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use yaml::{Value, emit_v2, emit_v3};

/// Values a run of Helm; one process takes about 150 ms.
const CASES: usize = 600;

#[test]
fn writes_what_helm_writes() {
    let helm = helm();
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let values: Vec<Value> =
        (0..CASES).map(|_| any_value().new_tree(&mut runner).unwrap().current()).collect();
    let folder = env::temp_dir().join(format!("yaml-helm-{}", std::process::id()));
    fs::create_dir_all(folder.join("templates")).unwrap();
    fs::write(folder.join("Chart.yaml"), "apiVersion: v2\nname: judge\nversion: 1.0.0\n").unwrap();
    let template = "{{ range .Values.cases }}\n- {{ toYaml . | b64enc | quote }}\n- {{ toYamlPretty . | b64enc | quote }}\n{{ end }}";
    fs::write(folder.join("templates/cases.yaml"), format!("cases:\n{template}")).unwrap();
    let cases: Vec<String> = values.iter().map(json).collect();
    fs::write(folder.join("cases.json"), format!("{{\"cases\":[{}]}}", cases.join(","))).unwrap();
    let output = Command::new(helm)
        .args(["template", "judge"])
        .arg(&folder)
        .arg("--values")
        .arg(folder.join("cases.json"))
        .output()
        .unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rendered = String::from_utf8(output.stdout).unwrap();
    let texts: Vec<&str> =
        rendered.lines().filter_map(|line| line.strip_prefix("- \"")?.strip_suffix('"')).collect();
    assert_eq!(texts.len(), 2 * CASES);
    for (value, texts) in values.iter().zip(texts.chunks(2)) {
        // Both functions cut off the last line break; toYaml swallows errors.
        let ours = emit_v2(value).unwrap_or_default();
        assert_eq!(base64(ours.strip_suffix('\n').unwrap_or(&ours)), texts[0], "toYaml {ours}");
        let ours = emit_v3(value, 2);
        assert_eq!(base64(ours.strip_suffix('\n').unwrap_or(&ours)), texts[1], "toYamlPretty {ours}");
    }
}

fn helm() -> PathBuf {
    let lab = env::var_os("KONTINUUM_LAB").map_or_else(
        || {
            env::var_os("XDG_CACHE_HOME")
                .map_or_else(|| PathBuf::from(env::var_os("HOME").unwrap()).join(".cache"), PathBuf::from)
                .join("kontinuum/lab")
        },
        PathBuf::from,
    );
    let helm = lab.join("bin/helm");
    assert!(helm.is_file(), "{} is missing: run `make lab`", helm.display());
    helm
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\u{a0}é\n\t\u{85}\u{1F600}]{0,30}",
        "(yes|No|~|null|0x1f|017|1_0|1e3|1:30|2026-01-02|-|:|#|'|\"|  |\n|[a-z]{1,12}| |<<|\u{2028}){0,30}",
        "[a-z .,:#'\"-]{60,200}",
    ]
}

/// Numbers are floats, as all that come from values files are; lists and maps are never null in a range.
fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-1_000_000_000_i64..1_000_000_000).prop_map(|number| Value::Float(number as f64 / 8.0)),
        (-30_i32..30).prop_map(|exponent| Value::Float(10_f64.powi(exponent))),
        text().prop_map(Value::String),
        text().prop_map(Value::String),
        text().prop_map(Value::String),
    ];
    scalar.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Sequence),
            prop::collection::btree_map(text(), inner, 0..6).prop_map(Value::mapping),
        ]
    })
}

/// JSON but for its escapes.
fn json(value: &Value) -> String {
    match value {
        Value::Sequence(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Mapping(pairs) => {
            let pairs: Vec<_> =
                pairs.iter().map(|(key, value)| format!("{}:{}", json(key), json(value))).collect();
            format!("{{{}}}", pairs.join(","))
        }
        Value::String(text) => {
            // The file is read as YAML, which takes no surrogates.
            let escape = |character: char| match character {
                ' '..='~' if !matches!(character, '"' | '\\') => character.to_string(),
                other => format!("\\U{:08X}", u32::from(other)),
            };
            let escaped: String = text.chars().map(escape).collect();
            format!("\"{escaped}\"")
        }
        Value::Float(number) => yaml::format_json(*number).unwrap(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::Int(_) | Value::Uint(_) | Value::Timestamp(_) => "null".to_owned(),
    }
}

fn base64(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.as_bytes()
        .chunks(3)
        .flat_map(|group| {
            let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
                << (8 * (3 - group.len()));
            (0..4).map(move |place| {
                if place > group.len() {
                    '='
                } else {
                    ALPHABET[(bits >> (18 - 6 * place) & 63) as usize] as char
                }
            })
        })
        .collect()
}
