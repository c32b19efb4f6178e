//! What sites say to each other about a role lock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Role;
use crate::group::Group;
use crate::{Fence, Fences, GrantNo, Ticket};

/// The messages of the paper (section 5), and beside them one for those who overstay, two for
/// those in a hurry, and two for fences.
///
/// Between a process and a stage each names the request (A8), between a stage and an arbiter the
/// stage, and the loan where there can be several (A4, A5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To a group's host: let me be a member.
    ReqProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The role in it.
        role: Role,
        /// How long it is going to stay.
        time: Duration,
        /// Whether it wants to be told if it has to wait.
        hasty: bool,
    },
    /// From a host, to a request that wants to know: you have to wait.
    Wait {
        /// The request.
        ticket: Ticket,
    },
    /// From a host: you are a member.
    RepProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The stage.
        pr: Ticket,
        /// The member's fence.
        fence: Fence,
        /// The stage's.
        stage_fence: Fence,
        /// How long the stage lasts at most, by what its members declared.
        left: Duration,
    },
    /// To a host: I leave, do not wait any longer, or did not ask for it.
    RelProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
    },
    /// From a host: you have stayed for longer than you said, so leave.
    Revoke {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The stage.
        pr: Ticket,
    },
    /// To an arbiter: lend me your lock.
    ReqGroup {
        /// The stage.
        pr: Ticket,
        /// Whether it has members already, and replaces an arbiter of its quorum.
        held: bool,
        /// Whether it wants to be told if it has to wait.
        hasty: bool,
    },
    /// From an arbiter, to a stage that wants to know: you have to wait.
    Queued {
        /// The stage.
        pr: Ticket,
    },
    /// From an arbiter: my lock is yours.
    RecGroup {
        /// The stage.
        pr: Ticket,
        /// The loan.
        number: GrantNo,
        /// Which fences may be used with it.
        fences: Fences,
        /// Whether another stage waits for it.
        contended: bool,
        /// The arbiter's Lamport time (A3).
        clock: u64,
    },
    /// From an arbiter: another stage waits; give the lock back if you can.
    RelGroup {
        /// The stage.
        pr: Ticket,
        /// The loan.
        number: GrantNo,
        /// Whether the other goes first; otherwise this is only to be known.
        better: bool,
    },
    /// To an arbiter: here it is, and I still want it.
    RepRelGroup {
        /// The stage.
        pr: Ticket,
        /// The loan that is given back.
        number: GrantNo,
    },
    /// To an arbiter: the stage is over, or will not be.
    LibGroup {
        /// The stage.
        pr: Ticket,
        /// The first fence it has not used, if it has used any.
        floor: Option<Fence>,
    },
    /// To an arbiter: let me use fences below this one.
    Raise {
        /// The stage that needs it.
        pr: Ticket,
        /// The ceiling it needs.
        ceil: Fence,
    },
    /// From an arbiter: its ceiling now.
    Raised {
        /// The stage that asked for it.
        pr: Ticket,
        /// The ceiling.
        ceil: Fence,
    },
}

impl Message {
    /// The message's name in the paper.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::ReqProcess { .. } => "req-process",
            Message::Wait { .. } => "wait",
            Message::RepProcess { .. } => "rep-process",
            Message::RelProcess { .. } => "rel-process",
            Message::Revoke { .. } => "revoke",
            Message::ReqGroup { .. } => "req-group",
            Message::Queued { .. } => "queued",
            Message::RecGroup { .. } => "rec-group",
            Message::RelGroup { .. } => "rel-group",
            Message::RepRelGroup { .. } => "rep-rel-group",
            Message::LibGroup { .. } => "lib-group",
            Message::Raise { .. } => "raise",
            Message::Raised { .. } => "raised",
        }
    }

    /// The request or the stage it speaks of.
    pub fn ticket(&self) -> Ticket {
        match *self {
            Message::ReqProcess { ticket, .. }
            | Message::Wait { ticket }
            | Message::RepProcess { ticket, .. }
            | Message::RelProcess { ticket, .. }
            | Message::Revoke { ticket, .. } => ticket,
            Message::ReqGroup { pr, .. }
            | Message::Queued { pr }
            | Message::RecGroup { pr, .. }
            | Message::RelGroup { pr, .. }
            | Message::RepRelGroup { pr, .. }
            | Message::LibGroup { pr, .. }
            | Message::Raise { pr, .. }
            | Message::Raised { pr, .. } => pr,
        }
    }

    /// Whether it is asked of the receiver, as a host or as an arbiter; everything else is an
    /// answer.
    pub fn is_asked(&self) -> bool {
        !matches!(
            self,
            Message::RepProcess { .. }
                | Message::Wait { .. }
                | Message::Queued { .. }
                | Message::Revoke { .. }
                | Message::RecGroup { .. }
                | Message::RelGroup { .. }
                | Message::Raised { .. }
        )
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.ticket())?;
        match self {
            Message::ReqProcess { group, role, time, .. } => {
                write!(f, ", {role} in {group} for {time:?}")
            }
            Message::RepProcess { group, fence, pr, left, .. } => {
                write!(f, " in {group}, fence {fence}, stage {pr}, which has {left:?}")
            }
            Message::RelProcess { group, .. } | Message::Revoke { group, .. } => {
                write!(f, " of {group}")
            }
            Message::ReqGroup { held, .. } => f.write_str(if *held { ", held" } else { "" }),
            Message::RecGroup { number, contended, .. } => {
                write!(f, " {number}{}", if *contended { ", contended" } else { "" })
            }
            Message::RelGroup { number, better, .. } => {
                write!(f, " {number}{}", if *better { "" } else { ", contended" })
            }
            Message::RepRelGroup { number, .. } => write!(f, " {number}"),
            Message::LibGroup { .. } | Message::Wait { .. } | Message::Queued { .. } => Ok(()),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => write!(f, " to {ceil}"),
        }
    }
}
