//! What goes wrong is said in Helm's words, with Helm's places.

use crate::lab::Inline;

/// A template, and a part of the message.
#[track_caller]
fn fails(template: &str, words: &str) {
    let error = Inline::of(template).values("x: 1\nmap: {a: b}\nlist: [1]\ntext: abc").refused();
    assert!(error.contains(words), "{error}");
}

#[test]
fn parsing() {
    for (template, words) in [
        ("a: {{ nonsense 1 }}", "function \"nonsense\" not defined"),
        ("a: {{ $x }}", "undefined variable \"$x\""),
        ("{{ if true }}x", "unexpected EOF"),
        ("{{ end }}", "unexpected {{end}}"),
        ("a: {{ .Values.x", "unclosed action"),
        ("a: {{ \"abc }}", "unterminated quoted string"),
        ("{{/* open", "unclosed comment"),
        ("{{ (1 }}", "unclosed left paren"),
        ("{{ 1 ) }}", "unexpected right paren"),
        ("{{ }}", "missing value for command"),
        ("{{ if }}x{{ end }}", "missing value for if"),
        ("{{ 1 | 2 }}", "non executable command in pipeline stage 2"),
        ("\n\n{{ break }}", "{{break}} outside {{range}}"),
        ("{{ define \"a\" }}x{{ end }}{{ define \"a\" }}y{{ end }}", "multiple definition of template"),
        ("{{ $a, $b := 1 }}", "too many declarations in command"),
        ("{{ 1.2.3 }}", "unexpected \".3\" in operand"),
        ("{{ \"a\".b }}", "unexpected . after term"),
        ("{{ else }}", "unexpected {{else}}"),
        ("{{ template 1 }}", "in template clause"),
        ("{{ env \"HOME\" }}", "function \"env\" not defined"),
        ("{{ 99999999999999999999 }}", "99999999999999999999"),
        ("{{ ! }}", "unexpected"),
    ] {
        fails(template, words);
    }
}

#[test]
fn execution() {
    for (template, words) in [
        ("a: {{ fail \"no good\" }}", "execution error at (inline/templates/a.yaml:1:6): no good"),
        ("\n  {{ required \"need it\" .Values.missing }}", "(inline/templates/a.yaml:2:5): need it"),
        ("{{ required \"empty\" \"\" }}", "empty"),
        ("{{ .Values.a.b.c }}", "nil pointer evaluating interface {}.b"),
        ("{{ .Values.text.b }}", "can't evaluate field b in type interface {}"),
        ("{{ $x := \"a\" }}{{ $x.b }}", "can't evaluate field b in type string"),
        ("{{ index .Values.list 5 }}", "index out of range: 5"),
        ("{{ index nil 1 }}", "index of untyped nil"),
        ("{{ len 3 }}", "len of type int"),
        ("{{ lt 1 \"a\" }}", "incompatible types for comparison: int and string"),
        ("{{ eq 1 1.0 }}", "incompatible types for comparison: int and float64"),
        ("{{ eq .Values.map .Values.map }}", "non-comparable type"),
        ("{{ trunc .Values.x \"a\" }}", "wrong type for value; expected int; got float64"),
        ("{{ upper 1 }}", "expected string; found 1"),
        ("{{ upper .Values.missing }}", "wrong type for value; expected string; got interface {}"),
        ("{{ .Values.missing | upper }}", "invalid value; expected string"),
        ("{{ upper }}", "wrong number of args for upper: want 1 got 0"),
        ("{{ ternary 1 }}", "wrong number of args for ternary: want 3 got 1"),
        ("{{ dict \"a\" 1 | upper }}", "wrong type for value; expected string; got map[string]interface {}"),
        ("{{ include \"missing\" . }}", "no template \"missing\" associated with template \"gotpl\""),
        ("{{ template \"missing\" . }}", "template \"missing\" not defined"),
        ("{{ range .Values.text }}{{ end }}", "range can't iterate over abc"),
        ("{{ first \"abc\" }}", "Cannot find first on type string"),
        ("{{ div 1 0 }}", "divide by zero"),
        ("{{ semver \"x\" }}", "error calling semver"),
        ("{{ \"x\" 1 }}", "can't give argument to non-function \"x\""),
        ("{{ nil }}", "nil is not a command"),
        ("{{ tpl \"{{ .Values.a.b }}\" . }}", "nil pointer evaluating interface {}.b"),
        ("{{ tpl \"{{ nonsense }}\" . }}", "function \"nonsense\" not defined"),
        ("{{ tpl \"{{ fail `deep` }}\" . }}", "deep"),
        (
            "{{ define \"t\" }}{{ .Values.a.b }}{{ end }}\n {{ include \"t\" . }}",
            "nil pointer evaluating interface {}.b",
        ),
        (
            "{{ define \"t\" }}{{ fail \"inside\" }}{{ end }}\n {{ include \"t\" . }}",
            "(inline/templates/a.yaml:2:4): inside",
        ),
        ("{{ define \"t\" }}{{ include \"t\" . }}{{ end }}{{ include \"t\" . }}", "nested reference name: t"),
        (
            "{{ dig \"a\" \"b\" \"c\" .Values }}",
            "interface conversion: interface {} is common.Values, not map[string]interface {}",
        ),
        ("{{ .Release.Name.x }}", "can't evaluate field x"),
        ("{{ .Values.map.a \"arg\" }}", "a is not a method but has arguments"),
        ("{{ .Capabilities.Nonsense }}", "can't evaluate field Nonsense in type"),
        ("{{ set \"x\" \"a\" 1 }}", "can't handle \"x\" for arg of type map[string]interface {}"),
        (
            "{{ hasKey .Values.missing \"a\" }}",
            "wrong type for value; expected map[string]interface {}; got interface {}",
        ),
        ("{{ repeat -1 \"a\" }}", "negative Repeat count"),
        ("{{ mustToDate \"2006\" \"x\" }}", "error calling mustToDate"),
        ("{{ toYaml }}", "wrong number of args for toYaml: want 1 got 0"),
        ("{{ mul }}", "wrong number of args for mul: want at least 1 got 0"),
    ] {
        fails(template, words);
    }
}

#[test]
fn regular_expressions() {
    for pattern in ["(", "[a", "(?<x", "\\8", "a{2,1}"] {
        let error = Inline::of(&format!("a: {{{{ mustRegexMatch `{pattern}` \"a\" }}}}")).both_refuse();
        assert!(error.contains("error calling mustRegexMatch: "), "{error}");
    }
}

#[test]
fn what_is_rendered_must_be_yaml() {
    for template in ["a: b: c", "a: [", "kind: [a]", "[1, 2]", "a: 'x"] {
        let error = Inline::of(template).both_refuse();
        assert!(error.contains("YAML parse error on inline/templates/a.yaml"), "{error}");
    }
}
