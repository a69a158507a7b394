//! From a value to the text that Go would write.

mod json;
mod layout;
mod style;
mod writer;

pub use json::NotRepresentable;
use layout::Layout;

use crate::{Typing, Value, sort_naturally};

/// Writes as Helm's `toYaml` does: through JSON, then yaml.v2. Keys sorted, lists not indented, folded past column 80.
/// The text ends in one newline (which `toYaml` then cuts off).
///
/// # Errors
/// What JSON or the way back from it has no form for: numbers that are not finite, keys that are no texts, and
/// control characters that Go's YAML reader refuses.
pub fn emit_v2(value: &Value) -> Result<String, NotRepresentable> {
    let mut value = json::through_json(value)?;
    sort_naturally(&mut value, Typing::V2);
    Ok(Layout::new(Typing::V2, 2).document(&value))
}

/// Writes as yaml.v3's encoder does for maps, with lists indented and nothing folded; Helm's `toYamlPretty` is this
/// with an `indent` of 2. Keys sorted. An indent outside 2 to 9 becomes 2, as in Go.
#[must_use]
pub fn emit_v3(value: &Value, indent: usize) -> String {
    let mut value = value.clone();
    sort_naturally(&mut value, Typing::V3);
    Layout::new(Typing::V3, indent).document(&value)
}

/// Writes as yaml.v4's encoder (indent 4), which Talos uses. Keys keep their order, since most of them are fields of
/// structs; what is a map in Talos must be sorted before. Texts that start with a space, which v4 writes unreadably inside
/// lists, are the one difference: see the digit of the literal block.
#[must_use]
pub fn emit_v4(value: &Value) -> String {
    Layout::new(Typing::V4, 4).document(value)
}

/// [`emit_v4`] of several documents, with `---` between them.
#[must_use]
pub fn emit_v4_documents<'value>(values: impl IntoIterator<Item = &'value Value>) -> String {
    let texts: Vec<String> = values.into_iter().map(emit_v4).collect();
    texts.join("---\n")
}
