//! Values as templates see them: Go's types, as far as charts can tell them apart.
//!
//! Maps are references: a template that sets a key is seen by all that hold the same map. Strings are bytes.

pub(crate) mod convert;
pub(crate) mod format;
pub(crate) mod json;
pub(crate) mod kind;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod printf;
pub(crate) mod text;
pub(crate) mod toml;
pub(crate) mod toml_read;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) use object::Object;
pub(crate) use text::Text;

/// How deep values may nest before they are refused: walking them must not exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 400;

/// A value.
#[derive(Clone)]
pub(crate) enum Value {
    /// No value at all: what a pipeline makes of nil. Never inside a list or a map.
    Absent,
    /// A nil interface: null, or a key that a map does not have.
    Nil,
    Bool(bool),
    Integer(IntegerType, i64),
    Float(f64),
    String(Text),
    /// A Go `[]uint8`.
    Bytes(Text),
    List(ListType, Rc<Vec<Self>>),
    Map(MapType, Map),
    Time(jiff::Zoned),
    /// Nanoseconds.
    Duration(i64),
    Object(Rc<Object>),
}

/// Go's types of whole numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntegerType {
    Int,
    Int64,
    Uint8,
    Uint64,
}

/// Go's types of lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ListType {
    /// `[]interface {}`
    Any,
    /// `[]interface {}` that is nil: empty, and null in JSON
    Nil,
    /// `[]string`
    Strings,
    /// `[]string` that is nil
    NilStrings,
    /// `[]int`
    Ints,
    /// `[][]interface {}`
    Lists,
    /// `[]map[string]interface {}`
    Tables,
    /// `common.VersionSet`, which has a method
    VersionSet,
}

/// Go's types of maps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MapType {
    /// `map[string]interface {}`
    Any,
    /// `common.Values`, which has methods
    Values,
    /// `map[string]string`
    Strings,
    /// `map[string]string` that is nil: empty, and null in JSON
    NilStrings,
    /// `engine.files`: bytes by path, with methods
    Files,
}

pub(crate) type Entries = BTreeMap<Rc<str>, Value>;

/// A map that is shared by all who hold it.
pub(crate) type Map = Rc<RefCell<Entries>>;

impl Value {
    /// A Go `int`.
    pub(crate) const fn int(number: i64) -> Self {
        Self::Integer(IntegerType::Int, number)
    }

    /// A Go `int64`.
    pub(crate) const fn int64(number: i64) -> Self {
        Self::Integer(IntegerType::Int64, number)
    }

    pub(crate) fn string(text: impl AsRef<[u8]>) -> Self {
        Self::String(Text::from(text.as_ref()))
    }

    /// A Go `[]interface {}`.
    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(ListType::Any, Rc::new(items))
    }

    /// A Go `[]interface {}`; without items it is nil.
    pub(crate) fn list_or_nil(items: Vec<Self>) -> Self {
        let kind = if items.is_empty() { ListType::Nil } else { ListType::Any };
        Self::List(kind, Rc::new(items))
    }

    /// A Go `[]string`.
    pub(crate) fn strings<T: AsRef<[u8]>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(ListType::Strings, Rc::new(items.into_iter().map(Self::string).collect()))
    }

    /// A Go `map[string]interface {}`.
    pub(crate) fn map(entries: Entries) -> Self {
        Self::Map(MapType::Any, new_map(entries))
    }

    pub(crate) fn object(object: Object) -> Self {
        Self::Object(Rc::new(object))
    }

    /// Whether this is nil, in either form.
    pub(crate) const fn is_nil(&self) -> bool {
        matches!(self, Self::Absent | Self::Nil)
    }

    /// What a list or a map may hold of this.
    pub(crate) fn stored(self) -> Self {
        if matches!(self, Self::Absent) { Self::Nil } else { self }
    }
}

pub(crate) fn new_map(entries: Entries) -> Map {
    Rc::new(RefCell::new(entries))
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
