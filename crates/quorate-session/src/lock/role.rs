//! Role locks, without their protocol.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::groups::{self, Group};
use super::spec::{Details, KindSpec, KindWords};
use super::{Granted, Kind, Share};
use crate::claim::Denial;
use crate::limits;

pub(super) const WORDS: KindWords =
    KindWords { name: "role lock", column: Some("MEMBER"), joint_request: Some("a stage") };

/// How a process is a member of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Together with any other members; the paper's S.
    Shared,
    /// Together with shared members, but with no other exclusive one; the paper's E.
    Exclusive,
}

impl Role {
    /// The roles and their names.
    pub const ALL: [(&'static str, Role); 2] =
        [("shared", Role::Shared), ("exclusive", Role::Exclusive)];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Role::Shared => "shared",
            Role::Exclusive => "exclusive",
        }
    }
}

impl Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a caller wants of a role lock: to be a member of any one of these groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RoleSpec {
    /// The groups, and the role in each.
    #[serde(deserialize_with = "read_groups")]
    pub groups: BTreeMap<Group, Role>,
    /// For how long, as far as the caller can tell.
    pub time: Duration,
}

/// Reads no more groups than a caller may name.
fn read_groups<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Group, Role>, D::Error> {
    let groups = BTreeMap::<Group, Role>::deserialize(deserializer)?;
    groups::check_size(groups.keys()).map_err(D::Error::custom)?;
    Ok(groups)
}

impl Display for RoleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = self.groups.iter().map(|(group, role)| format!("{role} in {group}"));
        write!(f, "{} for {:?}", roles.collect::<Vec<_>>().join(" or "), self.time)
    }
}

impl KindSpec for RoleSpec {
    fn kind(&self) -> Kind {
        Kind::Role
    }

    fn check(&self) -> Result<(), Denial> {
        if self.time > limits::DECLARED_TIME {
            return Err(Denial::Time(self.time));
        }
        groups::check(self.groups.keys())
    }

    fn bytes(&self) -> usize {
        16 + groups::bytes(self.groups.keys())
    }

    fn share(&self, granted: &Granted) -> Share {
        let (group, role) = membership(granted).unzip();
        Share::of_group(group, role == Some(Role::Exclusive))
    }

    fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a> {
        let (group, role) = granted.and_then(membership).unzip();
        Details {
            groups: Some(self.groups.keys().map(Group::name).collect()),
            group: group.map(Group::name),
            role,
            declared: Some(self.time),
            ..Details::default()
        }
    }

    fn phrase(&self, granted: Option<&Granted>) -> String {
        match granted.and_then(membership) {
            Some((group, role)) => format!("as {role} member of {group}"),
            None => self.to_string(),
        }
    }

    fn cell(&self, granted: Option<&Granted>) -> String {
        match granted.and_then(membership) {
            Some((group, role)) => format!("{role} in {group}"),
            None => self.to_string(),
        }
    }
}

fn membership(granted: &Granted) -> Option<(&Group, Role)> {
    if let Granted::Role(group, role) = granted { Some((group, *role)) } else { None }
}
