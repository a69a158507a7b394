//! Where random bytes come from.

use aws_lc_rs::rand::SecureRandom;

use super::error::Error;

/// A source of random bytes.
pub trait Random {
    /// Fills `bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::Cryptography`] if the source has none.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// The system's own.
#[derive(Debug, Default)]
pub struct SystemRandom(aws_lc_rs::rand::SystemRandom);

impl Random for SystemRandom {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.0.fill(bytes).map_err(|_| Error::Cryptography("random bytes"))
    }
}

/// `N` random bytes.
pub(super) fn bytes<const N: usize>(random: &mut dyn Random) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    random.fill(&mut bytes)?;
    Ok(bytes)
}

/// `length` characters of `[0-9a-z]`, each as likely as any other.
pub(super) fn characters(random: &mut dyn Random, length: usize) -> Result<String, Error> {
    const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // The largest multiple of 36 in a byte: what is above would favour the alphabet's beginning.
    const FAIR: u8 = 252;
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let [byte] = bytes::<1>(random)?;
        let character = ALPHABET.get(usize::from(byte) % ALPHABET.len());
        if let (true, Some(character)) = (byte < FAIR, character) {
            text.push(char::from(*character));
        }
    }
    Ok(text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    /// Counts up, so that a test knows every byte.
    struct Counting(u8);

    impl Random for Counting {
        fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
            for byte in bytes {
                *byte = self.0;
                self.0 = self.0.wrapping_add(1);
            }
            Ok(())
        }
    }

    #[test]
    fn every_character_is_as_likely_as_any_other() {
        let text = characters(&mut Counting(0), 252).unwrap();
        for character in "0123456789abcdefghijklmnopqrstuvwxyz".chars() {
            assert_eq!(text.matches(character).count(), 7, "{character}");
        }
    }

    #[test]
    fn bytes_that_would_favour_some_characters_are_skipped() {
        assert_eq!(characters(&mut Counting(250), 4).unwrap(), "yz01");
    }
}
