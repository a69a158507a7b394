//! Merging maps as the library does that Sprig uses: by its rules of what is empty.

use std::rc::Rc;

use crate::template::failure::Cause;
use crate::value::{MAX_DEPTH, Map, Value, kind};

/// Merges a map into another: where the target has nothing, or everywhere.
pub(super) fn merge(target: &Map, source: &Map, overwrite: bool) -> Result<(), Cause> {
    deep(target, source, overwrite, 0)
}

fn deep(target: &Map, source: &Map, overwrite: bool, depth: usize) -> Result<(), Cause> {
    if depth > MAX_DEPTH {
        return Err("cannot merge maps that contain themselves, or are nested too deep".into());
    }
    if Rc::ptr_eq(target, source) {
        return Ok(());
    }
    let entries: Vec<_> =
        source.borrow().iter().map(|(key, value)| (Rc::clone(key), value.clone())).collect();
    for (key, value) in entries {
        let known = target.borrow().get(&key).cloned();
        let known_is_empty = known.as_ref().is_none_or(kind::is_empty);
        if value.is_nil() {
            if overwrite {
                target.borrow_mut().insert(key, value);
            }
            continue;
        }
        if let (Some(Value::Map(_, below)), Value::Map(_, above)) = (&known, &value) {
            deep(below, above, overwrite, depth + 1)?;
            if !known_is_empty {
                continue;
            }
        }
        if overwrite || known_is_empty {
            target.borrow_mut().insert(key, value);
        }
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::value::convert;

    fn map(json: &str) -> Map {
        match convert::from_json(&serde_json::from_str(json).unwrap()) {
            Value::Map(_, map) => map,
            _ => Map::default(),
        }
    }

    fn merged(target: &str, source: &str, overwrite: bool) -> String {
        let target = map(target);
        merge(&target, &map(source), overwrite).unwrap();
        crate::value::format::shown(&Value::Map(crate::value::MapType::Any, target))
    }

    #[test]
    fn merging_fills_what_is_empty_and_skips_nil() {
        assert_eq!(
            merged(
                r#"{"a": false, "b": 1, "c": {"x": 1}}"#,
                r#"{"a": true, "b": 2, "c": {"y": 2}, "d": null}"#,
                false
            ),
            "map[a:true b:1 c:map[x:1 y:2]]"
        );
    }

    #[test]
    fn overwriting_writes_what_is_empty_and_nil_too() {
        assert_eq!(
            merged(r#"{"a": 1, "b": [1], "c": {"x": 1}}"#, r#"{"a": 0, "b": [], "c": null, "d": {}}"#, true),
            "map[a:0 b:[] c:<nil> d:map[]]"
        );
    }
}
