//! YAML in the layout that Go's yaml.v3 gives: four spaces, lists indented.

use serde_json::Value;

/// Prints a value as one document.
pub(super) fn print(value: &Value) -> String {
    let mut text = String::new();
    if is_block(value) {
        block(&mut text, value, 0);
    } else {
        text.push_str(&inline(value));
        text.push('\n');
    }
    text
}

/// Prints a non-empty mapping or list, the cursor at the beginning of its first line's text.
fn block(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) => {
            for (index, (key, value)) in fields.iter().enumerate() {
                if index > 0 {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str(&scalar(key));
                text.push(':');
                below(text, value, indent + 4);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str("- ");
                if is_block(item) {
                    block(text, item, indent + 2);
                } else {
                    text.push_str(&inline(item));
                    text.push('\n');
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&inline(value));
            text.push('\n');
        }
    }
}

/// Prints what follows `key:`.
fn below(text: &mut String, value: &Value, indent: usize) {
    if is_block(value) {
        text.push('\n');
        text.push_str(&" ".repeat(indent));
        block(text, value, indent);
    } else {
        text.push(' ');
        text.push_str(&inline(value));
        text.push('\n');
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(value) => scalar(value),
        Value::Array(_) => "[]".to_owned(),
        Value::Object(_) => "{}".to_owned(),
    }
}

/// A string, quoted where plain text would be read as something else.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 11] = ["", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    let looks_typed = WORDS.contains(&text.to_ascii_lowercase().as_str()) || text.parse::<f64>().is_ok();
    let first = text.chars().next().unwrap_or(' ');
    let special = first.is_whitespace()
        || text.ends_with([' ', ':'])
        || "-?:,[]{}#&*!|>'\"%@`".contains(first) && !is_plain_start(text)
        || text.contains(": ")
        || text.contains(" #");
    if text.contains(|character: char| character.is_control()) || looks_typed {
        // JSON's escapes are YAML's.
        Value::String(text.to_owned()).to_string()
    } else if special {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        text.to_owned()
    }
}

/// `-`, `?` and `:` begin plain text when something other than a blank follows.
fn is_plain_start(text: &str) -> bool {
    let mut characters = text.chars();
    matches!(characters.next(), Some('-' | '?' | ':')) && characters.next().is_some_and(|next| next != ' ')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde_json::json;

    use super::print;

    #[test]
    fn nesting_is_laid_out_as_talos_prints_it() {
        let value = json!({"stage": "booting", "status": {"ready": false, "unmetConditions": [{"name": "services", "reason": "etcd"}]}});
        let text = "stage: booting\nstatus:\n    ready: false\n    unmetConditions:\n        - name: services\n          reason: etcd\n";
        assert_eq!(print(&value), text);
        assert_eq!(print(&json!({"unmetConditions": [], "tags": {}})), "unmetConditions: []\ntags: {}\n");
        assert_eq!(print(&json!("unknown")), "unknown\n");
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_is_read_back_as_it_was(text in "[ -~\n\t]{0,12}", number: i32, flag: bool) {
            let value = json!({"text": text, "list": [text, number, {"flag": flag, "none": null}], "map": {"a": {}}});
            let back: serde_json::Value = serde_saphyr::from_str(&print(&value)).unwrap();
            proptest::prop_assert_eq!(back, value);
        }
    }

    #[test]
    fn strings_that_would_be_something_else_are_quoted() {
        let value = json!({"a": "", "b": "true", "c": "1.13", "d": ":50000", "e": "x: y", "f": "00:11:22"});
        let text = "a: \"\"\nb: \"true\"\nc: \"1.13\"\nd: :50000\ne: 'x: y'\nf: 00:11:22\n";
        assert_eq!(print(&value), text);
    }
}
