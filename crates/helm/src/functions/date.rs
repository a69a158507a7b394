//! Dates. There is no local time zone: where Helm uses the machine's, this uses UTC.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::Parameter::{Any, String, Time};
use super::{Function, duration, pure, time_layout, world};
use crate::value::object::{Method, new_method};
use crate::value::{IntegerType, Value};

pub(super) static FUNCTIONS: &[Function] = &[
    world("now", &[], |executor, _| Ok(Value::Time(executor.world.now.to_zoned(TimeZone::UTC)))),
    world("date", &[String, Any], |executor, arguments| {
        Ok(in_zone(&arguments.string(0), arguments.at(1), "UTC", executor.world.now))
    }),
    world("dateInZone", &[String, Any, String], |executor, arguments| {
        Ok(in_zone(&arguments.string(0), arguments.at(1), &arguments.string(2), executor.world.now))
    }),
    world("date_in_zone", &[String, Any, String], |executor, arguments| {
        Ok(in_zone(&arguments.string(0), arguments.at(1), &arguments.string(2), executor.world.now))
    }),
    world("htmlDate", &[Any], |executor, arguments| {
        Ok(in_zone("2006-01-02", arguments.at(0), "UTC", executor.world.now))
    }),
    world("htmlDateInZone", &[Any, String], |executor, arguments| {
        Ok(in_zone("2006-01-02", arguments.at(0), &arguments.string(1), executor.world.now))
    }),
    world("ago", &[Any], |executor, arguments| {
        let now = executor.world.now;
        let passed = now.as_second() - time_of(arguments.at(0), now).timestamp().as_second();
        Ok(Value::string(duration::shown(passed.saturating_mul(1_000_000_000))))
    }),
    pure("dateModify", &[String, Time], |mut arguments| {
        let change = arguments.string(0);
        let time = arguments.take(1);
        Ok(modified(&change, &time).unwrap_or(time))
    }),
    pure("date_modify", &[String, Time], |mut arguments| {
        let change = arguments.string(0);
        let time = arguments.take(1);
        Ok(modified(&change, &time).unwrap_or(time))
    }),
    pure("mustDateModify", &[String, Time], |arguments| Ok(modified(&arguments.string(0), arguments.at(1))?)),
    pure("must_date_modify", &[String, Time], |arguments| {
        Ok(modified(&arguments.string(0), arguments.at(1))?)
    }),
    pure("toDate", &[String, String], |arguments| {
        let parsed = time_layout::parse(&arguments.string(1), &arguments.string(0));
        Ok(Value::Time(parsed.unwrap_or_else(|_| beginning())))
    }),
    pure("mustToDate", &[String, String], |arguments| {
        Ok(Value::Time(time_layout::parse(&arguments.string(1), &arguments.string(0))?))
    }),
    pure("unixEpoch", &[Time], |arguments| {
        let Value::Time(time) = arguments.at(0) else { return Ok(Value::string("0")) };
        Ok(Value::string(time.timestamp().as_second().to_string()))
    }),
];

/// The methods of a time that charts call.
pub(crate) static METHODS: [Method; 11] = [
    new_method("Format", &[String], |time, arguments| {
        let layout = crate::value::convert::text_of(arguments.first().unwrap_or(&Value::Nil));
        Ok(read(time, |time| Value::string(format(time, &layout))))
    }),
    new_method("String", &[], |time, _| Ok(read(time, |time| Value::string(shown(time))))),
    new_method("Unix", &[], |time, _| Ok(read(time, |time| Value::int64(time.timestamp().as_second())))),
    new_method("UnixNano", &[], |time, _| {
        let nanoseconds = |time: &Zoned| i64::try_from(time.timestamp().as_nanosecond()).unwrap_or(i64::MAX);
        Ok(read(time, |time| Value::int64(nanoseconds(time))))
    }),
    new_method("UTC", &[], |time, _| Ok(read(time, |time| Value::Time(time.with_time_zone(TimeZone::UTC))))),
    new_method("Year", &[], |time, _| Ok(read(time, |time| whole(time.year().into())))),
    new_method("Day", &[], |time, _| Ok(read(time, |time| whole(time.day().into())))),
    new_method("YearDay", &[], |time, _| Ok(read(time, |time| whole(time.day_of_year().into())))),
    new_method("Hour", &[], |time, _| Ok(read(time, |time| whole(time.hour().into())))),
    new_method("Minute", &[], |time, _| Ok(read(time, |time| whole(time.minute().into())))),
    new_method("Second", &[], |time, _| Ok(read(time, |time| whole(time.second().into())))),
];

fn read(time: &Value, read: impl Fn(&Zoned) -> Value) -> Value {
    if let Value::Time(time) = time { read(time) } else { Value::Nil }
}

const fn whole(number: i64) -> Value {
    Value::Integer(IntegerType::Int, number)
}

/// A time in one of Go's layouts.
pub(crate) fn format(time: &Zoned, layout: &str) -> std::string::String {
    time_layout::format(time, layout)
}

/// Reads a time in one of Go's layouts.
pub(crate) fn parse(text: &str, layout: &str) -> Result<Zoned, std::string::String> {
    time_layout::parse(text, layout)
}

/// A time as Go prints it.
pub(crate) fn shown(time: &Zoned) -> std::string::String {
    format(time, "2006-01-02 15:04:05.999999999 -0700 MST")
}

/// The time that a value stands for: a time, or seconds since 1970; now for all else.
fn time_of(value: &Value, now: Timestamp) -> Zoned {
    match value {
        Value::Time(time) => time.clone(),
        Value::Integer(IntegerType::Int | IntegerType::Int64, seconds) => {
            Timestamp::from_second(*seconds).unwrap_or(now).to_zoned(TimeZone::UTC)
        }
        _ => now.to_zoned(TimeZone::UTC),
    }
}

/// A zone that nobody knows is UTC, as in Go.
fn in_zone(layout: &str, value: &Value, zone: &str, now: Timestamp) -> Value {
    let zone = match zone {
        "" | "UTC" | "Local" => TimeZone::UTC,
        zone => TimeZone::get(zone).unwrap_or(TimeZone::UTC),
    };
    Value::string(format(&time_of(value, now).with_time_zone(zone), layout))
}

fn modified(change: &str, time: &Value) -> Result<Value, std::string::String> {
    let nanoseconds = duration::parse(change)?;
    let Value::Time(time) = time else { return Ok(Value::Nil) };
    let changed = time.checked_add(SignedDuration::from_nanos(nanoseconds));
    changed.map(Value::Time).map_err(|error| error.to_string())
}

/// Go's zero time.
fn beginning() -> Zoned {
    let beginning = jiff::civil::date(1, 1, 1).to_zoned(TimeZone::UTC);
    beginning.unwrap_or_else(|_| Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
}
