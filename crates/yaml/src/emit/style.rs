//! How a text may be written.

use crate::resolve::old_boolean;
use crate::{Typing, Value, resolve};

/// The form of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// What a text's characters allow outside of flow collections.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysis {
    pub(super) multiline: bool,
    plain: bool,
    single_quoted: bool,
    literal: bool,
}

/// Chooses the form of a text value or key.
pub(super) fn style(text: &str, analysis: Analysis, is_simple_key: bool, typing: Typing) -> Style {
    let wanted = wanted(text, typing);
    if is_simple_key && analysis.multiline {
        return Style::DoubleQuoted;
    }
    match wanted {
        Style::Plain if analysis.plain => Style::Plain,
        Style::Plain | Style::SingleQuoted if analysis.single_quoted => Style::SingleQuoted,
        Style::Literal if analysis.literal && !is_simple_key => Style::Literal,
        Style::Plain | Style::SingleQuoted | Style::DoubleQuoted | Style::Literal => Style::DoubleQuoted,
    }
}

fn wanted(text: &str, typing: Typing) -> Style {
    if text.contains('\n') {
        let blank = text.len() < 2 || text.chars().all(char::is_whitespace);
        return if typing == Typing::V4 && blank { Style::DoubleQuoted } else { Style::Literal };
    }
    let reads_as_other = !matches!(resolve(text, typing), Value::String(_))
        // v2 types them as texts, but quotes what later versions would take for times.
        || (typing == Typing::V2 && matches!(resolve(text, Typing::V3), Value::Timestamp(_)))
        || is_base_60(text)
        || (typing != Typing::V2 && old_boolean(text).is_some())
        || (typing == Typing::V4 && text == "<<");
    if reads_as_other { Style::DoubleQuoted } else { Style::Plain }
}

/// YAML 1.1's numbers to the base of 60, `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`, which others still read.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|character: char| character.is_ascii_digit()) || !is_digits_or_underscores(first) {
        return false;
    }
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.pop() else { return false };
    let (last, fraction) =
        last.split_once('.').map_or((last, None), |(last, fraction)| (last, Some(fraction)));
    rest.push(last);
    rest.iter().all(|part| is_sixtieth(part)) && fraction.is_none_or(is_digits_or_underscores)
}

fn is_digits_or_underscores(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

fn is_sixtieth(text: &str) -> bool {
    match text.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [ten, digit] => (b'0'..=b'5').contains(ten) && digit.is_ascii_digit(),
        _ => false,
    }
}

/// Looks at the characters of a text.
pub(super) fn analyse(text: &str, typing: Typing) -> Analysis {
    if text.is_empty() {
        return Analysis { multiline: false, plain: true, single_quoted: true, literal: false };
    }
    let mut findings =
        Findings { indicator: text.starts_with("---") || text.starts_with("..."), ..Findings::default() };
    let mut previous = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let followed_by_blank = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
        findings.look(character, previous, followed_by_blank, typing);
        previous = Some(character);
    }
    let ends =
        |check: fn(char) -> bool| (text.chars().next().is_some_and(check), previous.is_some_and(check));
    let (leading_space, trailing_space) = ends(|character| character == ' ');
    let (leading_break, trailing_break) = ends(is_break);
    let Findings { indicator, breaks, special, tabs, space_after_break, break_after_space } = findings;
    let unprintable = break_after_space || special;
    let edges = leading_space || leading_break || trailing_space || trailing_break;
    Analysis {
        multiline: breaks,
        plain: !(edges || space_after_break || unprintable || tabs || breaks || indicator),
        single_quoted: !(space_after_break || unprintable || tabs),
        literal: !(trailing_space || unprintable),
    }
}

/// What was found while going over a text.
#[derive(Default)]
struct Findings {
    indicator: bool,
    breaks: bool,
    special: bool,
    tabs: bool,
    space_after_break: bool,
    break_after_space: bool,
}

impl Findings {
    fn look(&mut self, character: char, previous: Option<char>, followed_by_blank: bool, typing: Typing) {
        self.indicator |= match (previous, character) {
            (
                None,
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
            ) => true,
            (None, '?' | '-') | (_, ':') => followed_by_blank,
            (Some(previous), '#') => matches!(previous, ' ' | '\t' | '\0') || is_break(previous),
            _ => false,
        };
        if character == '\t' && typing != Typing::V2 {
            self.tabs = true;
        } else if !is_printable(character) {
            self.special = true;
        }
        if character == ' ' {
            self.space_after_break |= previous.is_some_and(is_break);
        } else if is_break(character) {
            self.breaks = true;
            self.break_after_space |= previous == Some(' ');
        }
    }
}

pub(super) const fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The characters that Go writes as they are; all beyond the basic plane are not among them.
pub(super) const fn is_printable(character: char) -> bool {
    matches!(character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}
