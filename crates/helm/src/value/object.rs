//! What Go has as structures, and all methods that templates can call.

use std::rc::Rc;

use super::{Entries, ListType, Map, MapType, Value, format, json, text};
use crate::functions::{Parameter, Signature};
use crate::pattern;
use crate::render::KubeVersion;
use crate::version::Version;

/// A structure.
pub(crate) enum Object {
    Capabilities {
        kube_version: KubeVersion,
        api_versions: Rc<Vec<Value>>,
    },
    KubeVersion(KubeVersion),
    /// The version of Helm that this engine follows.
    HelmVersion,
    Version(Version),
    /// A certificate and its private key, as PEM.
    Certificate {
        certificate: String,
        key: String,
    },
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::KubeVersion(left), Self::KubeVersion(right)) => left == right,
            (Self::HelmVersion, Self::HelmVersion) => true,
            (Self::Version(left), Self::Version(right)) => {
                left == right && left.metadata() == right.metadata()
            }
            (
                Self::Certificate { certificate, key },
                Self::Certificate { certificate: other_certificate, key: other_key },
            ) => certificate == other_certificate && key == other_key,
            (_, _) => std::ptr::eq(self, other),
        }
    }
}

/// The version of Helm that this engine follows, as `.Capabilities.HelmVersion.Version` shows it.
pub(crate) const HELM_VERSION: &str = "v4.3.1";

/// The Go that this version of Helm needs, and the Kubernetes that its client library is of.
pub(crate) const GO_VERSION: &str = "go1.26.8";
pub(crate) const KUBE_CLIENT_VERSION: &str = "v1.37";

/// What stands behind a name after a dot.
pub(crate) enum Member {
    Field(Value),
    Method(&'static Method),
}

/// A method.
pub(crate) struct Method {
    name: &'static str,
    pub(crate) signature: Signature,
    pub(crate) call: fn(&Value, &[Value]) -> Result<Value, String>,
}

const fn method(
    name: &'static str,
    fixed: &'static [Parameter],
    call: fn(&Value, &[Value]) -> Result<Value, String>,
) -> Method {
    Method { name, signature: Signature { fixed, variadic: None }, call }
}

static VALUES: [Method; 4] = [
    method("AsMap", &[], |values, _| Ok(as_map(values))),
    method("Table", &[Parameter::String], |values, arguments| table(values, &arguments[0])),
    method("PathValue", &[Parameter::String], |values, arguments| path_value(values, &arguments[0])),
    method("YAML", &[], |values, _| {
        let mut yaml = super::convert::to_yaml(values)?;
        yaml.push('\n');
        Ok(Value::string(yaml))
    }),
];

static FILES: [Method; 6] = [
    method("Get", &[Parameter::String], |files, arguments| Ok(Value::String(file(files, &arguments[0])))),
    method("GetBytes", &[Parameter::String], |files, arguments| Ok(Value::Bytes(file(files, &arguments[0])))),
    method("Glob", &[Parameter::String], |files, arguments| Ok(glob(files, &arguments[0]))),
    method("AsConfig", &[], |files, _| {
        by_base_name(files, |data| Value::string(text::lossy(data).as_bytes()))
    }),
    method("AsSecrets", &[], |files, _| {
        use base64::Engine as _;
        by_base_name(files, |data| Value::string(base64::engine::general_purpose::STANDARD.encode(data)))
    }),
    method("Lines", &[Parameter::String], |files, arguments| Ok(lines(&file(files, &arguments[0])))),
];

static VERSION_SET: [Method; 1] = [method("Has", &[Parameter::String], |versions, arguments| {
    let Value::List(_, versions) = versions else { return Ok(Value::Bool(false)) };
    Ok(Value::Bool(versions.iter().any(|version| super::kind::deep_equal(version, &arguments[0]))))
})];

static KUBE_VERSION: [Method; 2] = [
    method("String", &[], |version, _| {
        let Value::Object(object) = version else { return Ok(Value::Nil) };
        let Object::KubeVersion(version) = &**object else { return Ok(Value::Nil) };
        Ok(Value::string(version.normalized()))
    }),
    method("GitVersion", &[], |version, _| {
        let Value::Object(object) = version else { return Ok(Value::Nil) };
        let Object::KubeVersion(version) = &**object else { return Ok(Value::Nil) };
        Ok(Value::string(version.version()))
    }),
];

static VERSION: [Method; 11] = [
    method("Major", &[], |value, _| Ok(number(value, Version::major))),
    method("Minor", &[], |value, _| Ok(number(value, Version::minor))),
    method("Patch", &[], |value, _| Ok(number(value, Version::patch))),
    method("Prerelease", &[], |value, _| Ok(word(value, |version| version.prerelease().to_owned()))),
    method("Metadata", &[], |value, _| Ok(word(value, |version| version.metadata().to_owned()))),
    method("Original", &[], |value, _| Ok(word(value, |version| version.original().to_owned()))),
    method("String", &[], |value, _| Ok(word(value, Version::to_string))),
    method("Compare", &[Parameter::Any], |left, arguments| {
        compare(left, &arguments[0], |order| Value::int(order as i64))
    }),
    method("Equal", &[Parameter::Any], |left, arguments| {
        compare(left, &arguments[0], |order| Value::Bool(order.is_eq()))
    }),
    method("LessThan", &[Parameter::Any], |left, arguments| {
        compare(left, &arguments[0], |order| Value::Bool(order.is_lt()))
    }),
    method("GreaterThan", &[Parameter::Any], |left, arguments| {
        compare(left, &arguments[0], |order| Value::Bool(order.is_gt()))
    }),
];

/// The field or method of that name; keys of maps are not looked at.
pub(crate) fn member(value: &Value, name: &str) -> Option<Member> {
    let methods: &'static [Method] = match value {
        Value::Map(MapType::Values, _) => &VALUES,
        Value::Map(MapType::Files, _) => &FILES,
        Value::List(ListType::VersionSet, _) => &VERSION_SET,
        Value::Object(object) => match &**object {
            Object::KubeVersion(_) => &KUBE_VERSION,
            Object::Version(_) => &VERSION,
            Object::Capabilities { .. } | Object::HelmVersion | Object::Certificate { .. } => &[],
        },
        Value::Time(_) => &super::super::functions::date::METHODS,
        Value::Duration(_) => &super::super::functions::duration::METHODS,
        Value::Absent
        | Value::Nil
        | Value::Bool(_)
        | Value::Integer(..)
        | Value::Float(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::List(..)
        | Value::Map(..) => return None,
    };
    if let Some(method) = methods.iter().find(|method| method.name == name) {
        return Some(Member::Method(method));
    }
    let Value::Object(object) = value else { return None };
    field(object, name).map(Member::Field)
}

/// A method of a type that is defined elsewhere.
pub(crate) const fn new_method(
    name: &'static str,
    fixed: &'static [Parameter],
    call: fn(&Value, &[Value]) -> Result<Value, String>,
) -> Method {
    method(name, fixed, call)
}

fn field(object: &Object, name: &str) -> Option<Value> {
    Some(match (object, name) {
        (Object::Capabilities { kube_version, .. }, "KubeVersion") => {
            Value::object(Object::KubeVersion(kube_version.clone()))
        }
        (Object::Capabilities { api_versions, .. }, "APIVersions") => {
            Value::List(ListType::VersionSet, Rc::clone(api_versions))
        }
        (Object::Capabilities { .. }, "HelmVersion") => Value::object(Object::HelmVersion),
        (Object::KubeVersion(version), "Version") => Value::string(version.version()),
        (Object::KubeVersion(version), "Major") => Value::string(version.major()),
        (Object::KubeVersion(version), "Minor") => Value::string(version.minor()),
        (Object::HelmVersion, "Version") => Value::string(HELM_VERSION),
        (Object::HelmVersion, "GitCommit" | "GitTreeState") => Value::string(""),
        (Object::HelmVersion, "GoVersion") => Value::string(GO_VERSION),
        (Object::HelmVersion, "KubeClientVersion") => Value::string(KUBE_CLIENT_VERSION),
        (Object::Certificate { certificate, .. }, "Cert") => Value::string(certificate),
        (Object::Certificate { key, .. }, "Key") => Value::string(key),
        (_, _) => return None,
    })
}

// Values.

fn as_map(values: &Value) -> Value {
    Value::Map(MapType::Any, entries(values))
}

fn table(values: &Value, path: &Value) -> Result<Value, String> {
    let path = format::shown(path);
    let Value::Map(_, map) = values else { return Err(format!("{path:?} is not a table")) };
    let mut table = Rc::clone(map);
    for name in path.split('.') {
        let next = match table.borrow().get(name) {
            Some(Value::Map(MapType::Any | MapType::Values, next)) => Rc::clone(next),
            _ => return Err(format!("{name:?} is not a table")),
        };
        table = next;
    }
    Ok(Value::Map(MapType::Values, table))
}

fn path_value(values: &Value, path: &Value) -> Result<Value, String> {
    let path = format::shown(path);
    if path.is_empty() {
        return Err("YAML path cannot be empty".to_owned());
    }
    let (parents, key) =
        path.rsplit_once('.').map_or((None, path.as_str()), |(parents, key)| (Some(parents), key));
    let no_value = || format!("{key:?} is not a value");
    let parent = match parents {
        Some(parents) => table(values, &Value::string(parents)).map_err(|_| no_value())?,
        None => values.clone(),
    };
    let Value::Map(_, map) = parent else { return Err(no_value()) };
    match map.borrow().get(key) {
        None | Some(Value::Map(MapType::Any, _)) => Err(no_value()),
        Some(value) => Ok(value.clone()),
    }
}

// Files.

fn entries(map: &Value) -> Map {
    if let Value::Map(_, map) = map { Rc::clone(map) } else { super::new_map(Entries::new()) }
}

fn file(files: &Value, name: &Value) -> super::Text {
    match entries(files).borrow().get(format::shown(name).as_str()) {
        Some(Value::Bytes(data)) => data.clone(),
        _ => super::Text::default(),
    }
}

fn glob(files: &Value, pattern: &Value) -> Value {
    let files = entries(files);
    let matching: Entries = match pattern::glob(&format::shown(pattern)) {
        Ok(pattern) => {
            let matches = |(name, data): (&Rc<str>, &Value)| {
                pattern.is_match(name).then(|| (Rc::clone(name), data.clone()))
            };
            files.borrow().iter().filter_map(matches).collect()
        }
        // Helm takes a pattern that it cannot read for one that matches all.
        Err(_) => files.borrow().clone(),
    };
    Value::Map(MapType::Files, super::new_map(matching))
}

fn by_base_name(files: &Value, convert: fn(&[u8]) -> Value) -> Result<Value, String> {
    let mut named = Entries::new();
    for (path, data) in entries(files).borrow().iter() {
        if let Value::Bytes(data) = data {
            named.insert(Rc::from(path.rsplit('/').next().unwrap_or(path)), convert(data));
        }
    }
    super::convert::to_yaml(&Value::map(named)).map(Value::string)
}

fn lines(data: &[u8]) -> Value {
    if data.is_empty() {
        return Value::strings::<&[u8]>([]);
    }
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    Value::strings(data.split(|&byte| byte == b'\n'))
}

// Versions.

fn version(value: &Value) -> Option<&Version> {
    let Value::Object(object) = value else { return None };
    if let Object::Version(version) = &**object { Some(version) } else { None }
}

fn number(value: &Value, read: fn(&Version) -> u64) -> Value {
    let number = version(value).map(read).and_then(|number| i64::try_from(number).ok());
    Value::Integer(super::IntegerType::Uint64, number.unwrap_or(i64::MAX))
}

fn word(value: &Value, read: fn(&Version) -> String) -> Value {
    Value::string(version(value).map(read).unwrap_or_default())
}

fn compare(left: &Value, right: &Value, result: fn(std::cmp::Ordering) -> Value) -> Result<Value, String> {
    match (version(left), version(right)) {
        (Some(left), Some(right)) => Ok(result(left.cmp(right))),
        (_, _) => Err("expected a version, as the function semver makes them".to_owned()),
    }
}

/// The object as JSON, by the names of its fields.
pub(crate) fn to_json(object: &Object, out: &mut json::Writer) -> Result<(), String> {
    let fields: &[(&'static str, &'static str)] = match object {
        Object::Capabilities { .. } => {
            &[("KubeVersion", "KubeVersion"), ("APIVersions", "APIVersions"), ("HelmVersion", "HelmVersion")]
        }
        Object::KubeVersion(_) => &[("Version", "Version"), ("Major", "Major"), ("Minor", "Minor")],
        Object::HelmVersion => &[
            ("Version", "version"),
            ("GoVersion", "go_version"),
            ("KubeClientVersion", "kube_client_version"),
        ],
        Object::Version(version) => return out.value(&Value::string(version.to_string())),
        Object::Certificate { .. } => &[("Cert", "Cert"), ("Key", "Key")],
    };
    let named = |&(name, key): &(&'static str, &'static str)| field(object, name).map(|value| (key, value));
    out.structure(&fields.iter().filter_map(named).collect::<Vec<_>>())
}
