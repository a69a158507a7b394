//! Keys, in the forms that Talos writes.

use aws_lc_rs::encoding::{AsBigEndian, AsDer, EcPrivateKeyBin, Pkcs8V1Der};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _, RsaKeyPair};
use rcgen::KeyPair;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use zeroize::Zeroizing;

use super::error::Error;
use super::pem;
use super::random::{Random, bytes};
use crate::domain::machine_configuration::Secret;

/// A key that can sign, and its PEM text.
pub(super) struct Key {
    pub(super) pair: KeyPair,
    pub(super) pem: Secret,
}

/// PKCS#8 version 1 of an Ed25519 key (RFC 8410, 7): this, then the 32 bytes of the seed.
const ED25519_HEADER: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// SEC 1 of a P-256 key (RFC 5915, 3): this, the 32 bytes of the private key, [`P256_CURVE`], the 65 of the public one.
const P256_HEADER: [u8; 7] = [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20];

/// The curve's name (1.2.840.10045.3.1.7), and the header of the public key.
const P256_CURVE: [u8; 17] =
    [0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0xa1, 0x44, 0x03, 0x42, 0x00];

/// PKCS#8 of an RSA key (RFC 5958, RFC 8017 A.1): version 0 and the algorithm's name with its empty parameters.
const RSA_HEADER: [u8; 18] = [
    0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05,
    0x00,
];

/// A new Ed25519 key.
pub(super) fn ed25519(random: &mut dyn Random) -> Result<Key, Error> {
    let failed = |_| Error::Cryptography("an Ed25519 key");
    let seed = Zeroizing::new(bytes::<32>(random)?);
    let der = Zeroizing::new([ED25519_HEADER.as_slice(), seed.as_slice()].concat());
    let pair = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der.as_slice()));
    Ok(Key { pair: KeyPair::try_from(&pair).map_err(failed)?, pem: pem::key("ED25519 PRIVATE KEY", &der) })
}

/// A new key of the curve P-256, from the system's randomness.
pub(super) fn p256() -> Result<Key, Error> {
    let failed = || Error::Cryptography("a P-256 key");
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).map_err(|_| failed())?;
    let private: EcPrivateKeyBin<'_> = pair.private_key().as_be_bytes().map_err(|_| failed())?;
    let public = pair.public_key().as_ref();
    let der = Zeroizing::new([&P256_HEADER, private.as_ref(), &P256_CURVE, public].concat());
    let pair = PrivateKeyDer::Sec1(PrivateSec1KeyDer::from(der.as_slice()));
    Ok(Key { pair: KeyPair::try_from(&pair).map_err(|_| failed())?, pem: pem::key("EC PRIVATE KEY", &der) })
}

/// A new RSA key of 4096 bits, from the system's randomness. Takes from a tenth of a second to several.
pub(super) fn rsa4096() -> Result<Secret, Error> {
    let failed = || Error::Cryptography("an RSA key");
    let pair = RsaKeyPair::generate(KeySize::Rsa4096).map_err(|_| failed())?;
    let pkcs8: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| failed())?;
    let pkcs1 = pkcs1(pkcs8.as_ref()).ok_or_else(failed)?;
    Ok(pem::key("RSA PRIVATE KEY", pkcs1))
}

/// The PKCS#1 key inside PKCS#8: what is in the octet string after the header.
fn pkcs1(pkcs8: &[u8]) -> Option<&[u8]> {
    let inner = content(0x30, pkcs8)?;
    content(0x04, inner.strip_prefix(&RSA_HEADER)?)
}

/// The content of a DER value that has this tag and ends where `der` ends.
fn content(tag: u8, der: &[u8]) -> Option<&[u8]> {
    let (&first, rest) = der.strip_prefix(&[tag])?.split_first()?;
    let content = match first {
        0..0x80 => rest,
        // Lengths above 127 follow in as many bytes as the first says.
        0x80.. => rest.get(usize::from(first & 0x7f)..)?,
    };
    let header = rest.len() - content.len();
    let declared = match rest.get(..header)? {
        [] => usize::from(first),
        long => long.iter().fold(0, |length: usize, byte| length.wrapping_shl(8) | usize::from(*byte)),
    };
    (declared == content.len()).then_some(content)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::clients::talos::pki::SystemRandom;

    #[test]
    fn every_form_is_read_back_as_the_same_key() {
        for key in [ed25519(&mut SystemRandom::default()).unwrap(), p256().unwrap()] {
            let read = KeyPair::try_from(&pem::read_key("key", &key.pem).unwrap()).unwrap();
            assert_eq!(read.public_key_raw(), key.pair.public_key_raw());
        }
        let rsa = rsa4096().unwrap();
        assert!(rsa.expose().starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
        let PrivateKeyDer::Pkcs1(key) = pem::read_key("key", &rsa).unwrap() else { panic!("not PKCS#1") };
        let pair = RsaKeyPair::from_der(key.secret_pkcs1_der()).unwrap();
        assert_eq!(pair.public_modulus_len(), 512);
    }

    #[test]
    fn a_length_that_does_not_fit_is_no_content() {
        assert_eq!(content(0x04, &[0x04, 2, 7, 8]), Some([7, 8].as_slice()));
        assert_eq!(content(0x04, &[0x04, 0x81, 2, 7, 8]), Some([7, 8].as_slice()));
        for wrong in [[0x04, 3, 7, 8].as_slice(), &[0x30, 2, 7, 8], &[0x04, 0x82, 7], &[0x04], &[]] {
            assert_eq!(content(0x04, wrong), None, "{wrong:?}");
        }
    }
}
