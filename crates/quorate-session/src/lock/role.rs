//! Roles in a group.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a process is a member of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// With any others of the group; the paper's S.
    Shared,
    /// Beside shared members, but beside no other exclusive one; the paper's E.
    Exclusive,
}

impl Role {
    /// The roles, as they are spelt by people.
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

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
