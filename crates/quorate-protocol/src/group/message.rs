//! The messages of a group lock.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::{Group, Groups};
use crate::{Fence, Fences, SessionNo, Ticket};

/// The ten messages of the paper (figure 1), `Wait` for requests that must not queue silently, and
/// `Raise` and `Raised` for fences.
///
/// Each names its request (E3, E4). Messages are not numbered: the algorithm needs FIFO channels,
/// and sessions provide them (E5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Message {
    /// To a manager: queue this request.
    Request {
        /// The request.
        ticket: Ticket,
        /// The acceptable groups.
        groups: Groups,
        /// Whether it is already inside as a pivot and replaces a member of its quorum.
        held: bool,
        /// Whether the manager must answer `Wait` if it has to wait.
        no_wait: bool,
    },
    /// From a manager, to a request with `no_wait`: it has to wait.
    Wait {
        /// The request.
        ticket: Ticket,
    },
    /// From a manager: its vote.
    Ok {
        /// The request that gets the vote.
        ticket: Ticket,
        /// The fences that may be used with it.
        fences: Fences,
        /// The other waiting requests, strongest first, if the choice of group depends on them.
        waiting: Vec<(Ticket, Groups)>,
        /// The manager's Lamport time. Without it, a site whose clock lags would overtake others
        /// until it has caught up.
        clock: u64,
    },
    /// From a manager: give the vote back unless the request is inside.
    Cancel {
        /// The request that holds the vote.
        ticket: Ticket,
    },
    /// To a manager: the vote is given back; the request still waits.
    Cancelled {
        /// The request that gave the vote back.
        ticket: Ticket,
    },
    /// To a manager: the request is inside as a pivot.
    Lock {
        /// The pivot.
        ticket: Ticket,
        /// The group of the occupancy.
        group: Group,
        /// Its fence.
        fence: Fence,
        /// The manager's session at the pivot's site, in which it may admit followers; `None` if
        /// it has no session there.
        right: Option<SessionNo>,
    },
    /// From a manager: the request is admitted as a follower.
    Enter {
        /// The admitted request.
        ticket: Ticket,
        /// The request that opened the occupancy.
        pivot: Ticket,
        /// The group of the occupancy.
        group: Group,
        /// Its fence.
        fence: Fence,
        /// The manager's session at the pivot's site that its right to admit is bound to.
        right: SessionNo,
        /// The manager's Lamport time, as in `Ok`.
        clock: u64,
    },
    /// To a manager: forget the request. It entered elsewhere, left, or gave up.
    NoNeed {
        /// The request.
        ticket: Ticket,
    },
    /// To a manager: the pivot has left; admit no more followers.
    Release {
        /// The pivot.
        ticket: Ticket,
    },
    /// From a manager: all followers it admitted have left.
    Finished {
        /// The pivot.
        ticket: Ticket,
    },
    /// To a manager: the occupancy is over everywhere; the vote is free.
    Over {
        /// The pivot.
        ticket: Ticket,
    },
    /// To a manager: allow fences below this one.
    Raise {
        /// The request that needs it.
        ticket: Ticket,
        /// The ceiling it needs.
        ceil: Fence,
    },
    /// From a manager: its present ceiling.
    Raised {
        /// The request that asked for it.
        ticket: Ticket,
        /// The ceiling.
        ceil: Fence,
    },
}

impl Message {
    /// The message's name, for people.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The request it is about.
    pub fn ticket(&self) -> Ticket {
        match *self {
            Message::Request { ticket, .. }
            | Message::Wait { ticket }
            | Message::Ok { ticket, .. }
            | Message::Cancel { ticket }
            | Message::Cancelled { ticket }
            | Message::Lock { ticket, .. }
            | Message::Enter { ticket, .. }
            | Message::NoNeed { ticket }
            | Message::Release { ticket }
            | Message::Finished { ticket }
            | Message::Over { ticket }
            | Message::Raise { ticket, .. }
            | Message::Raised { ticket, .. } => ticket,
        }
    }

    /// The number of bytes that group names take in it.
    pub fn groups_bytes(&self) -> usize {
        let all = |groups: &Groups| groups.iter().map(|group| group.name().len() + 2).sum();
        match self {
            Message::Request { groups, .. } => all(groups),
            Message::Ok { waiting, .. } => waiting.iter().map(|(_, groups)| 32 + all(groups)).sum(),
            Message::Lock { group, .. } | Message::Enter { group, .. } => group.name().len(),
            _ => 0,
        }
    }

    /// Whether it is addressed to the manager half; if not, it is for the requester half.
    pub fn is_for_manager(&self) -> bool {
        !matches!(
            self,
            Message::Ok { .. }
                | Message::Wait { .. }
                | Message::Cancel { .. }
                | Message::Enter { .. }
                | Message::Finished { .. }
                | Message::Raised { .. }
        )
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.ticket())?;
        match self {
            Message::Request { groups, held, .. } => {
                write!(f, " for {groups}{}", if *held { ", held" } else { "" })
            }
            Message::Ok { waiting, .. } => {
                let mut lead = ", before ";
                for (ticket, groups) in waiting {
                    write!(f, "{lead}{ticket} for {groups}")?;
                    lead = ", ";
                }
                Ok(())
            }
            Message::Lock { group, fence, right, .. } => {
                write!(f, " with {group}, fence {fence}")?;
                match right {
                    None => f.write_str(", without the right to admit"),
                    Some(SessionNo(0)) => Ok(()),
                    Some(SessionNo(session)) => write!(f, ", in session {session}"),
                }
            }
            Message::Enter { pivot, group, fence, .. } => {
                write!(f, " with {group}, fence {fence}, after {pivot}")
            }
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => write!(f, " to {ceil}"),
            Message::Wait { .. }
            | Message::Cancel { .. }
            | Message::Cancelled { .. }
            | Message::NoNeed { .. }
            | Message::Release { .. }
            | Message::Finished { .. }
            | Message::Over { .. } => Ok(()),
        }
    }
}
