//! What a caller asks of a group lock, and what it gets.

use std::fmt;

use quorate_quorum::SiteId;
use quorate_session::{Group, Groups};

use crate::{Fence, SessionNo, Ticket};

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
