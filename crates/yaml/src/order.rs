//! The order in which Go's yaml packages write the keys of a map.

use std::cmp::Ordering;

use crate::{Typing, Value};

/// Compares two keys in "natural" order: runs of digits by their value, letters after everything else (in v3 and v4
/// before it, if a digit stands before the first difference).
#[must_use]
pub fn natural_order(left: &str, right: &str, typing: Typing) -> Ordering {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let Some(index) = left.iter().zip(&right).position(|(a, b)| a != b) else {
        return left.len().cmp(&right.len());
    };
    let (a, b) = (left[index], right[index]);
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (false, false) => {}
        (a_is_letter, _) => {
            let after_digit =
                typing != Typing::V2 && index.checked_sub(1).is_some_and(|before| is_digit(left[before]));
            return if a_is_letter == after_digit { Ordering::Less } else { Ordering::Greater };
        }
    }
    // A zero inside a run of digits counts, so both sides get a digit before it.
    let inside_number = (a == '0' || b == '0')
        && left[..index]
            .iter()
            .rev()
            .take_while(|character| is_digit(**character))
            .any(|digit| *digit != '0');
    let (a_number, a_end) = digits(&left, index, inside_number);
    let (b_number, b_end) = digits(&right, index, inside_number);
    a_number.cmp(&b_number).then(a_end.cmp(&b_end)).then(a.cmp(&b))
}

/// Sorts every mapping in a value by [`natural_order`], keys that are no texts by their kind.
pub fn sort_naturally(value: &mut Value, typing: Typing) {
    match value {
        Value::Sequence(items) => items.iter_mut().for_each(|item| sort_naturally(item, typing)),
        Value::Mapping(pairs) => {
            pairs.iter_mut().for_each(|(_, value)| sort_naturally(value, typing));
            sort(pairs, &|(left, _), (right, _)| key_order(left, right, typing));
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::String(_) => {}
    }
}

fn key_order(left: &Value, right: &Value, typing: Typing) -> Ordering {
    if let (Value::String(left), Value::String(right)) = (left, right) {
        return natural_order(left, right, typing);
    }
    match (number(left), number(right)) {
        (Some(a), Some(b)) => a.total_cmp(&b).then(rank(left).cmp(&rank(right))),
        _ => rank(left).cmp(&rank(right)),
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_bool().map(|value| f64::from(u8::from(value))).or_else(|| value.as_f64())
}

const fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::Uint(_) => 3,
        Value::Float(_) => 4,
        Value::Sequence(_) | Value::Mapping(_) => 5,
        Value::String(_) => 6,
        Value::Timestamp(_) => 7,
    }
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

fn digits(text: &[char], start: usize, inside_number: bool) -> (i64, usize) {
    let run = text[start..].iter().map_while(|character| character.to_digit(10));
    let mut end = start;
    let mut number = i64::from(inside_number);
    for digit in run {
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
        end += 1;
    }
    (number, end)
}

/// Merge sort, with insertion below a dozen as Go sorts: the natural order is not transitive for every set of keys,
/// and the standard library may panic on such an order.
fn sort<T>(items: &mut Vec<T>, order: &impl Fn(&T, &T) -> Ordering) {
    if items.len() <= 12 {
        for index in 1..items.len() {
            let mut position = index;
            while position > 0 && order(&items[position], &items[position - 1]) == Ordering::Less {
                items.swap(position, position - 1);
                position -= 1;
            }
        }
        return;
    }
    let mut right = items.split_off(items.len() / 2);
    sort(items, order);
    sort(&mut right, order);
    let mut left = std::mem::take(items).into_iter().peekable();
    let mut right = right.into_iter().peekable();
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if order(b, a) == Ordering::Less => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        };
        let Some(next) = next else { return };
        items.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut keys: Vec<&str>, typing: Typing) -> Vec<&str> {
        sort(&mut keys, &|left, right| natural_order(left, right, typing));
        keys
    }

    #[test]
    fn digits_count_by_value_and_letters_come_last() {
        let keys = vec!["a", "K", "10", "9", "a10", "a9", "a-b", "a_b", "a.b", "ab", "net.b", "net.a10"];
        let expected = ["9", "10", "K", "a", "a-b", "a.b", "a_b", "a9", "a10", "ab", "net.a10", "net.b"];
        assert_eq!(sorted(keys.clone(), Typing::V2), expected);
        assert_eq!(sorted(keys, Typing::V4), expected);
    }

    #[test]
    fn a_letter_after_a_digit_comes_first_from_v3_on() {
        assert_eq!(sorted(vec!["a1-", "a1b"], Typing::V2), ["a1-", "a1b"]);
        assert_eq!(sorted(vec!["a1-", "a1b"], Typing::V3), ["a1b", "a1-"]);
    }

    #[test]
    fn sorts_many_keys_and_keys_without_a_consistent_order() {
        let numbers: Vec<String> = (0..100).rev().map(|number| format!("k{number}")).collect();
        let sorted = sorted(numbers.iter().map(String::as_str).collect(), Typing::V2);
        assert_eq!(sorted, (0..100).map(|number| format!("k{number}")).collect::<Vec<_>>());
        let contrary: Vec<String> =
            (0..200).map(|number| format!("{}{}", "1e0o-_"[number % 6..].to_owned(), number % 7)).collect();
        let mut value = Value::mapping(contrary.into_iter().map(|key| (key, Value::Null)));
        sort_naturally(&mut value, Typing::V2);
        assert_eq!(value.as_mapping().map(<[_]>::len), Some(200));
    }
}
