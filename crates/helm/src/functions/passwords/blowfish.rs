//! The hash of `bcrypt`: Blowfish with an expensive key schedule (Provos and Mazières, 1999).

use std::sync::LazyLock;

/// The words of Blowfish's initial state: 18 subkeys and four boxes of 256.
const WORDS: usize = 18 + 4 * 256;

/// The initial state: the digits of π after the point, in binary.
static INITIAL: LazyLock<Vec<u32>> = LazyLock::new(pi);

const ALPHABET: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The hash of a password, 23 bytes; `2^cost` rounds.
pub(super) fn hash(password: &[u8], salt: &[u8; 16], cost: u32) -> Vec<u8> {
    let mut key = password.to_vec();
    key.push(0);
    let mut state = State(INITIAL.clone());
    state.expand(&key, salt);
    for _ in 0..1_u64 << cost {
        state.expand(&key, &[0; 16]);
        state.expand(salt, &[0; 16]);
    }
    let mut hash = Vec::new();
    for block in b"OrpheanBeholderScryDoubt".chunks(8) {
        let mut words = Words::of(block);
        let (mut left, mut right) = (words.next(), words.next());
        for _ in 0..64 {
            (left, right) = state.encrypt(left, right);
        }
        hash.extend(left.to_be_bytes());
        hash.extend(right.to_be_bytes());
    }
    // The last byte is left out, as the first implementation did.
    hash.truncate(23);
    hash
}

/// Base64 with bcrypt's own alphabet, without padding.
pub(super) fn encode(data: &[u8]) -> String {
    let mut out = String::new();
    for chunk in data.chunks(3) {
        let mut bytes = [0_u8; 4];
        bytes[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(bytes);
        for index in 0..=chunk.len() {
            let six = bits >> (18 - 6 * index) & 63;
            let character = usize::try_from(six).ok().and_then(|six| ALPHABET.get(six));
            out.extend(character.map(|&byte| char::from(byte)));
        }
    }
    out
}

/// The words of a key, over and over.
struct Words<'key> {
    key: &'key [u8],
    next: usize,
}

impl<'key> Words<'key> {
    const fn of(key: &'key [u8]) -> Self {
        Self { key, next: 0 }
    }

    fn next(&mut self) -> u32 {
        let mut word = 0;
        for _ in 0..4 {
            word = word << 8 | u32::from(self.key[self.next]);
            self.next = (self.next + 1) % self.key.len();
        }
        word
    }
}

struct State(Vec<u32>);

impl State {
    fn expand(&mut self, key: &[u8], salt: &[u8; 16]) {
        let mut words = Words::of(key);
        for subkey in &mut self.0[..18] {
            *subkey ^= words.next();
        }
        let mut salt = Words::of(salt);
        let (mut left, mut right) = (0, 0);
        for index in (0..WORDS).step_by(2) {
            (left, right) = self.encrypt(left ^ salt.next(), right ^ salt.next());
            self.0[index] = left;
            self.0[index + 1] = right;
        }
    }

    fn encrypt(&self, left: u32, right: u32) -> (u32, u32) {
        let (mut left, mut right) = (left, right);
        for subkey in &self.0[..16] {
            left ^= subkey;
            right ^= self.mix(left);
            (left, right) = (right, left);
        }
        (right ^ self.0[17], left ^ self.0[16])
    }

    fn mix(&self, word: u32) -> u32 {
        let [a, b, c, d] = word.to_be_bytes().map(usize::from);
        let boxes = &self.0[18..];
        (boxes[a].wrapping_add(boxes[256 + b]) ^ boxes[512 + c]).wrapping_add(boxes[768 + d])
    }
}

/// The first digits of π after the point, by Machin's formula: π = 16 arctan(1/5) − 4 arctan(1/239).
fn pi() -> Vec<u32> {
    // Two more words than are used keep the rounding away from them; the first word is the whole part.
    let size = WORDS + 3;
    let mut sum = arctangent(5, 16, size);
    subtract(&mut sum, &arctangent(239, 4, size));
    sum[1..=WORDS].to_vec()
}

/// `factor · arctan(1 / inverse)` as a fixed-point number of that many words.
fn arctangent(inverse: u32, factor: u32, size: usize) -> Vec<u32> {
    let mut power = vec![0; size];
    power[0] = factor;
    divide(&mut power, inverse);
    let mut sum = power.clone();
    let mut divisor = 1;
    while power.iter().any(|word| *word != 0) {
        divide(&mut power, inverse * inverse);
        divisor += 2;
        let mut term = power.clone();
        divide(&mut term, divisor);
        if divisor % 4 == 3 { subtract(&mut sum, &term) } else { add(&mut sum, &term) }
    }
    sum
}

fn divide(number: &mut [u32], divisor: u32) {
    let mut rest = 0_u64;
    for word in number {
        let current = rest << 32 | u64::from(*word);
        *word = u32::try_from(current / u64::from(divisor)).unwrap_or(u32::MAX);
        rest = current % u64::from(divisor);
    }
}

fn add(number: &mut [u32], other: &[u32]) {
    let mut carry = false;
    for (word, other) in number.iter_mut().zip(other).rev() {
        let (sum, first) = word.overflowing_add(*other);
        let (sum, second) = sum.overflowing_add(u32::from(carry));
        *word = sum;
        carry = first || second;
    }
}

fn subtract(number: &mut [u32], other: &[u32]) {
    let mut borrow = false;
    for (word, other) in number.iter_mut().zip(other).rev() {
        let (difference, first) = word.overflowing_sub(*other);
        let (difference, second) = difference.overflowing_sub(u32::from(borrow));
        *word = difference;
        borrow = first || second;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_state_is_pi() {
        assert_eq!((INITIAL[0], INITIAL[1]), (0x243f_6a88, 0x85a3_08d3));
        // The last word of the last box, as every description of Blowfish lists it.
        assert_eq!(INITIAL[WORDS - 1], 0x3ac3_72e6);
    }

    #[test]
    fn a_known_password_has_its_known_hash() {
        // From the tests of OpenBSD's implementation: an empty password, cost 6.
        let salt =
            [0x14, 0x4b, 0x3d, 0x69, 0x1a, 0x7b, 0x4e, 0xcf, 0x39, 0xcf, 0x73, 0x5c, 0x7f, 0xa7, 0xa7, 0x9c];
        assert_eq!(encode(&salt), "DCq7YPn5Rq63x1Lad4cll.");
        assert_eq!(encode(&hash(b"", &salt, 6)), "TV4S6ytwfsfvkgY8jIucDrjc8deX1s.");
    }
}
