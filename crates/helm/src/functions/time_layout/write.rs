//! From a time to a text.

use jiff::Zoned;
use jiff::civil::Weekday;
use jiff::tz::Offset;

use super::{DAYS, MONTHS, Part, part};

/// Writes a time.
pub(in crate::functions) fn format(time: &Zoned, layout: &str) -> String {
    let mut out = String::new();
    let mut rest = layout;
    while let Some(character) = rest.chars().next() {
        match part(rest) {
            Some((part, length)) => {
                write(&mut out, time, part);
                rest = &rest[length..];
            }
            None => {
                out.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    out
}

fn write(out: &mut String, time: &Zoned, part: Part) {
    let month = usize::try_from(time.month() - 1)
        .ok()
        .and_then(|index| MONTHS.get(index))
        .copied()
        .unwrap_or_default();
    let weekday = weekday(time.weekday());
    let hour12 = if time.hour() % 12 == 0 { 12 } else { time.hour() % 12 };
    let afternoon = time.hour() >= 12;
    let text = match part {
        Part::LongMonth => month.to_owned(),
        Part::Month => month[..3.min(month.len())].to_owned(),
        Part::NumericMonth => time.month().to_string(),
        Part::ZeroMonth => format!("{:02}", time.month()),
        Part::LongWeekday => weekday.to_owned(),
        Part::Weekday => weekday[..3].to_owned(),
        Part::Day => time.day().to_string(),
        Part::SpaceDay => format!("{:2}", time.day()),
        Part::ZeroDay => format!("{:02}", time.day()),
        Part::SpaceYearDay => format!("{:3}", time.day_of_year()),
        Part::ZeroYearDay => format!("{:03}", time.day_of_year()),
        Part::Hour => format!("{:02}", time.hour()),
        Part::Hour12 => hour12.to_string(),
        Part::ZeroHour12 => format!("{hour12:02}"),
        Part::Minute => time.minute().to_string(),
        Part::ZeroMinute => format!("{:02}", time.minute()),
        Part::Second => time.second().to_string(),
        Part::ZeroSecond => format!("{:02}", time.second()),
        Part::LongYear => format!("{:04}", time.year()),
        Part::Year => format!("{:02}", time.year().rem_euclid(100)),
        Part::UpperNoon => if afternoon { "PM" } else { "AM" }.to_owned(),
        Part::LowerNoon => if afternoon { "pm" } else { "am" }.to_owned(),
        Part::ZoneName => time.time_zone().to_offset_info(time.timestamp()).abbreviation().to_owned(),
        Part::Offset { zulu, .. } if zulu && time.offset() == Offset::UTC => "Z".to_owned(),
        Part::Offset { colons, fields, .. } => offset(time.offset().seconds(), colons, fields),
        Part::Fraction { separator, digits, trimmed } => {
            fraction(time.subsec_nanosecond(), separator, digits, trimmed)
        }
    };
    out.push_str(&text);
}

const fn weekday(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Sunday => DAYS[0],
        Weekday::Monday => DAYS[1],
        Weekday::Tuesday => DAYS[2],
        Weekday::Wednesday => DAYS[3],
        Weekday::Thursday => DAYS[4],
        Weekday::Friday => DAYS[5],
        Weekday::Saturday => DAYS[6],
    }
}

fn offset(seconds: i32, colons: bool, fields: u8) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let colon = if colons { ":" } else { "" };
    let mut text = format!("{sign}{:02}", seconds / 3600);
    if fields > 1 {
        text.push_str(&format!("{colon}{:02}", seconds / 60 % 60));
    }
    if fields > 2 {
        text.push_str(&format!("{colon}{:02}", seconds % 60));
    }
    text
}

fn fraction(nanoseconds: i32, separator: char, digits: usize, trimmed: bool) -> String {
    let all = format!("{nanoseconds:09}");
    let kept = &all[..digits.min(9)];
    if !trimmed {
        return format!("{separator}{kept}{}", "0".repeat(digits.saturating_sub(9)));
    }
    let kept = kept.trim_end_matches('0');
    if kept.is_empty() { String::new() } else { format!("{separator}{kept}") }
}
