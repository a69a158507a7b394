//! The key derivation function scrypt (RFC 7914).

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;

/// The words of a block: `r` is 8.
const BLOCK: usize = 32 * 8;

/// A key of 64 bytes; `cost` blocks of 1 KiB are held.
pub(super) fn key(password: &[u8], salt: &[u8], cost: usize, parallel: usize) -> Vec<u8> {
    let mut mixed = vec![0; parallel * BLOCK * 4];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, NonZeroU32::MIN, salt, password, &mut mixed);
    for part in mixed.chunks_mut(BLOCK * 4) {
        let mut words: Vec<u32> = part
            .chunks(4)
            .map(|word| word.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)))
            .collect();
        mix(&mut words, cost);
        for (bytes, word) in part.chunks_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }
    let mut key = vec![0; 64];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, NonZeroU32::MIN, &mixed, password, &mut key);
    key
}

/// Fills a memory with states of the block, then reads from it at places that only the block tells.
fn mix(block: &mut Vec<u32>, cost: usize) {
    let mut memory: Vec<u32> = Vec::with_capacity(cost * BLOCK);
    for _ in 0..cost {
        memory.extend_from_slice(block);
        *block = mix_block(block);
    }
    for _ in 0..cost {
        let place = usize::try_from(block[BLOCK - 16]).unwrap_or(0) % cost;
        for (word, other) in block.iter_mut().zip(&memory[place * BLOCK..]) {
            *word ^= other;
        }
        *block = mix_block(block);
    }
}

fn mix_block(block: &[u32]) -> Vec<u32> {
    let mut state = [0; 16];
    state.copy_from_slice(&block[BLOCK - 16..]);
    let (mut even, mut odd) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK / 2));
    for (index, chunk) in block.chunks(16).enumerate() {
        for (word, other) in state.iter_mut().zip(chunk) {
            *word ^= other;
        }
        salsa(&mut state);
        if index % 2 == 0 { even.extend(state) } else { odd.extend(state) }
    }
    even.extend(odd);
    even
}

/// Salsa20 with eight rounds.
fn salsa(state: &mut [u32; 16]) {
    let start = *state;
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        state[b] ^= state[a].wrapping_add(state[d]).rotate_left(7);
        state[c] ^= state[b].wrapping_add(state[a]).rotate_left(9);
        state[d] ^= state[c].wrapping_add(state[b]).rotate_left(13);
        state[a] ^= state[d].wrapping_add(state[c]).rotate_left(18);
    };
    for _ in 0..4 {
        quarter(0, 4, 8, 12);
        quarter(5, 9, 13, 1);
        quarter(10, 14, 2, 6);
        quarter(15, 3, 7, 11);
        quarter(0, 1, 2, 3);
        quarter(5, 6, 7, 4);
        quarter(10, 11, 8, 9);
        quarter(15, 12, 13, 14);
    }
    for (word, start) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_the_rfc_holds() {
        // RFC 7914, section 12, second vector has N = 1024 and p = 16.
        let key = key(b"password", b"NaCl", 1024, 16);
        assert_eq!(crate::value::hex(&key[..16]), "fdbabe1c9d3472007856e7190d01e9fe");
    }
}
