//! Numbers as Go's `strconv` reads and prints them.

/// A whole number of either sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integer {
    Signed(i64),
    Unsigned(u64),
}

/// Reads a whole number as `ParseInt(text, 0, 64)`, then `ParseUint`, do, without underscores.
pub(crate) fn parse_integer(text: &str) -> Option<Integer> {
    let (sign, digits) = split_sign(text);
    let (radix, digits) = split_radix(digits);
    parse_radix(sign, digits, radix)
}

/// Reads digits of one radix with a sign that was split off before.
pub(crate) fn parse_radix(sign: Option<char>, digits: &str, radix: u32) -> Option<Integer> {
    // Rust would take a sign of its own here.
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if sign == Some('-') {
        return 0_i64.checked_sub_unsigned(magnitude).map(Integer::Signed);
    }
    match i64::try_from(magnitude) {
        Ok(number) => Some(Integer::Signed(number)),
        // ParseUint takes no sign.
        Err(_) if sign.is_none() => Some(Integer::Unsigned(magnitude)),
        Err(_) => None,
    }
}

fn split_sign(text: &str) -> (Option<char>, &str) {
    text.strip_prefix('-').map_or_else(
        || text.strip_prefix('+').map_or((None, text), |rest| (Some('+'), rest)),
        |rest| (Some('-'), rest),
    )
}

fn split_radix(digits: &str) -> (u32, &str) {
    let Some(rest) = digits.strip_prefix('0') else { return (10, digits) };
    match rest.chars().next() {
        None => (10, digits),
        Some('x' | 'X') => (16, &rest[1..]),
        Some('o' | 'O') => (8, &rest[1..]),
        Some('b' | 'B') => (2, &rest[1..]),
        Some(_) => (8, rest),
    }
}

/// Whether a text has the form of YAML's floats: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
pub(crate) fn is_float_form(text: &str) -> bool {
    let (_, rest) = split_sign(text);
    let (whole, rest) = split_digits(rest);
    let (fraction, rest) = rest.strip_prefix('.').map_or((None, rest), |after| {
        let (digits, rest) = split_digits(after);
        (Some(digits), rest)
    });
    let has_mantissa = match fraction {
        Some(fraction) => !whole.is_empty() || !fraction.is_empty(),
        None => !whole.is_empty(),
    };
    if !has_mantissa {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else { return rest.is_empty() };
    let (digits, rest) = split_digits(split_sign(exponent).1);
    !digits.is_empty() && rest.is_empty()
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Whether each underscore stands between two digits, as `ParseFloat` wants it.
pub(crate) fn underscores_between_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(index, _)| is_digit(index + 1) && index.checked_sub(1).is_some_and(is_digit))
}

/// Reads a text of float form; one that overflows is none, as with Go's `ParseFloat`.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Prints as `FormatFloat(number, 'g', -1, 64)`: the shortest digits, with an exponent for what is below 1e-4 or from
/// 1e6 on, and YAML's words for what is no finite number.
#[must_use]
pub fn format_general(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    general(number, &shortest(number))
}

/// The fewest digits that read back as the number, in scientific form. Where two such texts are equally near, Go takes
/// the one that ends in an even digit; Rust's exact rounding does the same, its shortest form does not.
fn shortest(number: f64) -> String {
    let text = format!("{number:e}");
    let digits = text.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{number:.*e}", digits.saturating_sub(1));
    if even.parse() == Ok(number) { even } else { text }
}

/// The same with the digits of a 32-bit float, which Go uses for keys.
pub(crate) fn format_general_32(number: f64) -> String {
    let narrow = number as f32;
    if !narrow.is_finite() {
        return format_general(f64::from(narrow));
    }
    general(number, &format!("{narrow:e}"))
}

fn general(number: f64, scientific: &str) -> String {
    let Some((mantissa, exponent)) = split_scientific(scientific) else { return number.to_string() };
    if !(-4..GENERAL_PRECISION).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs());
    }
    positional(mantissa, exponent)
}

/// The exponent from which on Go's `%g` writes one, however many digits there are, when they are the shortest.
const GENERAL_PRECISION: i32 = 6;

/// Prints as Go's `encoding/json` does: positional from 1e-6 to below 1e21, with a bare exponent otherwise.
/// `None` for what JSON has no number for.
#[must_use]
pub fn format_json(number: f64) -> Option<String> {
    if !number.is_finite() {
        return None;
    }
    let scientific = shortest(number);
    let (mantissa, exponent) = split_scientific(&scientific)?;
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let digits = exponent.unsigned_abs();
        // encoding/json drops the leading zero of a negative exponent only.
        return Some(if exponent < 0 {
            format!("{mantissa}e{sign}{digits}")
        } else {
            format!("{mantissa}e{sign}{digits:02}")
        });
    }
    Some(positional(mantissa, exponent))
}

fn split_scientific(text: &str) -> Option<(&str, i32)> {
    let (mantissa, exponent) = text.split_once('e')?;
    Some((mantissa, exponent.parse().ok()?))
}

/// Writes `d.ddde<exponent>` without an exponent.
fn positional(mantissa: &str, exponent: i32) -> String {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits: String = mantissa.chars().filter(|character| *character != '.').collect();
    let Ok(point) = usize::try_from(exponent + 1) else {
        let zeros = exponent.unsigned_abs() as usize - 1;
        return format!("{sign}0.{}{digits}", "0".repeat(zeros));
    };
    if point == 0 {
        return format!("{sign}0.{digits}");
    }
    if point >= digits.len() {
        return format!("{sign}{digits}{}", "0".repeat(point - digits.len()));
    }
    let (whole, fraction) = digits.split_at(point);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_floats_as_go_does() {
        let cases = [
            (0.0, "0", "0"),
            (100_000.0, "100000", "100000"),
            (1e6, "1e+06", "1000000"),
            (1_234_567.5, "1.2345675e+06", "1234567.5"),
            (1e-4, "0.0001", "0.0001"),
            (1e-5, "1e-05", "0.00001"),
            (1e-7, "1e-07", "1e-7"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (-0.5, "-0.5", "-0.5"),
            (1_333_333_333_333_333.3, "1.3333333333333332e+15", "1333333333333333.2"),
        ];
        for (number, general, json) in cases {
            assert_eq!(format_general(number), general);
            assert_eq!(format_json(number).as_deref(), Some(json));
        }
        assert_eq!(format_general(f64::NAN), ".nan");
        assert_eq!(format_general(f64::NEG_INFINITY), "-.inf");
        assert_eq!(format_json(f64::INFINITY), None);
    }

    #[test]
    fn reads_integers_in_every_radix_of_go() {
        for (text, number) in [("0x1f", 31), ("0o17", 15), ("017", 15), ("0b101", 5), ("-12", -12), ("+7", 7)]
        {
            assert_eq!(parse_integer(text), Some(Integer::Signed(number)), "{text}");
        }
        assert_eq!(parse_integer("18446744073709551615"), Some(Integer::Unsigned(u64::MAX)));
        assert_eq!(parse_integer("-9223372036854775808"), Some(Integer::Signed(i64::MIN)));
        for text in ["", "-", "0x", "08", "+18446744073709551615", "--1", "+-1", "1e3"] {
            assert_eq!(parse_integer(text), None, "{text}");
        }
    }
}
