//! The three answers of a look at the world.

use serde::{Deserialize, Serialize};

/// What a look at something found. Nothing destructive, and nothing that may happen once only, follows from
/// [`Seen::Unknown`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seen<T> {
    /// It is there.
    Present(T),
    /// We looked, and it is not there.
    Absent,
    /// We could not look; the text says why.
    Unknown(String),
}

impl<T> Seen<T> {
    /// What is there, if it was seen.
    pub fn present(&self) -> Option<&T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent | Self::Unknown(_) => None,
        }
    }

    /// Whether it was seen not to be there.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}
