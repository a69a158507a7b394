//! How Go writes and reads numbers.

/// From which power of ten on the shortest form has an exponent.
const SHORTEST_LIMIT: i32 = 6;

/// The shortest text that reads back as the same number, as `%v` writes it: with an exponent below 1e-4 and from
/// the limit on.
pub(crate) fn shortest(number: f64) -> String {
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let (negative, digits, exponent) = decimal(number);
    general(negative, &digits, exponent, SHORTEST_LIMIT)
}

/// Like [`shortest`], for the nearest number of 32 bits: how a number in YAML becomes a text.
#[expect(clippy::cast_possible_truncation, reason = "Go rounds to 32 bits here")]
pub(crate) fn shortest_32(number: f64) -> String {
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let (negative, digits, exponent) = split(&format!("{:e}", number as f32));
    general(negative, &digits, exponent, SHORTEST_LIMIT)
}

/// How Go's JSON writes a number: without an exponent between 1e-6 and 1e21.
pub(crate) fn json(number: f64) -> String {
    if number == 0.0 {
        return if number.is_sign_negative() { "-0".to_owned() } else { "0".to_owned() };
    }
    let (negative, digits, exponent) = decimal(number);
    let sign = if negative { "-" } else { "" };
    if (-6..21).contains(&exponent) {
        return format!("{sign}{}", positional(&digits, exponent));
    }
    // Go writes e-09 as e-9 there.
    let text = exponential(&digits, exponent);
    let text = text.replace("e-0", "e-");
    format!("{sign}{text}")
}

/// The texts for what is no number.
pub(crate) const fn special(number: f64) -> Option<&'static str> {
    if number.is_nan() {
        Some("NaN")
    } else if number == f64::INFINITY {
        Some("+Inf")
    } else if number == f64::NEG_INFINITY {
        Some("-Inf")
    } else {
        None
    }
}

/// The form `g`: with an exponent below 1e-4 and from ten to the power of `limit` on.
pub(crate) fn general(negative: bool, digits: &str, exponent: i32, limit: i32) -> String {
    let sign = if negative { "-" } else { "" };
    if exponent < -4 || exponent >= limit {
        return format!("{sign}{}", exponential(digits, exponent));
    }
    format!("{sign}{}", positional(digits, exponent))
}

/// Sign, shortest digits without zeros at the end, and the exponent of the first digit.
pub(crate) fn decimal(number: f64) -> (bool, String, i32) {
    split(&format!("{number:e}"))
}

fn split(text: &str) -> (bool, String, i32) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    (mantissa.starts_with('-'), digits, exponent.parse().unwrap_or_default())
}

/// `d.ddde+XX`.
pub(crate) fn exponential(digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{:02}", exponent.abs())
}

/// `ddd.ddd`, with zeros where the digits do not reach.
pub(crate) fn positional(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
        return format!("0.{}{digits}", "0".repeat(zeros));
    }
    let whole = usize::try_from(exponent).unwrap_or_default() + 1;
    if digits.len() <= whole {
        return format!("{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{}.{}", &digits[..whole], &digits[whole..])
}

/// Reads a whole number as Go's `strconv.ParseInt` with base 0 does: signs, `0x`, `0o`, `0b`, a leading 0 for
/// octal, and underscores between digits.
pub(crate) fn parse_integer(text: &str) -> Option<i64> {
    let (negative, magnitude) = parse_magnitude(text)?;
    if negative {
        return 0_i64.checked_sub_unsigned(magnitude);
    }
    i64::try_from(magnitude).ok()
}

/// Sign and magnitude of a whole number in any of Go's notations.
pub(crate) fn parse_magnitude(text: &str) -> Option<(bool, u64)> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = rest.to_ascii_lowercase();
    let (radix, digits, prefixed) = if let Some(digits) = lower.strip_prefix("0x") {
        (16, digits, true)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        (8, digits, true)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (2, digits, true)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..], true)
    } else {
        (10, lower.as_str(), false)
    };
    let bytes = digits.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let digit_before = if index == 0 { prefixed } else { bytes[index - 1] != b'_' };
        let digit_after = bytes.get(index + 1).is_some_and(|&next| next != b'_');
        if *byte == b'_' && !(digit_before && digit_after) {
            return None;
        }
    }
    let digits = digits.replace('_', "");
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    Some((negative, u64::from_str_radix(&digits, radix).ok()?))
}

/// Reads a float as Go's `strconv.ParseFloat` does.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let bare = text.trim_start_matches(['+', '-']);
    if text.len() - bare.len() > 1 || bare.is_empty() {
        return None;
    }
    let first = bare.as_bytes()[0];
    if first.is_ascii_digit() || first == b'.' {
        if bare.starts_with("0x") || bare.starts_with("0X") {
            return None;
        }
        return text.parse().ok().filter(|number: &f64| number.is_finite());
    }
    let infinite = ["inf", "infinity"].iter().any(|name| bare.eq_ignore_ascii_case(name));
    match (infinite, bare.eq_ignore_ascii_case("nan") && bare.len() == text.len()) {
        (true, _) if text.starts_with('-') => Some(f64::NEG_INFINITY),
        (true, _) => Some(f64::INFINITY),
        (_, true) => Some(f64::NAN),
        _ => None,
    }
}

/// What Go makes of a float that becomes an `int64`: the whole part; out of range, the smallest number.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
pub(crate) fn truncate(number: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if !(-LIMIT..LIMIT).contains(&number) { i64::MIN } else { number as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (number, printed, as_json) in [
            (0.0, "0", "0"),
            (1e6, "1e+06", "1000000"),
            (123_456.0, "123456", "123456"),
            (1_234_567.0, "1.234567e+06", "1234567"),
            (123_456_789_012.0, "1.23456789012e+11", "123456789012"),
            (0.000_1, "0.0001", "0.0001"),
            (0.000_01, "1e-05", "0.00001"),
            (1e-7, "1e-07", "1e-7"),
            (-2.5, "-2.5", "-2.5"),
            (1e21, "1e+21", "1e+21"),
            (12_345_678_901_234_567_890.0, "1.2345678901234567e+19", "12345678901234567000"),
        ] {
            assert_eq!(shortest(number), printed);
            assert_eq!(json(number), as_json);
        }
        assert_eq!(shortest(f64::NEG_INFINITY), "-Inf");
    }

    #[test]
    fn whole_numbers_are_read_in_all_of_gos_notations() {
        for (text, number) in [
            ("12", Some(12)),
            ("-0x1F", Some(-31)),
            ("0755", Some(493)),
            ("0o17", Some(15)),
            ("1_000", Some(1000)),
            ("1__0", None),
            ("_1", None),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("08", None),
            ("", None),
        ] {
            assert_eq!(parse_integer(text), number, "{text}");
        }
    }

    #[test]
    fn a_float_out_of_range_becomes_the_smallest_number() {
        assert_eq!((truncate(1e30), truncate(f64::NAN), truncate(-3.9)), (i64::MIN, i64::MIN, -3));
    }
}
