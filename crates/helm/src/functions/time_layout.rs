//! Go's time layouts: a date is written as the reference time `Mon Jan 2 15:04:05 MST 2006` would be.

use jiff::Zoned;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::{Offset, TimeZone};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A part of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    LongMonth,
    Month,
    NumericMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    SpaceDay,
    ZeroDay,
    SpaceYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperNoon,
    LowerNoon,
    ZoneName,
    /// An offset: `Z` for UTC, colons, and how many of hours, minutes, seconds.
    Offset {
        zulu: bool,
        colons: bool,
        fields: u8,
    },
    /// A fraction of that many digits; trimmed ones lose zeros at their end.
    Fraction {
        separator: char,
        digits: usize,
        trimmed: bool,
    },
}

/// Fixed texts of layouts, the longest first where one begins another.
const PARTS: [(&str, Part); 37] = [
    ("January", Part::LongMonth),
    ("Jan", Part::Month),
    ("Monday", Part::LongWeekday),
    ("Mon", Part::Weekday),
    ("MST", Part::ZoneName),
    ("002", Part::ZeroYearDay),
    ("01", Part::ZeroMonth),
    ("02", Part::ZeroDay),
    ("03", Part::ZeroHour12),
    ("04", Part::ZeroMinute),
    ("05", Part::ZeroSecond),
    ("06", Part::Year),
    ("15", Part::Hour),
    ("1", Part::NumericMonth),
    ("2006", Part::LongYear),
    ("2", Part::Day),
    ("__2", Part::SpaceYearDay),
    ("_2", Part::SpaceDay),
    ("3", Part::Hour12),
    ("4", Part::Minute),
    ("5", Part::Second),
    ("PM", Part::UpperNoon),
    ("pm", Part::LowerNoon),
    ("-07:00:00", Part::Offset { zulu: false, colons: true, fields: 3 }),
    ("-070000", Part::Offset { zulu: false, colons: false, fields: 3 }),
    ("-07:00", Part::Offset { zulu: false, colons: true, fields: 2 }),
    ("-0700", Part::Offset { zulu: false, colons: false, fields: 2 }),
    ("-07", Part::Offset { zulu: false, colons: false, fields: 1 }),
    ("Z07:00:00", Part::Offset { zulu: true, colons: true, fields: 3 }),
    ("Z070000", Part::Offset { zulu: true, colons: false, fields: 3 }),
    ("Z07:00", Part::Offset { zulu: true, colons: true, fields: 2 }),
    ("Z0700", Part::Offset { zulu: true, colons: false, fields: 2 }),
    ("Z07", Part::Offset { zulu: true, colons: false, fields: 1 }),
    (".0", Part::Fraction { separator: '.', digits: 1, trimmed: false }),
    (",0", Part::Fraction { separator: ',', digits: 1, trimmed: false }),
    (".9", Part::Fraction { separator: '.', digits: 1, trimmed: true }),
    (",9", Part::Fraction { separator: ',', digits: 1, trimmed: true }),
];

/// The part that a layout begins with, and its length.
fn part(layout: &str) -> Option<(Part, usize)> {
    let (text, part) = PARTS.iter().find(|(text, part)| {
        layout.starts_with(text)
            // `Jan` within another word that begins so is none, and neither is `_2` before a year.
            && !(matches!(part, Part::Month) && layout[3..].starts_with(|next: char| next.is_ascii_lowercase()))
            && !(matches!(part, Part::Weekday) && layout[3..].starts_with(|next: char| next.is_ascii_lowercase()))
            && !(matches!(part, Part::SpaceDay) && layout.starts_with("_2006"))
    })?;
    if let Part::Fraction { separator, trimmed, .. } = *part {
        let digit = text.chars().nth(1)?;
        let digits = layout[1..].chars().take_while(|next| *next == digit).count();
        if layout[1 + digits..].starts_with(|next: char| next.is_ascii_digit()) {
            return None;
        }
        return Some((Part::Fraction { separator, digits, trimmed }, 1 + digits));
    }
    Some((*part, text.len()))
}

/// Writes a time.
pub(super) fn format(time: &Zoned, layout: &str) -> String {
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

/// Reads a time.
///
/// # Errors
/// When the text does not have the layout, in Go's words.
pub(super) fn parse(text: &str, layout: &str) -> Result<Zoned, String> {
    let quote = |text: &str| crate::value::format::quote(text.as_bytes());
    let fail = |reason: String| Err(format!("parsing time {} as {}: {reason}", quote(text), quote(layout)));
    let mut reader =
        Reader { rest: text, year: 0, month: 1, day: 1, year_day: None, hour: 0, ..Reader::default() };
    let mut rest = layout;
    while let Some(character) = rest.chars().next() {
        match part(rest) {
            Some((part, length)) => {
                let before = reader.rest;
                if reader.read(part).is_none() {
                    return fail(format!("cannot parse {} as {}", quote(before), quote(&rest[..length])));
                }
                rest = &rest[length..];
                // Go takes a fraction of seconds that the layout does not mention.
                let fraction_follows = matches!(self::part(rest), Some((Part::Fraction { .. }, _)));
                if matches!(part, Part::Second | Part::ZeroSecond) && !fraction_follows {
                    reader.optional_fraction();
                }
            }
            None => {
                // Go names the whole fixed text up to the next part.
                let Some(after) = reader.rest.strip_prefix(character) else {
                    let end = rest.char_indices().map(|(at, _)| at).find(|at| part(&rest[*at..]).is_some());
                    let fixed = &rest[..end.unwrap_or(rest.len())];
                    return fail(format!("cannot parse {} as {}", quote(reader.rest), quote(fixed)));
                };
                reader.rest = after;
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    if !reader.rest.is_empty() {
        return fail(format!("extra text: {}", quote(reader.rest)));
    }
    reader.finish().map_or_else(|| fail("day out of range".to_owned()), Ok)
}

#[derive(Default)]
struct Reader<'text> {
    rest: &'text str,
    year: i16,
    month: i8,
    day: i8,
    year_day: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    afternoon: Option<bool>,
    offset: Option<i32>,
    utc: bool,
}

impl Reader<'_> {
    fn read(&mut self, part: Part) -> Option<()> {
        match part {
            Part::LongMonth => self.month = self.name(&MONTHS, usize::MAX)? + 1,
            Part::Month => self.month = self.name(&MONTHS, 3)? + 1,
            Part::NumericMonth | Part::ZeroMonth => self.month = i8::try_from(self.number(1, 2)?).ok()?,
            Part::LongWeekday => {
                self.name(&DAYS, usize::MAX)?;
            }
            Part::Weekday => {
                self.name(&DAYS, 3)?;
            }
            Part::Day | Part::SpaceDay | Part::ZeroDay => {
                self.rest = self.rest.trim_start_matches(' ');
                self.day = i8::try_from(self.number(1, 2)?).ok()?;
            }
            Part::SpaceYearDay | Part::ZeroYearDay => {
                self.rest = self.rest.trim_start_matches(' ');
                self.year_day = Some(i16::try_from(self.number(1, 3)?).ok()?);
            }
            Part::Hour | Part::Hour12 | Part::ZeroHour12 => {
                self.hour = i8::try_from(self.number(1, 2)?).ok()?
            }
            Part::Minute | Part::ZeroMinute => self.minute = i8::try_from(self.number(1, 2)?).ok()?,
            Part::Second | Part::ZeroSecond => self.second = i8::try_from(self.number(1, 2)?).ok()?,
            Part::LongYear => self.year = i16::try_from(self.number(4, 4)?).ok()?,
            Part::Year => {
                let year = i16::try_from(self.number(2, 2)?).ok()?;
                self.year = if year >= 69 { 1900 + year } else { 2000 + year };
            }
            Part::UpperNoon => self.afternoon = Some(self.one_of("AM", "PM")?),
            Part::LowerNoon => self.afternoon = Some(self.one_of("am", "pm")?),
            Part::ZoneName => {
                let length = self.rest.bytes().take_while(u8::is_ascii_uppercase).count();
                self.utc |= &self.rest[..length] == "UTC";
                self.rest = self.rest.get(length..).filter(|_| length >= 3)?;
            }
            Part::Offset { zulu, colons, fields } => self.read_offset(zulu, colons, fields)?,
            Part::Fraction { trimmed, .. } => {
                let before = self.rest;
                self.optional_fraction();
                if !trimmed && before == self.rest {
                    return None;
                }
            }
        }
        Some(())
    }

    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return None;
        }
        let number = self.rest[..digits].parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn name(&mut self, names: &[&str], length: usize) -> Option<i8> {
        for (index, name) in names.iter().enumerate() {
            let name = &name[..length.min(name.len())];
            let matches = self.rest.get(..name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name));
            if matches {
                self.rest = &self.rest[name.len()..];
                return i8::try_from(index).ok();
            }
        }
        None
    }

    fn one_of(&mut self, first: &str, second: &str) -> Option<bool> {
        let is_second = self.rest.starts_with(second);
        self.rest = self.rest.strip_prefix(if is_second { second } else { first })?;
        Some(is_second)
    }

    fn read_offset(&mut self, zulu: bool, colons: bool, fields: u8) -> Option<()> {
        if let Some(rest) = self.rest.strip_prefix('Z').filter(|_| zulu) {
            self.rest = rest;
            self.utc = true;
            return Some(());
        }
        let negative = self.one_of("+", "-")?;
        let mut seconds = 0;
        for field in 0..fields {
            if colons && field > 0 {
                self.rest = self.rest.strip_prefix(':')?;
            }
            seconds = seconds * 60 + i32::try_from(self.number(2, 2)?).ok()?;
        }
        for _ in fields..3 {
            seconds *= 60;
        }
        self.offset = Some(if negative { -seconds } else { seconds });
        Some(())
    }

    fn optional_fraction(&mut self) {
        let Some(rest) = self.rest.strip_prefix(['.', ',']) else { return };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return;
        }
        let nanoseconds = format!("{:0<9}", &rest[..digits.min(9)]);
        self.nanosecond = nanoseconds.parse().unwrap_or(0);
        self.rest = &rest[digits..];
    }

    fn finish(self) -> Option<Zoned> {
        let hour = match self.afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let mut time =
            DateTime::new(self.year, self.month, self.day, hour, self.minute, self.second, self.nanosecond)
                .ok()?;
        if let Some(day) = self.year_day {
            time = time.with().day_of_year(day).build().ok()?;
        }
        let zone = match self.offset {
            Some(seconds) if !self.utc => TimeZone::fixed(Offset::from_seconds(seconds).ok()?),
            _ => TimeZone::UTC,
        };
        time.to_zoned(zone).ok()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn time() -> Zoned {
        "2024-02-09T15:04:05.0678+01:00[+01:00]".parse().unwrap()
    }

    #[test]
    fn layouts_are_filled_as_go_fills_them() {
        for (layout, expected) in [
            ("2006-01-02T15:04:05Z07:00", "2024-02-09T15:04:05+01:00"),
            ("Monday, 02-Jan-06 3:04PM", "Friday, 09-Feb-24 3:04PM"),
            ("_2 January 2006, 002", " 9 February 2024, 040"),
            ("15:04:05.000", "15:04:05.067"),
            ("15:04:05.999999", "15:04:05.0678"),
            ("20060102150405", "20240209150405"),
            ("-0700 Januar", "+0100 Januar"),
        ] {
            assert_eq!(format(&time(), layout), expected, "{layout}");
        }
    }

    #[test]
    fn what_was_written_can_be_read() {
        for layout in ["2006-01-02T15:04:05.999999999Z07:00", "Mon, 02 Jan 2006 15:04:05.0000 -0700"] {
            let read = parse(&format(&time(), layout), layout).unwrap();
            assert_eq!(read.timestamp(), time().timestamp(), "{layout}");
        }
        assert!(parse("2024-02-30", "2006-01-02").is_err());
        assert!(parse("yesterday", "2006-01-02").is_err());
    }
}
