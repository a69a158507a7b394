//! An attribute's value as a client knows it: null, not known yet, or known.

use std::collections::BTreeMap;

use super::{Diagnostic, Diagnostics, Path};

/// The value of one attribute.
///
/// *Null* is "not set" (in a configuration) or "there is none" (in a state); *unknown* is "known after
/// apply" and occurs in configurations, planned values and provider configurations, never in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Attr<T> {
    /// Not set.
    #[default]
    Null,
    /// Known after apply.
    Unknown,
    /// Set.
    Known(T),
}

/// A list whose elements may be unknown one by one, as in `[kontinuum_instance.a.address]`.
pub type List<T> = Vec<Attr<T>>;

/// A map whose elements may be unknown one by one.
pub type Map<T> = BTreeMap<String, Attr<T>>;

impl<T> Attr<T> {
    /// Whether it is not set.
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is known after apply only. Looks at this value, not into a list, map or object.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// The value, if it is known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The value to change in place, if it is known.
    pub const fn known_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The value, if it is known.
    pub fn into_known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Null | Self::Unknown => None,
        }
    }

    /// The value that must be known by now, `path` naming the attribute.
    ///
    /// # Errors
    /// One error at `path` if the value is null or unknown.
    pub fn require(&self, path: &Path) -> Result<&T, Diagnostics> {
        let what = match self {
            Self::Known(value) => return Ok(value),
            Self::Null => "is not set",
            Self::Unknown => "is not known yet",
        };
        Err(Diagnostic::error(format!("{path} {what}"), format!("A known value of {path} is needed here."))
            .at(path.clone())
            .into())
    }

    /// The same kind of value with `change` applied to a known one.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Attr<U> {
        match self {
            Self::Null => Attr::Null,
            Self::Unknown => Attr::Unknown,
            Self::Known(value) => Attr::Known(change(value)),
        }
    }

    /// The same with the value borrowed.
    pub const fn as_ref(&self) -> Attr<&T> {
        match self {
            Self::Null => Attr::Null,
            Self::Unknown => Attr::Unknown,
            Self::Known(value) => Attr::Known(value),
        }
    }
}

impl<T> Attr<List<T>> {
    /// The elements, if the list and each of them is known; no elements for a null list.
    pub fn known_items(&self) -> Option<Vec<&T>> {
        match self {
            Self::Null => Some(Vec::new()),
            Self::Unknown => None,
            Self::Known(items) => items.iter().map(Attr::known).collect(),
        }
    }
}

impl<T> Attr<Map<T>> {
    /// The elements, if the map and each of them is known; no elements for a null map.
    pub fn known_entries(&self) -> Option<BTreeMap<&str, &T>> {
        match self {
            Self::Null => Some(BTreeMap::new()),
            Self::Unknown => None,
            Self::Known(entries) => {
                entries.iter().map(|(key, value)| Some((key.as_str(), value.known()?))).collect()
            }
        }
    }
}

impl<T> From<T> for Attr<T> {
    fn from(value: T) -> Self {
        Self::Known(value)
    }
}

/// `None` is null.
impl<T> From<Option<T>> for Attr<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Known)
    }
}

impl From<&str> for Attr<String> {
    fn from(value: &str) -> Self {
        Self::Known(value.to_owned())
    }
}

/// A list of known elements.
impl<T> FromIterator<T> for Attr<List<T>> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::Known(items.into_iter().map(Attr::Known).collect())
    }
}

/// A map of known elements.
impl<T> FromIterator<(String, T)> for Attr<Map<T>> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(entries: I) -> Self {
        Self::Known(entries.into_iter().map(|(key, value)| (key, Attr::Known(value))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_with_an_unknown_element_has_no_known_items() {
        let all: Attr<List<String>> = ["a".to_owned(), "b".to_owned()].into_iter().collect();
        assert_eq!(all.known_items().map(|items| items.len()), Some(2));
        let some = Attr::Known(vec![Attr::Known("a".to_owned()), Attr::Unknown]);
        assert_eq!(some.known_items(), None);
        assert_eq!(Attr::<List<String>>::Null.known_items(), Some(Vec::new()));
    }

    #[test]
    fn a_missing_value_is_named_with_its_path() {
        let missing = Attr::<String>::Unknown.require(&Path::new("pool").attribute("uid"));
        assert_eq!(
            missing.map_err(|found| found.to_string()),
            Err("Error: pool.uid is not known yet (at pool.uid): A known value of pool.uid is needed here."
                .to_owned())
        );
    }
}
