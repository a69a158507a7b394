//! All secrets of a new cluster.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use jiff::Timestamp;

use super::error::Error;
use super::random::{Random, SystemRandom, bytes, characters};
use super::{authority, keys};
use crate::domain::machine_configuration::{Secret, SecretsBundle};

/// Generates all secrets of a new cluster from the system's randomness, with certificates from `now` on. The RSA key
/// is computed on a thread for blocking work.
///
/// # Errors
///
/// [`Error::Cryptography`] if the library or the system fails.
pub async fn generate_secrets(now: Timestamp) -> Result<SecretsBundle, Error> {
    tokio::task::spawn_blocking(move || generate_secrets_blocking(now, &mut SystemRandom::default()))
        .await
        .unwrap_or(Err(Error::Cryptography("the secrets")))
}

/// As [`generate_secrets`], on this thread (up to some seconds), with `random` for identifiers, tokens, serial numbers
/// and the key of Talos' own authority.
///
/// # Errors
///
/// [`Error::Cryptography`] if the library, the system or `random` fails.
pub fn generate_secrets_blocking(now: Timestamp, random: &mut dyn Random) -> Result<SecretsBundle, Error> {
    let os = authority::generate(Some("talos"), &keys::ed25519(random)?, now, random)?;
    let etcd = authority::generate(Some("etcd"), &keys::p256()?, now, random)?;
    let kubernetes = authority::generate(Some("kubernetes"), &keys::p256()?, now, random)?;
    // Talos asks for a name that its certificates can't carry, and so gives this one none.
    let kubernetes_aggregator = authority::generate(None, &keys::p256()?, now, random)?;
    Ok(SecretsBundle {
        cluster_id: Secret::new(URL_SAFE.encode(bytes::<32>(random)?)),
        cluster_secret: Secret::new(STANDARD.encode(bytes::<32>(random)?)),
        bootstrap_token: token(random)?,
        secretbox_encryption_secret: Secret::new(STANDARD.encode(bytes::<32>(random)?)),
        trustd_token: token(random)?,
        etcd,
        kubernetes,
        kubernetes_aggregator,
        service_account_key: keys::rsa4096()?,
        os,
    })
}

/// Kubernetes' bootstrap token form: `abcdef.0123456789abcdef`.
fn token(random: &mut dyn Random) -> Result<Secret, Error> {
    Ok(Secret::new(format!("{}.{}", characters(random, 6)?, characters(random, 16)?)))
}
