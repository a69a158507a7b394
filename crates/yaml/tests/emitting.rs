//! Writing: texts that were read off Go's packages.
#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use yaml::{Value, emit_v2, emit_v3, emit_v4, emit_v4_documents};

fn text(text: &str) -> Value {
    Value::string(text)
}

#[test]
fn lists_hang_in_v2_and_stand_in_from_v3_on() {
    let value = Value::mapping([
        ("b", Value::Sequence(vec![text("x"), Value::mapping([("k", text("v")), ("j", Value::Int(1))])])),
        ("a", Value::Sequence(vec![Value::Sequence(vec![text("y")])])),
        ("c", Value::Mapping(Vec::new())),
        ("d", Value::Sequence(Vec::new())),
    ]);
    assert_eq!(emit_v2(&value).unwrap(), "a:\n- - \"y\"\nb:\n- x\n- j: 1\n  k: v\nc: {}\nd: []\n");
    assert_eq!(emit_v3(&value, 2), "a:\n  - - \"y\"\nb:\n  - x\n  - j: 1\n    k: v\nc: {}\nd: []\n");
    assert_eq!(
        emit_v4(&value),
        "b:\n    - x\n    - k: v\n      j: 1\na:\n    - - \"y\"\nc: {}\nd: []\n",
        "v4 keeps the order of keys"
    );
}

#[test]
fn v2_folds_past_column_eighty() {
    let words = "word ".repeat(20).trim_end().to_owned();
    let expected = format!("a: {}\n  {}\n", ["word"; 16].join(" "), ["word"; 4].join(" "));
    assert_eq!(emit_v2(&Value::mapping([("a", text(&words))])).unwrap(), expected);
    assert_eq!(emit_v4(&Value::mapping([("a", text(&words))])), format!("a: {words}\n"));
}

#[test]
fn quotes_what_would_read_back_as_something_else() {
    let cases = [
        ("", "\"\"", "\"\""),
        ("yes", "\"yes\"", "\"yes\""),
        ("123456.1234567890123456", "\"123456.1234567890123456\"", "\"123456.1234567890123456\""),
        ("2026-01-02", "\"2026-01-02\"", "\"2026-01-02\""),
        ("1:30", "\"1:30\"", "\"1:30\""),
        ("<<", "<<", "\"<<\""),
        ("* x", "'* x'", "'* x'"),
        ("it's: x", "'it''s: x'", "'it''s: x'"),
        ("a:b", "a:b", "a:b"),
        ("::1", "::1", "::1"),
        ("1e400", "1e400", "1e400"),
        ("$patch", "$patch", "$patch"),
        (" x", "' x'", "' x'"),
        ("a\tb", "\"a\\tb\"", "\"a\\tb\""),
        ("\u{1F600}", "\"\\U0001F600\"", "\"\\U0001F600\""),
        ("- ", "'- '", "'- '"),
        ("---x", "'---x'", "'---x'"),
    ];
    for (value, v2, v4) in cases {
        assert_eq!(emit_v2(&text(value)).unwrap(), format!("{v2}\n"), "{value:?}");
        assert_eq!(emit_v4(&text(value)), format!("{v4}\n"), "{value:?}");
    }
}

#[test]
fn several_lines_become_a_literal_block() {
    let value = |text: &str| Value::mapping([("a", Value::string(text))]);
    assert_eq!(emit_v2(&value("x\ny")).unwrap(), "a: |-\n  x\n  y\n");
    assert_eq!(emit_v2(&value("x\ny\n")).unwrap(), "a: |\n  x\n  y\n");
    assert_eq!(emit_v2(&value("x\n\n")).unwrap(), "a: |+\n  x\n\n");
    assert_eq!(emit_v2(&value(" x\ny\n")).unwrap(), "a: |2\n   x\n  y\n");
    assert_eq!(emit_v2(&value("x \ny\n")).unwrap(), "a: \"x \\ny\\n\"\n");
    assert_eq!(emit_v4(&value("x\n\ty\n")), "a: |\n    x\n    \ty\n");
    assert_eq!(emit_v2(&value("x\n\ty\n")).unwrap(), "a: \"x\\n\\ty\\n\"\n");
    assert_eq!(emit_v4(&value(" \n")), "a: \" \\n\"\n");
    assert_eq!(emit_v4(&Value::Sequence(vec![text("x\ny\n")])), "- |\n  x\n  y\n");
    assert_eq!(emit_v2(&text("x\ny\n")).unwrap(), "|\n  x\n  y\n");
}

#[test]
fn keys_that_are_long_or_of_several_lines_get_a_question_mark() {
    let long = "k".repeat(129);
    assert_eq!(emit_v4(&Value::mapping([(long.clone(), Value::Int(1))])), format!("? {long}\n: 1\n"));
    assert_eq!(emit_v4(&Value::mapping([("a\nb", Value::Int(1))])), "? |-\n    a\n    b\n: 1\n");
    assert_eq!(emit_v4(&Value::mapping([("y", text("*"))])), "\"y\": '*'\n");
}

#[test]
fn v2_goes_through_json() {
    let number = |number| emit_v2(&Value::Float(number)).unwrap();
    assert_eq!(number(1e6), "1000000\n");
    assert_eq!(number(1_234_567.5), "1.2345675e+06\n");
    assert_eq!(number(1e20), "1e+20\n");
    assert_eq!(emit_v3(&Value::Float(1e6), 2), "1e+06\n");
    assert!(emit_v2(&Value::Float(f64::NAN)).is_err());
    assert!(emit_v2(&text("\u{7f}")).is_err(), "Go's reader takes no DEL");
    assert_eq!(emit_v2(&text("a \u{85} b")).unwrap(), "a b\n", "a lone next line folds to a space");
    assert!(emit_v2(&Value::mapping([("k".repeat(1100), Value::Null)])).is_err());
}

#[test]
fn documents_are_parted_by_three_dashes() {
    let one = Value::mapping([("a", Value::Int(1))]);
    assert_eq!(emit_v4_documents([&one, &one]), "a: 1\n---\na: 1\n");
}

#[test]
fn v4_writes_the_true_indentation_where_go_would_lose_the_text() {
    for content in [" x\ny\n", "\n  x\n", "  a\n b\n"] {
        let file = Value::mapping([("path", text("/a")), ("content", text(content))]);
        let value = Value::mapping([("files", Value::Sequence(vec![file]))]);
        let written = emit_v4(&value);
        let read = yaml::parse_document(&written, yaml::Typing::V4).unwrap().unwrap().root.into_value();
        assert_eq!(read, value, "{written}");
    }
    assert_eq!(emit_v4(&Value::mapping([("a", text(" x\n"))])), "a: |4\n     x\n");
}
