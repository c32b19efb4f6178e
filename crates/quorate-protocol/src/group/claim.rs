//! What a caller asks of a group lock, and what it gets.

use std::fmt;

use quorate_quorum::SiteId;
use quorate_session::{Group, Groups};

use crate::{Fence, SessionNo, Ticket};

/// What a caller asks for: to be inside with any one of these groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The acceptable groups.
    pub groups: Groups,
    /// Whether the caller must be told if it has to wait.
    pub no_wait: bool,
}

/// How a request entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Via {
    /// With the votes of a quorum: it opened the occupancy.
    Pivot,
    /// Admitted by one manager: it joined the occupancy of `pivot`, and is valid only while the
    /// manager has the right to admit that the pivot delegated to it.
    Follower {
        /// The manager that admitted it.
        manager: SiteId,
        /// The request that opened the occupancy.
        pivot: Ticket,
        /// The manager's session at the pivot's site that its right to admit is bound to.
        right: SessionNo,
    },
}

/// What a request inside holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that entered.
    pub ticket: Ticket,
    /// The group of its occupancy.
    pub group: Group,
    /// The fence of its occupancy: greater than that of every earlier occupancy, and the same for
    /// the pivot and all followers.
    pub fence: Fence,
    /// How it entered.
    pub via: Via,
}

impl Grant {
    /// Whether it opened its occupancy.
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
