//! Where the parts of a value stand.

use super::style::{Style, analyse, is_break, style};
use super::writer::Writer;
use crate::number::format_general;
use crate::{Typing, Value};

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// A value of a mapping, or a key after `?`.
    Member,
    SimpleKey,
}

/// The layout of one document.
pub(super) struct Layout {
    typing: Typing,
    indent: usize,
    writer: Writer,
}

impl Layout {
    pub(super) const fn new(typing: Typing, indent: usize) -> Self {
        let indent = if indent < 2 || indent > 9 { 2 } else { indent };
        let width = if matches!(typing, Typing::V2) { 80 } else { usize::MAX };
        Self { typing, indent, writer: Writer::new(width) }
    }

    pub(super) fn document(mut self, value: &Value) -> String {
        self.node(value, None, Place::Root);
        self.writer.finish()
    }

    fn node(&mut self, value: &Value, indent: Option<usize>, place: Place) {
        match value {
            Value::Null => self.literally("null", indent, place),
            Value::Bool(value) => self.literally(if *value { "true" } else { "false" }, indent, place),
            Value::Int(number) => self.literally(&number.to_string(), indent, place),
            Value::Uint(number) => self.literally(&number.to_string(), indent, place),
            Value::Float(number) => self.literally(&format_general(*number), indent, place),
            Value::Timestamp(time) => self.literally(time, indent, place),
            Value::String(text) => self.text(text, indent, place),
            Value::Sequence(items) => self.sequence(items, indent, place),
            Value::Mapping(pairs) => self.mapping(pairs, indent, place),
        }
    }

    fn sequence(&mut self, items: &[Value], indent: Option<usize>, place: Place) {
        if items.is_empty() {
            return self.writer.indicator("[]", true, false);
        }
        // v2 lets a list stand under its key without indentation.
        let hanging =
            self.typing == Typing::V2 && place == Place::Member && !self.writer.is_only_indentation();
        let inner = match indent {
            Some(indent) if hanging => indent,
            _ => self.inner(indent, place, 0),
        };
        for item in items {
            self.writer.start_line(inner);
            self.writer.indicator("-", true, true);
            self.node(item, Some(inner), Place::Item);
        }
    }

    fn mapping(&mut self, pairs: &[(Value, Value)], indent: Option<usize>, place: Place) {
        if pairs.is_empty() {
            return self.writer.indicator("{}", true, false);
        }
        let inner = self.inner(indent, place, 0);
        for (key, value) in pairs {
            self.writer.start_line(inner);
            if self.is_simple_key(key) {
                self.node(key, Some(inner), Place::SimpleKey);
                self.writer.indicator(":", false, false);
            } else {
                self.writer.indicator("?", true, true);
                self.node(key, Some(inner), Place::Member);
                self.writer.start_line(inner);
                self.writer.indicator(":", true, true);
            }
            self.node(value, Some(inner), Place::Member);
        }
    }

    /// The indentation inside a value. v3 and v4 put what is in an item behind its dash and all else on a multiple of
    /// the indent.
    const fn inner(&self, indent: Option<usize>, place: Place, at_root: usize) -> usize {
        match indent {
            None => at_root,
            Some(indent) if matches!(self.typing, Typing::V2) => indent + self.indent,
            Some(indent) if matches!(place, Place::Item) => indent + 2,
            Some(indent) => self.indent * ((indent + self.indent) / self.indent),
        }
    }

    /// A key on one line of at most 128 bytes needs no `?`.
    fn is_simple_key(&self, key: &Value) -> bool {
        match key {
            Value::String(text) => text.len() <= 128 && !analyse(text, self.typing).multiline,
            Value::Sequence(items) => items.is_empty(),
            Value::Mapping(pairs) => pairs.is_empty(),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Float(_)
            | Value::Timestamp(_) => true,
        }
    }

    fn literally(&mut self, text: &str, indent: Option<usize>, place: Place) {
        let indent = self.inner(indent, place, self.indent);
        self.writer.plain(text, indent, place != Place::SimpleKey);
    }

    fn text(&mut self, text: &str, indent: Option<usize>, place: Place) {
        let is_simple_key = place == Place::SimpleKey;
        let parent = indent;
        let indent = self.inner(indent, place, self.indent);
        match style(text, analyse(text, self.typing), is_simple_key, self.typing) {
            Style::Plain => self.writer.plain(text, indent, !is_simple_key),
            Style::SingleQuoted => self.writer.single_quoted(text, indent, !is_simple_key),
            Style::DoubleQuoted => self.writer.double_quoted(text, indent, !is_simple_key),
            Style::Literal => self.writer.literal(text, indent, self.hint(text, parent, indent)),
        }
    }

    /// The digit after `|` where the text's own start hides the indentation. v2 and v3 write their fixed one, even where
    /// the block stands elsewhere; so does v4, whose texts then read back as something else or not at all. Those must
    /// not be lost, so that v4's digit here is the true one.
    fn hint(&self, text: &str, parent: Option<usize>, indent: usize) -> Option<usize> {
        if self.typing == Typing::V4 {
            let hides = text.chars().find(|character| !is_break(*character)) == Some(' ');
            return hides.then(|| indent - parent.unwrap_or_default());
        }
        let hides = text.chars().next().is_some_and(|first| first == ' ' || is_break(first));
        hides.then_some(self.indent)
    }
}
