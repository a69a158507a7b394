//! A gzip stream (RFC 1952) of stored blocks (RFC 1951, 3.2.4): for the few kilobytes of a kubeconfig.

/// Largest stored block.
const BLOCK: usize = u16::MAX as usize;

/// Wraps bytes into a gzip stream without compressing them.
pub(super) fn stored(bytes: &[u8]) -> Vec<u8> {
    // Magic, deflate, no flags, no time, no extra flags, unknown system.
    let mut stream = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        stream.push(u8::from(blocks.peek().is_none()));
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    if bytes.is_empty() {
        stream.extend([1, 0, 0, 0xff, 0xff]);
    }
    stream.extend(crc32(bytes).to_le_bytes());
    // The length modulo 2^32.
    stream.extend(bytes.len().to_le_bytes().into_iter().take(4));
    stream
}

/// CRC-32 as gzip wants it.
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn every_block_but_the_last_says_that_more_follows() {
        let stream = stored(&vec![7; BLOCK + 1]);
        assert_eq!(stream[10], 0);
        assert_eq!(stream[10 + 5 + BLOCK], 1);
        assert_eq!(&stream[stream.len() - 4..], 65_536_u32.to_le_bytes());
    }
}
