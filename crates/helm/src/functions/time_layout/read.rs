//! From a text to a time.

use jiff::Zoned;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::{DAYS, MONTHS, Part, part};

/// Reads a time.
///
/// # Errors
/// When the text does not have the layout, in Go's words.
pub(in crate::functions) fn parse(text: &str, layout: &str) -> Result<Zoned, String> {
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
                let fraction_follows = matches!(super::part(rest), Some((Part::Fraction { .. }, _)));
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
