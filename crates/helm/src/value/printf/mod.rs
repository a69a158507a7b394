//! Go's `fmt.Sprintf`.

mod verb;

use super::{Value, format, kind, text};
use verb::verb_of;

/// What stands between `%` and the verb.
#[derive(Clone, Copy, Default)]
struct Flags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// The widest field: Go's own limit.
const MAX_WIDTH: i64 = 1_000_000;

/// Fills a format with values. Mistakes show in the result, as in Go.
pub(crate) fn sprintf(template: &[u8], values: &[Value]) -> Vec<u8> {
    let template = text::lossy(template).into_owned();
    let mut printer = Printer { out: Vec::new(), values, next: 0, reordered: false };
    printer.run(&template);
    printer.out
}

struct Printer<'values> {
    out: Vec<u8>,
    values: &'values [Value],
    next: usize,
    reordered: bool,
}

impl Printer<'_> {
    fn run(&mut self, template: &str) {
        let mut rest = template;
        while let Some(at) = rest.find('%') {
            self.out.extend_from_slice(&rest.as_bytes()[..at]);
            rest = self.directive(&rest[at + 1..]);
        }
        self.out.extend_from_slice(rest.as_bytes());
        if !self.reordered && self.next < self.values.len() {
            self.extra();
        }
    }

    /// One verb and all that belongs to it; hands back what follows.
    fn directive<'text>(&mut self, text: &'text str) -> &'text str {
        let mut flags = Flags::default();
        let mut rest = text;
        loop {
            match rest.as_bytes().first() {
                Some(b'+') => flags.plus = true,
                Some(b'-') => flags.minus = true,
                Some(b'#') => flags.sharp = true,
                Some(b' ') => flags.space = true,
                Some(b'0') => flags.zero = true,
                _ => break,
            }
            rest = &rest[1..];
        }
        flags.zero &= !flags.minus;
        rest = self.index(rest);
        (flags.width, rest) = self.size(rest, &mut flags, "WIDTH");
        if let Some(after) = rest.strip_prefix('.') {
            rest = self.index(after);
            let (precision, after) = self.size(rest, &mut flags, "PREC");
            flags.precision = Some(precision.unwrap_or(0));
            rest = after;
        }
        rest = self.index(rest);
        let Some(verb) = rest.chars().next() else {
            self.out.extend_from_slice(b"%!(NOVERB)");
            return "";
        };
        let after = &rest[verb.len_utf8()..];
        if verb == '%' {
            self.out.push(b'%');
            return after;
        }
        match self.values.get(self.next) {
            Some(value) => {
                self.next += 1;
                let printed = verb_of(value, verb, flags, 0);
                self.out.extend_from_slice(&printed);
            }
            None => self.out.extend_from_slice(format!("%!{verb}(MISSING)").as_bytes()),
        }
        after
    }

    /// `[n]`: the next value is the n-th.
    fn index<'text>(&mut self, text: &'text str) -> &'text str {
        let Some((number, after)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            return text;
        };
        self.reordered = true;
        match number.parse::<usize>() {
            Ok(number) if (1..=self.values.len()).contains(&number) => self.next = number - 1,
            Ok(_) | Err(_) => self.next = self.values.len(),
        }
        after
    }

    /// A width or precision: a number, or `*` for the next value.
    fn size<'text>(
        &mut self,
        text: &'text str,
        flags: &mut Flags,
        name: &str,
    ) -> (Option<usize>, &'text str) {
        if let Some(after) = text.strip_prefix('*') {
            let value = self.values.get(self.next);
            self.next += 1;
            return match value {
                Some(Value::Integer(_, size)) if (-MAX_WIDTH..=MAX_WIDTH).contains(size) => {
                    if *size < 0 {
                        flags.minus = true;
                        flags.zero = false;
                    }
                    (usize::try_from(size.unsigned_abs()).ok(), after)
                }
                _ => {
                    self.out.extend_from_slice(format!("%!(BAD{name})").as_bytes());
                    (None, after)
                }
            };
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let size = text[..digits]
            .parse::<usize>()
            .ok()
            .filter(|size| i64::try_from(*size).is_ok_and(|size| size <= MAX_WIDTH));
        (size, &text[digits..])
    }

    fn extra(&mut self) {
        self.out.extend_from_slice(b"%!(EXTRA ");
        for (index, value) in self.values[self.next..].iter().enumerate() {
            if index > 0 {
                self.out.extend_from_slice(b", ");
            }
            if value.is_nil() {
                self.out.extend_from_slice(b"<nil>");
            } else {
                self.out.extend_from_slice(
                    format!("{}={}", kind::type_name(value), format::shown(value)).as_bytes(),
                );
            }
        }
        self.out.push(b')');
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn filled(template: &str, values: &[Value]) -> String {
        String::from_utf8(sprintf(template.as_bytes(), values)).unwrap()
    }

    #[test]
    fn verbs_print_as_go_prints() {
        let (text, whole, float) = (Value::string("ab"), Value::int(42), Value::Float(3.141_61));
        for (template, value, expected) in [
            ("%5.2f", &float, " 3.14"),
            ("%-5s|", &text, "ab   |"),
            ("%05d", &whole, "00042"),
            ("%+d", &whole, "+42"),
            ("%x", &text, "6162"),
            ("%#x", &whole, "0x2a"),
            ("%q", &text, "\"ab\""),
            ("%d", &text, "%!d(string=ab)"),
            ("%s", &whole, "%!s(int=42)"),
            ("%s", &Value::Nil, "%!s(<nil>)"),
            ("%v", &Value::Nil, "<nil>"),
            ("%T", &whole, "int"),
            ("%e", &Value::Float(1234.5), "1.234500e+03"),
            ("%08.3f", &float, "0003.142"),
            ("%c", &Value::int(120), "x"),
            ("%6.3v", &float, "  3.14"),
            ("%.3s", &Value::string("abcdef"), "abc"),
            ("%v", &Value::Float(1e6), "1e+06"),
            ("%05s", &text, "000ab"),
            ("%.0f", &Value::Float(2.5), "2"),
            ("%s", &Value::list(vec![Value::string("a"), Value::int(1)]), "[a %!s(int=1)]"),
            ("%!", &whole, "%!!(int=42)"),
            ("100%%", &whole, "100%%!(EXTRA int=42)"),
        ] {
            assert_eq!(filled(template, std::slice::from_ref(value)), expected, "{template}");
        }
    }

    #[test]
    fn mistakes_show_in_the_text() {
        assert_eq!(filled("%d %s", &[Value::int(1)]), "1 %!s(MISSING)");
        assert_eq!(filled("%", &[]), "%!(NOVERB)");
        assert_eq!(filled("%[2]d %[1]d", &[Value::int(1), Value::int(2)]), "2 1");
        assert_eq!(filled("%*d", &[Value::int(5), Value::int(3)]), "    3");
    }
}
