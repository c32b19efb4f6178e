//! The kinds of lock, what a caller can want of each, and what it gets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Access, Group, Groups, Name, Role, Units};
use crate::claim::Denial;

/// What kind of lock a resource is, with its parameters. Exclusion is promised for each name and
/// kind: one name is one kind at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One holder at a time.
    Mutex,
    /// So many units, lent to many holders at a time.
    Pool(u32),
    /// Many holders at a time, if they are of one group.
    Group,
    /// Many readers at a time, or one writer.
    ReadWrite,
    /// Members of one group at a time, of which one may be exclusive.
    Role,
    /// Many holders at a time, if they are of one group; a token goes round.
    Token,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Mutex => f.write_str("mutex"),
            Kind::Pool(units) => write!(f, "pool of {units}"),
            Kind::Group => f.write_str("group lock"),
            Kind::ReadWrite => f.write_str("read-write lock"),
            Kind::Role => f.write_str("role lock"),
            Kind::Token => f.write_str("group lock by token"),
        }
    }
}

/// What a caller wants of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Want {
    /// The lock.
    Mutex,
    /// Units of a pool.
    Pool {
        /// How many, of how many.
        units: Units,
        /// Whether the caller must know which ones.
        numbered: bool,
    },
    /// To be inside with any one of these groups.
    Group(Groups),
    /// To read together with others, or to write alone.
    Access(Access),
    /// To be a member of any one of these groups.
    Role {
        /// The groups, and the role in each.
        groups: BTreeMap<Group, Role>,
        /// For how long, as far as the caller can tell.
        time: Duration,
    },
    /// To be inside with any one of these groups, of a lock whose token goes round.
    Token(Groups),
}

impl Want {
    /// The kind of lock it can be had of.
    pub fn kind(&self) -> Kind {
        match self {
            Want::Mutex => Kind::Mutex,
            Want::Pool { units, .. } => Kind::Pool(units.of),
            Want::Group(_) => Kind::Group,
            Want::Access(_) => Kind::ReadWrite,
            Want::Role { .. } => Kind::Role,
            Want::Token(_) => Kind::Token,
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let of = |group: &Group| 8 + group.name().len();
        match self {
            Want::Mutex | Want::Pool { .. } | Want::Access(_) => 16,
            Want::Group(groups) | Want::Token(groups) => groups.iter().map(of).sum(),
            Want::Role { groups, .. } => 16 + groups.keys().map(of).sum::<usize>(),
        }
    }

    /// Checks its numbers and names.
    ///
    /// # Errors
    ///
    /// Why nobody can ever have it.
    pub fn check(&self) -> Result<(), Denial> {
        match self {
            Want::Mutex | Want::Access(_) => Ok(()),
            Want::Group(groups) | Want::Token(groups) => check_groups(groups.iter()),
            Want::Role { time, .. } if *time > TIME_MAX => Err(Denial::Time(*time)),
            Want::Role { groups, .. } => check_groups(groups.keys()),
            Want::Pool { units, .. } if units.is_valid() && units.of <= UNITS_MAX => Ok(()),
            Want::Pool { units, .. } => Err(Denial::Units(*units)),
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Want::Mutex => f.write_str("the lock"),
            Want::Pool { units, .. } => units.fmt(f),
            Want::Group(groups) | Want::Token(groups) => {
                let names: Vec<&str> = groups.iter().map(Group::name).collect();
                write!(f, "group {}", names.join(" or "))
            }
            Want::Access(access) => access.fmt(f),
            Want::Role { groups, time } => {
                let all: Vec<String> =
                    groups.iter().map(|(group, role)| format!("{role} in {group}")).collect();
                write!(f, "{} for {time:?}", all.join(" or "))
            }
        }
    }
}

/// Whether anybody can be inside with one of these groups; why not.
fn check_groups<'a>(groups: impl Iterator<Item = &'a Group>) -> Result<(), Denial> {
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

/// The most groups that a caller may name.
pub const GROUPS_MAX: usize = 32;

/// The longest time that a caller may declare: a year.
pub const TIME_MAX: Duration = Duration::from_hours(365 * 24);

/// The most units a pool may have.
pub const UNITS_MAX: u32 = 1 << 16;

/// What a holder has besides its fence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Got {
    /// The lock.
    Mutex,
    /// These units of a pool, if it asked which.
    Pool(BTreeSet<u32>),
    /// This group. A writer is one by itself, whose name means nothing.
    Group(Group),
    /// This role in this group.
    Role(Group, Role),
}
