//! Numbers as the protocol has them: of any size and exact.

/// A number in its one normal form, so that equal numbers are equal values.
///
/// Clients compute with 512 bits. On the wire a number is an integer or a double where that is exact, else
/// decimal text.
#[derive(Clone, PartialEq)]
pub enum Number {
    /// Whole and within `i64`.
    Integer(i64),
    /// Whole and above `i64`.
    Unsigned(u64),
    /// Exact as a double, and none of the above.
    Float(f64),
    /// Any other, as it was written.
    Decimal(String),
}

impl Number {
    pub(crate) fn from_f64(value: f64) -> Option<Self> {
        // Both bounds are powers of two, exact as doubles.
        const ABOVE_I64: f64 = 9_223_372_036_854_775_808.0;
        const ABOVE_U64: f64 = 18_446_744_073_709_551_616.0;
        if !value.is_finite() {
            return None;
        }
        let whole = value.fract() == 0.0;
        Some(if whole && (-ABOVE_I64..ABOVE_I64).contains(&value) {
            Self::Integer(value as i64)
        } else if whole && (ABOVE_I64..ABOVE_U64).contains(&value) {
            Self::Unsigned(value as u64)
        } else {
            Self::Float(value)
        })
    }

    pub(crate) fn from_u64(value: u64) -> Self {
        i64::try_from(value).map_or(Self::Unsigned(value), Self::Integer)
    }

    /// The number that a person would write for this double: 0.1 for 0.1, not its nearest binary fraction.
    /// `None` if it is infinite or none.
    pub(crate) fn written(value: f64) -> Option<Self> {
        match Self::from_f64(value)? {
            Self::Float(value) => Self::from_text(&value.to_string()),
            whole @ (Self::Integer(_) | Self::Unsigned(_) | Self::Decimal(_)) => Some(whole),
        }
    }

    /// From decimal text; `None` if it is not a number.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        if let Ok(value) = text.parse() {
            return Some(Self::Integer(value));
        }
        if let Ok(value) = text.parse() {
            return Some(Self::Unsigned(value));
        }
        // Rust also reads "inf" and "nan", which are no numbers here; 1e999 is one, if not as a double.
        if text.contains(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')) {
            return None;
        }
        let nearest: f64 = text.parse().ok()?;
        Some(if is_exact(nearest, text) { Self::Float(nearest) } else { Self::Decimal(text.to_owned()) })
    }

    /// The nearest double.
    pub(crate) fn as_f64(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Unsigned(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Decimal(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// Whether the two are the same double. Whole numbers are exact in every form and never nearly the same.
    pub(crate) fn is_nearly(&self, other: &Self) -> bool {
        let exact = |number: &Self| matches!(number, Self::Integer(_) | Self::Unsigned(_));
        !(exact(self) && exact(other)) && self.as_f64() == other.as_f64()
    }

    /// The whole number within `i64`, if it is one.
    pub(crate) const fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            Self::Unsigned(_) | Self::Float(_) | Self::Decimal(_) => None,
        }
    }

    /// The whole number within `u64`, if it is one.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            Self::Unsigned(value) => Some(*value),
            Self::Float(_) | Self::Decimal(_) => None,
        }
    }
}

/// Whether `text` is all digits of `value`. A double has at most 1074 digits after the point.
fn is_exact(value: f64, text: &str) -> bool {
    value.is_finite() && format!("{value:.1074}").trim_end_matches('0').trim_end_matches('.') == text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Number> {
        Number::from_text(text)
    }

    #[test]
    fn one_number_has_one_form() {
        assert!(text("7") == Number::from_f64(7.0));
        assert!(text("18446744073709551615") == Some(Number::from_u64(u64::MAX)));
        assert!(Number::from_f64(9.3e18) == text("9300000000000000000"));
        assert!(text("0.5") == Number::from_f64(0.5));
        assert!(text("0.1") == Number::written(0.1));
        assert!(text("0.1") != Number::from_f64(0.1), "the nearest double is another number");
        assert!(text("0.1").is_some_and(|n| n.as_f64() == 0.1 && n.as_i64().is_none()));
        assert!(text("1e999").is_some());
    }

    #[test]
    fn words_are_no_numbers() {
        for word in ["nan", "inf", "-infinity", "", "0x10", "ten"] {
            assert!(text(word).is_none(), "{word}");
        }
        assert!(Number::from_f64(f64::NAN).is_none());
    }
}
