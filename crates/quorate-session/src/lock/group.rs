//! Groups, and what a read-write lock makes of them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A group, by its name. Those who are inside together are of one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Group(Arc<str>);

impl Group {
    /// The group of this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Some groups, any of which will do; the paper's G.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Groups(Arc<BTreeSet<Group>>);

impl Groups {
    /// Whether `group` is one of them.
    pub fn contains(&self, group: &Group) -> bool {
        self.0.contains(group)
    }

    /// Whether there is none: nobody can be let in with it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The groups, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.0.iter()
    }
}

impl FromIterator<Group> for Groups {
    fn from_iter<I: IntoIterator<Item = Group>>(groups: I) -> Self {
        Self(Arc::new(groups.into_iter().collect()))
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Group::name).collect();
        f.write_str(&names.join(" "))
    }
}

/// How a caller wants to use what a read-write lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Together with other readers.
    Read,
    /// Alone.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "to read",
            Access::Write => "to write",
        })
    }
}
