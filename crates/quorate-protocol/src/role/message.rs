//! The messages of a role lock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::Role;
use crate::group::Group;
use crate::{Fence, Fences, GrantNo, Ticket};

/// The eight messages of the paper (section 5), `Revoke` for members that overstay, `Wait` and
/// `Queued` for requests that must not queue silently, and `Raise` and `Raised` for fences.
///
/// Messages between a process and a stage name the request (A8). Messages between a stage and an
/// arbiter name the stage, and the loan where there can be several (A4, A5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Message {
    /// To a group's host: asks for membership.
    ReqProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The role in the group.
        role: Role,
        /// How long the process will stay.
        time: Duration,
        /// Whether the host must answer `Wait` if it has to wait.
        no_wait: bool,
    },
    /// From a host, to a request with `no_wait`: it has to wait.
    Wait {
        /// The request.
        ticket: Ticket,
    },
    /// From a host: the process is a member.
    RepProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The stage.
        pr: Ticket,
        /// The member's fence.
        fence: Fence,
        /// The fence of the stage.
        stage_fence: Fence,
        /// The time left until the deadline of the stage.
        left: Duration,
    },
    /// To a host: the process leaves, gives up, or refuses an admission it does not wait for.
    RelProcess {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
    },
    /// From a host: the member has exceeded its declared time and must leave.
    Revoke {
        /// The request.
        ticket: Ticket,
        /// The group.
        group: Group,
        /// The stage.
        pr: Ticket,
    },
    /// To an arbiter: asks for its lock.
    ReqGroup {
        /// The stage.
        pr: Ticket,
        /// Whether the stage already has members and replaces an arbiter of its quorum.
        held: bool,
        /// Whether the arbiter must answer `Queued` if it has to wait.
        no_wait: bool,
    },
    /// From an arbiter, to a stage with `no_wait`: it has to wait.
    Queued {
        /// The stage.
        pr: Ticket,
    },
    /// From an arbiter: its lock.
    RecGroup {
        /// The stage.
        pr: Ticket,
        /// The loan.
        number: GrantNo,
        /// The fences that may be used with it.
        fences: Fences,
        /// Whether another stage waits for it.
        contended: bool,
        /// The arbiter's Lamport time (A3).
        clock: u64,
    },
    /// From an arbiter: another stage waits; give the lock back unless there are members.
    RelGroup {
        /// The stage.
        pr: Ticket,
        /// The loan.
        number: GrantNo,
        /// Whether the other stage has priority; if not, this is only a notice.
        better: bool,
    },
    /// To an arbiter: the lock is given back; the stage still waits.
    RepRelGroup {
        /// The stage.
        pr: Ticket,
        /// The loan that is given back.
        number: GrantNo,
    },
    /// To an arbiter: the stage is over or withdrawn.
    LibGroup {
        /// The stage.
        pr: Ticket,
        /// The first unused fence, if the stage has used any.
        floor: Option<Fence>,
    },
    /// To an arbiter: allow fences below this one.
    Raise {
        /// The stage that needs it.
        pr: Ticket,
        /// The ceiling it needs.
        ceil: Fence,
    },
    /// From an arbiter: its present ceiling.
    Raised {
        /// The stage that asked for it.
        pr: Ticket,
        /// The ceiling.
        ceil: Fence,
    },
}

impl Message {
    /// The message's name, for people.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The request or the stage it is about.
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

    /// Whether it is addressed to a host or an arbiter; if not, it is a reply to a process or a
    /// stage.
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
