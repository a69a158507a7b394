//! Private keys: RSA, ECDSA on P-256, Ed25519.

use aws_lc_rs::encoding::{AsDer as _, EcPrivateKeyRfc5915Der, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};

use super::certificate::{pem, pem_content};
use super::der;
use crate::template::failure::Cause;

/// A private key.
pub(crate) enum Key {
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair, Vec<u8>),
}

/// The library's errors say nothing.
fn failed<E>(what: &'static str) -> impl Fn(E) -> Cause {
    move |_| Cause::Plain(format!("failed to {what}"))
}

impl Key {
    /// The kind of key that certificates get: RSA, 2048 bits.
    pub(super) fn generate_certificate_key() -> Result<Self, Cause> {
        RsaKeyPair::generate(KeySize::Rsa2048).map(Self::Rsa).map_err(failed("generate an RSA key"))
    }

    /// A key of a kind that `genPrivateKey` knows.
    pub(super) fn generate(kind: &str) -> Result<Self, Cause> {
        match kind {
            "" | "rsa" => {
                RsaKeyPair::generate(KeySize::Rsa4096).map(Self::Rsa).map_err(failed("generate an RSA key"))
            }
            "ecdsa" => EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING)
                .map(Self::Ecdsa)
                .map_err(failed("generate an ECDSA key")),
            "ed25519" => {
                let document = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new())
                    .map_err(failed("generate an Ed25519 key"))?;
                Self::from_pkcs8(document.as_ref())
                    .ok_or_else(|| Cause::from("failed to generate an Ed25519 key"))
            }
            "dsa" => Err("DSA keys are not supported: use rsa, ecdsa or ed25519".into()),
            other => Err(Cause::Plain(format!("Unknown type {other}"))),
        }
    }

    /// Reads a key from PEM, in any of the usual forms.
    pub(super) fn from_pem(text: &str) -> Result<Self, Cause> {
        let key = if let Some(content) = pem_content(text, "RSA PRIVATE KEY") {
            RsaKeyPair::from_der(&content).ok().map(Self::Rsa)
        } else if let Some(content) = pem_content(text, "EC PRIVATE KEY") {
            EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_ASN1_SIGNING, &content)
                .ok()
                .map(Self::Ecdsa)
        } else if let Some(content) = pem_content(text, "PRIVATE KEY") {
            Self::from_pkcs8(&content)
        } else {
            None
        };
        key.ok_or_else(|| {
            Cause::from("error parsing private key: expected RSA, ECDSA P-256 or Ed25519, as PEM")
        })
    }

    fn from_pkcs8(content: &[u8]) -> Option<Self> {
        if let Ok(key) = RsaKeyPair::from_pkcs8(content) {
            return Some(Self::Rsa(key));
        }
        if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, content) {
            return Some(Self::Ecdsa(key));
        }
        let key = Ed25519KeyPair::from_pkcs8(content).ok()?;
        Some(Self::Ed25519(key, content.to_vec()))
    }

    /// The key as PEM, in the form that Go prefers for its kind.
    pub(super) fn pem(&self) -> String {
        match self {
            Self::Rsa(key) => {
                let document = key.as_der().map(|document: Pkcs8V1Der<'_>| document.as_ref().to_vec());
                let inner = document.ok().and_then(|document| inner_key(&document));
                pem("RSA PRIVATE KEY", &inner.unwrap_or_default())
            }
            Self::Ecdsa(key) => {
                let document = key
                    .private_key()
                    .as_der()
                    .map(|document: EcPrivateKeyRfc5915Der<'_>| document.as_ref().to_vec());
                pem("EC PRIVATE KEY", &document.unwrap_or_default())
            }
            Self::Ed25519(_, document) => pem("PRIVATE KEY", document),
        }
    }

    /// The public key with its algorithm.
    pub(super) fn public_key_info(&self) -> Vec<u8> {
        match self {
            Self::Rsa(key) => {
                let algorithm = der::composed(der::SEQUENCE, &[&RSA, &der::value(der::NULL, &[])]);
                der::composed(der::SEQUENCE, &[&algorithm, &der::bits(key.public_key().as_ref())])
            }
            Self::Ecdsa(key) => {
                let info = key.public_key().as_der().map(|info: PublicKeyX509Der<'_>| info.as_ref().to_vec());
                info.unwrap_or_default()
            }
            Self::Ed25519(key, _) => {
                let algorithm = der::value(der::SEQUENCE, &ED25519);
                der::composed(der::SEQUENCE, &[&algorithm, &der::bits(key.public_key().as_ref())])
            }
        }
    }

    /// The algorithm of [`Key::sign`].
    pub(super) fn signature_algorithm(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => der::composed(der::SEQUENCE, &[&RSA_SHA256, &der::value(der::NULL, &[])]),
            Self::Ecdsa(_) => der::value(der::SEQUENCE, &ECDSA_SHA256),
            Self::Ed25519(..) => der::value(der::SEQUENCE, &ED25519),
        }
    }

    pub(super) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Cause> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let mut signature = vec![0; key.public_modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(failed("sign a certificate with an RSA key"))?;
                Ok(signature)
            }
            Self::Ecdsa(key) => {
                let signature =
                    key.sign(&random, message).map_err(failed("sign a certificate with an ECDSA key"))?;
                Ok(signature.as_ref().to_vec())
            }
            Self::Ed25519(key, _) => Ok(key.sign(message).as_ref().to_vec()),
        }
    }
}

const RSA: [u8; 11] = [der::OBJECT_IDENTIFIER, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const RSA_SHA256: [u8; 11] = [der::OBJECT_IDENTIFIER, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 0x0b];
const ECDSA_SHA256: [u8; 10] = [der::OBJECT_IDENTIFIER, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const ED25519: [u8; 5] = [der::OBJECT_IDENTIFIER, 3, 0x2b, 0x65, 0x70];

/// The key inside a PKCS#8 document.
fn inner_key(document: &[u8]) -> Option<Vec<u8>> {
    let (whole, _) = der::read(document)?;
    let parts = der::read_all(whole.content)?;
    parts.get(2).filter(|part| part.tag == der::OCTET_STRING).map(|part| part.content.to_vec())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn keys_of_every_kind_survive_pem() {
        for key in [
            Key::generate("ecdsa").unwrap(),
            Key::generate("ed25519").unwrap(),
            Key::generate_certificate_key().unwrap(),
        ] {
            let read = Key::from_pem(&key.pem()).unwrap();
            assert_eq!(read.public_key_info(), key.public_key_info());
            assert!(read.sign(b"message").is_ok());
        }
        assert!(Key::generate("dsa").is_err() && Key::from_pem("nonsense").is_err());
    }
}
