//! The messages between sites.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::known::listed;
use super::{Change, Update};
use crate::{Fence, Fences, SessionNo, Ticket};

/// One try of a request: it may withdraw everything, and ask again later with the same ticket (L6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Try {
    /// The request.
    pub ticket: Ticket,
    /// The number of the try, from 1 on.
    pub number: u32,
}

/// The messages of the door (those of a quorum lock whose permissions always come home), of
/// registrations, and of fences.
///
/// They rely on sessions that keep the order. So a message about a loan needs no number of the
/// loan: there is one at a time in a try, and the next begins after all messages about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// To an arbiter: lend me your permission.
    Request {
        /// The try.
        of: Try,
        /// The version of the arbiter's ledger that the site keeps; 0 for none.
        known: u64,
    },
    /// From an arbiter: a part of a ledger that is too long for the reply that follows.
    Part {
        /// What changes in the site's copy of the ledger.
        update: Update,
    },
    /// From an arbiter: its permission, and the rest of its ledger (L1).
    Reply {
        /// The try it is lent to.
        of: Try,
        /// What changes in the site's copy of the ledger.
        update: Update,
        /// Which fences may be used with it.
        fences: Fences,
        /// The arbiter's Lamport time. Without it a site whose clock is behind would overtake
        /// others until it has caught up.
        clock: u64,
    },
    /// From an arbiter: not now. Others may need the permissions you have.
    Fail {
        /// The try that has to wait.
        of: Try,
    },
    /// From an arbiter: yield, if you have to wait.
    Inquire {
        /// The try that has the permission.
        of: Try,
    },
    /// To an arbiter: I yielded your permission and still wait for it.
    Yield {
        /// The try that yielded.
        of: Try,
    },
    /// To an arbiter: I do not need your permission, and give it back if I have it.
    Cancel {
        /// The try that is over.
        of: Try,
    },
    /// To an arbiter: these callers are inside, and here is your permission (L2).
    Enter {
        /// The try that is over.
        of: Try,
        /// The callers and their units.
        callers: Vec<(Ticket, BTreeSet<u32>)>,
        /// The lowest fence that later entries may use.
        floor: Fence,
    },
    /// From an arbiter to the borrower of its permission: a caller from inside has registered (L4).
    Joined {
        /// The try that has the permission.
        of: Try,
        /// The caller.
        about: Ticket,
        /// Its units.
        numbers: BTreeSet<u32>,
        /// The session of its site.
        session: SessionNo,
        /// The version of the ledger since.
        version: u64,
    },
    /// To an arbiter: I have your permission, and know of this registration (L4).
    Ack {
        /// The try that has the permission.
        of: Try,
        /// The caller that registered.
        about: Ticket,
        /// The session of its site.
        session: SessionNo,
    },
    /// From an arbiter to the borrower of its permission: a registration is over (L1).
    Gone {
        /// The caller.
        about: Ticket,
        /// Whether only its session here is over. If not, it has left.
        closed: bool,
        /// The version of the ledger since.
        version: u64,
    },
    /// To an arbiter: this caller has been inside for some time; register it (L4).
    Register {
        /// The caller.
        ticket: Ticket,
        /// Its units.
        numbers: BTreeSet<u32>,
    },
    /// From an arbiter: from now on the registration counts (L4).
    Registered {
        /// The caller.
        ticket: Ticket,
    },
    /// To an arbiter: this caller is not inside any more (L5).
    Left {
        /// The caller.
        ticket: Ticket,
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

impl Message {
    /// The name of the message.
    pub fn kind(&self) -> &'static str {
        self.into()
    }

    /// Whether it is for the arbiter half; all others are for the requester half.
    pub fn is_for_arbiter(&self) -> bool {
        match self {
            Message::Request { .. }
            | Message::Yield { .. }
            | Message::Cancel { .. }
            | Message::Enter { .. }
            | Message::Ack { .. }
            | Message::Register { .. }
            | Message::Left { .. }
            | Message::Raise { .. } => true,
            Message::Part { .. }
            | Message::Reply { .. }
            | Message::Fail { .. }
            | Message::Inquire { .. }
            | Message::Joined { .. }
            | Message::Gone { .. }
            | Message::Registered { .. }
            | Message::Raised { .. } => false,
        }
    }

    /// The try it is about, if it is about one.
    pub(super) fn of(&self) -> Option<Try> {
        match *self {
            Message::Request { of, .. }
            | Message::Reply { of, .. }
            | Message::Fail { of }
            | Message::Inquire { of }
            | Message::Yield { of }
            | Message::Cancel { of }
            | Message::Enter { of, .. }
            | Message::Joined { of, .. }
            | Message::Ack { of, .. } => Some(of),
            _ => None,
        }
    }

    /// The request or the caller it is about, apart from a try.
    fn ticket(&self) -> Option<Ticket> {
        match *self {
            Message::Joined { about, .. }
            | Message::Ack { about, .. }
            | Message::Gone { about, .. } => Some(about),
            Message::Register { ticket, .. }
            | Message::Registered { ticket }
            | Message::Left { ticket }
            | Message::Raise { ticket, .. }
            | Message::Raised { ticket, .. } => Some(ticket),
            _ => None,
        }
    }

    /// All tickets in it.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        let changes = match self {
            Message::Part { update } | Message::Reply { update, .. } => &update.changes[..],
            _ => &[],
        };
        let of = self.of().map(|of| of.ticket);
        let all = of.into_iter().chain(self.ticket());
        all.chain(changes.iter().map(Change::ticket)).chain(self.entering())
    }

    /// The tickets that must be its sender's, if it is for an arbiter.
    pub(super) fn owners(&self) -> impl Iterator<Item = Ticket> + '_ {
        let others = if let Message::Ack { .. } = self { None } else { self.ticket() };
        let of = self.of().map(|of| of.ticket);
        of.into_iter().chain(others).chain(self.entering())
    }

    /// About how many bytes its tickets and units take.
    pub fn lists_bytes(&self) -> usize {
        24 * self.tickets().count() + 3 * self.numbers().map(BTreeSet::len).sum::<usize>()
    }

    fn entering(&self) -> impl Iterator<Item = Ticket> + '_ {
        let callers = if let Message::Enter { callers, .. } = self { &callers[..] } else { &[] };
        callers.iter().map(|(ticket, _)| *ticket)
    }

    /// All units in it.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &BTreeSet<u32>> {
        let own = match self {
            Message::Register { numbers, .. } | Message::Joined { numbers, .. } => Some(numbers),
            _ => None,
        };
        let callers = if let Message::Enter { callers, .. } = self { &callers[..] } else { &[] };
        let changes = match self {
            Message::Part { update } | Message::Reply { update, .. } => &update.changes[..],
            _ => &[],
        };
        let joins = changes.iter().filter_map(|change| match change {
            Change::Join(_, numbers) => Some(numbers),
            Change::Leave(_) => None,
        });
        own.into_iter().chain(callers.iter().map(|(_, numbers)| numbers)).chain(joins)
    }
}

impl fmt::Display for Try {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            1 => write!(f, "{}", self.ticket),
            number => write!(f, "{} try {number}", self.ticket),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind())?;
        if let Some(of) = self.of() {
            write!(f, " {of}")?;
        }
        match self {
            Message::Request { known, .. } if *known > 0 => write!(f, ", knows {known}"),
            Message::Part { update } | Message::Reply { update, .. } => {
                let nothing = update.whole && update.changes.is_empty();
                if nothing { Ok(()) } else { write!(f, ": {update}") }
            }
            Message::Enter { callers, .. } => {
                let units =
                    |(ticket, numbers): &(Ticket, _)| format!("{ticket} has {}", listed(numbers));
                let callers: Vec<String> = callers.iter().map(units).collect();
                write!(f, ": {}", callers.join(", "))
            }
            Message::Joined { about, numbers, .. } => {
                write!(f, ": {about} has {}", listed(numbers))
            }
            Message::Ack { about, .. } => write!(f, ": {about}"),
            Message::Gone { about, closed, .. } => {
                write!(f, " {about}{}", if *closed { ", closed" } else { "" })
            }
            Message::Register { ticket, numbers } => write!(f, " {ticket} has {}", listed(numbers)),
            Message::Registered { ticket } | Message::Left { ticket } => write!(f, " {ticket}"),
            Message::Raise { ticket, ceil } | Message::Raised { ticket, ceil } => {
                write!(f, " {ticket} to {ceil}")
            }
            _ => Ok(()),
        }
    }
}
