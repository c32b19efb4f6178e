//! A read-write lock is a group lock.

use std::fmt;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use super::{Claim, Group};
use crate::ClaimId;

/// How a caller wants to use what a read-write lock guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Access {
    /// Together with other readers.
    Read,
    /// Alone.
    Write,
}

impl Access {
    /// What the caller of `claim` at `site` asks of the group lock: all readers are one group, and
    /// each writer is a group of its own.
    ///
    /// A claim's number is not used again while its site lives. A site that has restarted may use
    /// it again: nobody lets it in before the sessions of its former life are over, and with them
    /// what a writer of that name had.
    pub fn claim(self, site: SiteId, ClaimId(claim): ClaimId) -> Claim {
        let group = match self {
            Access::Read => Group::new("read"),
            Access::Write => Group::new(&format!("write {site}/{claim}")),
        };
        Claim { groups: [group].into_iter().collect(), hasty: false }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "to read",
            Access::Write => "to write",
        })
    }
}
