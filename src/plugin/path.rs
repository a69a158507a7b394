//! Where in a configuration or a state something stands.

use std::fmt;

/// One step down from an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// An attribute of an object.
    Attribute(String),
    /// An element of a map.
    Key(String),
    /// An element of a list, counted from zero.
    Index(usize),
}

/// The way from the root of a resource's object to one value, e.g. `workers["general"].node_taints`.
///
/// A client shows the user the line of configuration that the path leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<PathStep>);

impl Path {
    /// The object itself.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The attribute `name` of the root object.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self::root().attribute(name)
    }

    /// The attribute `name` of the object at this path.
    #[must_use]
    pub fn attribute(self, name: impl Into<String>) -> Self {
        self.step(PathStep::Attribute(name.into()))
    }

    /// The element `key` of the map at this path.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        self.step(PathStep::Key(key.into()))
    }

    /// The element `index` (from zero) of the list at this path.
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.step(PathStep::Index(index))
    }

    /// This path with one step more.
    #[must_use]
    pub fn step(mut self, step: PathStep) -> Self {
        self.0.push(step);
        self
    }

    /// The steps from the root.
    #[must_use]
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }
}

/// As HCL writes a reference: `a.b[0].c["k"]`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Attribute(name) if position == 0 => f.write_str(name)?,
                PathStep::Attribute(name) => write!(f, ".{name}")?,
                PathStep::Key(key) => write!(f, "[{key:?}]")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_a_reference_in_hcl() {
        let path = Path::new("workers").key("general").attribute("node_taints").index(2);
        assert_eq!(path.to_string(), r#"workers["general"].node_taints[2]"#);
    }
}
