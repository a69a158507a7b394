//! Reading: places, aliases, merges, limits, and that no text makes the reader panic.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use proptest::prelude::*;
use yaml::{Document, Problem, Typing, Value, emit_v2, emit_v3, emit_v4, parse_document, parse_documents};

fn value(text: &str, typing: Typing) -> Value {
    parse_document(text, typing).unwrap().unwrap().root.into_value()
}

fn problem(text: &str, typing: Typing) -> (usize, usize, Problem) {
    let error = parse_documents(text, typing).unwrap_err();
    (error.line, error.column, error.problem)
}

#[test]
fn knows_the_line_and_column_of_each_node() {
    let text = "# comment\nmachine:\n    type: worker\n    certSANs:\n        - a\n---\nkind: X\n";
    let documents: Vec<Document> = parse_documents(text, Typing::V4).unwrap();
    assert_eq!(documents.iter().map(|document| document.line).collect::<Vec<_>>(), [2, 7]);
    let machine = documents[0].root.field("machine").unwrap();
    let kind = machine.field("type").unwrap();
    assert_eq!((kind.line, kind.column, kind.text()), (3, 11, Some("worker")));
    let item = &machine.field("certSANs").unwrap().as_sequence().unwrap()[0];
    assert_eq!((item.line, item.column), (5, 11));
}

#[test]
fn keeps_the_text_of_what_is_no_text() {
    let document = parse_document("a: 010\nb: '010'\nc: !!str 010\n", Typing::V2).unwrap().unwrap();
    let scalars: Vec<_> = ["a", "b", "c"]
        .iter()
        .map(|key| document.root.field(key).unwrap().as_scalar().unwrap())
        .map(|scalar| (scalar.value.clone(), scalar.text.as_str(), scalar.plain))
        .collect();
    assert_eq!(
        scalars,
        [
            (Value::Int(8), "010", true),
            (Value::string("010"), "010", false),
            (Value::string("010"), "010", false)
        ]
    );
}

#[test]
fn reads_only_the_first_document_when_asked_for_one() {
    let text = "a: 1\n---\n{broken\n";
    assert_eq!(value(text, Typing::V2), Value::mapping([("a", Value::Int(1))]));
    assert!(parse_documents(text, Typing::V2).is_err());
    assert_eq!(parse_document("", Typing::V2).unwrap(), None);
    assert_eq!(parse_documents("# nothing\n", Typing::V2).unwrap(), []);
}

#[test]
fn a_repeated_key_is_an_error_but_in_v2_the_later_value() {
    let text = "a: 1\nb: 2\na: 3\n";
    let expected = Problem::DuplicateKey { key: "a".into(), first_line: 1 };
    assert_eq!(problem(text, Typing::V3), (3, 1, expected));
    assert_eq!(value(text, Typing::V2), Value::mapping([("a", Value::Int(3)), ("b", Value::Int(2))]));
}

#[test]
fn merges_as_each_version_does() {
    let text = "x: &x {a: 1, b: 2}\nz: {a: 0, <<: *x, b: 3}\n";
    let merged = |typing| value(text, typing).field("z").cloned().unwrap();
    // v2 lets what is merged replace what stands before it.
    assert_eq!(merged(Typing::V2), Value::mapping([("a", Value::Int(1)), ("b", Value::Int(3))]));
    assert_eq!(merged(Typing::V3), Value::mapping([("a", Value::Int(0)), ("b", Value::Int(3))]));
    assert!(merged(Typing::V4).field("<<").is_some());
    let several = "{<<: [{a: 1}, {a: 2, b: 2}]}";
    for typing in [Typing::V2, Typing::V3] {
        assert_eq!(value(several, typing).field("a"), Some(&Value::Int(1)), "{typing:?}");
        assert_eq!(problem("{<<: 1}", typing).2, Problem::MergeOfNoMapping);
    }
}

#[test]
fn refuses_what_is_too_deep_too_large_or_recursive() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(
        parse_documents(&deep, Typing::V2).unwrap_err().problem,
        Problem::TooDeep(_) | Problem::Syntax(_)
    ));
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(parse_documents(&nested, Typing::V2).is_ok());
    assert!(matches!(problem("&a [*a]", Typing::V2).2, Problem::Recursive));
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(matches!(problem(&bomb, Typing::V2).2, Problem::TooManyAliases(_)));
}

#[test]
fn explicit_tags_must_fit() {
    assert_eq!(value("!!int '5'", Typing::V3), Value::Int(5));
    assert_eq!(value("!!float 5", Typing::V3), Value::Float(5.0));
    assert_eq!(value("!!binary aGk=", Typing::V3), Value::string("hi"));
    assert_eq!(value("!custom 5", Typing::V3), Value::string("5"));
    assert!(matches!(problem("!!int five", Typing::V3).2, Problem::Tag { .. }));
    assert!(matches!(problem("!!binary a", Typing::V3).2, Problem::Tag { .. }));
}

#[test]
fn keys_become_texts_as_on_the_way_to_json() {
    let keys = value("{1: a, true: b, 1.5: c, x: d}", Typing::V2).with_string_keys().unwrap();
    let names: Vec<_> = keys.as_mapping().unwrap().iter().map(|(key, _)| key.as_str().unwrap()).collect();
    assert_eq!(names, ["1", "true", "1.5", "x"]);
    assert!(value("{~: a}", Typing::V2).with_string_keys().is_err());
}

#[test]
fn takes_carriage_returns_marks_and_json() {
    assert_eq!(value("\u{feff}a: 1\r\nb: 2\r\n", Typing::V4).field("b"), Some(&Value::Int(2)));
    assert_eq!(value("{\"a\": [1, null]}", Typing::V4).field("a").unwrap().as_sequence().unwrap().len(), 2);
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\u{a0}é\n]{0,40}",
        "(yes|no|~|null|0x1f|017|1_0|1e3|-|:|#|'|\"|  |\n|[a-z]{1,12}| ){0,12}",
        any::<String>().prop_map(|text| text.chars().filter(|character| !character.is_control()).collect()),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        text().prop_map(Value::String),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Sequence),
            prop::collection::btree_map("[a-z0-9./-]{1,10}", inner, 0..5).prop_map(Value::mapping),
        ]
    })
}

/// Without what Go's emitters are known to write unreadably: the literal blocks that start with a space or a line
/// break and those characters that readers fold.
fn is_readable(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            !text.starts_with([' ', '\n']) && !text.contains(['\u{2028}', '\u{2029}', '\u{85}', '\u{feff}'])
        }
        Value::Sequence(items) => items.iter().all(is_readable),
        Value::Mapping(pairs) => pairs.iter().all(|(_, value)| is_readable(value)),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_) => true,
    }
}

fn in_order(value: Value) -> Value {
    let mut value = value;
    yaml::sort_naturally(&mut value, Typing::V2);
    value
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        for typing in [Typing::V2, Typing::V3, Typing::V4] {
            let _ = parse_documents(&text, typing);
        }
    }

    #[test]
    fn no_yaml_like_text_makes_the_reader_panic(text in "([a-z]|- |: |\n|  |\\[|\\]|\\{|\\}|,|&a |\\*a|!!int |!x |\\||>|'|\"|#|---\n|\\.\\.\\.\n|<<: |\\? |%|@|\t|\r){0,40}") {
        for typing in [Typing::V2, Typing::V3, Typing::V4] {
            let _ = parse_documents(&text, typing);
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same(value in any_value().prop_filter("unreadable in Go too", is_readable)) {
        for (text, typing) in [
            (emit_v2(&value), Typing::V2),
            (Ok(emit_v3(&value, 2)), Typing::V3),
            (Ok(emit_v4(&value)), Typing::V4),
        ] {
            let Ok(text) = text else { continue };
            let read = parse_document(&text, typing).unwrap().unwrap().root.into_value();
            prop_assert_eq!(in_order(read), in_order(value.clone()), "{}", text);
        }
    }
}
