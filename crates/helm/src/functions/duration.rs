//! Durations: nanoseconds, written as `1h2m3.5s`.

use super::Parameter::Any;
use super::arguments::Arguments;
use super::{Function, pure, world};
use crate::template::failure::Cause;
use crate::value::object::{Method, new_method};
use crate::value::{IntegerType, Value, kind, number};

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("duration", &[Any], |arguments| {
        let seconds = match arguments.at(0) {
            Value::String(text) => text.lossy().parse().unwrap_or(0),
            Value::Integer(IntegerType::Int64, seconds) => *seconds,
            _ => 0,
        };
        Ok(Value::string(shown(seconds.wrapping_mul(SECOND))))
    }),
    world("durationRound", &[Any], |executor, arguments| {
        let nanoseconds = match arguments.at(0) {
            Value::String(text) => parse(&text.lossy()).unwrap_or(0),
            Value::Integer(IntegerType::Int64, nanoseconds) => *nanoseconds,
            Value::Time(time) => {
                i64::try_from(executor.world.now.as_nanosecond() - time.timestamp().as_nanosecond())
                    .unwrap_or(i64::MAX)
            }
            _ => 0,
        };
        Ok(Value::string(rounded(nanoseconds)))
    }),
    pure("mustToDuration", &[Any], |arguments| Ok(Value::Duration(of(arguments.at(0))?))),
    pure("durationSeconds", &[Any], |arguments| Ok(Value::Float(count(&arguments, SECOND)))),
    pure("durationMinutes", &[Any], |arguments| Ok(Value::Float(count(&arguments, MINUTE)))),
    pure("durationHours", &[Any], |arguments| Ok(Value::Float(count(&arguments, HOUR)))),
    pure("durationDays", &[Any], |arguments| Ok(Value::Float(count(&arguments, DAY)))),
    pure("durationWeeks", &[Any], |arguments| Ok(Value::Float(count(&arguments, 7 * DAY)))),
    pure("durationMilliseconds", &[Any], |arguments| Ok(Value::int64(lenient(&arguments, 0) / 1_000_000))),
    pure("durationMicroseconds", &[Any], |arguments| Ok(Value::int64(lenient(&arguments, 0) / 1_000))),
    pure("durationNanoseconds", &[Any], |arguments| Ok(Value::int64(lenient(&arguments, 0)))),
    pure("durationTruncateTo", &[Any, Any], |arguments| {
        let (duration, unit) = (lenient(&arguments, 0), lenient(&arguments, 1));
        Ok(Value::Duration(if unit > 0 { duration - duration % unit } else { duration }))
    }),
    pure("durationRoundTo", &[Any, Any], |arguments| {
        Ok(Value::Duration(round_to(lenient(&arguments, 0), lenient(&arguments, 1))))
    }),
];

/// The methods of a duration that charts call.
pub(crate) static METHODS: [Method; 4] = [
    new_method("String", &[], |value, _| Ok(Value::string(shown(nanoseconds(value))))),
    new_method("Seconds", &[], |value, _| Ok(Value::Float(in_unit(nanoseconds(value), SECOND)))),
    new_method("Minutes", &[], |value, _| Ok(Value::Float(in_unit(nanoseconds(value), MINUTE)))),
    new_method("Hours", &[], |value, _| Ok(Value::Float(in_unit(nanoseconds(value), HOUR)))),
];

const fn nanoseconds(value: &Value) -> i64 {
    if let Value::Duration(nanoseconds) = value { *nanoseconds } else { 0 }
}

/// Whole units and the rest apart, as Go divides.
#[expect(clippy::cast_precision_loss, reason = "Go converts so")]
fn in_unit(nanoseconds: i64, unit: i64) -> f64 {
    (nanoseconds / unit) as f64 + (nanoseconds % unit) as f64 / unit as f64
}

fn lenient(arguments: &Arguments, index: usize) -> i64 {
    of(arguments.at(index)).unwrap_or(0)
}

fn count(arguments: &Arguments, unit: i64) -> f64 {
    in_unit(lenient(arguments, 0), unit)
}

/// The nanoseconds that a value stands for: a duration's text, or a number of seconds.
fn of(value: &Value) -> Result<i64, Cause> {
    let overflow = || Cause::from("duration seconds overflow");
    match value {
        Value::Duration(nanoseconds) => Ok(*nanoseconds),
        Value::Integer(_, seconds) => seconds.checked_mul(SECOND).ok_or_else(overflow),
        Value::Float(seconds) => from_seconds(*seconds).ok_or_else(overflow),
        Value::String(text) => {
            let text = text.lossy();
            let trimmed = text.trim();
            if trimmed.is_empty() {
                return Err("empty duration".into());
            }
            if let Ok(nanoseconds) = parse(trimmed) {
                return Ok(nanoseconds);
            }
            let seconds = number::parse_float(trimmed);
            let seconds =
                seconds.ok_or_else(|| Cause::Plain(format!("could not parse duration {text:?}")))?;
            from_seconds(seconds).ok_or_else(overflow)
        }
        Value::Absent | Value::Nil => Err("invalid duration".into()),
        other => Err(Cause::Plain(format!("unsupported duration type {}", kind::type_name(other)))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "the limit is exact enough")]
fn from_seconds(seconds: f64) -> Option<i64> {
    let nanoseconds = seconds * SECOND as f64;
    (nanoseconds.is_finite() && nanoseconds.abs() < i64::MAX as f64).then(|| number::truncate(nanoseconds))
}

/// Half a unit is rounded away from zero.
const fn round_to(duration: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return duration;
    }
    let rest = duration % unit;
    let truncated = duration - rest;
    let up = rest.unsigned_abs() >= unit.unsigned_abs() - rest.unsigned_abs();
    if !up {
        return truncated;
    }
    if duration < 0 { truncated.saturating_sub(unit) } else { truncated.saturating_add(unit) }
}

/// The largest unit alone.
fn rounded(nanoseconds: i64) -> String {
    let magnitude = nanoseconds.unsigned_abs();
    for (unit, name) in
        [(365 * DAY, "y"), (30 * DAY, "mo"), (DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")]
    {
        if magnitude > unit.unsigned_abs() {
            return format!("{}{name}", magnitude / unit.unsigned_abs());
        }
    }
    "0s".to_owned()
}

/// A duration as Go writes it.
pub(crate) fn shown(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let magnitude = nanoseconds.unsigned_abs();
    let (second, minute, hour) = (SECOND.unsigned_abs(), MINUTE.unsigned_abs(), HOUR.unsigned_abs());
    if magnitude < second {
        let text = match magnitude {
            0 => return "0s".to_owned(),
            1..1_000 => format!("{magnitude}ns"),
            1_000..1_000_000 => decimal(magnitude, 1_000, "µs"),
            _ => decimal(magnitude, 1_000_000, "ms"),
        };
        return format!("{sign}{text}");
    }
    let seconds = decimal(magnitude % minute, second, "s");
    if magnitude < minute {
        return format!("{sign}{seconds}");
    }
    if magnitude < hour {
        return format!("{sign}{}m{seconds}", magnitude / minute);
    }
    format!("{sign}{}h{}m{seconds}", magnitude / hour, magnitude / minute % 60)
}

/// A number of units with its decimals.
fn decimal(count: u64, unit: u64, name: &str) -> String {
    let rest = count % unit;
    if rest == 0 {
        return format!("{}{name}", count / unit);
    }
    let digits = unit.to_string().len() - 1;
    let decimals = format!("{rest:0digits$}");
    format!("{}.{}{name}", count / unit, decimals.trim_end_matches('0'))
}

/// Reads a duration such as `-1h30m` or `2.5s`.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", crate::value::format::quote(text.as_bytes()));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_i128;
    while !rest.is_empty() {
        let length = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
        let (number, after) = rest.split_at(length);
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && decimals.is_empty() || decimals.contains('.') {
            return Err(invalid());
        }
        let name_length =
            after.find(|next: char| next.is_ascii_digit() || next == '.').unwrap_or(after.len());
        let (name, following) = after.split_at(name_length);
        let unit = match name {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            _ => return Err(invalid()),
        };
        let unit = i128::from(unit);
        let whole: i128 =
            if whole.is_empty() { 0 } else { i128::from(whole.parse::<i64>().map_err(|_| invalid())?) };
        let kept = &decimals[..decimals.len().min(18)];
        let scale = 10_i128.pow(u32::try_from(kept.len()).unwrap_or(0));
        let fraction: i128 = if kept.is_empty() { 0 } else { kept.parse().map_err(|_| invalid())? };
        total += whole * unit + fraction * unit / scale;
        rest = following;
    }
    i64::try_from(if negative { -total } else { total }).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_go_both_ways() {
        for (text, nanoseconds) in [
            ("0s", 0),
            ("1.5s", 1_500_000_000),
            ("1h2m3s", HOUR + 2 * MINUTE + 3 * SECOND),
            ("-2m0.5s", -(2 * MINUTE + SECOND / 2)),
            ("250ms", 250_000_000),
            ("1.5µs", 1_500),
            ("3ns", 3),
        ] {
            assert_eq!(parse(text), Ok(nanoseconds), "{text}");
            assert_eq!(shown(nanoseconds), text);
        }
        for bad in ["", "-", "1", "1x", ".s", "1h1", "9999999999h"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rounding_goes_away_from_zero() {
        assert_eq!((round_to(15, 10), round_to(-15, 10), round_to(14, 10), round_to(5, 0)), (20, -20, 10, 5));
        assert_eq!(rounded(400 * DAY), "1y");
        assert_eq!(rounded(90 * SECOND), "1m");
    }
}
