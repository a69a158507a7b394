//! Numbers. Whole numbers are 64 bits wide and wrap around, as in Go.

use super::Parameter::{Any, Float, Int, String};
use super::arguments::Arguments;
use super::decimal::{Operation, calculate};
use super::{Function, cast, pure, variadic};
use crate::template::failure::Cause;
use crate::value::{ListType, Value, format};

/// The longest list of numbers that is made.
const MAX_COUNT: usize = 1_000_000;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("int", &[Any], |arguments| Ok(Value::int(cast::to_int(arguments.at(0))))),
    pure("int64", &[Any], |arguments| Ok(Value::int64(cast::to_int(arguments.at(0))))),
    pure("float64", &[Any], |arguments| Ok(Value::Float(cast::to_float(arguments.at(0))))),
    pure("atoi", &[String], |arguments| {
        let text = arguments.string(0);
        Ok(Value::int(text.parse().unwrap_or(0)))
    }),
    pure("toDecimal", &[Any], |arguments| {
        Ok(Value::int64(i64::from_str_radix(&format::shown(arguments.at(0)), 8).unwrap_or(0)))
    }),
    variadic("add", &[], Any, |arguments| {
        Ok(Value::int64(arguments.from(0).iter().map(cast::to_int).fold(0, i64::wrapping_add)))
    }),
    pure("add1", &[Any], |arguments| Ok(Value::int64(cast::to_int(arguments.at(0)).wrapping_add(1)))),
    pure("sub", &[Any, Any], |arguments| {
        Ok(Value::int64(cast::to_int(arguments.at(0)).wrapping_sub(cast::to_int(arguments.at(1)))))
    }),
    pure("div", &[Any, Any], |arguments| divide(&arguments, i64::wrapping_div)),
    pure("mod", &[Any, Any], |arguments| divide(&arguments, i64::wrapping_rem)),
    variadic("mul", &[Any], Any, |arguments| {
        Ok(Value::int64(arguments.from(0).iter().map(cast::to_int).fold(1, i64::wrapping_mul)))
    }),
    variadic("max", &[Any], Any, |arguments| Ok(Value::int64(extreme(&arguments, i64::max)))),
    variadic("biggest", &[Any], Any, |arguments| Ok(Value::int64(extreme(&arguments, i64::max)))),
    variadic("min", &[Any], Any, |arguments| Ok(Value::int64(extreme(&arguments, i64::min)))),
    variadic("maxf", &[Any], Any, |arguments| {
        Ok(Value::Float(
            arguments.from(1).iter().map(cast::to_float).fold(cast::to_float(arguments.at(0)), f64::max),
        ))
    }),
    variadic("minf", &[Any], Any, |arguments| {
        Ok(Value::Float(
            arguments.from(1).iter().map(cast::to_float).fold(cast::to_float(arguments.at(0)), f64::min),
        ))
    }),
    pure("add1f", &[Any], |arguments| {
        fold(cast::to_float(arguments.at(0)), &[Value::int(1)], Operation::Add)
    }),
    variadic("addf", &[], Any, |arguments| fold(0.0, arguments.from(0), Operation::Add)),
    variadic("subf", &[Any], Any, |arguments| {
        fold(cast::to_float(arguments.at(0)), arguments.from(1), Operation::Subtract)
    }),
    variadic("mulf", &[Any], Any, |arguments| {
        fold(cast::to_float(arguments.at(0)), arguments.from(1), Operation::Multiply)
    }),
    variadic("divf", &[Any], Any, |arguments| {
        fold(cast::to_float(arguments.at(0)), arguments.from(1), Operation::Divide)
    }),
    pure("floor", &[Any], |arguments| Ok(Value::Float(cast::to_float(arguments.at(0)).floor()))),
    pure("ceil", &[Any], |arguments| Ok(Value::Float(cast::to_float(arguments.at(0)).ceil()))),
    variadic("round", &[Any, Int], Float, round),
    pure("until", &[Int], |arguments| {
        let count = arguments.int(0);
        steps(0, count, if count < 0 { -1 } else { 1 }).map(numbers)
    }),
    pure("untilStep", &[Int, Int, Int], |arguments| {
        steps(arguments.int(0), arguments.int(1), arguments.int(2)).map(numbers)
    }),
    variadic("seq", &[], Int, sequence),
];

fn divide(arguments: &Arguments, operation: fn(i64, i64) -> i64) -> Result<Value, Cause> {
    let divisor = cast::to_int(arguments.at(1));
    if divisor == 0 {
        return Err("runtime error: integer divide by zero".into());
    }
    Ok(Value::int64(operation(cast::to_int(arguments.at(0)), divisor)))
}

fn extreme(arguments: &Arguments, choose: fn(i64, i64) -> i64) -> i64 {
    arguments.from(1).iter().map(cast::to_int).fold(cast::to_int(arguments.at(0)), choose)
}

fn fold(first: f64, others: &[Value], operation: Operation) -> Result<Value, Cause> {
    let mut result = first;
    for other in others {
        let next = calculate(result, cast::to_float(other), operation);
        result = next.ok_or_else(|| Cause::from("decimal division by 0"))?;
    }
    Ok(Value::Float(result))
}

fn round(arguments: Arguments) -> Result<Value, Cause> {
    let value = cast::to_float(arguments.at(0));
    let threshold = if arguments.len() > 2 { cast::to_float(arguments.at(2)) } else { 0.5 };
    let power = 10_f64.powi(i32::try_from(arguments.int(1)).unwrap_or(i32::MAX));
    let digit = power * value;
    let rounded = if digit.fract() >= threshold { digit.ceil() } else { digit.floor() };
    Ok(Value::Float(rounded / power))
}

/// The numbers from `start` on, `stop` not included.
fn steps(start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Cause> {
    let mut numbers = Vec::new();
    let backwards = stop < start;
    if (backwards && step >= 0) || (!backwards && step <= 0) {
        return Ok(numbers);
    }
    let mut next = Some(start);
    while let Some(number) = next.filter(|number| if backwards { *number > stop } else { *number < stop }) {
        if numbers.len() == MAX_COUNT {
            return Err(Cause::Plain(format!("the list would have more than {MAX_COUNT} numbers")));
        }
        numbers.push(number);
        next = number.checked_add(step);
    }
    Ok(numbers)
}

fn numbers(steps: Vec<i64>) -> Value {
    Value::List(ListType::Ints, std::rc::Rc::new(steps.into_iter().map(Value::int).collect()))
}

fn sequence(arguments: Arguments) -> Result<Value, Cause> {
    let number = |index: usize| arguments.int(index);
    let (start, stop, step) = match arguments.len() {
        1 => (1, number(0), if number(0) < 1 { -1 } else { 1 }),
        2 => (number(0), number(1), if number(1) < number(0) { -1 } else { 1 }),
        3 if number(2) < number(0) && number(1) > 0 => return Ok(Value::string("")),
        3 => (number(0), number(2), number(1)),
        _ => return Ok(Value::string("")),
    };
    let beyond = if stop < start { -1 } else { 1 };
    let texts: Vec<_> = steps(start, stop.saturating_add(beyond), step)?.iter().map(i64::to_string).collect();
    Ok(Value::string(texts.join(" ")))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn sequence_of(numbers: &[i64]) -> std::string::String {
        format::shown(&sequence(Arguments(numbers.iter().copied().map(Value::int).collect())).unwrap())
    }

    #[test]
    fn sequences_go_both_ways() {
        assert_eq!(sequence_of(&[3]), "1 2 3");
        assert_eq!(sequence_of(&[-1]), "1 0 -1");
        assert_eq!(sequence_of(&[1, 2, 6]), "1 3 5");
        assert_eq!(sequence_of(&[5, -2, 0]), "5 3 1");
        assert_eq!(sequence_of(&[]), "");
    }

    #[test]
    fn lists_of_numbers_have_an_end() {
        assert!(steps(0, i64::MAX, 1).is_err());
        assert_eq!(steps(i64::MAX - 1, i64::MAX, 5).unwrap(), [i64::MAX - 1]);
    }
}
