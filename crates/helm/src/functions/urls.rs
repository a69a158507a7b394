//! URLs, taken apart and put together.

use super::Parameter::{Map as MapParameter, String};
use super::{Function, pure};
use crate::template::failure::Cause;
use crate::value::{Entries, Map, Value, format, kind};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("urlParse", &[String], |arguments| parse(&arguments.string(0))),
    pure("urlJoin", &[MapParameter], |arguments| join(&arguments.map(0)).map(Value::string)),
];

fn parse(url: &str) -> Result<Value, Cause> {
    let fail = |reason: &str| {
        Err(Cause::Plain(format!("unable to parse url: parse {}: {reason}", format::quote(url.as_bytes()))))
    };
    if url.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return fail("net/url: invalid control character in URL");
    }
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (scheme, rest) = match scheme(rest) {
        Ok((scheme, rest)) => (scheme.to_lowercase(), rest),
        Err(reason) => return fail(reason),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (mut host, mut userinfo, mut path, mut opaque) = ("", std::string::String::new(), rest, "");
    if let Some(after) = rest.strip_prefix("//") {
        let end = after.find('/').unwrap_or(after.len());
        let authority = &after[..end];
        path = &after[end..];
        host = authority;
        if let Some((user, after)) = authority.rsplit_once('@') {
            host = after;
            userinfo = user.to_owned();
        }
    } else if !scheme.is_empty() && !rest.starts_with('/') {
        (opaque, path) = (rest, "");
    } else if scheme.is_empty() && rest.split('/').next().is_some_and(|first| first.contains(':')) {
        return fail("first path segment in URL cannot contain colon");
    }
    let Some(path) = unescape(path) else { return fail("invalid URL escape") };
    let Some(fragment) = unescape(fragment) else { return fail("invalid URL escape") };
    let entries = [
        ("scheme", scheme),
        ("host", host.to_owned()),
        ("hostname", hostname(host).to_owned()),
        ("path", path),
        ("query", query.to_owned()),
        ("opaque", opaque.to_owned()),
        ("fragment", fragment),
        ("userinfo", userinfo),
    ];
    Ok(Value::map(
        entries.into_iter().map(|(key, value)| (key.into(), Value::string(value))).collect::<Entries>(),
    ))
}

/// What stands before the first colon, if that is a scheme.
fn scheme(url: &str) -> Result<(&str, &str), &'static str> {
    for (index, character) in url.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if index > 0 => {}
            ':' if index == 0 => return Err("missing protocol scheme"),
            ':' => return Ok((&url[..index], &url[index + 1..])),
            _ => break,
        }
    }
    Ok(("", url))
}

/// Without the port, and without the brackets of IPv6.
fn hostname(host: &str) -> &str {
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn unescape(text: &str) -> Option<std::string::String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digits = [bytes.next()?, bytes.next()?];
        let digits = std::str::from_utf8(&digits)
            .ok()
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        out.push(u8::from_str_radix(digits, 16).ok()?);
    }
    Some(crate::value::text::lossy(&out).into_owned())
}

fn escape(text: &str, kept: &[u8]) -> std::string::String {
    let mut out = std::string::String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn join(map: &Map) -> Result<std::string::String, Cause> {
    let part = |key: &str| match map.borrow().get(key) {
        None => Ok(std::string::String::new()),
        Some(Value::String(text)) => Ok(text.lossy().into_owned()),
        Some(other) => Err(Cause::Plain(format!(
            "unable to parse {key} key, must be of type string, but {} found",
            kind::kind_name(other)
        ))),
    };
    let (scheme, host, path) = (part("scheme")?, part("host")?, part("path")?);
    let (query, opaque, fragment) = (part("query")?, part("opaque")?, part("fragment")?);
    let userinfo = part("userinfo")?;
    let mut url = std::string::String::new();
    if !scheme.is_empty() {
        url.push_str(&scheme);
        url.push(':');
    }
    if opaque.is_empty() {
        if !scheme.is_empty() || !host.is_empty() || !userinfo.is_empty() {
            if !host.is_empty() || !path.is_empty() || !userinfo.is_empty() {
                url.push_str("//");
            }
            if !userinfo.is_empty() {
                url.push_str(&userinfo);
                url.push('@');
            }
            url.push_str(&escape(&host, b"!$&'()*+,;=:[]<>\""));
        }
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            url.push('/');
        }
        if url.is_empty() && path.split('/').next().is_some_and(|first| first.contains(':')) {
            url.push_str("./");
        }
        url.push_str(&escape(&path, b"$&+,/:;=@"));
    } else {
        url.push_str(&opaque);
    }
    if !query.is_empty() {
        url.push('?');
        url.push_str(&query);
    }
    if !fragment.is_empty() {
        url.push('#');
        url.push_str(&escape(&fragment, b"$&+,/:;=?@!()*'"));
    }
    Ok(url)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart_and_put_together() {
        for url in [
            "https://user:pw@example.com:8080/a%20b?x=1#frag",
            "mailto:me@example.com",
            "//host/path",
            "/just/a/path",
            "http://[::1]:80/",
        ] {
            let Value::Map(_, map) = parse(url).unwrap() else { panic!("expected a map") };
            assert_eq!(join(&map).unwrap(), url);
        }
        let shown = format::shown(&parse("http://[::1]:80/").unwrap());
        assert!(shown.contains("hostname:::1"), "{shown}");
        assert!(parse(":x").is_err() && parse("a\nb").is_err());
    }
}
