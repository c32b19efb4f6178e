//! Groups, which group locks, group locks by token and role locks have.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::spec::Details;
use super::{Granted, Name};
use crate::claim::Denial;
use crate::text::{Printable, ReasonText};
use crate::{SiteError, limits};

/// A group, by its name, which is that of a lock: 1 to 256 bytes, no control characters. The
/// decoder refuses any other. Holders that are inside together are of one group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Group(Arc<str>);

impl Group {
    /// The group of this name. [`LockSpec::check`](super::LockSpec::check) checks the name of a
    /// group that a caller asks for.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Group {
    type Error = SiteError;

    fn try_from(name: String) -> Result<Self, SiteError> {
        name.parse::<Name>()?;
        Ok(Self(name.into()))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printable(&self.0).fmt(f)
    }
}

/// Some groups, any of which will do; the paper's G.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<Group>")]
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
    pub fn iter(&self) -> impl Iterator<Item = &Group> + Clone {
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

impl TryFrom<BTreeSet<Group>> for Groups {
    type Error = String;

    fn try_from(groups: BTreeSet<Group>) -> Result<Self, String> {
        check_size(groups.iter())?;
        Ok(Self(Arc::new(groups)))
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(Group::to_string).collect();
        f.write_str(&names.join(" "))
    }
}

/// Whether a caller may name these groups; why not.
pub(super) fn check<'a>(groups: impl Iterator<Item = &'a Group> + Clone) -> Result<(), Denial> {
    let invalid = groups.clone().find_map(|group| group.name().parse::<Name>().err());
    let problem = if groups.clone().next().is_none() {
        Err("there is none".to_owned())
    } else if let Some(why) = invalid {
        Err(format!("of one, {why}"))
    } else {
        check_size(groups)
    };
    problem.map_err(|why| Denial::Groups(ReasonText::fitted(&why)))
}

/// Whether a claim may have so many groups with names of these lengths; why not.
pub(super) fn check_size<'a>(
    groups: impl Iterator<Item = &'a Group> + Clone,
) -> Result<(), String> {
    let count = groups.clone().count();
    let bytes: usize = groups.map(|group| group.name().len()).sum();
    if count > limits::GROUPS {
        Err(format!("there are {count}; at most {} are allowed", limits::GROUPS))
    } else if bytes > limits::GROUPS_BYTES {
        let most = limits::GROUPS_BYTES;
        Err(format!("their names have {bytes} bytes together; at most {most} are allowed"))
    } else {
        Ok(())
    }
}

/// About how many bytes these groups take.
pub(super) fn bytes<'a>(groups: impl Iterator<Item = &'a Group>) -> usize {
    groups.map(|group| 8 + group.name().len()).sum()
}
