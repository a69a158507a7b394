//! The text under construction and its cursor.

use super::style::{is_break, is_printable};

/// Text that grows, with what decides about line breaks and spaces at its end.
pub(super) struct Writer {
    text: String,
    column: usize,
    /// The end of the text separates what follows.
    after_space: bool,
    /// Nothing but indentation and list dashes stand on the line so far.
    only_indentation: bool,
    /// Lines are folded at the first space past this column.
    width: usize,
}

impl Writer {
    pub(super) const fn new(width: usize) -> Self {
        Self { text: String::new(), column: 0, after_space: true, only_indentation: true, width }
    }

    pub(super) fn finish(mut self) -> String {
        self.start_line(0);
        self.text
    }

    pub(super) const fn is_only_indentation(&self) -> bool {
        self.only_indentation
    }

    /// Goes to a column, on this line if nothing stands there yet.
    pub(super) fn start_line(&mut self, indent: usize) {
        let occupied = self.column > indent || (self.column == indent && !self.after_space);
        if !self.only_indentation || occupied {
            self.break_line();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.after_space = true;
        self.only_indentation = true;
    }

    /// Writes an indicator such as `-` or `:`.
    pub(super) fn indicator(&mut self, indicator: &str, separated: bool, is_indentation: bool) {
        self.separate(separated);
        indicator.chars().for_each(|character| self.put(character));
        self.after_space = false;
        self.only_indentation = self.only_indentation && is_indentation;
    }

    pub(super) fn plain(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.separate(!text.is_empty());
        self.flowing(text, indent, may_fold, false);
        self.end_scalar();
    }

    pub(super) fn single_quoted(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.indicator("'", true, false);
        self.flowing(text, indent, may_fold, true);
        self.indicator("'", false, false);
        self.end_scalar();
    }

    pub(super) fn double_quoted(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.indicator("\"", true, false);
        // Go looks for a byte order mark at the start of the text at each character, and escapes them all then.
        let escape_all = text.starts_with('\u{feff}');
        let mut after_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if escape_all
                || !is_printable(character)
                || is_break(character)
                || matches!(character, '"' | '\\')
            {
                self.escaped(character);
                after_space = false;
            } else if character == ' ' {
                if may_fold && !after_space && self.column > self.width && index > 0 && next.is_some() {
                    self.start_line(indent);
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                after_space = true;
            } else {
                self.put(character);
                after_space = false;
            }
        }
        self.indicator("\"", false, false);
        self.end_scalar();
    }

    /// Writes a literal block with its header, `hint` standing for the indentation where the text hides it.
    pub(super) fn literal(&mut self, text: &str, indent: usize, hint: Option<usize>) {
        self.indicator("|", true, false);
        if let Some(hint) = hint {
            self.indicator(&hint.to_string(), false, false);
        }
        self.indicator(chomping(text), false, false);
        self.break_line();
        self.only_indentation = true;
        self.after_space = true;
        let mut at_break = true;
        for character in text.chars() {
            if is_break(character) {
                self.put_break(character);
                self.only_indentation = true;
                at_break = true;
            } else {
                if at_break {
                    self.start_line(indent);
                }
                self.put(character);
                self.only_indentation = false;
                at_break = false;
            }
        }
    }

    /// Plain and single-quoted text, folded at single spaces.
    fn flowing(&mut self, text: &str, indent: usize, may_fold: bool, quoted: bool) {
        let mut after_space = false;
        let mut at_break = false;
        let mut characters = text.char_indices().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if character == ' ' {
                let inside = !quoted || (index > 0 && next.is_some());
                if may_fold && !after_space && self.column > self.width && inside && next != Some(' ') {
                    self.start_line(indent);
                } else {
                    self.put(' ');
                }
                after_space = true;
            } else if is_break(character) {
                if !at_break && character == '\n' {
                    self.break_line();
                }
                self.put_break(character);
                self.only_indentation = true;
                at_break = true;
            } else {
                if at_break {
                    self.start_line(indent);
                }
                if quoted && character == '\'' {
                    self.put('\'');
                }
                self.put(character);
                self.only_indentation = false;
                after_space = false;
                at_break = false;
            }
        }
    }

    fn escaped(&mut self, character: char) {
        let escape = match character {
            '\0' => "\\0".to_owned(),
            '\u{7}' => "\\a".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\t' => "\\t".to_owned(),
            '\n' => "\\n".to_owned(),
            '\u{b}' => "\\v".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\r' => "\\r".to_owned(),
            '\u{1b}' => "\\e".to_owned(),
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\u{85}' => "\\N".to_owned(),
            '\u{a0}' => "\\_".to_owned(),
            '\u{2028}' => "\\L".to_owned(),
            '\u{2029}' => "\\P".to_owned(),
            other => match u32::from(other) {
                code @ ..=0xff => format!("\\x{code:02X}"),
                code @ ..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            },
        };
        escape.chars().for_each(|character| self.put(character));
    }

    fn separate(&mut self, wanted: bool) {
        if wanted && !self.after_space {
            self.put(' ');
        }
    }

    const fn end_scalar(&mut self) {
        self.after_space = false;
        self.only_indentation = false;
    }

    fn put(&mut self, character: char) {
        self.text.push(character);
        self.column += 1;
    }

    fn put_break(&mut self, character: char) {
        self.text.push(character);
        self.column = 0;
    }

    fn break_line(&mut self) {
        self.put_break('\n');
    }
}

/// `-` if no line break ends the text, `+` if several do or nothing else is there.
fn chomping(text: &str) -> &'static str {
    let mut reversed = text.chars().rev();
    match (reversed.next(), reversed.next()) {
        (Some(last), _) if !is_break(last) => "-",
        (None, _) => "-",
        (Some(_), None) => "+",
        (Some(_), Some(previous)) if is_break(previous) => "+",
        (Some(_), Some(_)) => "",
    }
}
