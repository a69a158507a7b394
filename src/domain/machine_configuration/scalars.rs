//! Single values of machine configurations, from their text to the form in which Talos writes them.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use yaml::{Scalar, Value};

use super::schema::{IntegerKind, Kind, Words};

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
        Kind::Prefix => {
            let printed = prefix(text);
            printed.ok_or_else(|| "an address with a prefix length, such as 10.0.0.5/24".to_owned())
        }
        Kind::Address => printed::<IpAddr>(text).ok_or_else(|| "an IP address".to_owned()),
        Kind::AddressAndPort => printed::<SocketAddr>(text)
            .ok_or_else(|| "an IP address and a port, such as 10.0.0.5:51820".to_owned()),
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
        // Go takes a number with a point or an exponent that is whole all the same: `1e3`.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e18 => *number as i128,
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
        Ok(i64::try_from(number).map_or_else(|_| value.clone(), Value::Int))
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
        "e" | "eb" => 1e18,
        "ki" | "kib" => 1024_f64,
        "mi" | "mib" => 1024_f64.powi(2),
        "gi" | "gib" => 1024_f64.powi(3),
        "ti" | "tib" => 1024_f64.powi(4),
        "pi" | "pib" => 1024_f64.powi(5),
        "ei" | "eib" => 1024_f64.powi(6),
        _ => return None,
    };
    let size = number * scale;
    (size < u64::MAX as f64).then_some(size as u64)
}

/// A partition's size: rounded to two digits in a decimal unit if that loses nothing, else in bytes.
fn partition_size(text: &str) -> Result<Value, String> {
    let size = bytes(text).ok_or_else(|| "a size such as 10 GB".to_owned())?;
    if size == 0 {
        return Ok(Value::string(""));
    }
    let rounded = rounded_size(size);
    Ok(if size % 1000 == 0 && bytes(&rounded) == Some(size) {
        Value::String(rounded)
    } else {
        i64::try_from(size).map_or(Value::Uint(size), Value::Int)
    })
}

/// `10 GB`, `1.5 GB`, `2.0 TB`: one decimal below ten.
fn rounded_size(size: u64) -> String {
    if size < 10 {
        return format!("{size} B");
    }
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let steps = (size.ilog10() / 3) as usize;
    let value = (size as f64 / 1000_f64.powi(steps as i32) * 10.0 + 0.5).floor() / 10.0;
    let unit = units.get(steps).copied().unwrap_or_default();
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
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

/// Addresses are written in their one canonical form; a text of nothing stays one.
fn printed<Address: FromStr + ToString>(text: &str) -> Option<Value> {
    if text.is_empty() {
        return Some(Value::string(""));
    }
    text.parse::<Address>().ok().map(|address| Value::String(address.to_string()))
}

fn prefix(text: &str) -> Option<Value> {
    if text.is_empty() {
        return Some(Value::string(""));
    }
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let length: u8 = length.parse().ok()?;
    (length <= longest).then(|| Value::String(format!("{address}/{length}")))
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
    let is_table = matches!(text, "unspec" | "default" | "main" | "local")
        || text.parse::<u8>().is_ok_and(|number| (1..=252).contains(&number) && number.to_string() == text);
    if is_table {
        Ok(Value::string(text))
    } else {
        Err("a routing table: 1 to 252, `default`, `main` or `local`".to_owned())
    }
}

fn port_range(scalar: &Scalar) -> Result<Value, String> {
    let refused = || "a port or a range of ports such as 8000-8080".to_owned();
    if let Ok(port) = integer(&scalar.value, IntegerKind::U16) {
        return Ok(port);
    }
    if matches!(scalar.value, Value::Int(_)) {
        return Err(refused());
    }
    let (low, high) = scalar.text.split_once('-').ok_or_else(refused)?;
    let low: u16 = low.trim().parse().map_err(|_| refused())?;
    let high: u16 = high.trim().parse().map_err(|_| refused())?;
    Ok(Value::String(format!("{low}-{high}")))
}

fn word(text: &str, words: &Words) -> Result<Value, String> {
    let numbered = || words.numbered.then(|| words.known.get(text.parse::<usize>().ok()?)).flatten();
    words
        .known
        .iter()
        .find(|word| word.eq_ignore_ascii_case(text))
        .or_else(numbered)
        .map(|word| Value::string(*word))
        .ok_or_else(|| format!("one of {}", words.known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_durations_as_go_does() {
        for (text, printed) in [
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("1.5h", "1h30m0s"),
            ("500ms", "500ms"),
            ("1500ms", "1.5s"),
            ("100us", "100µs"),
            ("2ns", "2ns"),
            ("-1m", "-1m0s"),
            ("0", "0s"),
        ] {
            assert_eq!(nanoseconds(text).map(print_duration).as_deref(), Some(printed), "{text}");
        }
        for text in ["", "5", "1x", "s", "1h-", "."] {
            assert_eq!(nanoseconds(text), None, "{text}");
        }
    }

    #[test]
    fn partition_sizes_are_rounded_only_when_nothing_is_lost() {
        for (text, value) in [
            ("10GB", Value::string("10 GB")),
            ("2TB", Value::string("2.0 TB")),
            ("1.5 GB", Value::string("1.5 GB")),
            ("1GiB", Value::Int(1 << 30)),
            ("1001", Value::Int(1001)),
            ("5", Value::Int(5)),
            ("1kB", Value::string("1.0 kB")),
            ("0", Value::string("")),
        ] {
            assert_eq!(partition_size(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn addresses_are_written_in_their_one_form() {
        assert_eq!(prefix("FD00:0::1/64"), Some(Value::string("fd00::1/64")));
        assert_eq!(prefix("10.0.0.0/33"), None);
        assert_eq!(printed::<SocketAddr>("[FD00::1]:5"), Some(Value::string("[fd00::1]:5")));
    }
}
