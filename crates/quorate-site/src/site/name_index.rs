//! The names of the locks in use, in the order of their texts: for lists.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use quorate_session::Name;

/// The texts of names. The table of locks has the names in the order of their hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct NameIndex(BTreeSet<Arc<str>>);

impl NameIndex {
    pub(super) fn insert(&mut self, name: &Name) {
        self.0.insert(name.shared_text());
    }

    pub(super) fn remove(&mut self, name: &Name) {
        self.0.remove(name.as_str());
    }

    /// The names that begin with `prefix` and come after `after`.
    pub(super) fn after<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a Name>,
    ) -> impl Iterator<Item = &'a str> {
        let start = match after {
            Some(after) if after.as_str() >= prefix => Bound::Excluded(after.as_str()),
            _ => Bound::Included(prefix),
        };
        let names = self.0.range::<str, _>((start, Bound::Unbounded)).map(|text| &**text);
        names.take_while(move |text| text.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_prefix_and_from_a_place() {
        let mut index = NameIndex::default();
        for text in ["b/2", "a", "b/1", "b/10", "c", "b"] {
            index.insert(&text.parse().unwrap());
        }
        index.remove(&"c".parse().unwrap());
        let list = |prefix: &str, after: Option<&str>| {
            let after = after.map(|text| text.parse().unwrap());
            index.after(prefix, after.as_ref()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(list("", None), "a b b/1 b/10 b/2");
        assert_eq!(list("b/", None), "b/1 b/10 b/2");
        assert_eq!(list("b/", Some("b/1")), "b/10 b/2");
        assert_eq!(list("b/", Some("a")), "b/1 b/10 b/2", "it is before all of them");
        assert_eq!(list("b/", Some("c")), "", "it is after all of them");
        assert_eq!(list("", Some("b/15")), "b/2", "it is not in use");
    }
}
