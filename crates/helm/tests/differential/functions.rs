//! The functions, each with what is easy to get wrong.

use crate::lab::Inline;

#[test]
fn strings() {
    Inline::lines(
        r#"
- {{ trim "  a b\n" | quote }} {{ trimAll "$-" "$-a-b$" }} {{ trimPrefix "a" "abc" }} {{ trimSuffix "c" "abc" }}
- {{ trunc 3 "abcdef" }} {{ trunc -2 "abcdef" }} {{ trunc 10 "abc" }} {{ trunc 0 "abc" | quote }}
- {{ substr 1 3 "abcdef" }} {{ substr -1 3 "abcdef" }} {{ substr 2 -1 "abcdef" }} {{ substr 0 99 "abc" }}
- {{ upper "aßé" }} {{ lower "AÉ" }} {{ title "foo-bar o'neil x_y" }} {{ untitle "Foo Bar" }} {{ swapcase "aBc" }}
- {{ snakecase "FirstName" }} {{ snakecase "HTTPServer" }} {{ snakecase "http2xx" }} {{ snakecase "GO PATH-x" }} {{ snakecase "Duration2m3s" }} {{ snakecase "Bld4Floor3rd" }} {{ snakecase "NoHTTPS" }} {{ snakecase "HTTP20xOK" }}
- {{ kebabcase "FirstName" }} {{ kebabcase "aBCd" }} {{ camelcase "http_server" }} {{ camelcase "a-b c" }} {{ camelcase "_x_y_" }} {{ camelcase "HTTP server" }}
- {{ contains "b" "abc" }} {{ hasPrefix "a" "abc" }} {{ hasSuffix "x" "abc" }} {{ replace "a" "bb" "banana" }} {{ replace "" "-" "ab" }}
- {{ quote "a\"b" 1 true nil 1.5 }} {{ squote "it's" 1 }} {{ quote (list 1 "a") }} {{ quote "é\t\x00\u200b" }}
- {{ indent 2 "a\nb" | quote }} {{ nindent 2 "a\nb\n" | quote }} {{ repeat 3 "ab" }} {{ nospace " a b " }} {{ initials "foo bar" }}
- {{ cat "a" 1 nil true }} {{ plural "one" "many" 1 }} {{ plural "one" "many" 2 }} {{ abbrev 5 "hello world" }} {{ abbrevboth 5 10 "1234 5678 9123" }}
- {{ wrap 5 "Hello World and all" | quote }} {{ wrapWith 5 "|" "HelloWorld and" }} {{ wrap 20 "short" }}
- {{ split "," "a,b,c" | toJson }} {{ (split "," "a,b")._1 }} {{ splitn "," 2 "a,b,c" | toJson }} {{ splitList "," "a,b" | toJson }} {{ splitList "" "abc" | toJson }}
- {{ join "-" (list "a" 1 true nil) }} {{ join "," "single" }} {{ sortAlpha (list "c" "a" "b" 1) | toJson }} {{ toString 1.5 }} {{ toStrings (list 1 "a" true) | toJson }}
- {{ regexMatch "^[a-z]+$" "abc" }} {{ regexFind "[0-9]+" "a12b3" }} {{ regexFindAll "[0-9]" "a1b2c3" 2 | toJson }} {{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }} {{ regexReplaceAllLiteral "a(x*)b" "-ab-axxb-" "${1}" }} {{ regexSplit "z+" "pizza" -1 | toJson }} {{ regexQuoteMeta "1.2*[3]" }}
- {{ regexReplaceAll "(?P<first>\\w+) (\\w+)" "hello world" "$2 $first" }} {{ regexSplit "," ",a,b," -1 | toJson }} {{ regexFindAll "a*" "baac" -1 | toJson }}
- {{ b64enc "hello" }} {{ b64dec "aGVsbG8=" }} {{ b64dec "%%%" }} {{ b32enc "hello" }} {{ b32dec "NBSWY3DP" }} {{ b64enc "" | quote }}
- {{ sha1sum "a" }} {{ sha256sum "a" }} {{ sha512sum "a" }} {{ adler32sum "abc" }}
- {{ html "<a href='x'>&\"</a>" }} {{ js "it's <b> \"x\"" }} {{ urlquery "a b&c=d/é" }}
- {{ print "a" 1 2 "b" }} {{ println "a" 1 | quote }} {{ len "héllo" }} {{ index "abc" 1 }} {{ slice (list 1 2 3 4) 1 3 | toJson }}
- {{ base "/a/b.txt" }} {{ dir "/a/b.txt" }} {{ ext "a.tar.gz" }} {{ clean "/a/../b//c/." }} {{ isAbs "/a" }} {{ osBase "a/b" }}
- {{ hello }} {{ getHostByName "localhost" | quote }} {{ toDecimal "777" }} {{ atoi "12" }} {{ atoi "x" }} {{ seq 5 }} {{ seq 2 5 }} {{ seq 0 2 10 }} {{ seq 5 -2 0 }} {{ seq 0 }}
"#,
    )
    .agrees();
}

#[test]
fn lists() {
    Inline::lines(
        r#"
{{- $l := list 1 "a" nil 2.5 (list "x") }}
- {{ $l | toJson }} {{ first $l }} {{ last $l | toJson }} {{ rest $l | toJson }} {{ initial $l | toJson }} {{ len $l }}
- {{ append $l "z" | toJson }} {{ prepend $l 0 | toJson }} {{ concat $l (list 9) | toJson }} {{ reverse (list 1 2 3) | toJson }}
- {{ uniq (list 1 1 "a" "a" 1.0) | toJson }} {{ without (list 1 2 3 2) 2 | toJson }} {{ has 2 (list 1 2) }} {{ has 2.0 (list 1 2) }} {{ has "a" nil }}
- {{ compact (list 0 "" nil false "x" (list)) | toJson }} {{ chunk 2 (list 1 2 3 4 5) | toJson }} {{ slice $l 1 | toJson }} {{ slice (list) 0 | toJson }}
- {{ until 3 }} {{ until -3 }} {{ untilStep 0 10 3 }} {{ untilStep 10 0 -4 }} {{ untilStep 0 5 0 }}
- {{ index $l 1 }} {{ index (list (list 1 2)) 0 1 }} {{ index (dict "a" (dict "b" 3)) "a" "b" }}
- {{ tuple 1 2 | toJson }} {{ list | toJson }} {{ push (list 1) 2 | toJson }} {{ mustAppend (list 1) 2 }} {{ mustUniq (list 1 1) }}
- {{ first (list) | toJson }} {{ rest (list) | toJson }} {{ last (splitList "," "a,b") }} {{ printf "%v" (list nil "a" (dict "k" (list 1))) }}
- {{ typeOf (list) }} {{ typeOf (splitList "," "a") }} {{ typeOf (until 1) }} {{ typeOf (dict) }} {{ typeOf (split "," "a") }} {{ typeOf (chunk 1 (list 1)) }}
"#,
    )
    .agrees();
}

#[test]
fn dictionaries_and_kinds() {
    Inline::lines(
        r#"
{{- $d := dict "b" 1 "a" (dict "x" "y") "c" }}
- {{ $d | toJson }} {{ get $d "b" }} {{ get $d "zz" | quote }} {{ hasKey $d "a" }} {{ keys $d | sortAlpha }} {{ len $d }}
- {{ pick $d "a" "zz" | toJson }} {{ omit $d "a" "b" | toJson }} {{ pluck "b" $d (dict "b" 2) (dict) | toJson }} {{ values (dict "k" "v") | toJson }}
- {{ dig "a" "x" "none" $d }} {{ dig "a" "q" "none" $d }} {{ dict 1 2 true "t" | toJson }}
- {{ default "d" "" }} {{ default "d" 0 }} {{ default "d" false }} {{ default "d" (list) }} {{ default "d" "v" }} {{ default "d" nil }} {{ "" | default "p" }}
- {{ empty "" }} {{ empty 0 }} {{ empty (dict) }} {{ empty "x" }} {{ coalesce 0 "" "a" "b" }} {{ all 1 "" }} {{ any 0 1 }} {{ ternary "t" "f" true }} {{ false | ternary "t" "f" }}
- {{ typeOf 1 }} {{ typeOf "a" }} {{ typeOf nil }} {{ typeOf true }} {{ kindOf (list) }} {{ kindOf (dict) }} {{ kindIs "string" "a" }} {{ typeIs "int" 1 }} {{ typeIsLike "semver.Version" (semver "1.0.0") }} {{ typeOf (semver "1.0.0") }} {{ kindOf (semver "1.0.0") }}
- {{ deepEqual (list 1 (dict "a" 1)) (list 1 (dict "a" 1)) }} {{ deepEqual 1 (int64 1) }} {{ eq "a" "b" "a" }} {{ ne 1 2 }} {{ not "" }}
- {{ merge (dict "a" (dict "b" 1)) (dict "a" (dict "c" 2)) | toJson }} {{ mustMergeOverwrite (dict "a" 1) (dict "a" 2) | toJson }}
"#,
    )
    .agrees();
}

#[test]
fn arithmetic() {
    Inline::lines(
        r#"
- {{ add 1 2 3 }} {{ add }} {{ add "5" 1.9 }} {{ sub 5 3 }} {{ mul 2 3 4 }} {{ div 7 2 }} {{ mod 7 3 }} {{ add1 5 }} {{ mod -7 3 }} {{ div -7 2 }}
- {{ max 1 5 3 }} {{ min 4 2 8 }} {{ maxf 1.5 2.5 }} {{ minf 1 0.5 }} {{ biggest 1 9 }} {{ max "10" 9.9 }}
- {{ floor 1.7 }} {{ ceil 1.2 }} {{ round 1.2345 2 }} {{ round 2.5 0 }} {{ round -2.5 0 }} {{ round 1.25 1 0.6 }} {{ floor "3.9" }}
- {{ addf 0.1 0.2 }} {{ subf 1 0.9 }} {{ mulf 1.1 1.1 }} {{ divf 10 3 }} {{ divf 1 8 }} {{ add1f 1.5 }} {{ mulf 3 "2.5" }} {{ divf 2 3 }}
- {{ int "9223372036854775807" }} {{ int "9223372036854775808" }} {{ add 9223372036854775807 1 }} {{ float64 "1.5" }} {{ float64 3 }} {{ int64 true }} {{ int nil }}
- {{ semverCompare ">=1.2.0" "1.3.0" }} {{ semverCompare "^1.2" "v2.0.0" }} {{ semverCompare ">=1.20.0-0" "v1.30.2-gke.1" }} {{ semverCompare "1.2 - 1.4" "1.3.9" }} {{ semverCompare "~1.2.3 || >2" "1.2.9" }}
- {{ duration 95 }} {{ duration "3600" }} {{ durationRound "2h10m5s" }} {{ durationRound "100h" }} {{ durationRound "400h" }} {{ mustToDuration "1h30m" }} {{ durationSeconds "1m30.5s" }} {{ durationHours "90m" }} {{ durationMilliseconds 2 }} {{ durationDays "36h" }} {{ durationRoundTo "1h31m" "1h" }} {{ durationTruncateTo "1h59m" "1h" }} {{ durationNanoseconds "1us" }} {{ durationWeeks "84h" }}
"#,
    )
    .agrees();
}

#[test]
fn dates() {
    Inline::lines(
        r#"
{{- $t := toDate "2006-01-02T15:04:05Z07:00" "2024-02-09T15:04:05Z" }}
- {{ $t | date "2006-01-02" }} {{ $t | date "Mon Jan _2 15:04:05 MST 2006" }} {{ $t | date "Monday, 02-Jan-06 3:04PM" }} {{ dateInZone "15:04 -0700 MST" $t "UTC" }}
- {{ htmlDate $t }} {{ htmlDateInZone $t "UTC" }} {{ $t | unixEpoch }} {{ $t | dateModify "-1.5h" | date "15:04" }} {{ dateModify "nonsense" $t | unixEpoch }}
- {{ $t }} {{ $t | toString }} {{ toJson $t }} {{ typeOf $t }} {{ kindOf $t }} {{ $t.Year }} {{ $t.Unix }} {{ $t.Format "02.01.06" }}
- {{ date "2006-01-02 15:04:05" 1700000000 }} {{ (toDate "2006-01-02" "bad") }} {{ eq $t $t }} {{ ne $t ($t | dateModify "1s") }}
- {{ mustToDate "Jan 2, 2006 at 3:04pm (MST)" "Feb 3, 2013 at 7:54pm (UTC)" | unixEpoch }} {{ $t | date "2006.002 .000 05.999" }}
"#,
    )
    .agrees();
}

#[test]
fn urls() {
    Inline::lines(
        r#"
- {{ urlParse "https://user:pw@example.com:8080/a%20b/c?x=1&y=2#frag%20x" | toJson }}
- {{ urlParse "mailto:me@example.com" | toJson }} {{ urlParse "/path?x" | toJson }} {{ urlParse "http://[::1]:80/" | toJson }} {{ urlParse "example.com/x" | toJson }}
- {{ urlJoin (dict "scheme" "http" "host" "h:80" "path" "/a b" "query" "x=1" "fragment" "f" "userinfo" "u:p") }} {{ urlJoin (dict "path" "a/b") }} {{ urlJoin (dict "scheme" "x" "opaque" "y") }}
"#,
    )
    .agrees();
}

#[test]
fn data_formats() {
    Inline::lines(
        r#"
{{- $v := dict "s" "a: b" "t" "yes" "n" 1.0 "f" 1.5 "l" (list 1 "2" (dict "x" nil)) "m" (dict) "e" (list) "multi" "a\nb\n" "nil" nil "html" "<&>" "long" (repeat 30 "word ") "num" "123" "date" "2024-01-01" "tilde" "~" "empty" "" "colon" "a:b" "hash" "a #b" "tab" "a\tb" "uni" "é😀" "lead" " x" "trail" "x " }}
a: {{ toYaml $v | nindent 2 }}
b: {{ toYamlPretty $v | nindent 2 }}
c: {{ toJson $v }}
d: {{ toPrettyJson $v | nindent 2 }}
e: {{ toRawJson $v }}
f: {{ toYaml "plain" }} {{ toYaml "yes" }} {{ toYaml 1.5 }} {{ toYaml nil }} {{ toYaml true }} {{ toYaml (list) }} {{ toYaml (dict) }}
g: {{ fromYaml "a: 1\nb: [x, 0777, yes, 1.5, ~]\n" | toJson }} {{ fromYaml "" | toJson }} {{ fromYaml "a: &x {b: 1}\nc: {<<: *x}" | toJson }}
h: {{ fromYamlArray "- 1\n- a" | toJson }} {{ fromYamlArray "[]" | toJson }}
i: {{ fromJson "{\"a\": [1, 2.5, \"x\", null]}" | toJson }} {{ fromJsonArray "[1, \"a\"]" | toJson }}
j: {{ hasKey (fromYaml "[1]") "Error" }} {{ hasKey (fromJson "[1") "Error" }} {{ len (fromYamlArray "a: b") }}
k: {{ (fromYaml (toYaml $v)) | toJson }}
l: {{ mustToJson (list 1) }} {{ mustFromJson "[1]" | toJson }} {{ mustToYaml (dict "a" 1) }}
m: {{ toToml (dict "a" 1 "s" "x\"y" "f" 1.5 "l" (list 1 2) "q" (list (dict "z" 1) (dict "z" 2)) "t" (dict "b" true "n" (dict "c" "d"))) | nindent 2 }}
n: {{ fromToml "a = 1\nb = \"x\"\n[t]\nc = [1.5, 2.0]\nd = true\n[[l]]\nx = 1\n[[l]]\nx = 2\n" | toJson }}
o: {{ mustToToml (dict "k" "v") | quote }}
"#,
    )
    .agrees();
}

/// What our engine generates for a template of one line.
fn generated(line: &str) -> String {
    let text = Inline::of(&format!("text: {line}\n")).ours();
    text.lines().find_map(|line| line.strip_prefix("text: ")).unwrap_or_default().to_owned()
}

#[test]
fn go_accepts_our_certificates_and_keys() {
    for ca in [
        r#"genCA "an authority" 30"#,
        r#"genCAWithKey "ü" 1 (genPrivateKey "ecdsa")"#,
        r#"genCAWithKey "e" 20000 (genPrivateKey "ed25519")"#,
        r#"genSelfSignedCert "self" (list "10.0.0.1" "fd00::1") (list "a.b" "*.c") 30"#,
        r#"genSignedCert "cn" (list "10.0.0.1") (list "a.b") 30 (genCA "ca" 30)"#,
    ] {
        let line = format!("{{{{ $ca := {ca} }}}}{{{{ $ca.Cert | b64enc }}}},{{{{ $ca.Key | b64enc }}}}");
        let pair = generated(&line);
        let (certificate, key) = pair.split_once(',').expect("a certificate and a key");
        Inline::lines(
            r#"
- {{ $ca := buildCustomCert .Values.certificate .Values.key }}{{ $ca.Cert | sha256sum }} {{ $ca.Key | sha256sum }}
- {{ (genSignedCert "leaf" nil (list "x.y") 1 $ca).Cert | regexFind "BEGIN [A-Z ]+" }}
"#,
        )
        .values(&format!("certificate: {certificate}\nkey: {key}"))
        .agrees();
    }
}

#[test]
fn random_and_secret_functions_have_the_right_form() {
    Inline::lines(
        r#"
- {{ randAlphaNum 10 | len }} {{ randAlpha 5 | regexMatch "^[a-zA-Z]{5}$" }} {{ randNumeric 4 | regexMatch "^[0-9]{4}$" }} {{ randAscii 8 | len }} {{ randBytes 6 | len }} {{ shuffle "aaa" }}
- {{ uuidv4 | regexMatch "^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$" }} {{ randInt 5 6 }}
- {{ genPrivateKey "ecdsa" | regexFind "BEGIN [A-Z ]+" }} {{ genPrivateKey "ed25519" | regexFind "BEGIN [A-Z ]+" }}
{{- $ca := genCA "ca" 365 }}
{{- $cert := genSignedCert "cn" (list "10.0.0.1" "::1") (list "a.b" "*.c") 30 $ca }}
{{- $self := genSelfSignedCert "self" nil (list "x") 1 }}
- {{ $ca.Cert | regexFind "BEGIN [A-Z ]+" }} {{ $ca.Key | regexFind "BEGIN [A-Z ]+" }} {{ $cert.Cert | regexFind "BEGIN [A-Z ]+" }} {{ $self.Key | regexFind "BEGIN [A-Z ]+" }} {{ typeOf $ca }} {{ kindOf $ca }}
{{- $again := buildCustomCert ($ca.Cert | b64enc) ($ca.Key | b64enc) }}
- {{ eq $again.Cert $ca.Cert }} {{ (genSignedCert "x" nil nil 1 $again).Cert | regexFind "BEGIN [A-Z ]+" }} {{ (genCAWithKey "k" 1 (genPrivateKey "ecdsa")).Key | regexFind "BEGIN [A-Z ]+" }}
- {{ bcrypt "password" | len }} {{ bcrypt "x" | substr 0 7 }} {{ htpasswd "user" "pass" | substr 0 12 }} {{ derivePassword 1 "long" "password" "user" "example.com" }} {{ derivePassword 2 "pin" "p" "u" "s" }}
- {{ encryptAES "secretkey" "plaintext" | decryptAES "secretkey" }}
"#,
    )
    .agrees();
}
