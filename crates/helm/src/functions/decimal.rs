//! Exact decimal arithmetic, in which Sprig adds, subtracts, multiplies and divides floats.

use crate::value::number;

/// How many decimals a quotient keeps.
const QUOTIENT_DECIMALS: u32 = 16;

/// What is done with two numbers.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// A number: its digits, and how many of them are decimals.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    decimals: u32,
}

/// Calculates in decimals; nothing when something is divided by zero. Numbers of more than some 38 digits are
/// calculated as floats.
pub(super) fn calculate(left: f64, right: f64, operation: Operation) -> Option<f64> {
    if matches!(operation, Operation::Divide) && right == 0.0 {
        return None;
    }
    let exact =
        Decimal::of(left).zip(Decimal::of(right)).and_then(|(left, right)| left.with(right, operation));
    Some(exact.map_or_else(
        || match operation {
            Operation::Add => left + right,
            Operation::Subtract => left - right,
            Operation::Multiply => left * right,
            Operation::Divide => left / right,
        },
        Decimal::to_float,
    ))
}

impl Decimal {
    /// The shortest decimal that reads back as the float.
    fn of(number: f64) -> Option<Self> {
        if !number.is_finite() {
            return None;
        }
        let (negative, digits, exponent) = number::decimal(number);
        let decimals = i32::try_from(digits.len()).ok()? - 1 - exponent;
        let mut value: i128 = digits.parse().ok()?;
        if decimals < 0 {
            value = value.checked_mul(power(decimals.unsigned_abs())?)?;
        }
        let value = if negative { -value } else { value };
        Some(Self { digits: value, decimals: u32::try_from(decimals).unwrap_or(0) })
    }

    fn with(self, other: Self, operation: Operation) -> Option<Self> {
        match operation {
            Operation::Add => {
                let (left, right, decimals) = self.aligned(other)?;
                Some(Self { digits: left.checked_add(right)?, decimals })
            }
            Operation::Subtract => {
                let (left, right, decimals) = self.aligned(other)?;
                Some(Self { digits: left.checked_sub(right)?, decimals })
            }
            Operation::Multiply => Some(Self {
                digits: self.digits.checked_mul(other.digits)?,
                decimals: self.decimals.checked_add(other.decimals)?,
            }),
            Operation::Divide => self.divide(other),
        }
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let decimals = self.decimals.max(other.decimals);
        let left = self.digits.checked_mul(power(decimals - self.decimals)?)?;
        let right = other.digits.checked_mul(power(decimals - other.decimals)?)?;
        Some((left, right, decimals))
    }

    /// Rounded half away from zero.
    fn divide(self, other: Self) -> Option<Self> {
        let (left, right, _) = self.aligned(other)?;
        let scaled = left.checked_mul(power(QUOTIENT_DECIMALS)?)?;
        let (quotient, rest) = (scaled.checked_div(right)?, scaled.checked_rem(right)?);
        let rounds = rest.unsigned_abs() >= right.unsigned_abs() - rest.unsigned_abs();
        let away = if (left < 0) == (right < 0) { 1 } else { -1 };
        Some(Self { digits: if rounds { quotient + away } else { quotient }, decimals: QUOTIENT_DECIMALS })
    }

    fn to_float(self) -> f64 {
        format!("{}e-{}", self.digits, self.decimals).parse().unwrap_or(f64::NAN)
    }
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_no_binary_noise() {
        assert_eq!(calculate(0.1, 0.2, Operation::Add), Some(0.3));
        assert_eq!(calculate(1.1, 1.1, Operation::Multiply), Some(1.21));
        assert_eq!(calculate(10.0, 3.0, Operation::Divide), Some(3.333_333_333_333_333_3));
        assert_eq!(calculate(-2.0, 3.0, Operation::Divide), Some(-0.666_666_666_666_666_7));
        assert_eq!(calculate(1.0, 0.0, Operation::Divide), None);
        assert_eq!(calculate(1e300, 1e300, Operation::Subtract), Some(0.0));
    }
}
