//! Groups, which group locks, group locks by token and role locks have.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::spec::Details;
use super::{Granted, Name};
use crate::claim::Denial;
use crate::text::Printable;

/// The most groups that a caller may name.
pub const GROUPS_MAX: usize = 32;

/// A group, by its name. Holders that are inside together are of one group.
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
        Printable(&self.0).fmt(f)
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

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The groups, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Group> {
        self.0.iter()
    }

    /// Their names, joined by "or".
    pub(super) fn any(&self) -> String {
        self.iter().map(Group::to_string).collect::<Vec<_>>().join(" or ")
    }

    pub(super) fn check(&self) -> Result<(), Denial> {
        check(self.iter())
    }

    pub(super) fn bytes(&self) -> usize {
        bytes(self.iter())
    }

    pub(super) fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a> {
        let groups = Some(self.iter().map(Group::name).collect());
        let group = granted.and_then(Granted::group).map(Group::name);
        Details { groups, group, ..Details::default() }
    }

    pub(super) fn phrase(&self, granted: Option<&Granted>) -> String {
        format!("with group {}", self.cell(granted))
    }

    pub(super) fn cell(&self, granted: Option<&Granted>) -> String {
        granted.and_then(Granted::group).map_or_else(|| self.any(), ToString::to_string)
    }
}

impl Granted {
    /// The group that was granted, with a role or without.
    pub(super) fn group(&self) -> Option<&Group> {
        if let Granted::Group(group) | Granted::Role(group, _) = self { Some(group) } else { None }
    }
}

impl FromIterator<Group> for Groups {
    fn from_iter<I: IntoIterator<Item = Group>>(groups: I) -> Self {
        Self(Arc::new(groups.into_iter().collect()))
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(Group::to_string).collect();
        f.write_str(&names.join(" "))
    }
}

/// Whether a caller may name these groups; why not.
pub(super) fn check<'a>(groups: impl Iterator<Item = &'a Group>) -> Result<(), Denial> {
    let groups: Vec<&Group> = groups.collect();
    let problem = if groups.is_empty() {
        "there is none".to_owned()
    } else if groups.len() > GROUPS_MAX {
        format!("there are more than {GROUPS_MAX}")
    } else if let Some(Err(why)) =
        groups.iter().map(|group| group.name().parse::<Name>()).find(Result::is_err)
    {
        format!("of one, {why}")
    } else {
        return Ok(());
    };
    Err(Denial::Groups(problem.into()))
}

/// About how many bytes these groups take.
pub(super) fn bytes<'a>(groups: impl Iterator<Item = &'a Group>) -> usize {
    groups.map(|group| 8 + group.name().len()).sum()
}
