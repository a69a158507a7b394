//! Texts that must not be shown.

use std::fmt;

use zeroize::Zeroizing;

/// A text that holds keys: a kubeconfig, a machine configuration. It has no `Display`, its `Debug` shows nothing, and
/// its memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text, for whoever stores or sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_nothing_when_printed() {
        assert_eq!(format!("{:?}", Secret::new("hush".to_owned())), "Secret(..)");
    }
}
