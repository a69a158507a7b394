//! Strings as Go has them: any bytes, shared.

use std::borrow::{Borrow, Cow};
use std::ops::Deref;
use std::rc::Rc;

/// A string: any bytes, mostly UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Text(Rc<[u8]>);

impl Text {
    /// The text, with U+FFFD for each byte that is not UTF-8.
    pub(crate) fn lossy(&self) -> Cow<'_, str> {
        lossy(&self.0)
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(Rc::from(bytes))
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Rc::from(bytes))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Rc::from(text.as_bytes()))
    }
}

/// The text, with U+FFFD for each byte that is not UTF-8: Go replaces byte by byte, Rust sequence by sequence.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    let mut text = match std::str::from_utf8(bytes) {
        Ok(text) => return Cow::Borrowed(text),
        Err(_) => String::with_capacity(bytes.len()),
    };
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

/// Replaces each occurrence, from left to right.
pub(crate) fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(text.len());
    if from.is_empty() {
        // Go puts the replacement before every character and at the end.
        for character in lossy(text).chars() {
            replaced.extend_from_slice(to);
            replaced.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        replaced.extend_from_slice(to);
        return replaced;
    }
    let mut rest = text;
    while let Some(at) = find(rest, from) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

/// Where the needle first stands.
pub(crate) fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    let Some((&first, _)) = needle.split_first() else { return Some(0) };
    let mut start = 0;
    while let Some(offset) = text[start..].iter().position(|&byte| byte == first) {
        let at = start + offset;
        if text[at..].starts_with(needle) {
            return Some(at);
        }
        start = at + 1;
    }
    None
}
