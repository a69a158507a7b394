//! Sizes as people write them: `100GB`, `4TiB`.

use thiserror::Error;

/// Why a text is no size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{0:?} is not a size: expected a number with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), as in 100GB or >= 100GB"
)]
pub struct QuantityError(String);

const UNITS: [(&str, u64); 14] = [
    ("KIB", 1 << 10),
    ("MIB", 1 << 20),
    ("GIB", 1 << 30),
    ("TIB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("B", 1),
    ("", 1),
];

/// A size in bytes.
///
/// # Errors
///
/// [`QuantityError`] when the text is none.
pub fn bytes(text: &str) -> Result<u64, QuantityError> {
    let bad = || QuantityError(text.to_owned());
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim().to_ascii_uppercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor).ok_or_else(bad)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().map_err(|_| bad())?;
    let digits = |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u64>().map_err(|_| bad()) };
    let fraction_value = digits(fraction)?;
    let scale = 10_u64.checked_pow(u32::try_from(fraction.len()).map_err(|_| bad())?).ok_or_else(bad)?;
    let part = fraction_value.checked_mul(factor).ok_or_else(bad)? / scale;
    whole.checked_mul(factor).and_then(|bytes| bytes.checked_add(part)).ok_or_else(bad)
}

/// How a size compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`, or no sign.
    Equal,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `<`
    Below,
}

/// A size with a comparison before it.
///
/// # Errors
///
/// [`QuantityError`] when the text is none.
pub fn comparison(text: &str) -> Result<(Comparison, u64), QuantityError> {
    let trimmed = text.trim();
    let signs = [
        (">=", Comparison::AtLeast),
        ("<=", Comparison::AtMost),
        ("==", Comparison::Equal),
        (">", Comparison::Above),
        ("<", Comparison::Below),
    ];
    for (sign, comparison) in signs {
        if let Some(rest) = trimmed.strip_prefix(sign) {
            return Ok((comparison, bytes(rest).map_err(|_| QuantityError(text.to_owned()))?));
        }
    }
    Ok((Comparison::Equal, bytes(trimmed)?))
}

impl Comparison {
    /// Whether `found` compares so to `wanted`.
    #[must_use]
    pub fn holds(self, found: u64, wanted: u64) -> bool {
        match self {
            Self::Equal => found == wanted,
            Self::AtLeast => found >= wanted,
            Self::AtMost => found <= wanted,
            Self::Above => found > wanted,
            Self::Below => found < wanted,
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, expected) in [
            ("100GB", 100_000_000_000),
            ("1 TiB", 1 << 40),
            ("512", 512),
            ("1.5KiB", 1536),
            ("2gb", 2_000_000_000),
        ] {
            assert_eq!(bytes(text).unwrap(), expected, "{text}");
        }
        for bad in ["", "GB", "1XB", "-1GB", "1..5GB", "99999999999TB", "1.GBx"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_comparison_stands_before_the_size() {
        assert_eq!(comparison(">= 100GB").unwrap(), (Comparison::AtLeast, 100_000_000_000));
        assert_eq!(comparison("4TB").unwrap().0, Comparison::Equal);
        assert!(comparison("~ 4TB").is_err());
        assert!(Comparison::Below.holds(1, 2) && !Comparison::Above.holds(2, 2));
    }
}
