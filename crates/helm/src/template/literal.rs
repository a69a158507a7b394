//! Go's quoted strings and character constants.

/// The bytes of a quoted string, in either form; nothing when its escapes are wrong.
pub(crate) fn unquote(quoted: &[u8]) -> Option<Vec<u8>> {
    let (&quote, rest) = quoted.split_first()?;
    let (&end, inner) = rest.split_last()?;
    if end != quote {
        return None;
    }
    if quote == b'`' {
        return Some(inner.iter().copied().filter(|&byte| byte != b'\r').collect());
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'\\' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let (unescaped, after) = escape(after, quote)?;
        match unescaped {
            Escaped::Byte(byte) => bytes.push(byte),
            Escaped::Character(character) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        rest = after;
    }
    Some(bytes)
}

/// The code of a character constant, quotes included.
pub(crate) fn character(quoted: &[u8]) -> Option<i64> {
    let inner = quoted.strip_prefix(b"'")?.strip_suffix(b"'")?;
    if let Some(rest) = inner.strip_prefix(b"\\") {
        let (unescaped, rest) = escape(rest, b'\'')?;
        let code = match unescaped {
            Escaped::Byte(byte) => i64::from(byte),
            Escaped::Character(character) => i64::from(u32::from(character)),
        };
        return rest.is_empty().then_some(code);
    }
    let text = std::str::from_utf8(inner).ok()?;
    let mut characters = text.chars();
    let character = characters.next()?;
    characters.next().is_none().then(|| i64::from(u32::from(character)))
}

enum Escaped {
    Byte(u8),
    Character(char),
}

/// What stands after a backslash, and what follows.
fn escape(rest: &[u8], quote: u8) -> Option<(Escaped, &[u8])> {
    let (&kind, after) = rest.split_first()?;
    let byte = |byte| Some((Escaped::Byte(byte), after));
    match kind {
        b'a' => byte(7),
        b'b' => byte(8),
        b'f' => byte(12),
        b'n' => byte(b'\n'),
        b'r' => byte(b'\r'),
        b't' => byte(b'\t'),
        b'v' => byte(11),
        b'\\' => byte(b'\\'),
        b'\'' | b'"' if kind == quote => byte(kind),
        b'x' => {
            let (code, after) = digits(after, 2, 16)?;
            Some((Escaped::Byte(u8::try_from(code).ok()?), after))
        }
        b'u' | b'U' => {
            let (code, after) = digits(after, if kind == b'u' { 4 } else { 8 }, 16)?;
            Some((Escaped::Character(char::from_u32(code)?), after))
        }
        b'0'..=b'7' => {
            let (code, after) = digits(rest, 3, 8)?;
            Some((Escaped::Byte(u8::try_from(code).ok()?), after))
        }
        _ => None,
    }
}

fn digits(rest: &[u8], count: usize, radix: u32) -> Option<(u32, &[u8])> {
    let text = std::str::from_utf8(rest.get(..count)?).ok()?;
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    Some((u32::from_str_radix(text, radix).ok()?, &rest[count..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_become_bytes_and_characters() {
        assert_eq!(unquote(br#""a\n\x41\101\u00e9\"""#).as_deref(), Some("a\nAAé\"".as_bytes()));
        assert_eq!(unquote(br#""\xff""#).as_deref(), Some(b"\xff".as_slice()));
        assert_eq!(unquote(b"`a\\n\r\n`").as_deref(), Some(b"a\\n\n".as_slice()));
        for bad in [br#""\q""#.as_slice(), br#""\'""#, br#""\x4""#, b"\"", b"`a\""] {
            assert_eq!(unquote(bad), None);
        }
    }

    #[test]
    fn character_constants_are_numbers() {
        assert_eq!(
            (character(b"'a'"), character(br"'\''"), character("'é'".as_bytes())),
            (Some(97), Some(39), Some(233))
        );
        assert_eq!((character(b"'ab'"), character(b"''")), (None, None));
    }
}
