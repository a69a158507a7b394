//! TOML, as `toToml` writes it: plain keys first, then tables, all in the order of their keys.

use super::{Entries, MAX_DEPTH, Value, format, number};

/// The TOML of a map.
///
/// # Errors
/// What TOML has no form for: nil, a list of nil, a root that is no map.
pub(crate) fn write(value: &Value) -> Result<String, String> {
    let Value::Map(_, map) = value else {
        return Err(format!(
            "toml: top-level values must be Go maps or structs, got {}",
            super::kind::type_name(value)
        ));
    };
    let mut out = String::new();
    table(&mut out, &map.borrow(), "", 0)?;
    Ok(out)
}

fn table(out: &mut String, entries: &Entries, path: &str, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("toml: the value contains itself, or is nested too deep".to_owned());
    }
    let indent = "  ".repeat(depth);
    let is_table = |value: &Value| matches!(value, Value::Map(..)) || is_table_list(value);
    for (name, value) in entries.iter().filter(|(_, value)| !value.is_nil() && !is_table(value)) {
        out.push_str(&format!("{indent}{} = {}\n", key(name), inline(value, depth)?));
    }
    for (name, value) in entries.iter().filter(|(_, value)| is_table(value)) {
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        let (heading, tables) = if let Value::List(_, items) = value {
            (format!("{indent}[[{path}]]\n"), items.as_slice())
        } else {
            (format!("{indent}[{path}]\n"), std::slice::from_ref(value))
        };
        for item in tables {
            if let Value::Map(_, map) = item {
                // A blank line stands before tables at the root, and before each table of a list.
                if !out.is_empty() && (depth == 0 || is_table_list(value)) {
                    out.push('\n');
                }
                out.push_str(&heading);
                table(out, &map.borrow(), &path, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn is_table_list(value: &Value) -> bool {
    let Value::List(_, items) = value else { return false };
    !items.is_empty() && items.iter().all(|item| matches!(item, Value::Map(..)))
}

fn key(name: &str) -> String {
    let bare = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

fn inline(value: &Value, depth: usize) -> Result<String, String> {
    if depth > MAX_DEPTH {
        return Err("toml: the value contains itself, or is nested too deep".to_owned());
    }
    Ok(match value {
        Value::Bool(value) => value.to_string(),
        Value::Integer(_, number) | Value::Duration(number) => number.to_string(),
        Value::Float(float) => {
            let text =
                number::special(*float).map_or_else(|| number::shortest(*float), |text| text.to_lowercase());
            if text.contains(['.', 'e', 'n', 'i']) { text } else { format!("{text}.0") }
        }
        Value::String(text) => quoted(&text.lossy()),
        Value::Bytes(bytes) => format::shown(&Value::Bytes(bytes.clone())).replace(' ', ", "),
        Value::Time(time) => format::rfc3339(time),
        Value::List(_, items) => {
            let items: Result<Vec<_>, _> = items.iter().map(|item| inline(item, depth + 1)).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Map(_, map) => {
            let mut fields = Vec::new();
            for (name, value) in map.borrow().iter().filter(|(_, value)| !value.is_nil()) {
                fields.push(format!("{} = {}", key(name), inline(value, depth + 1)?));
            }
            format!("{{{}}}", fields.join(", "))
        }
        Value::Absent | Value::Nil => return Err("toml: cannot encode array with nil element".to_owned()),
        Value::Object(_) => return Err(format!("toml: unsupported type: {}", super::kind::type_name(value))),
    })
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
