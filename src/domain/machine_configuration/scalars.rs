//! Single values of machine configurations, from their text to the form in which Talos writes them.

use std::net::{IpAddr, SocketAddr};

use yaml::{Scalar, Value};

use super::schema::{IntegerKind, Kind};

/// Reads a single value; the error says what was expected.
pub(super) fn scalar(scalar: &Scalar, kind: &Kind) -> Result<Value, String> {
    let text = scalar.text.as_str();
    let written = |is_fine: bool, expected: &str| {
        if is_fine || text.is_empty() { Ok(Value::string(text)) } else { Err(expected.to_owned()) }
    };
    match kind {
        Kind::Bool | Kind::PlainBool => boolean(scalar).ok_or_else(|| "true or false".to_owned()),
        Kind::Integer(range) => integer(&scalar.value, *range),
        Kind::Permissions => permissions(&scalar.value),
        Kind::Duration => duration(scalar),
        Kind::PartitionSize => partition_size(text),
        Kind::ByteSize => written(bytes(text).is_some(), "a size such as 10GiB"),
        Kind::Size => {
            let unsigned = text.strip_prefix('-').unwrap_or(text);
            let is_share = text
                .strip_suffix('%')
                .is_some_and(|share| share.parse::<u8>().is_ok_and(|share| share <= 100));
            written(is_share || bytes(unsigned).is_some(), "a size such as 10GiB or a share such as 50%")
        }
        Kind::SizeMatch => {
            let size = text.trim_start_matches(['<', '>', '=']).trim();
            written(bytes(size).is_some(), "a size to compare with, such as `>= 100GB`")
        }
        Kind::Url => url(text).ok_or_else(|| "a URL such as https://HOST:PORT".to_owned()),
        Kind::Prefix => written(is_prefix(text), "an address with a prefix length, such as 10.0.0.5/24"),
        Kind::Address => written(text.parse::<IpAddr>().is_ok(), "an IP address"),
        Kind::AddressAndPort => {
            written(text.parse::<SocketAddr>().is_ok(), "an IP address and a port, such as 10.0.0.5:51820")
        }
        Kind::HardwareAddress => hardware_address(text),
        Kind::RoutingTable => routing_table(text),
        Kind::PortRange => port_range(scalar),
        Kind::Word(words) => word(text, words),
        Kind::Text
        | Kind::Expression
        | Kind::Base64
        | Kind::Arguments
        | Kind::TextMap
        | Kind::BoolMap
        | Kind::Free
        | Kind::List(_)
        | Kind::Map(_)
        | Kind::Struct(_) => Ok(Value::string(text)),
    }
}

/// YAML 1.1's words count too, but for those that Go's decoder forgot.
fn boolean(scalar: &Scalar) -> Option<Value> {
    match (&scalar.value, scalar.text.as_str()) {
        (Value::Bool(value), _) => Some(Value::Bool(*value)),
        (Value::String(_), "y" | "Y" | "yes" | "on") => Some(Value::Bool(true)),
        (Value::String(_), "n" | "N" | "no" | "off") => Some(Value::Bool(false)),
        _ => None,
    }
}

fn integer(value: &Value, range: IntegerKind) -> Result<Value, String> {
    let number = match value {
        Value::Int(number) => i128::from(*number),
        Value::Uint(number) => i128::from(*number),
        Value::Null
        | Value::Bool(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::String(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => return Err("a whole number".to_owned()),
    };
    let (lowest, highest) = match range {
        IntegerKind::U8 => (0, i128::from(u8::MAX)),
        IntegerKind::U16 => (0, i128::from(u16::MAX)),
        IntegerKind::U32 => (0, i128::from(u32::MAX)),
        IntegerKind::U64 => (0, i128::from(u64::MAX)),
        IntegerKind::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    if (lowest..=highest).contains(&number) {
        Ok(value.clone())
    } else {
        Err(format!("a whole number from {lowest} to {highest}"))
    }
}

/// File modes are carried as numbers and written in octal.
fn permissions(value: &Value) -> Result<Value, String> {
    value
        .as_i64()
        .filter(|mode| u32::try_from(*mode).is_ok())
        .map(Value::Int)
        .ok_or_else(|| "a file mode such as 0o644".to_owned())
}

/// A duration in nanoseconds, as Go reads it. Numbers without a unit are none.
fn duration(scalar: &Scalar) -> Result<Value, String> {
    nanoseconds(&scalar.text).map(Value::Int).ok_or_else(|| "a duration such as 1m30s".to_owned())
}

fn nanoseconds(text: &str) -> Option<i64> {
    let (negative, mut rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    rest = rest.strip_prefix('+').unwrap_or(rest);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let whole_length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, after) = rest.split_at(whole_length);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), |after| {
            after.split_at(after.bytes().take_while(u8::is_ascii_digit).count())
        });
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let unit_length = after.bytes().take_while(|byte| !byte.is_ascii_digit() && *byte != b'.').count();
        let (unit, after) = after.split_at(unit_length);
        let scale: i128 = match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(scale)?)?;
        let mut place = scale;
        for digit in fraction.bytes() {
            place /= 10;
            total += i128::from(digit - b'0') * place;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// A duration as Go prints it: `1h0m0s`, `1.5s`, `500ms`.
pub(super) fn print_duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let total = nanoseconds.unsigned_abs();
    match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{total}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimal(total, 1_000)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimal(total, 1_000_000)),
        _ => {
            let (minutes, rest) = (total / 60_000_000_000, total % 60_000_000_000);
            let seconds = decimal(rest, 1_000_000_000);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

fn decimal(number: u64, scale: u64) -> String {
    let fraction = format!("{:0width$}", number % scale, width = scale.ilog10() as usize);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { (number / scale).to_string() } else { format!("{}.{fraction}", number / scale) }
}

/// A number of bytes with an optional unit, decimal or binary.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number: f64 = text[..length].parse().ok()?;
    let scale = match text[length..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1_f64,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "p" | "pb" => 1e15,
        "ki" | "kib" => 1024_f64,
        "mi" | "mib" => 1024_f64.powi(2),
        "gi" | "gib" => 1024_f64.powi(3),
        "ti" | "tib" => 1024_f64.powi(4),
        "pi" | "pib" => 1024_f64.powi(5),
        _ => return None,
    };
    Some((number * scale) as u64)
}

/// A partition's size: the largest decimal unit of which it is a round number, else bytes.
fn partition_size(text: &str) -> Result<Value, String> {
    let size = bytes(text).ok_or_else(|| "a size such as 10 GB".to_owned())?;
    let units = [(1_000_000_000_000_u64, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let round = units.into_iter().find(|(scale, _)| size >= *scale && size.is_multiple_of(*scale));
    Ok(match (size, round) {
        (0, _) => Value::string(""),
        (size, Some((scale, unit))) => Value::String(format!("{} {unit}", size / scale)),
        (size, None) => i64::try_from(size).map_or(Value::Uint(size), Value::Int),
    })
}

/// A URL as Go prints it again: the scheme in lower case, everything else kept.
fn url(text: &str) -> Option<Value> {
    if text.is_empty() {
        return Some(Value::string(""));
    }
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.'));
    let is_text = !rest.chars().any(|character| character.is_whitespace() || character.is_control());
    (is_scheme && is_text).then(|| Value::String(format!("{}://{rest}", scheme.to_ascii_lowercase())))
}

fn is_prefix(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, length)| {
        let longest = match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        length.parse::<u8>().is_ok_and(|length| length <= longest)
    })
}

/// Hexadecimal bytes with or without colons, written in lower case with them.
fn hardware_address(text: &str) -> Result<Value, String> {
    let refused = || "a hardware address such as 00:11:22:33:44:55".to_owned();
    if text.is_empty() {
        return Ok(Value::string(""));
    }
    let hexadecimal: String = text.chars().filter(|character| *character != ':').collect();
    let is_hexadecimal = hexadecimal.chars().all(|character| character.is_ascii_hexdigit());
    if !is_hexadecimal || hexadecimal.len() < 2 || !hexadecimal.len().is_multiple_of(2) {
        return Err(refused());
    }
    let lower = hexadecimal.to_ascii_lowercase();
    let pairs: Vec<&str> =
        (0..lower.len()).step_by(2).filter_map(|start| lower.get(start..start + 2)).collect();
    Ok(Value::String(pairs.join(":")))
}

/// 1 to 252, or one of the three tables that go by name.
fn routing_table(text: &str) -> Result<Value, String> {
    let is_table = matches!(text, "" | "unspec" | "default" | "main" | "local")
        || text.parse::<u8>().is_ok_and(|number| (1..=252).contains(&number));
    if is_table {
        Ok(Value::string(text))
    } else {
        Err("a routing table: 1 to 252, `default`, `main` or `local`".to_owned())
    }
}

fn port_range(scalar: &Scalar) -> Result<Value, String> {
    let refused = || "a port or a range of ports such as 8000-8080".to_owned();
    if let Value::Int(port) = scalar.value {
        return u16::try_from(port).map(|port| Value::Int(i64::from(port))).map_err(|_| refused());
    }
    let (low, high) = scalar.text.split_once('-').ok_or_else(refused)?;
    let low: u16 = low.trim().parse().map_err(|_| refused())?;
    let high: u16 = high.trim().parse().map_err(|_| refused())?;
    Ok(Value::String(format!("{low}-{high}")))
}

fn word(text: &str, words: &[&'static str]) -> Result<Value, String> {
    words
        .iter()
        .find(|word| word.eq_ignore_ascii_case(text))
        .map(|word| Value::string(*word))
        .ok_or_else(|| format!("one of {}", words.join(", ")))
}
