//! Why a key or certificate could not be made.

use thiserror::Error;

/// Why a key or certificate could not be made. No text holds any part of a key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// The system gave no random bytes, or the cryptography library failed.
    #[error("generate {0}: the cryptography library failed")]
    Cryptography(&'static str),
    /// A text that should be PEM of a certificate or key isn't.
    #[error("read {what}: {why}")]
    Unreadable {
        /// Which part.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The authority's key isn't the one of its certificate.
    #[error("sign with {0}: its key does not fit its certificate")]
    KeyMismatch(&'static str),
    /// A certificate could not be put together.
    #[error("sign with {authority}: {why}")]
    Signing {
        /// Whose authority.
        authority: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A file could not be written in YAML.
    #[error("write {0} as YAML: {1}")]
    Yaml(&'static str, String),
}
