//! What a caller asks of a role lock, and what it gets.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::{Group, Role};

use crate::{Fence, Ticket};

/// What a caller asks for: to be a member of any one of these groups, for a declared time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The groups that will do, and the role in each.
    pub groups: BTreeMap<Group, Role>,
    /// How long it is going to stay; the paper's *tpodur*.
    pub time: Duration,
    /// Whether it must know when it has to wait.
    pub hasty: bool,
}

/// What a member has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that was admitted.
    pub ticket: Ticket,
    /// The group it is a member of.
    pub group: Group,
    /// Its role there.
    pub role: Role,
    /// The stage it was admitted to. It is inside on the word of the site that hosts it.
    pub stage: Ticket,
    /// Its fence: that of the stage if it is shared, a number of its own if it is exclusive.
    pub fence: Fence,
    /// The fence of its stage: above all fences of the stages before.
    pub stage_fence: Fence,
    /// How long it said that it would stay.
    pub time: Duration,
}

impl Grant {
    /// The site on whose word it is inside.
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
