//! From a text to documents.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::resolve::old_boolean;
use crate::{Content, Document, Error, Node, Problem, Scalar, Typing, Value, resolve};

/// A text of this many bytes is refused: the largest index of a chart repository is a fraction of it.
const LARGEST_TEXT: usize = 64 << 20;

/// Deeper nesting is refused: the deepest schemas of Kubernetes stay below a hundred levels, and a stack of two
/// megabytes holds this many.
const DEEPEST: usize = 256;

/// What aliases may add in values, over all documents of a text. Real anchors add a few hundred.
const MOST_ALIASED: usize = 100_000;

/// Reads all documents of a text. Documents of comments only are null.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse_documents(text: &str, typing: Typing) -> Result<Vec<Document>, Error> {
    let mut reader = Reader::new(text, typing)?;
    let mut documents = Vec::new();
    while let Some(document) = reader.document()? {
        documents.push(document);
    }
    Ok(documents)
}

/// Reads the first document of a text and looks no further, as Go's `Unmarshal` does; `None` for an empty text.
///
/// # Errors
/// The first thing that is wrong in that document, with its place.
pub fn parse_document(text: &str, typing: Typing) -> Result<Option<Document>, Error> {
    Reader::new(text, typing)?.document()
}

struct Reader<'text> {
    parser: Parser<'text, StrInput<'text>>,
    typing: Typing,
    anchors: BTreeMap<usize, Node>,
    aliased: usize,
}

impl<'text> Reader<'text> {
    fn new(text: &'text str, typing: Typing) -> Result<Self, Error> {
        if text.len() > LARGEST_TEXT {
            return Err(Error { line: 1, column: 1, problem: Problem::TooLarge(LARGEST_TEXT) });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Ok(Self { parser: Parser::new_from_str(text), typing, anchors: BTreeMap::new(), aliased: 0 })
    }

    fn document(&mut self) -> Result<Option<Document>, Error> {
        loop {
            let Some((event, _)) = self.event()? else { return Ok(None) };
            if matches!(event, Event::DocumentStart(_)) {
                break;
            }
        }
        self.anchors.clear();
        let Some((event, span)) = self.event()? else { return Ok(None) };
        let root = self.node(event, span, 0)?;
        Ok(Some(Document { line: root.line, root }))
    }

    fn event(&mut self) -> Result<Option<(Event<'text>, Span)>, Error> {
        self.parser.next_event().transpose().map_err(|error| Error {
            line: error.marker().line(),
            column: error.marker().col() + 1,
            problem: Problem::Syntax(error.info().to_owned()),
        })
    }

    /// The next event inside a value; the parser ends no stream there.
    fn inner_event(&mut self, from: Span) -> Result<(Event<'text>, Span), Error> {
        self.event()?.ok_or_else(|| error(from, Problem::Syntax("unexpected end of the text".to_owned())))
    }

    fn node(&mut self, event: Event<'text>, span: Span, depth: usize) -> Result<Node, Error> {
        if depth > DEEPEST {
            return Err(error(span, Problem::TooDeep(DEEPEST)));
        }
        let (content, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let scalar = scalar(text, style, tag.as_deref(), self.typing)
                    .map_err(|problem| error(span, problem))?;
                (Content::Scalar(scalar), anchor)
            }
            Event::SequenceStart(anchor, _) => (self.sequence(span, depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.mapping(span, depth)?, anchor),
            Event::Alias(anchor) => return self.alias(anchor, span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => {
                return Err(error(span, Problem::Syntax("expected a value".to_owned())));
            }
        };
        let node = Node { content, line: span.start.line(), column: span.start.col() + 1 };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn sequence(&mut self, start: Span, depth: usize) -> Result<Content, Error> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.inner_event(start)?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(Content::Sequence(items));
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, start: Span, depth: usize) -> Result<Content, Error> {
        let mut pairs = Pairs::new(self.typing);
        loop {
            let (event, span) = self.inner_event(start)?;
            if matches!(event, Event::MappingEnd) {
                return pairs.finish().map(Content::Mapping);
            }
            let key = self.node(event, span, depth + 1)?;
            let (event, span) = self.inner_event(start)?;
            let value = self.node(event, span, depth + 1)?;
            pairs.add(key, value)?;
        }
    }

    /// A copy of what the alias names. An anchor is known when its value is complete, so that one that is not known
    /// stands around the alias.
    fn alias(&mut self, anchor: usize, span: Span) -> Result<Node, Error> {
        let Some(node) = self.anchors.get(&anchor) else { return Err(error(span, Problem::Recursive)) };
        self.aliased += count(node);
        if self.aliased > MOST_ALIASED {
            return Err(error(span, Problem::TooManyAliases(MOST_ALIASED)));
        }
        Ok(node.clone())
    }
}

/// The pairs of one mapping under one typing's rules for merges and repeated keys.
struct Pairs {
    typing: Typing,
    pairs: Vec<(Node, Node)>,
    places: BTreeMap<(u8, String), usize>,
    /// v3 merges when all keys are known.
    merges: Vec<Node>,
}

impl Pairs {
    const fn new(typing: Typing) -> Self {
        Self { typing, pairs: Vec::new(), places: BTreeMap::new(), merges: Vec::new() }
    }

    fn add(&mut self, key: Node, value: Node) -> Result<(), Error> {
        let Some(scalar) = key.as_scalar() else { return Err(error_at(&key, Problem::CompositeKey)) };
        if self.typing.merges() && scalar.plain && scalar.text == "<<" {
            if self.typing == Typing::V2 {
                // As v2 does: what is merged replaces what stands before it.
                for source in sources(value)?.into_iter().rev() {
                    source.into_iter().try_for_each(|(key, value)| self.put(key, value))?;
                }
            } else {
                self.merges.push(value);
            }
            return Ok(());
        }
        self.put(key, value)
    }

    fn put(&mut self, key: Node, value: Node) -> Result<(), Error> {
        let identity = identity(&key, self.typing)?;
        let Some(place) = self.places.get(&identity) else {
            self.places.insert(identity, self.pairs.len());
            self.pairs.push((key, value));
            return Ok(());
        };
        if self.typing.refuses_duplicates() {
            let first_line = self.pairs[*place].0.line;
            let name = key.text().unwrap_or_default().to_owned();
            return Err(error_at(&key, Problem::DuplicateKey { key: name, first_line }));
        }
        self.pairs[*place].1 = value;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(Node, Node)>, Error> {
        for merge in std::mem::take(&mut self.merges) {
            for (key, value) in sources(merge)?.into_iter().flatten() {
                if !self.places.contains_key(&identity(&key, self.typing)?) {
                    self.put(key, value)?;
                }
            }
        }
        Ok(self.pairs)
    }
}

/// What tells keys apart: in v2 their typed value, later their text.
fn identity(key: &Node, typing: Typing) -> Result<(u8, String), Error> {
    let scalar = key.as_scalar().ok_or_else(|| error_at(key, Problem::CompositeKey))?;
    if typing.refuses_duplicates() {
        return Ok((0, scalar.text.clone()));
    }
    Ok(match &scalar.value {
        Value::String(text) => (0, text.clone()),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Float(_)
        | Value::Timestamp(_)
        | Value::Sequence(_)
        | Value::Mapping(_)) => (1, format!("{other:?}")),
    })
}

/// The mappings that a merge names, the first one the strongest.
fn sources(merge: Node) -> Result<Vec<Vec<(Node, Node)>>, Error> {
    let (line, column) = (merge.line, merge.column);
    let refused = || Error { line, column, problem: Problem::MergeOfNoMapping };
    match merge.content {
        Content::Mapping(pairs) => Ok(vec![pairs]),
        Content::Sequence(items) => items
            .into_iter()
            .map(|item| match item.content {
                Content::Mapping(pairs) => Ok(pairs),
                Content::Scalar(_) | Content::Sequence(_) => Err(refused()),
            })
            .collect(),
        Content::Scalar(_) => Err(refused()),
    }
}

fn count(node: &Node) -> usize {
    match &node.content {
        Content::Scalar(_) => 1,
        Content::Sequence(items) => 1 + items.iter().map(count).sum::<usize>(),
        Content::Mapping(pairs) => {
            1 + pairs.iter().map(|(key, value)| count(key) + count(value)).sum::<usize>()
        }
    }
}

fn scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
    typing: Typing,
) -> Result<Scalar, Problem> {
    let value = match tag {
        None if style == ScalarStyle::Plain => resolve(&text, typing),
        None => Value::string(&*text),
        Some(tag) if tag.is_yaml_core_schema() => tagged(&text, &tag.suffix, typing)?,
        Some(_) => Value::string(&*text),
    };
    Ok(Scalar { value, plain: tag.is_none() && style == ScalarStyle::Plain, text: text.into_owned() })
}

/// A scalar with one of YAML's own tags, which must fit.
fn tagged(text: &str, tag: &str, typing: Typing) -> Result<Value, Problem> {
    let refused = || Problem::Tag { text: text.to_owned(), tag: format!("!!{tag}") };
    let resolved = resolve(text, typing);
    match (tag, resolved) {
        ("null", value @ Value::Null)
        | ("bool", value @ Value::Bool(_))
        | ("int", value @ (Value::Int(_) | Value::Uint(_)))
        | ("float", value @ Value::Float(_))
        | ("timestamp", value @ Value::Timestamp(_)) => Ok(value),
        ("float", value @ (Value::Int(_) | Value::Uint(_))) => {
            value.as_f64().map(Value::Float).ok_or_else(refused)
        }
        // v2 keeps times as texts.
        ("timestamp", value @ Value::String(_))
            if typing == Typing::V2
                && matches!(resolve(text, Typing::V3), Value::Timestamp(_))
                && old_boolean(text).is_none() =>
        {
            Ok(value)
        }
        ("null" | "bool" | "int" | "float" | "timestamp", _) => Err(refused()),
        ("binary", _) => decode_base64(text)
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .map(Value::String)
            .ok_or_else(refused),
        _ => Ok(Value::string(text)),
    }
}

/// Standard base64 with padding; line breaks are skipped, as Go's decoder does.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let symbols: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    if !symbols.len().is_multiple_of(4) {
        return None;
    }
    let last = symbols.len() / 4;
    for (index, group) in symbols.chunks(4).enumerate() {
        let padding = group.iter().rev().take_while(|symbol| **symbol == b'=').count();
        if padding > 2 || (padding > 0 && index + 1 != last) {
            return None;
        }
        let mut bits = 0_u32;
        for symbol in &group[..4 - padding] {
            let value = match symbol {
                b'A'..=b'Z' => symbol - b'A',
                b'a'..=b'z' => symbol - b'a' + 26,
                b'0'..=b'9' => symbol - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

const fn error_at(node: &Node, problem: Problem) -> Error {
    Error { line: node.line, column: node.column, problem }
}

fn error(span: Span, problem: Problem) -> Error {
    Error { line: span.start.line(), column: span.start.col() + 1, problem }
}
