//! Short digests, by which a plan and the inventory tell that something changed.

use sha2::{Digest as _, Sha256};

/// Sixteen hexadecimal digits of SHA-256 over texts and their lengths: enough to tell, short enough to read.
#[must_use]
pub fn short<T: AsRef<str>>(texts: &[T]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.as_ref().len().to_le_bytes());
        hash.update(text.as_ref().as_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
