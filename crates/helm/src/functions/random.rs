//! Random texts. They are derived from the seed that the rendering is given.

use sha2::{Digest as _, Sha256};

use super::Parameter::{Int, String};
use super::{Function, world};
use crate::template::execute::Executor;
use crate::template::failure::Cause;
use crate::value::Value;

/// The longest random text, in characters.
const MAX_LENGTH: usize = 1_000_000;

const DIGITS: &str = "0123456789";
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

pub(super) static FUNCTIONS: &[Function] = &[
    world("randAlphaNum", &[Int], |executor, arguments| {
        text(executor, arguments.int(0), &[LETTERS, DIGITS].concat())
    }),
    world("randAlpha", &[Int], |executor, arguments| text(executor, arguments.int(0), LETTERS)),
    world("randNumeric", &[Int], |executor, arguments| text(executor, arguments.int(0), DIGITS)),
    world("randAscii", &[Int], |executor, arguments| {
        let printable: std::string::String = (' '..='~').collect();
        text(executor, arguments.int(0), &printable)
    }),
    world("randBytes", &[Int], |executor, arguments| {
        let mut bytes = vec![0; length(arguments.int(0))?];
        executor.world.random.fill(&mut bytes);
        Ok(Value::string(crate::value::json::base64(&bytes)))
    }),
    world("randInt", &[Int, Int], |executor, arguments| {
        let (low, high) = (arguments.int(0), arguments.int(1));
        match high.checked_sub(low).and_then(|span| u64::try_from(span).ok()).filter(|span| *span > 0) {
            Some(span) => {
                let offset = i64::try_from(executor.world.random.below(span)).unwrap_or(0);
                Ok(Value::int(low + offset))
            }
            None => Err("invalid argument to Intn".into()),
        }
    }),
    world("shuffle", &[String], |executor, arguments| {
        let mut characters: Vec<char> = arguments.string(0).chars().collect();
        for last in (1..characters.len()).rev() {
            let other = executor.world.random.below(last as u64 + 1);
            characters.swap(last, usize::try_from(other).unwrap_or(last));
        }
        Ok(Value::string(characters.into_iter().collect::<std::string::String>()))
    }),
    world("uuidv4", &[], |executor, _| {
        let mut bytes = [0; 16];
        executor.world.random.fill(&mut bytes);
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = crate::value::hex(&bytes);
        let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        Ok(Value::string(uuid))
    }),
];

/// Random numbers from a seed: SHA-256 over the seed and a counter.
pub(crate) struct Random {
    seed: [u8; 32],
    counter: u64,
    block: Vec<u8>,
}

impl Random {
    pub(crate) const fn new(seed: [u8; 32]) -> Self {
        Self { seed, counter: 0, block: Vec::new() }
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.block.is_empty() {
                let mut hash = Sha256::new();
                hash.update(self.seed);
                hash.update(self.counter.to_be_bytes());
                self.block = hash.finalize().to_vec();
                self.counter += 1;
            }
            *byte = self.block.pop().unwrap_or_default();
        }
    }

    /// A number below the limit, all equally likely.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let fair = u64::MAX - u64::MAX % limit;
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let number = u64::from_be_bytes(bytes);
            if number < fair {
                return number % limit;
            }
        }
    }
}

fn length(count: i64) -> Result<usize, Cause> {
    match usize::try_from(count) {
        Ok(count) if count <= MAX_LENGTH => Ok(count),
        Ok(_) | Err(_) => {
            Err(Cause::Plain(format!("expected a length between 0 and {MAX_LENGTH}, got {count}")))
        }
    }
}

fn text(executor: &mut Executor<'_>, count: i64, characters: &str) -> Result<Value, Cause> {
    let characters = characters.as_bytes();
    let mut text = Vec::new();
    for _ in 0..length(count)? {
        let place = executor.world.random.below(characters.len() as u64);
        text.extend(usize::try_from(place).ok().and_then(|place| characters.get(place)));
    }
    Ok(Value::string(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
        let numbers = |seed: u8| {
            let mut random = Random::new([seed; 32]);
            (0..50).map(|_| random.below(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert!(numbers(3).iter().all(|number| *number < 1_000_000));
    }
}
