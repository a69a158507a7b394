//! AES-256 in the mode CBC, with the password itself as the key: as weak as the password, kept for charts that use it.

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::iv::FixedLength;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::template::failure::Cause;

const BLOCK: usize = 16;

fn key(password: &[u8]) -> Result<UnboundCipherKey, Cause> {
    let mut bytes = [0; 32];
    let length = password.len().min(bytes.len());
    bytes[..length].copy_from_slice(&password[..length]);
    UnboundCipherKey::new(&AES_256, &bytes).map_err(|_| Cause::from("failed to set up AES"))
}

/// Base64 of the vector and the encrypted text; nothing for nothing.
pub(super) fn encrypt(password: &[u8], text: &[u8], vector: [u8; BLOCK]) -> Result<String, Cause> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let failed = |_| Cause::from("failed to encrypt");
    let key = PaddedBlockEncryptingKey::cbc_pkcs7(key(password)?).map_err(failed)?;
    let mut data = text.to_vec();
    let context = EncryptionContext::Iv128(FixedLength::from(vector));
    key.less_safe_encrypt(&mut data, context).map_err(failed)?;
    Ok(STANDARD.encode([vector.as_slice(), &data].concat()))
}

/// What [`encrypt`] wrote.
pub(super) fn decrypt(password: &[u8], encoded: &[u8]) -> Result<Vec<u8>, Cause> {
    if encoded.is_empty() {
        return Ok(Vec::new());
    }
    let failed = |_| Cause::from("failed to decrypt: the text was not encrypted with this password");
    let data = STANDARD.decode(encoded).map_err(|_| Cause::from("illegal base64 data"))?;
    let Some((vector, data)) = data.split_first_chunk::<BLOCK>() else {
        return Err("failed to decrypt: the text is too short".into());
    };
    let key = PaddedBlockDecryptingKey::cbc_pkcs7(key(password)?).map_err(failed)?;
    let mut data = data.to_vec();
    let context = DecryptionContext::Iv128(FixedLength::from(*vector));
    key.decrypt(&mut data, context).map(|text| text.to_vec()).map_err(failed)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_was_encrypted_is_decrypted_with_the_same_password_only() {
        let encrypted = encrypt(b"secret", b"some text", [7; BLOCK]).unwrap();
        assert_eq!(decrypt(b"secret", encrypted.as_bytes()).unwrap(), b"some text");
        assert_ne!(decrypt(b"other", encrypted.as_bytes()).ok().as_deref(), Some(b"some text".as_slice()));
        assert!(decrypt(b"secret", b"AAAA").is_err());
    }
}
