//! Sizes as people write them: `64GiB`, `500GB`, or a number of bytes.

use serde::{Deserialize, Deserializer};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

/// A text that is not a size.
#[derive(Debug, thiserror::Error)]
#[error("expected a size such as 64GiB, 500GB or a number of bytes, but got {0:?}")]
pub struct InvalidSize(String);

/// Units by their suffix; the longer ones first, since `B` ends them all.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Size {
    /// So many bytes.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// So many gibibytes.
    #[must_use]
    pub const fn of_gibibytes(gibibytes: u64) -> Self {
        Self(gibibytes << 30)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// As Talos prints it: decimal units, two significant digits below ten, none above.
    #[must_use]
    pub fn pretty(self) -> String {
        const NAMES: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 999.5 && unit + 1 < NAMES.len() {
            value /= 1000.0;
            unit += 1;
        }
        let name = NAMES.get(unit).copied().unwrap_or("TB");
        if unit > 0 && value < 9.95 { format!("{value:.1} {name}") } else { format!("{value:.0} {name}") }
    }
}

impl std::str::FromStr for Size {
    type Err = InvalidSize;

    fn from_str(text: &str) -> Result<Self, InvalidSize> {
        let invalid = || InvalidSize(text.to_owned());
        let (number, factor) = UNITS
            .iter()
            .find_map(|(suffix, factor)| text.strip_suffix(suffix).map(|number| (number, *factor)))
            .unwrap_or((text, 1));
        let number: u64 = number.trim().parse().map_err(|_| invalid())?;
        number.checked_mul(factor).map(Self).ok_or_else(invalid)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Bytes(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Bytes(bytes) => Ok(Self(bytes)),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn binary_and_decimal_units_differ() {
        assert_eq!("64GiB".parse::<Size>().unwrap().bytes(), 68_719_476_736);
        assert_eq!("64 GB".parse::<Size>().unwrap().bytes(), 64_000_000_000);
        assert_eq!("512".parse::<Size>().unwrap().bytes(), 512);
    }

    #[test]
    fn what_is_not_a_size_or_too_large_is_refused() {
        for text in ["", "GiB", "-1GiB", "1.5GiB", "64Gi", "99999999999TiB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_printed_in_decimal_units_as_talos_does() {
        assert_eq!(Size::of_gibibytes(64).pretty(), "69 GB");
        assert_eq!(Size::of_bytes(83_886_080).pretty(), "84 MB");
        assert_eq!(Size::of_bytes(4_294_967_296).pretty(), "4.3 GB");
    }
}
