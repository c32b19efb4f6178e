//! What the sites say to each other.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Group, Groups};
use crate::{Fence, Fences, SessionNo, Ticket};

/// The paper's ten messages (figure 1), one for requests in a hurry, and below them those for
/// fences.
///
/// Each names the request it speaks of (E3, E4). A message has no number: sessions keep the order,
/// and the algorithm needs it (E5).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Message {
    /// To a manager: queue me.
    Request {
        /// The request.
        ticket: Ticket,
        /// The groups that will do.
        groups: Groups,
        /// Whether it is inside as a pivot already, and replaces a member of its quorum.
        held: bool,
        /// Whether it wants to be told if it has to wait.
        hasty: bool,
    },
    /// From a manager, to a request that wants to know: you have to wait.
    Wait {
        /// The request.
        ticket: Ticket,
    },
    /// From a manager: my vote is yours.
    Ok {
        /// The request that has the vote.
        ticket: Ticket,
        /// Which fences may be used with it.
        fences: Fences,
        /// Who else waits, the strongest first, if the choice of a group depends on it.
        waiting: Vec<(Ticket, Groups)>,
        /// The manager's Lamport time. Without it a site whose clock is behind would overtake
        /// others until it has caught up.
        clock: u64,
    },
    /// From a manager: give the vote back, unless you are inside.
    Cancel {
        /// The request that has the vote.
        ticket: Ticket,
    },
    /// To a manager: here it is, and I still want it.
    Cancelled {
        /// The request that gave the vote back.
        ticket: Ticket,
    },
    /// To a manager: I am inside as the pivot of a session.
    Lock {
        /// The pivot.
        ticket: Ticket,
        /// The group of the session.
        group: Group,
        /// Its fence.
        fence: Fence,
        /// The session of the manager at the pivot's site in which it has the right to let others
        /// join; `None` if it has none there.
        right: Option<SessionNo>,
    },
    /// From a manager: come in.
    Enter {
        /// The request that is let in.
        ticket: Ticket,
        /// The request that opened the session.
        pivot: Ticket,
        /// The group of the session.
        group: Group,
        /// Its fence.
        fence: Fence,
        /// The session of the manager at the pivot's site on which its right to admit rests.
        right: SessionNo,
        /// The manager's Lamport time, as in `Ok`.
        clock: u64,
    },
    /// To a manager: forget me. I got in elsewhere, have left, or gave up.
    NoNeed {
        /// The request.
        ticket: Ticket,
    },
    /// To a manager: the pivot has left, let nobody else join.
    Release {
        /// The pivot.
        ticket: Ticket,
    },
    /// From a manager: nobody that I let join is left.
    Finished {
        /// The pivot.
        ticket: Ticket,
    },
    /// To a manager: the session is over everywhere, and your vote is free.
    Over {
        /// The pivot.
        ticket: Ticket,
    },
    /// To a manager: let me use fences below this one.
    Raise {
        /// The request that needs it.
        ticket: Ticket,
        /// The ceiling it needs.
        ceil: Fence,
    },
    /// From a manager: its ceiling now.
    Raised {
        /// The request that asked for it.
        ticket: Ticket,
        /// The ceiling.
        ceil: Fence,
    },
}

impl Message {
    /// The message's name in the paper.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Request { .. } => "request",
            Message::Wait { .. } => "wait",
            Message::Ok { .. } => "ok",
            Message::Cancel { .. } => "cancel",
            Message::Cancelled { .. } => "cancelled",
            Message::Lock { .. } => "lock",
            Message::Enter { .. } => "enter",
            Message::NoNeed { .. } => "no-need",
            Message::Release { .. } => "release",
            Message::Finished { .. } => "finished",
            Message::Over { .. } => "over",
            Message::Raise { .. } => "raise",
            Message::Raised { .. } => "raised",
        }
    }

    /// The request it speaks of.
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

    /// How many bytes the names of groups take in it.
    pub fn groups_bytes(&self) -> usize {
        let all = |groups: &Groups| groups.iter().map(|group| group.name().len() + 1).sum();
        match self {
            Message::Request { groups, .. } => all(groups),
            Message::Ok { waiting, .. } => waiting.iter().map(|(_, groups)| 16 + all(groups)).sum(),
            Message::Lock { group, .. } | Message::Enter { group, .. } => group.name().len(),
            _ => 0,
        }
    }

    /// Whether the manager is spoken to; everything else is the requester's.
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
