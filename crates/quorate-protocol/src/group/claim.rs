//! What a caller asks of a group lock, and what it gets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::{Fence, SessionNo, Ticket};

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

/// What a caller asks for: to be inside with any one of these groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The groups that will do.
    pub groups: Groups,
    /// Whether it must know when it has to wait.
    pub hasty: bool,
}

/// How a request got in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// With the votes of a quorum: it opened the session.
    Pivot,
    /// On the word of one manager: it joined the session of `pivot`, and is valid no longer than
    /// the right to admit that the pivot gave to the manager.
    Follower {
        /// The manager that let it in.
        manager: SiteId,
        /// The request that opened the session.
        pivot: Ticket,
        /// The session of the manager at the pivot's site on which its right rests.
        right: SessionNo,
    },
}

/// What somebody inside has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that was let in.
    pub ticket: Ticket,
    /// The group of its session.
    pub group: Group,
    /// The fence of its session: above those of all sessions before, and the same for all members.
    pub fence: Fence,
    /// How it got in.
    pub via: Via,
}

impl Grant {
    /// Whether it opened its session.
    pub fn is_pivot(&self) -> bool {
        self.via == Via::Pivot
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}, group {}, fence {}", self.ticket, self.group, self.fence)?;
        match self.via {
            Via::Pivot => f.write_str(", as pivot"),
            Via::Follower { manager, .. } => write!(f, ", let in by {manager}"),
        }
    }
}
