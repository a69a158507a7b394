//! Paths with slashes.

use super::Parameter::String;
use super::{Function, pure};
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("base", &[String], |arguments| Ok(Value::string(base(&arguments.string(0))))),
    pure("dir", &[String], |arguments| Ok(Value::string(directory(&arguments.string(0))))),
    pure("clean", &[String], |arguments| Ok(Value::string(clean(&arguments.string(0))))),
    pure("ext", &[String], |arguments| Ok(Value::string(extension(&arguments.string(0))))),
    pure("isAbs", &[String], |arguments| Ok(Value::Bool(arguments.string(0).starts_with('/')))),
    // The paths of the system that renders: with slashes too, wherever this runs.
    pure("osBase", &[String], |arguments| Ok(Value::string(base(&arguments.string(0))))),
    pure("osDir", &[String], |arguments| Ok(Value::string(directory(&arguments.string(0))))),
    pure("osClean", &[String], |arguments| Ok(Value::string(clean(&arguments.string(0))))),
    pure("osExt", &[String], |arguments| Ok(Value::string(extension(&arguments.string(0))))),
    pure("osIsAbs", &[String], |arguments| Ok(Value::Bool(arguments.string(0).starts_with('/')))),
];

fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

fn directory(path: &str) -> std::string::String {
    clean(path.rfind('/').map_or("", |slash| &path[..=slash]))
}

fn clean(path: &str) -> std::string::String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').map_or("", |dot| &name[dot..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_as_go_does() {
        for (path, name, parent, cleaned, suffix) in [
            ("/a/b.txt", "b.txt", "/a", "/a/b.txt", ".txt"),
            ("", ".", ".", ".", ""),
            ("/", "/", "/", "/", ""),
            ("a/../../b/", "b", "../b", "../b", ""),
            ("/../a//b/.", ".", "/a/b", "/a/b", "."),
        ] {
            assert_eq!((base(path), directory(path).as_str()), (name, parent), "{path}");
            assert_eq!((clean(path).as_str(), extension(path)), (cleaned, suffix), "{path}");
        }
    }
}
