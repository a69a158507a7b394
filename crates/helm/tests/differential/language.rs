//! The template language, line by line.

use crate::lab::Inline;

#[test]
fn white_space_is_trimmed_where_markers_say_so() {
    Inline::of(
        "
a: [ {{- 1 -}} ]
b: {{ 2 }}
{{- /* a comment that trims before */}}
c: 3
{{/* a comment that trims after */ -}}
   d: 4
{{- /* both */ -}}
   # glued
{{ \"e\" }}: {{- \" 5\" -}}

   # glued too
f: {{ `raw
string` | quote }}
",
    )
    .agrees();
}

#[test]
fn blocks_scopes_and_variables_behave() {
    Inline::lines(
        r#"
{{- $outer := 1 }}
{{- if true }}{{ $outer := 2 }}{{ $inner := 3 }}{{ end }}
a: {{ $outer }}
{{- if true }}{{ $outer = 4 }}{{ end }}
b: {{ $outer }}
{{- with .Values.map }}
c: {{ .x }} {{ $.Values.list | first }} {{ $outer }}
{{- else }}
c: none
{{- end }}
{{- with .Values.nothing }}
d: some
{{- else with .Values.map }}
d: {{ .x }}
{{- end }}
{{- range $index, $item := .Values.list }}
{{- if eq $index 3 }}{{ break }}{{ end }}
{{- if eq $index 1 }}{{ continue }}{{ end }}
e{{ $index }}: {{ $item }}
{{- end }}
{{- range $key, $value := .Values.map }}
f-{{ $key }}: {{ $value | toString | quote }}
{{- else }}
f: empty
{{- end }}
{{- range .Values.nothing }}
g: some
{{- else }}
g: empty
{{- end }}
{{- range $i := until 3 }}
h{{ $i }}: {{ add $i 1 }}
{{- end }}
{{- range 3 }}
i{{ . }}: {{ . }}
{{- end }}
{{- $last := "" }}{{ $i := 0 }}
{{- range $i, $last = .Values.list }}{{ end }}
j: {{ $last }}
{{- block "named" .Values.map }}
k: {{ .x }}
{{- end }}
{{- define "recursive" }}{{ if gt (int .) 0 }}{{ . }}{{ template "recursive" (sub . 1) }}{{ end }}{{ end }}
l: {{ template "recursive" 3 }}
m: {{ include "recursive" 4 | quote }}
{{- if and true (not false) (or false "x") }}
n: {{ or nil false 0 "" "last" }}
o: {{ and 1 "" 2 | quote }}
{{- else if false }}
n: no
{{- end }}
"#,
    )
    .values("map: {x: 1, y: [a], z: {q: 1.5}}\nlist: [p, q, r, s, t]")
    .agrees();
}

#[test]
fn nil_has_three_kinds() {
    Inline::lines(
        r#"
a: {{ .Values.missing }}
b: {{ .Values.missing | quote }}
c: {{ printf "%s %v" .Values.missing .Values.null_ }}
d: {{ ((.Values.missing).deeper).still }}
e: {{ hasKey (.Values.missing | default dict) "x" }}
f: {{ .Values.null_ | default "given" }}
g: {{ kindOf .Values.missing }} {{ typeOf .Values.null_ }}
h: {{ list .Values.missing nil "x" | toJson }}
i: {{ dict "a" nil "b" .Values.null_ | toYaml | nindent 2 }}
j: {{ eq .Values.missing nil }} {{ ne .Values.null_ .Values.missing }} {{ empty nil }}
k: {{ coalesce nil .Values.missing 0 "" "found" }}
l: {{ $x := .Values.missing }}{{ $x | quote }}{{ printf "%v" $x }}
m: {{ if .Values.null_ }}yes{{ else }}no{{ end }}
n: {{ get (dict) "x" | quote }} {{ index (dict) "x" | quote }}
o: {{ squote nil "a" .Values.missing 1 }} {{ cat nil "a" 1 }}
p: {{ tpl "{{ .Values.missing }}" . | quote }}
q: {{ include "nothing" . | quote }}
{{- define "nothing" }}{{ .Values.missing }}{{ end }}
r: {{ first (list) | quote }} {{ dig "a" "b" "default" (dict "a" (dict)) }}
s: {{ printf "%d %t %q" nil nil nil }}
t: {{ join "," (list "a" nil "b") }} {{ toStrings (list nil 1) }}
"#,
    )
    .values("null_: null\nother: 1")
    .agrees();
}

#[test]
fn maps_are_references() {
    Inline::lines(
        r#"
{{- $_ := set . "root" "set" }}
{{- $_ := set .Values "added" "value" }}
{{- $_ := set .Values.map "x" 2 }}
{{- $alias := .Values.map }}
{{- $_ := unset $alias "y" }}
{{- $copy := deepCopy .Values.map }}
{{- $_ := set $copy "x" 3 }}
{{- $picked := pick .Values.map "x" }}
{{- $_ := set $picked "x" 4 }}
a: {{ .root }} {{ .Values.added }}
b: {{ .Values.map | toJson }}
c: {{ $copy | toJson }} {{ $picked | toJson }} {{ omit .Values.map "x" | toJson }}
{{- $target := dict "f" false "n" 0 "m" (dict "a" 1) "l" (list 1) }}
d: {{ merge $target (dict "f" true "n" 5 "m" (dict "a" 2 "b" 3) "l" (list 2) "new" nil) | toJson }}
e: {{ $target | toJson }}
f: {{ mergeOverwrite $target (dict "f" false "n" 0 "m" (dict "a" 0) "l" (list) "new" nil) | toJson }}
g: {{ range $k, $v := .Values.map }}{{ $_ := set $.Values.map (printf "%s2" $k) $v }}{{ $k }} {{ end }}{{ len .Values.map }}
h: {{ typeOf . }} {{ typeOf .Values }} {{ typeOf .Values.map }} {{ kindOf .Values }} {{ typeOf .Values.AsMap }}
"#,
    )
    .values("map: {x: 1, y: 2, z: {a: [1, {b: c}]}}")
    .agrees();
}

#[test]
fn objects_have_their_methods() {
    Inline::lines(
        r#"
a: {{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.Service }} {{ .Release.IsInstall }} {{ .Release.IsUpgrade }} {{ .Release.Revision }}
b: {{ .Chart.Name }} {{ .Chart.Version }} {{ .Chart.AppVersion }} {{ .Chart.Type }} {{ .Chart.IsRoot }} {{ .Chart.Keywords }} {{ .Chart.Maintainers }}
c: {{ .Template.Name }} {{ .Template.BasePath }}
d: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Major }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.KubeVersion.GitVersion }} {{ .Capabilities.KubeVersion }}
e: {{ .Capabilities.APIVersions.Has "apps/v1" }} {{ .Capabilities.APIVersions.Has "x/v1" }} {{ has "v1" .Capabilities.APIVersions }} {{ len .Capabilities.APIVersions }}
f: {{ .Capabilities.HelmVersion.Version }}
g: {{ .Files.Get "data/a.txt" | quote }} {{ .Files.Get "missing" | quote }} {{ .Files.GetBytes "data/a.txt" }}
h: {{ (.Files.Glob "data/*").AsConfig | nindent 2 }}
i: {{ (.Files.Glob "**.bin").AsSecrets | nindent 2 }}
j: {{ range $path, $data := .Files.Glob "data/**" }}{{ $path }}={{ $data | toString | b64enc }} {{ end }}
k: {{ .Files.Lines "data/a.txt" | toJson }} {{ range .Files.Lines "data/a.txt" }}<{{ . }}>{{ end }}
l: {{ $v := semver "v1.2.3-rc.1+build" }}{{ $v.Major }} {{ $v.Minor }} {{ $v.Patch }} {{ $v.Prerelease }} {{ $v.Metadata }} {{ $v.Original }} {{ $v }} {{ $v.Compare (semver "1.2.3") }}
m: {{ .Values.PathValue "map.x" }} {{ (.Values.Table "map.z").AsMap | toJson }}
n: {{ .Subcharts | toJson }}
o: {{ toYaml .Chart.Annotations | nindent 2 }}
"#,
    )
    .values("map: {x: 1, z: {a: b}}")
    .file("data/a.txt", b"one\ntwo\n\nlast")
    .file("data/b.bin", b"\x00\xff\xfe\x80 bytes")
    .file("data/deep/c.txt", "üñí".as_bytes())
    .agrees();
}

#[test]
fn numbers_are_what_yaml_and_go_make_of_them() {
    Inline::lines(
        r#"
a: {{ .Values.million }} {{ .Values.big }} {{ .Values.huge }} {{ .Values.small }} {{ .Values.float }} {{ .Values.octal }} {{ .Values.hex }} {{ .Values.under }}
b: {{ toYaml .Values | nindent 2 }}
c: {{ toJson .Values }}
d: {{ .Values.million | int }} {{ int64 .Values.big }} {{ .Values.huge | int64 }} {{ .Values.float | int }} {{ "0x1F" | int }} {{ "12abc" | int }} {{ "1.00" | int }}
e: {{ kindOf .Values.million }} {{ kindOf 1 }} {{ kindOf 1.5 }} {{ kindOf (int64 1) }} {{ kindOf (add 1 2) }} {{ kindOf 'a' }} {{ typeOf (until 2) }}
f: {{ eq (int .Values.million) 1000000 }} {{ gt 2 1 }} {{ lt 1.5 2.5 }} {{ eq 1 (int64 1) }} {{ le "a" "b" }}
g: {{ 1e3 }} {{ 0x10 }} {{ 0b11 }} {{ 0o17 }} {{ 1_000 }} {{ 'x' }} {{ -3 }} {{ +4 }} {{ .5 }} {{ 1e100 }} {{ 1.0 }}
h: {{ .Values.set }} {{ kindOf .Values.set }} {{ .Values.set | toJson }}
i: {{ printf "%d %v %s %05d %x %.2f %e %g %q %T" 5 1.5 "a" 42 255 3.14159 12345.678 1e6 "q" .Values.float }}
j: {{ toYaml (dict "a" 1.0 "b" 1e20 "c" 1e21 "d" 1e-7 "e" 123456789.123 "f" -0.0) | nindent 2 }}
k: {{ toJson (list 1e20 1e21 1e-6 1e-7 0.1 100.0 -1.5) }}
l: {{ range .Values.map }}{{ . }} {{ end }}
"#,
    )
    .values(
        "million: 1000000\nbig: 123456789012\nhuge: 12345678901234567890\nsmall: 0.00001\nfloat: 3.7\noctal: 0777\nhex: 0xff\nunder: 1_000\nmap: {1: a, yes: b, 2.5: c, null_: d}",
    )
    .set("set=7")
    .agrees();
}

#[test]
fn tpl_has_a_scope_of_its_own() {
    Inline::lines(
        r#"
{{- define "shared" }}outer {{ .x }}{{ end }}
a: {{ tpl "{{ .Values.x }} {{ include \"shared\" (dict \"x\" 1) }}" . }}
b: {{ tpl "{{ define \"shared\" }}inner{{ end }}{{ include \"shared\" . }}" . }}
c: {{ include "shared" (dict "x" 2) }}
d: {{ tpl "{{ define \"only\" }}x{{ end }}" . | quote }}
e: {{ tpl "" . | quote }} {{ tpl "plain" . }}
f: {{ tpl (tpl "{{ `{{ .Values.x }}` }}" .) . }}
g: {{ tpl "{{ $x := 1 }}{{ $x }} {{ range until 3 }}{{ . }}{{ end }}" . }}
h: {{ tpl (.Values.template | toYaml) . | nindent 2 }}
i: {{ tpl "{{ tpl \"{{ .Release.Name }}\" . }}" $ }}
"#,
    )
    .values("x: value\ntemplate: {name: '{{ .Release.Name }}-{{ .Values.x }}', list: ['{{ .Chart.Name }}']}")
    .agrees();
}
