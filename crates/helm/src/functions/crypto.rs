//! Hashes.

use aws_lc_rs::digest::{self, Algorithm};

use super::Parameter::String;
use super::{Function, pure};
use crate::value::{Value, hex};

pub(super) static FUNCTIONS: &[Function] = &[
    pure("sha1sum", &[String], |arguments| Ok(hashed(&digest::SHA1_FOR_LEGACY_USE_ONLY, &arguments.text(0)))),
    pure("sha256sum", &[String], |arguments| Ok(hashed(&digest::SHA256, &arguments.text(0)))),
    pure("sha512sum", &[String], |arguments| Ok(hashed(&digest::SHA512, &arguments.text(0)))),
    pure("adler32sum", &[String], |arguments| Ok(Value::string(adler32(&arguments.text(0)).to_string()))),
];

fn hashed(algorithm: &'static Algorithm, text: &[u8]) -> Value {
    Value::string(hex(digest::digest(algorithm, text).as_ref()))
}

fn adler32(data: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = data.iter().fold((1, 0), |(low, high), &byte| {
        let low = (low + u32::from(byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_the_known_ones() {
        let sha1 = crate::value::format::shown(&hashed(&digest::SHA1_FOR_LEGACY_USE_ONLY, b"abc"));
        assert_eq!(sha1, "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }
}
