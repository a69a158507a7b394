//! Dates and times as Go's yaml packages recognise them.

/// Reads `YYYY-M-D`, `YYYY-M-D H:M:S[.fraction]` or `YYYY-M-D[Tt]H:M:S[.fraction]zone` and returns it as RFC 3339 with
/// the fraction's trailing zeros cut off, which is how Go prints a time.
pub(crate) fn parse_timestamp(text: &str) -> Option<String> {
    let year = text.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?;
    let rest = text[4..].strip_prefix('-')?;
    let (month, rest) = number(rest)?;
    let (day, rest) = number(rest.strip_prefix('-')?)?;
    if !(1..=12).contains(&month) || day < 1 || day > days(year.parse().ok()?, month) {
        return None;
    }
    let date = format!("{year}-{month:02}-{day:02}");
    let Some(separator) = rest.chars().next() else { return Some(format!("{date}T00:00:00Z")) };
    let (time, rest) = time_of_day(&rest[separator.len_utf8()..])?;
    let zone = match separator {
        'T' | 't' => zone(rest)?,
        ' ' if rest.is_empty() => "Z".to_owned(),
        _ => return None,
    };
    Some(format!("{date}T{time}{zone}"))
}

fn time_of_day(text: &str) -> Option<(String, &str)> {
    let (hour, rest) = number(text)?;
    let (minute, rest) = number(rest.strip_prefix(':')?)?;
    let (second, rest) = number(rest.strip_prefix(':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let (fraction, rest) = fraction(rest);
    Some((format!("{hour:02}:{minute:02}:{second:02}{fraction}"), rest))
}

/// A point or a comma and digits; all are read, nine count.
fn fraction(text: &str) -> (String, &str) {
    let Some(after) = text.strip_prefix(['.', ',']) else { return (String::new(), text) };
    let length = after.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return (String::new(), text);
    }
    let digits = after[..length.min(9)].trim_end_matches('0');
    let fraction = if digits.is_empty() { String::new() } else { format!(".{digits}") };
    (fraction, &after[length..])
}

fn zone(text: &str) -> Option<String> {
    if text == "Z" {
        return Some("Z".to_owned());
    }
    let bytes = text.as_bytes();
    let is_form = bytes.len() == 6
        && matches!(bytes.first(), Some(b'+' | b'-'))
        && bytes.get(3) == Some(&b':')
        && [1, 2, 4, 5].iter().all(|index| bytes.get(*index).is_some_and(u8::is_ascii_digit));
    if !is_form {
        return None;
    }
    let hours: u32 = text[1..3].parse().ok()?;
    let minutes: u32 = text[4..6].parse().ok()?;
    if hours > 24 || minutes > 60 {
        return None;
    }
    let total = hours * 60 + minutes;
    Some(if total == 0 {
        "Z".to_owned()
    } else {
        format!("{}{:02}:{:02}", &text[..1], total / 60, total % 60)
    })
}

/// One or two digits.
fn number(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    Some((text[..length].parse().ok()?, &text[length..]))
}

const fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
