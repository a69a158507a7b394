//! Values: what a chart's templates are filled with.
//!
//! [`Values`] is what a user gives (or a chart's defaults); [`coalesce`](mod@coalesce) puts a chart's
//! defaults, its sub-charts' and the user's together.

pub(crate) mod coalesce;
pub(crate) mod schema;
mod set;
mod tree;

use std::fmt;

pub use set::SetError;
pub(crate) use tree::{Table, Tree, documents};

/// Values as a user gives them: a tree below a table. Maps merge, everything else is replaced; a null removes
/// what the chart has as its default.
///
/// They often hold secrets: `Debug` shows none of them.
#[derive(Clone, Default, PartialEq)]
pub struct Values(pub(crate) Table);

/// A text that cannot be read as values.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    /// The text is not YAML.
    #[error("failed to parse values")]
    Parse(#[source] yaml::Error),
    /// The text is YAML that values cannot hold.
    #[error("failed to read values: {0}")]
    Shape(String),
}

impl Values {
    /// No values: the chart's defaults hold.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one or more YAML documents (YAML 1.1, as Helm types it); later ones are merged over earlier ones.
    ///
    /// # Errors
    /// When the text is not YAML, or its root is neither a mapping nor empty.
    pub fn from_yaml(text: &str) -> Result<Self, ValuesError> {
        let mut values = Self::new();
        for document in documents(text).map_err(ValuesError::Parse)? {
            let tree = Tree::from_yaml(&document).map_err(|error| ValuesError::Shape(error.to_string()))?;
            values.merge(Self::root(tree)?);
        }
        Ok(values)
    }

    /// Takes JSON; every number becomes a float, as in YAML.
    ///
    /// # Errors
    /// When the root is neither an object nor null.
    pub fn from_json(json: &serde_json::Value) -> Result<Self, ValuesError> {
        Self::root(Tree::from_json(json))
    }

    fn root(tree: Tree) -> Result<Self, ValuesError> {
        let kind = tree.kind();
        match tree {
            Tree::Null => Ok(Self::new()),
            Tree::Map(table) => Ok(Self(table)),
            Tree::Bool(_) | Tree::Integer(_) | Tree::Float(_) | Tree::String(_) | Tree::List(_) => {
                Err(ValuesError::Shape(format!("expected a mapping at the root, got {kind}")))
            }
        }
    }

    /// The values as JSON, keys sorted: the canonical form, fit for comparing and hashing.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        tree::table_to_json(&self.0)
    }

    /// Lays `other` over these values as a second `--values` file would be: maps are merged, all else is
    /// replaced, nulls are kept.
    pub fn merge(&mut self, other: Self) {
        tree::merge(&mut self.0, other.0);
    }

    /// Sets what an expression such as `a.b=1,list[0]=x,c=null` says, as `--set` does.
    ///
    /// # Errors
    /// When the expression cannot be read.
    pub fn set(&mut self, expression: &str) -> Result<(), SetError> {
        set::apply(&mut self.0, expression, set::Typing::Guess)
    }

    /// Like [`Values::set`], but every value stays a string, as `--set-string` does.
    ///
    /// # Errors
    /// When the expression cannot be read.
    pub fn set_string(&mut self, expression: &str) -> Result<(), SetError> {
        set::apply(&mut self.0, expression, set::Typing::String)
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Values(<redacted>)")
    }
}
