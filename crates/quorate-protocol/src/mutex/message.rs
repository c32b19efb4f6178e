//! The messages between sites.

use std::collections::BTreeSet;
use std::fmt;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::{Fence, Fences, GrantNo, SessionNo, Ticket};

/// The paper's seven messages (section 3.2), `cancel` for a request that is given up, and then the
/// messages for sessions that end.
///
/// Each names the request it is about (E3), and the loan if it is about one (E6). A transfer that
/// travels with a reply or an inquire is part of it and counts as one message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// To an arbiter: lend me your permission.
    Request {
        /// The request.
        ticket: Ticket,
        /// Whether it is inside already, and replaces a member of its quorum.
        held: bool,
        /// The sites that cannot pass it a permission.
        cut: BTreeSet<SiteId>,
    },
    /// The permission of `arbiter`, from the arbiter or from the holder before.
    Reply {
        /// Whose permission it is.
        arbiter: SiteId,
        /// The request it is lent to.
        to: Target,
        /// The number of this loan.
        number: GrantNo,
        /// The requests that come after it, as far as the sender knows.
        then: BTreeSet<Target>,
        /// Which fences may be used with it.
        fences: Fences,
    },
    /// From an arbiter: not now. Others may need the permissions you hold.
    Fail {
        /// The request that has to wait.
        ticket: Ticket,
    },
    /// From an arbiter: yield, unless you are inside or have no fail.
    Inquire {
        /// The request that holds the permission.
        ticket: Ticket,
        /// The number of its loan.
        number: GrantNo,
        /// The request it should yield to, if permissions are passed on.
        then: Option<Target>,
        /// A request from inside needs it: yield also without a fail.
        demand: bool,
    },
    /// From an arbiter: when you leave, pass my permission to `next`.
    Transfer {
        /// The request that holds the permission, or will.
        ticket: Ticket,
        /// The number of the loan this is for.
        number: GrantNo,
        /// The request that comes after it.
        next: Target,
    },
    /// To an arbiter: I yielded your permission and still wait for it.
    Yield {
        /// The request that yielded.
        ticket: Ticket,
        /// The number of the loan that is over.
        number: GrantNo,
        /// The pass, if the permission was passed on (5.2.1).
        passed: Option<Pass>,
    },
    /// To an arbiter: I am done.
    Release(Release),
    /// To an arbiter that has not answered yet: I gave up.
    Cancel {
        /// The request that is over.
        ticket: Ticket,
    },
    /// To an arbiter: these sites cannot pass me a permission.
    Direct {
        /// The request.
        ticket: Ticket,
        /// All those sites.
        cut: BTreeSet<SiteId>,
    },
    /// From an arbiter whose holder is lost: do you have my permission?
    Where {
        /// The request that may have it.
        ticket: Ticket,
        /// The highest loan it may have received.
        upto: GrantNo,
    },
    /// To an arbiter: I have your permission.
    Have {
        /// The request that has it.
        ticket: Ticket,
        /// The number of its loan.
        number: GrantNo,
    },
    /// To an arbiter: I do not have your permission, and refuse every loan up to this one.
    Lack {
        /// The request that was asked.
        ticket: Ticket,
        /// The highest loan it refuses.
        upto: GrantNo,
    },
    /// To an arbiter: raise your fence ceiling.
    Raise {
        /// The request that needs it.
        ticket: Ticket,
        /// The ceiling it needs.
        ceil: Fence,
    },
    /// From an arbiter: its present fence ceiling.
    Raised {
        /// The request that asked for it.
        ticket: Ticket,
        /// The ceiling.
        ceil: Fence,
    },
}

/// A request, and the session in which it waits at the arbiter of the permission.
///
/// A permission that is passed on counts only in that session: when the session ends, the arbiter
/// takes back what it lent in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// The request.
    pub ticket: Ticket,
    /// Its session at the arbiter.
    pub session: SessionNo,
}

/// The end of a loan.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Release {
    /// The request that is done.
    pub ticket: Ticket,
    /// The number of its loan.
    pub number: GrantNo,
    /// The pass, if the permission was passed on.
    pub passed: Option<Pass>,
    /// The lowest fence that later entries may use.
    pub floor: Fence,
}

/// A permission that one holder passed to the next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pass {
    /// The new holder.
    pub next: Target,
    /// The requests that were announced to come after it (5.3).
    pub rest: BTreeSet<Target>,
}

impl Message {
    /// The name of the message.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// The request it is about.
    pub fn ticket(&self) -> Ticket {
        match *self {
            Message::Request { ticket, .. }
            | Message::Reply { to: Target { ticket, .. }, .. }
            | Message::Fail { ticket }
            | Message::Inquire { ticket, .. }
            | Message::Transfer { ticket, .. }
            | Message::Yield { ticket, .. }
            | Message::Release(Release { ticket, .. })
            | Message::Cancel { ticket }
            | Message::Direct { ticket, .. }
            | Message::Where { ticket, .. }
            | Message::Have { ticket, .. }
            | Message::Lack { ticket, .. }
            | Message::Raise { ticket, .. }
            | Message::Raised { ticket, .. } => ticket,
        }
    }

    /// Whether it is for the arbiter half; all others are for the requester half.
    pub fn is_for_arbiter(&self) -> bool {
        !matches!(
            self,
            Message::Reply { .. }
                | Message::Fail { .. }
                | Message::Inquire { .. }
                | Message::Transfer { .. }
                | Message::Where { .. }
                | Message::Raised { .. }
        )
    }

    /// The most bytes that its lists take.
    pub fn lists_bytes(&self) -> usize {
        match self {
            Message::Request { cut, .. } | Message::Direct { cut, .. } => 5 * cut.len(),
            Message::Reply { then, .. } => 40 * then.len(),
            Message::Yield { passed: Some(passed), .. }
            | Message::Release(Release { passed: Some(passed), .. }) => 40 * passed.rest.len(),
            _ => 0,
        }
    }

    /// The latest ticket that the receiver of the message has to observe.
    pub(super) fn latest_ticket(&self) -> Ticket {
        let ticket = self.ticket();
        let next = match self {
            Message::Reply { then, .. } => then.last().map(|target| target.ticket),
            Message::Inquire { then, .. } => then.map(|target| target.ticket),
            Message::Transfer { next, .. } => Some(next.ticket),
            _ => None,
        };
        next.map_or(ticket, |next| next.max(ticket))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.ticket())?;
        match self {
            Message::Fail { .. } | Message::Cancel { .. } => Ok(()),
            Message::Request { held, cut, .. } => {
                f.write_str(if *held { ", held" } else { "" })?;
                write_list(f, ", not by", cut)
            }
            Message::Direct { cut, .. } => write_list(f, ", not by", cut),
            Message::Reply { arbiter, number, then, .. } => {
                write!(f, " for {arbiter} {number}")?;
                write_list(f, ", then", then)
            }
            Message::Inquire { number, then, demand, .. } => {
                write!(f, " {number}{}", if *demand { ", on demand" } else { "" })?;
                write_list(f, ", then", then)
            }
            Message::Transfer { number, next, .. } => write!(f, " {number}, then {next}"),
            Message::Yield { number, passed, .. }
            | Message::Release(Release { number, passed, .. }) => {
                write!(f, " {number}")?;
                let Some(pass) = passed else { return Ok(()) };
                write!(f, ", passed to {}", pass.next)?;
                write_list(f, ", then", &pass.rest)
            }
            Message::Where { upto, .. } | Message::Lack { upto, .. } => write!(f, " up to {upto}"),
            Message::Have { number, .. } => write!(f, " {number}"),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => write!(f, " to {ceil}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ticket)?;
        match self.session {
            SessionNo(0) => Ok(()),
            SessionNo(session) => write!(f, " in session {session}"),
        }
    }
}

fn write_list<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    lead: &str,
    things: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (place, thing) in things.into_iter().enumerate() {
        let lead = if place == 0 { lead } else { "" };
        write!(f, "{lead} {thing}")?;
    }
    Ok(())
}
