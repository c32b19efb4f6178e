//! What a caller asks of a role lock, and what it gets.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::{Group, Role};

use crate::{Fence, Ticket};

/// What a caller asks for: membership of any one of these groups, for a declared time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The acceptable groups, and the role in each.
    pub groups: BTreeMap<Group, Role>,
    /// How long it will stay; the paper's *tpodur*.
    pub time: Duration,
    /// Whether the caller must be told if it has to wait.
    pub no_wait: bool,
}

/// What a member holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that was admitted.
    pub ticket: Ticket,
    /// The group it is a member of.
    pub group: Group,
    /// Its role there.
    pub role: Role,
    /// The stage it was admitted to. Its validity is delegated by the site that hosts the stage.
    pub stage: Ticket,
    /// Its fence: that of the stage for a shared member, a greater one of its own for an exclusive
    /// member.
    pub fence: Fence,
    /// The fence of its stage: greater than all fences of earlier stages.
    pub stage_fence: Fence,
    /// Its declared time.
    pub time: Duration,
}

impl Grant {
    /// The site that hosts its stage.
    pub fn host(&self) -> SiteId {
        self.stage.site
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticket, group, role, fence, stage, .. } = self;
        write!(f, "with {ticket}, {role} in {group}, fence {fence}, stage {stage}")
    }
}
