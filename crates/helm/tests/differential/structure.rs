//! Charts as a whole: sub-charts, values, hooks, order, ignored files.

use crate::lab::{Case, Inline, own};

#[test]
fn subcharts_are_enabled_renamed_and_valued() {
    for values in [
        "{}",
        "tags: {front: false}",
        "tags: {front: false, back: true}",
        "first: {enabled: false}",
        "second: {enabled: true}\ntags: {back: false}",
        "global: {shared: user, nested: {a: {b: 2}}}\nfirst: {color: null, size: 5}",
        "first: {nested: {keep: null, other: 1}}\nlib: {x: 1}",
        "imported: {from: user}\nother: null\nfirst: {global: {own: 1}}",
        "alias-two: {size: 9, enabled: true}",
    ] {
        Case::of(own("parent")).values(values).agrees().expect(values);
    }
}

#[test]
fn values_are_merged_in_their_order() {
    let case = Case {
        set: vec!["first.size=7,list[2]=z".to_owned(), "first.nested.keep=null".to_owned()],
        set_string: vec!["first.color=007".to_owned()],
        ..Case::of(own("parent"))
            .values("list: [a]\nfirst: {size: 1, nested: {new: [1]}}")
            .values("first: {size: 2}")
    };
    case.agrees().expect("a rendering");
}

#[test]
fn hooks_and_kinds_are_sorted_and_documents_split() {
    Case::of(own("hooks")).agrees().expect("a rendering");
    Case { is_upgrade: true, ..Case::of(own("hooks")) }.agrees().expect("a rendering");
}

#[test]
fn kubernetes_versions_are_checked() {
    let case = |version: &str| Case { kube_version: Some(version.to_owned()), ..Case::of(own("hooks")) };
    case("v1.30.1-gke.5").agrees().expect("a rendering");
    let error = case("1.19.0").agrees().expect_err("an old version");
    assert!(error.contains("chart requires kubeVersion: >=1.22.0"), "{error}");
}

#[test]
fn a_library_chart_cannot_be_installed() {
    let error = Inline::of("a: 1").metadata("type: library").refused();
    assert!(error.contains("library charts are not installable"), "{error}");
}

#[test]
fn missing_dependencies_are_named() {
    let error = Inline::of("a: 1").metadata("dependencies: [{name: nowhere, version: '1'}]").both_refuse();
    assert!(error.contains("missing in charts/ directory: nowhere"), "{error}");
}

#[test]
fn values_that_break_the_schema_are_refused() {
    let schema =
        br#"{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 3}}}"#;
    Inline::of("a: {{ .Values.a }}").values("a: 3").file("values.schema.json", schema).agrees();
    for values in ["a: 2", "a: x", "b: 1", "a: 3.5"] {
        let error = Inline::of("a: 1").values(values).file("values.schema.json", schema).both_refuse();
        assert!(error.contains("inline:\n- at '"), "{error}");
    }
}

#[test]
fn ignored_files_are_not_seen() {
    Inline::of("a: {{ range $path, $_ := .Files.Glob \"**\" }}{{ $path }} {{ end }}")
        .file(".helmignore", b"# comment\n*.bak\n/docs/\nsecret/*.key\n")
        .file("a.bak", b"x")
        .file("docs/a.md", b"x")
        .file("secret/a.key", b"x")
        .file("secret/a.txt", b"x")
        .file("deep/docs/a.md", b"x")
        .file("templates/.hidden", b"{{ nonsense }}")
        .file("templates/_partial.tpl", b"{{ define \"p\" }}x{{ end }}")
        .agrees();
}

#[test]
fn yaml_1_1_rules_hold_in_chart_yaml_and_values() {
    Inline::of("a: {{ .Chart.AppVersion }} {{ .Chart.Description }} {{ .Values | toJson }}")
        .metadata("appVersion: 1.10\ndescription: yes")
        .values("y: n\non: off\n'q': 'yes'\noctal: 0o17\nold: 017\nsexagesimal: 1:30\ndate: 2024-01-01\ninf: 1e400x\nbig: 0b101\nmerge: {<<: {a: 1}, b: 2}\n1: one\ntrue: t\n~x: tilde\ndup: 1\ndup: 2")
        .agrees();
}
