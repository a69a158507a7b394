//! Base64 and base32.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Parameter::String;
use super::{Function, pure};
use crate::value::Value;

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) static FUNCTIONS: &[Function] = &[
    pure("b64enc", &[String], |arguments| Ok(Value::string(STANDARD.encode(arguments.text(0))))),
    pure("b64dec", &[String], |arguments| Ok(Value::string(decode_64(&arguments.text(0))))),
    pure("b32enc", &[String], |arguments| Ok(Value::string(encode_32(&arguments.text(0))))),
    pure("b32dec", &[String], |arguments| Ok(Value::string(decode_32(&arguments.text(0))))),
];

/// Go skips line breaks; a mistake is the result.
fn decode_64(text: &[u8]) -> Vec<u8> {
    let is_break = |byte: u8| matches!(byte, b'\r' | b'\n');
    let bytes: Vec<u8> = text.iter().copied().filter(|&byte| !is_break(byte)).collect();
    let bits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    match STANDARD.decode(&bytes) {
        Ok(data) => data,
        Err(_) => {
            // Go names the offset of the first byte that does not fit, line breaks counted.
            let wrong = bytes.iter().position(|byte| !bits(byte)).unwrap_or(bytes.len());
            let offset = text
                .iter()
                .enumerate()
                .filter(|(_, byte)| !is_break(**byte))
                .nth(wrong)
                .map_or(text.len() / 4 * 4, |(offset, _)| offset);
            format!("illegal base64 data at input byte {offset}").into_bytes()
        }
    }
}

fn encode_32(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len().div_ceil(5) * 8);
    for chunk in data.chunks(5) {
        let mut bits = [0_u8; 8];
        bits[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_be_bytes(bits);
        let characters = (chunk.len() * 8).div_ceil(5);
        for index in 0..8 {
            let five = (word >> (59 - 5 * index)) & 31;
            let character = usize::try_from(five).ok().and_then(|five| BASE32.get(five));
            out.push(if index < characters { character.copied().unwrap_or(b'=') } else { b'=' });
        }
    }
    out
}

fn decode_32(text: &[u8]) -> Vec<u8> {
    let bytes: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let data_length = bytes.iter().position(|&byte| byte == b'=').unwrap_or(bytes.len());
    let illegal = |offset: usize| format!("illegal base32 data at input byte {offset}").into_bytes();
    if !bytes.len().is_multiple_of(8) {
        return illegal(bytes.len() / 8 * 8);
    }
    let (mut out, mut word, mut bits) = (Vec::new(), 0_u32, 0_u32);
    for (offset, byte) in bytes[..data_length].iter().enumerate() {
        let Some(five) = BASE32.iter().position(|known| known == byte) else { return illegal(offset) };
        word = (word << 5) | u32::try_from(five).unwrap_or(0);
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((word >> bits) & 0xff).unwrap_or(0));
        }
        word &= 0xff;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_goes_both_ways() {
        for (data, text) in
            [("", ""), ("f", "MY======"), ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI======")]
        {
            assert_eq!(encode_32(data.as_bytes()), text.as_bytes());
            assert_eq!(decode_32(text.as_bytes()), data.as_bytes());
        }
    }

    #[test]
    fn a_mistake_is_the_result() {
        assert_eq!(decode_64(b"a*b="), b"illegal base64 data at input byte 1");
        assert_eq!(decode_64(b"aGVs\nbG8="), b"hello");
        assert_eq!(decode_32(b"1"), b"illegal base32 data at input byte 0");
    }
}
