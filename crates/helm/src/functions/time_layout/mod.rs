//! Go's time layouts: a date is written as the reference time `Mon Jan 2 15:04:05 MST 2006` would be.

mod read;
mod write;

pub(super) use read::parse;
pub(super) use write::format;

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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use jiff::Zoned;

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
