//! Whole renderings, without the lab: what a chart can and cannot make the engine do.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::*;

fn chart(files: &[(&str, &str)]) -> Chart {
    let mut all =
        BTreeMap::from([("Chart.yaml".to_owned(), b"apiVersion: v2\nname: c\nversion: 1.0.0".to_vec())]);
    all.extend(files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())));
    Chart::from_files(all).unwrap()
}

fn rendered_with(chart: &Chart, lookup: &(dyn Lookup + Sync), seed: u8) -> Result<Rendered, Error> {
    let release = Release { name: "r".into(), namespace: "n".into(), revision: 2, is_upgrade: true };
    let environment = Environment { now: Timestamp::UNIX_EPOCH, seed: [seed; 32] };
    render(chart, &Values::new(), &release, &Capabilities::offline(), lookup, &environment)
}

/// What one template renders to, without the `# Source:` lines.
fn text(template: &str) -> Result<String, Error> {
    let rendered = rendered_with(&chart(&[("templates/a.yaml", template)]), &NoCluster, 1)?;
    Ok(rendered.manifests.into_iter().map(|manifest| manifest.text).collect())
}

fn message(template: &str) -> String {
    text(template).unwrap_err().to_string()
}

#[test]
fn a_template_that_calls_itself_ends() {
    let error = message("{{ define \"t\" }}{{ include \"t\" . }}{{ end }}{{ include \"t\" . }}");
    assert!(error.contains("nested reference name: t"), "{error}");
    let error = message("{{ define \"t\" }}{{ template \"t\" . }}{{ end }}{{ template \"t\" . }}");
    assert!(error.contains("exceeded maximum template depth"), "{error}");
    let blocks =
        format!("{}{{{{ include \"t\" . }}}}{}", "{{ if true }}".repeat(300), "{{ end }}".repeat(300));
    let error = message(&format!("{{{{ define \"t\" }}}}{blocks}{{{{ end }}}}{{{{ include \"t\" . }}}}"));
    assert!(error.contains("exceeded maximum template depth"), "{error}");
    let error = message("{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t) }}");
    assert!(error.contains("exceeded maximum template depth"), "{error}");
}

#[test]
fn a_range_without_end_ends() {
    let error = message("{{ range 9000000000 }}{{ end }}");
    assert!(error.contains("ranges go round more than"), "{error}");
    let error = message(
        "{{ range until 1000 }}{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}{{ end }}",
    );
    assert!(error.contains("ranges go round more than"), "{error}");
    let error = message("{{ $t := repeat 1000000 \"x\" }}{{ range until 1000 }}{{ $t }}{{ end }}");
    assert!(error.contains("templates write more than"), "{error}");
}

#[test]
fn values_nested_without_end_are_refused_where_they_are_written() {
    let nested = "{{ $l := list }}{{ range until 900000 }}{{ $l = list $l }}{{ end }}";
    assert_eq!(text(&format!("{nested}a: {{{{ toYaml $l | quote }}}}")).unwrap(), "a: \"\"");
    let error = message(&format!("{nested}a: {{{{ $l }}}}"));
    assert!(error.contains("nested too deep"), "{error}");
    let cycle = "{{ $_ := set . \"me\" . }}";
    assert_eq!(text(&format!("{cycle}a: {{{{ toJson . | quote }}}}")).unwrap(), "a: \"\"");
    for call in ["mustToJson .", "deepCopy .", "printf \"%v\" .", "merge . (deepCopy .)"] {
        let error = message(&format!("{cycle}{{{{ {call} }}}}"));
        assert!(error.contains("nested too deep") || error.contains("cycle"), "{error}");
    }
}

#[test]
fn parentheses_nested_without_end_are_refused() {
    let error = message(&format!("{{{{ {}1{} }}}}", "(".repeat(100_000), ")".repeat(100_000)));
    assert!(error.contains("max expression depth exceeded"), "{error}");
    let error = message(&"{{ if true }}".repeat(100_000));
    assert!(error.contains("max expression depth exceeded"), "{error}");
}

#[test]
fn the_same_seed_and_time_give_the_same_text() {
    let chart =
        chart(&[("templates/a.yaml", "a: {{ randAlphaNum 20 }} {{ uuidv4 }} {{ now | date \"2006\" }}")]);
    let text = |seed| rendered_with(&chart, &NoCluster, seed).unwrap().manifest_text;
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
    assert!(text(1).ends_with(" 1970\n"), "{}", text(1));
}

struct Cluster;

impl Lookup for Cluster {
    fn lookup(
        &self,
        api_version: &str,
        kind: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Json, LookupError> {
        match (api_version, kind, namespace, name) {
            ("v1", "Secret", "n", "known") => Ok(json!({"data": {"key": "dmFsdWU="}, "replicas": 3})),
            ("v1", "Secret", "n", "") => Ok(json!({"items": [{"metadata": {"name": "known"}}]})),
            ("v1", "Broken", ..) => Err(LookupError("the server is away".to_owned())),
            _ => Ok(json!({})),
        }
    }
}

#[test]
fn templates_look_at_the_cluster() {
    let template = "a: {{ (lookup \"v1\" \"Secret\" .Release.Namespace \"known\").data.key | b64dec }} \
        {{ (lookup \"v1\" \"Secret\" \"n\" \"known\").replicas }} \
        {{ range (lookup \"v1\" \"Secret\" \"n\" \"\").items }}{{ .metadata.name }}{{ end }} \
        {{ if not (lookup \"v1\" \"Secret\" \"n\" \"unknown\") }}none{{ end }}";
    let of = |template: &str| rendered_with(&chart(&[("templates/a.yaml", template)]), &Cluster, 1);
    assert_eq!(of(template).unwrap().manifests[0].text, "a: value 3 known none");
    let error = of("{{ lookup \"v1\" \"Broken\" \"\" \"x\" }}").unwrap_err().to_string();
    assert!(error.ends_with("error calling lookup: the server is away"), "{error}");
}

#[test]
fn objects_hooks_crds_and_notes_are_told_apart() {
    let hook = |name: &str, weight: i64| {
        format!(
            "kind: Job\nmetadata:\n  name: {name}\n  annotations: {{helm.sh/hook: pre-upgrade, helm.sh/hook-weight: \"{weight}\"}}\n---\n"
        )
    };
    let hooks = [hook("b", 1), hook("c", -1), hook("a", 1)].concat();
    let rendered = rendered_with(
        &chart(&[
            ("templates/hooks.yaml", &hooks),
            ("templates/objects.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: x}\n---\nkind: Namespace\nmetadata: {name: space}"),
            ("templates/NOTES.txt", "Revision {{ .Release.Revision }}"),
            ("crds/a.yaml", "kind: CustomResourceDefinition\nmetadata: {name: one}\n---\nkind: CustomResourceDefinition\nmetadata: {name: two}"),
        ]),
        &NoCluster,
        1,
    )
    .unwrap();
    let names =
        |manifests: &[Manifest]| manifests.iter().map(|manifest| manifest.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&rendered.manifests), ["space", "s"]);
    assert_eq!(names(&rendered.crds), ["one", "two"]);
    let running: Vec<_> =
        rendered.hooks_for(HookEvent::PreUpgrade).iter().map(|hook| hook.manifest.name.as_str()).collect();
    assert_eq!(running, ["c", "a", "b"]);
    assert!(rendered.hooks_for(HookEvent::PostInstall).is_empty());
    assert_eq!(rendered.notes.as_deref(), Some("Revision 2"));
    let service = &rendered.manifests[1];
    assert_eq!((service.api_version.as_str(), service.namespace.as_deref()), ("v1", Some("x")));
}

#[test]
fn bytes_of_files_survive() {
    let mut files = BTreeMap::from([
        ("Chart.yaml".to_owned(), b"name: c\nversion: 1.0.0".to_vec()),
        ("templates/a.yaml".to_owned(), b"a: {{ .Files.Get \"x.bin\" | b64enc }}".to_vec()),
    ]);
    files.insert("x.bin".to_owned(), vec![0, 255, 128, 10]);
    let rendered = rendered_with(&Chart::from_files(files).unwrap(), &NoCluster, 1).unwrap();
    assert_eq!(rendered.manifests[0].text, "a: AP+ACg==");
}

#[test]
fn a_failure_says_where_and_what() {
    let error = text("a: 1\nb: {{ required \"give b\" .Values.b }}").unwrap_err();
    let Error::Template(failure) = error else { panic!("expected a template's failure, got {error}") };
    assert_eq!((failure.template.as_str(), failure.line, failure.column), ("c/templates/a.yaml", 2, Some(6)));
    assert_eq!(failure.message, "give b");
    assert_eq!(failure.call.as_deref(), Some("required \"give b\" .Values.b"));
}

mod any {
    use proptest::prelude::*;

    /// Parts that templates are made of, so that many of the texts parse.
    fn template() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "{{",
            "}}",
            "{{- ",
            " -}}",
            "if ",
            "else ",
            "end ",
            "range ",
            "with ",
            "define \"a\" ",
            "template \"a\" ",
            "include \"a\" ",
            "block \"b\" ",
            "break ",
            "continue ",
            ".Values",
            ".a",
            ".x.y",
            ". ",
            "$",
            "$x ",
            ":= ",
            "= ",
            ", ",
            "| ",
            "( ",
            ") ",
            "1 ",
            "-2.5 ",
            "1e9 ",
            "0x1F ",
            "\"text\" ",
            "`raw` ",
            "'c' ",
            "nil ",
            "true ",
            "quote ",
            "printf \"%d %s\" ",
            "toYaml ",
            "list ",
            "dict ",
            "set ",
            "index ",
            "default ",
            "eq ",
            "len ",
            "until ",
            "tpl ",
            "trunc ",
            "regexFind ",
            "dateModify ",
            "now ",
            "semver ",
            "merge ",
            "first ",
            "substr ",
            "div ",
            "splitn ",
            "slice ",
            "/* c */",
            "\n",
            " ",
            "a: ",
            "é",
            "\u{feff}",
            "\\",
            "\"",
        ]);
        prop::collection::vec(part, 0..25).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn text_renders_or_is_refused(template in template()) {
            let _ = super::text(&template);
        }

        #[test]
        fn action_renders_or_is_refused(template in template()) {
            let _ = super::text(&format!("a: {{{{ {template} }}}}"));
        }
    }
}
