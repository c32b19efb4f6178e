//! What the sites say to each other.

use std::collections::BTreeSet;
use std::fmt;

use quorate_quorum::SiteId;

use crate::{Fence, GrantNo, Ticket};

/// The paper's seven messages (section 3.2), and `cancel` for a request that is given up.
///
/// Each names the request it speaks of (E3), and the loan where it speaks of one (E6). A transfer
/// that travels with a reply or an inquire is part of it and counts as one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// To an arbiter: lend me your permission.
    Request {
        /// The request.
        ticket: Ticket,
    },
    /// The permission of `arbiter`, from the arbiter or from the holder before.
    Reply {
        /// Whose permission it is.
        arbiter: SiteId,
        /// The request it is lent to.
        ticket: Ticket,
        /// The number of this loan.
        number: GrantNo,
        /// Who comes after it, as far as the sender knows.
        then: BTreeSet<Ticket>,
        /// The lowest fence that an entry with this permission may use.
        floor: Fence,
    },
    /// From an arbiter: not now. A hint that others may need what you hold.
    Fail {
        /// The request that has to wait.
        ticket: Ticket,
    },
    /// From an arbiter: give way, unless you are inside or could still get there first.
    Inquire {
        /// The request that holds the permission.
        ticket: Ticket,
        /// The number of its loan.
        number: GrantNo,
        /// Who it should give way to, if permissions are passed on.
        then: Option<Ticket>,
    },
    /// From an arbiter: when you leave, pass my permission on to `next`.
    Transfer {
        /// The request that holds the permission, or will.
        ticket: Ticket,
        /// The number of the loan this is good for.
        number: GrantNo,
        /// Who comes after it.
        next: Ticket,
    },
    /// To an arbiter: I gave way, and still want your permission.
    Yield {
        /// The request that gave way.
        ticket: Ticket,
        /// The number of the loan that is over.
        number: GrantNo,
        /// Who has the permission now, if it was passed on (5.2.1).
        passed: Option<Pass>,
    },
    /// To an arbiter: I am done.
    Release(Release),
    /// To an arbiter that has not answered yet: I gave up.
    Cancel {
        /// The request that is over.
        ticket: Ticket,
    },
}

/// The end of a loan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// The request that is done.
    pub ticket: Ticket,
    /// The number of its loan.
    pub number: GrantNo,
    /// Who has the permission now, if it was passed on.
    pub passed: Option<Pass>,
    /// The lowest fence that later entries may use.
    pub floor: Fence,
}

/// A permission handed on without its arbiter: to whom, and who comes after that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The new holder.
    pub next: Ticket,
    /// Those who were announced to come after it (5.3).
    pub rest: BTreeSet<Ticket>,
}

impl Message {
    /// The message's name in the paper.
    pub fn kind(&self) -> &'static str {
        match self {
            Message::Request { .. } => "request",
            Message::Reply { .. } => "reply",
            Message::Fail { .. } => "fail",
            Message::Inquire { .. } => "inquire",
            Message::Transfer { .. } => "transfer",
            Message::Yield { .. } => "yield",
            Message::Release(_) => "release",
            Message::Cancel { .. } => "cancel",
        }
    }

    /// The request it speaks of.
    pub fn ticket(&self) -> Ticket {
        match *self {
            Message::Request { ticket }
            | Message::Reply { ticket, .. }
            | Message::Fail { ticket }
            | Message::Inquire { ticket, .. }
            | Message::Transfer { ticket, .. }
            | Message::Yield { ticket, .. }
            | Message::Release(Release { ticket, .. })
            | Message::Cancel { ticket } => ticket,
        }
    }

    /// Whether the arbiter half is spoken to; everything else is the requester's.
    pub(super) fn is_for_arbiter(&self) -> bool {
        matches!(
            self,
            Message::Request { .. }
                | Message::Yield { .. }
                | Message::Release(_)
                | Message::Cancel { .. }
        )
    }

    /// The latest request it lets its receiver know of.
    pub(super) fn latest_ticket(&self) -> Ticket {
        let ticket = self.ticket();
        match self {
            Message::Reply { then, .. } => then.last().map_or(ticket, |&last| last.max(ticket)),
            Message::Inquire { then, .. } => then.map_or(ticket, |next| next.max(ticket)),
            Message::Transfer { next, .. } => ticket.max(*next),
            _ => ticket,
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.ticket())?;
        match self {
            Message::Request { .. } | Message::Fail { .. } | Message::Cancel { .. } => Ok(()),
            Message::Reply { arbiter, number, then, .. } => {
                write!(f, " for {arbiter} {number}")?;
                write_then(f, then)
            }
            Message::Inquire { number, then, .. } => {
                write!(f, " {number}")?;
                write_then(f, then)
            }
            Message::Transfer { number, next, .. } => write!(f, " {number}, then {next}"),
            Message::Yield { number, passed, .. }
            | Message::Release(Release { number, passed, .. }) => {
                write!(f, " {number}")?;
                let Some(pass) = passed else { return Ok(()) };
                write!(f, ", passed to {}", pass.next)?;
                write_then(f, &pass.rest)
            }
        }
    }
}

fn write_then<'a>(
    f: &mut fmt::Formatter<'_>,
    targets: impl IntoIterator<Item = &'a Ticket>,
) -> fmt::Result {
    for (place, target) in targets.into_iter().enumerate() {
        let lead = if place == 0 { ", then" } else { "" };
        write!(f, "{lead} {target}")?;
    }
    Ok(())
}
