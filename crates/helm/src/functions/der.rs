//! DER, as far as certificates and keys need it.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A value with its tag and length.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let bytes = length.to_be_bytes();
            let significant: Vec<u8> = bytes.iter().copied().skip_while(|&byte| byte == 0).collect();
            out.push(0x80 | u8::try_from(significant.len()).unwrap_or(0x7f));
            out.extend(significant);
        }
    }
    out.extend_from_slice(content);
    out
}

/// Several values in one.
pub(super) fn composed(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    value(tag, &parts.concat())
}

/// A whole number that is not negative, from its bytes.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = bytes.iter().copied().skip_while(|&byte| byte == 0).collect();
    if content.first().is_none_or(|&first| first >= 0x80) {
        content.insert(0, 0);
    }
    value(INTEGER, &content)
}

/// A bit string of whole bytes.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    composed(BIT_STRING, &[&[0], bytes])
}

/// A value that was read.
#[derive(Clone, Copy)]
pub(super) struct Read<'data> {
    pub(super) tag: u8,
    pub(super) content: &'data [u8],
    /// Tag and length included.
    pub(super) whole: &'data [u8],
}

/// The first value, and what follows it.
pub(super) fn read(data: &[u8]) -> Option<(Read<'_>, &[u8])> {
    let (&tag, rest) = data.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        if count == 0 || count > 4 {
            return None;
        }
        let (bytes, rest) = rest.split_at_checked(count)?;
        (bytes.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((Read { tag, content, whole: &data[..data.len() - rest.len()] }, rest))
}

/// All values of a composed one.
pub(super) fn read_all(mut data: &[u8]) -> Option<Vec<Read<'_>>> {
    let mut values = Vec::new();
    while !data.is_empty() {
        let (value, rest) = read(data)?;
        values.push(value);
        data = rest;
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_can_be_read() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            let written = value(OCTET_STRING, &content);
            let found = read(&written).map(|(value, rest)| (value.tag, value.content.to_vec(), rest.len()));
            assert_eq!(found, Some((OCTET_STRING, content, 0)));
            assert!(read(&written[..written.len() - 1]).is_none());
        }
    }

    #[test]
    fn numbers_have_no_sign() {
        assert_eq!(unsigned(&[0, 0x80]), [INTEGER, 2, 0, 0x80]);
        assert_eq!(unsigned(&[0]), [INTEGER, 1, 0]);
    }
}
