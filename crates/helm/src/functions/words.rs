//! Words and cases.

use super::Parameter::{Int, String};
use super::{Function, pure};
use crate::value::Value;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("upper", &[String], |arguments| Ok(Value::string(mapped(&arguments.string(0), upper)))),
    pure("lower", &[String], |arguments| Ok(Value::string(mapped(&arguments.string(0), lower)))),
    pure("title", &[String], |arguments| Ok(Value::string(title(&arguments.string(0))))),
    pure("untitle", &[String], |arguments| Ok(Value::string(untitle(&arguments.string(0))))),
    pure("swapcase", &[String], |arguments| Ok(Value::string(swap_case(&arguments.string(0))))),
    pure("snakecase", &[String], |arguments| Ok(Value::string(connected(&arguments.string(0), '_')))),
    pure("kebabcase", &[String], |arguments| Ok(Value::string(connected(&arguments.string(0), '-')))),
    pure("camelcase", &[String], |arguments| Ok(Value::string(pascal(&arguments.string(0))))),
    pure("nospace", &[String], |arguments| {
        let text: std::string::String =
            arguments.string(0).chars().filter(|next| !next.is_whitespace()).collect();
        Ok(Value::string(text))
    }),
    pure("initials", &[String], |arguments| {
        let text = arguments.string(0);
        let initials: std::string::String =
            text.split_whitespace().filter_map(|word| word.chars().next()).collect();
        Ok(Value::string(initials))
    }),
    pure("abbrev", &[Int, String], |arguments| {
        Ok(Value::string(abbreviate(&arguments.string(1), 0, arguments.int(0))))
    }),
    pure("abbrevboth", &[Int, Int, String], |arguments| {
        Ok(Value::string(abbreviate(&arguments.string(2), arguments.int(0), arguments.int(1))))
    }),
    pure("wrap", &[Int, String], |arguments| {
        Ok(Value::string(wrap(&arguments.string(1), arguments.int(0), "\n", false)))
    }),
    pure("wrapWith", &[Int, String, String], |arguments| {
        Ok(Value::string(wrap(&arguments.string(2), arguments.int(0), &arguments.string(1), true)))
    }),
];

/// Go changes character by character, so that a text keeps its number of characters.
fn mapped(text: &str, change: fn(char) -> char) -> std::string::String {
    text.chars().map(change).collect()
}

fn upper(character: char) -> char {
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) => single,
        _ => character,
    }
}

fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(single), None) => single,
        _ => character,
    }
}

/// The first letter of each word large; apostrophes and the like part words.
fn title(text: &str) -> std::string::String {
    let mut previous = ' ';
    let word_starts = |previous: char| {
        if previous.is_ascii() {
            return !(previous.is_ascii_alphanumeric() || previous == '_');
        }
        !previous.is_alphanumeric() && previous.is_whitespace()
    };
    text.chars()
        .map(|character| {
            let shown = if word_starts(previous) { upper(character) } else { character };
            previous = character;
            shown
        })
        .collect()
}

/// The first letter of each word small; white space parts words.
fn untitle(text: &str) -> std::string::String {
    let mut starts = true;
    text.chars()
        .map(|character| {
            let shown = if starts { lower(character) } else { character };
            starts = character.is_whitespace();
            shown
        })
        .collect()
}

/// Large becomes small; small becomes large; a small letter that starts a word becomes a title's letter.
fn swap_case(text: &str) -> std::string::String {
    text.chars()
        .map(|character| {
            if character.is_uppercase() {
                lower(character)
            } else if character.is_lowercase() {
                upper(character)
            } else {
                character
            }
        })
        .collect()
}

const fn is_connector(character: char) -> bool {
    matches!(character, '-' | '_' | ' ')
}

/// `http_server` becomes `HttpServer`; connectors at either end stay.
fn pascal(text: &str) -> std::string::String {
    let characters: Vec<char> = text.chars().collect();
    let leading = characters.iter().take_while(|next| is_connector(**next)).count();
    let mut out: std::string::String = characters[..leading].iter().collect();
    let Some((&first, rest)) = characters[leading..].split_first() else {
        // Nothing but connectors: the last one is written once.
        return text.to_owned();
    };
    let mut inside_upper = first.is_uppercase();
    let mut current = upper(first);
    for &next in rest {
        let before = current;
        current = next;
        if is_connector(current) && is_connector(before) {
            out.push(before);
            continue;
        }
        if is_connector(before) {
            inside_upper = current.is_uppercase();
            current = upper(current);
        } else {
            if inside_upper {
                if current.is_uppercase() {
                    current = lower(current);
                } else {
                    inside_upper = false;
                }
            }
            out.push(before);
        }
    }
    out.push(current);
    out
}

/// What a part of a name is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Number,
    /// Begins with a large letter.
    Upper,
    /// Small letters.
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

fn is_alphabet(character: char) -> bool {
    character.is_alphabetic() && !character.is_uppercase()
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation() && !"$+<=>^`|~".contains(character)
}

fn separates(character: char) -> bool {
    is_connector(character) || character.is_whitespace()
}

fn part_of(character: char) -> Part {
    if separates(character) {
        Part::Connector
    } else if is_punctuation(character) {
        Part::Punctuation
    } else if character.is_uppercase() {
        Part::Upper
    } else if is_alphabet(character) {
        Part::Alphabet
    } else if character.is_numeric() {
        Part::Number
    } else {
        Part::Other
    }
}

/// Parts a name: characters of one part stay together; a large letter takes the small ones after it, and of
/// several large ones before a small one the last belongs to the next part.
fn parts_of(text: &str) -> Vec<(Part, std::string::String)> {
    let characters: Vec<char> = text.chars().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    while let Some(&first) = characters.get(start) {
        let part = part_of(first);
        let run = |from: usize, belongs: &dyn Fn(char) -> bool| {
            from + characters[from..].iter().take_while(|next| belongs(**next)).count()
        };
        let end = if part == Part::Upper {
            let upper_end = run(start, &char::is_uppercase);
            let small_follows = characters.get(upper_end).is_some_and(|next| is_alphabet(*next));
            match (upper_end - start, small_follows) {
                (1, true) => run(upper_end, &is_alphabet),
                (_, true) => upper_end - 1,
                (_, false) => upper_end,
            }
        } else {
            run(start, &|next| part_of(next) == part)
        };
        parts.push((part, characters[start..end].iter().collect()));
        start = end;
    }
    parts
}

/// `HTTPServer` becomes `http_server`. Numbers stay with what is before them, unless small letters follow.
fn connected(text: &str, connector: char) -> std::string::String {
    let parts = parts_of(text);
    let mut out = std::string::String::with_capacity(text.len());
    let kind = |index: usize| parts.get(index).map(|(part, _)| *part);
    let joins = |index: usize| !matches!(kind(index), None | Some(Part::Connector | Part::Punctuation));
    let write = |out: &mut std::string::String, index: usize| {
        if let Some((part, text)) = parts.get(index) {
            match part {
                Part::Connector => out.extend(text.chars().map(|_| connector)),
                Part::Upper => out.extend(text.chars().map(lower)),
                Part::Number | Part::Alphabet | Part::Punctuation | Part::Other => out.push_str(text),
            }
        }
    };
    // A number and the small letters and numbers after it are one.
    let number_with_letters = |out: &mut std::string::String, mut index: usize| {
        while matches!(kind(index), Some(Part::Alphabet | Part::Number)) {
            write(out, index);
            index += 1;
        }
        index
    };
    let mut index = 0;
    while let Some(part) = kind(index) {
        write(&mut out, index);
        index += 1;
        match part {
            Part::Connector | Part::Punctuation => continue,
            Part::Number => index = number_with_letters(&mut out, index),
            Part::Upper | Part::Alphabet | Part::Other if kind(index) == Some(Part::Number) => {
                if kind(index + 1) == Some(Part::Alphabet) {
                    out.push(connector);
                    index = number_with_letters(&mut out, index);
                } else {
                    write(&mut out, index);
                    index += 1;
                }
            }
            Part::Upper | Part::Alphabet | Part::Other => {}
        }
        if joins(index) {
            out.push(connector);
        }
    }
    out
}

/// Shortens a text to `width`, with dots where something is missing; `offset` is where the kept part begins.
fn abbreviate(text: &str, offset: i64, width: i64) -> std::string::String {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if width < 4 || (offset > 0 && width < 7) || length <= width {
        return text.to_owned();
    }
    let offset = if offset > length { length } else { offset };
    let offset = if length - offset < width - 3 { length - (width - 3) } else { offset };
    let part = |from: i64, to: i64| {
        let (from, to) = (usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0));
        std::string::String::from_utf8_lossy(
            text.as_bytes().get(from..to.min(text.len())).unwrap_or_default(),
        )
        .into_owned()
    };
    if offset <= 4 {
        return format!("{}...", part(0, width - 3));
    }
    if offset + width - 3 < length {
        let rest = part(offset, length);
        return format!("...{}", abbreviate(&rest, 0, width - 3));
    }
    format!("...{}", part(length - (width - 3), length))
}

/// Breaks lines at spaces so that none is wider than `width`, if that is possible.
fn wrap(text: &str, width: i64, separator: &str, breaks_words: bool) -> std::string::String {
    let width = usize::try_from(width).unwrap_or(0).max(1);
    let characters: Vec<char> = text.chars().collect();
    let mut out = std::string::String::with_capacity(text.len());
    let mut offset = 0;
    while characters.len() - offset > width {
        if characters[offset] == ' ' {
            offset += 1;
            continue;
        }
        let window = &characters[offset..=offset + width];
        if let Some(space) = window.iter().rposition(|next| *next == ' ') {
            out.extend(&characters[offset..offset + space]);
            out.push_str(separator);
            offset += space + 1;
        } else if breaks_words {
            out.extend(&characters[offset..offset + width]);
            out.push_str(separator);
            offset += width;
        } else if let Some(space) = characters[offset + width..].iter().position(|next| *next == ' ') {
            out.extend(&characters[offset..offset + width + space]);
            out.push_str(separator);
            offset += width + space + 1;
        } else {
            break;
        }
    }
    out.extend(&characters[offset..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_their_case() {
        for (text, snake, camel) in [
            ("FirstName", "first_name", "FirstName"),
            ("HTTPServer", "http_server", "Httpserver"),
            ("http-server", "http_server", "HttpServer"),
            ("http2xx", "http_2xx", "Http2xx"),
            ("_foo_bar", "_foo_bar", "_FooBar"),
            ("Bld4Floor3rd", "bld4_floor_3rd", "Bld4Floor3rd"),
            ("GO PATH", "go_path", "GoPath"),
        ] {
            assert_eq!((connected(text, '_').as_str(), pascal(text).as_str()), (snake, camel), "{text}");
        }
        assert_eq!(title("foo-bar o'neil _x"), "Foo-Bar O'Neil _x");
        assert_eq!(untitle("Foo Bar"), "foo bar");
    }

    #[test]
    fn texts_are_shortened_and_wrapped() {
        assert_eq!(abbreviate("hello world", 0, 5), "he...");
        assert_eq!(abbreviate("1234 5678 9123", 5, 10), "...5678...");
        assert_eq!(wrap("Hello World and all", 5, "\n", false), "Hello\nWorld\nand\nall");
        assert_eq!(wrap("HelloWorld", 5, "|", true), "Hello|World");
    }
}
