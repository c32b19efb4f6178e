//! The messages between sites.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::claim::listed;
use crate::{Fence, Fences, GrantNo, Ticket};

/// The paper's five messages (figure 1), `wait`, and then those for fences and for unit numbers.
///
/// Each names the request it is about, and the loan if it is about one, so none has to arrive in
/// order (E4).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// To an arbiter: lend me so many units.
    Request {
        /// The request.
        ticket: Ticket,
        /// How many units.
        units: u32,
        /// Whether it is inside already, and replaces a member of its quorum.
        held: bool,
        /// The units it has, if it is inside and they are numbered.
        numbers: BTreeSet<u32>,
        /// Whether the arbiter shall send `wait` if the request has to wait.
        no_wait: bool,
        /// How often it has withdrawn before.
        attempt: TryNo,
    },
    /// From an arbiter, to a request with `no_wait`: you have to wait.
    Wait {
        /// The request.
        ticket: Ticket,
    },
    /// From an arbiter: the units are yours.
    Ok {
        /// The request they are lent to.
        ticket: Ticket,
        /// The number of this loan, among those to this request.
        number: GrantNo,
        /// The try in which it asked.
        attempt: TryNo,
        /// Which fences may be used with it.
        fences: Fences,
        /// The arbiter's Lamport time. Without it a site whose clock is behind would overtake
        /// others until it has caught up.
        clock: u64,
    },
    /// From an arbiter: give the units back, unless you are inside.
    Cancel {
        /// The request that has them.
        ticket: Ticket,
        /// The number of its loan.
        number: GrantNo,
        /// The try in which it asked.
        attempt: TryNo,
    },
    /// To an arbiter: I gave the units back and still wait for them.
    Cancelled {
        /// The request that gave them back.
        ticket: Ticket,
        /// The number of the loan that is over.
        number: GrantNo,
    },
    /// To an arbiter: I am done, or I gave up.
    Release {
        /// The request that is over.
        ticket: Ticket,
        /// The lowest fence that later entries may use, if it was inside.
        floor: Option<Fence>,
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
    /// To an arbiter that has lent to the request: these are my units; none to withdraw a choice.
    Name {
        /// The request that chose them.
        ticket: Ticket,
        /// Their numbers.
        numbers: BTreeSet<u32>,
    },
    /// From an arbiter: the choice is recorded, and no other request has named any of its units.
    Named {
        /// The request that chose them.
        ticket: Ticket,
        /// Which fences may be used with them.
        fences: Fences,
        /// The try in which it asked.
        attempt: TryNo,
    },
    /// From an arbiter: choose other units.
    Taken {
        /// The request that chose them.
        ticket: Ticket,
        /// The numbers that others have named here.
        by_others: BTreeSet<u32>,
        /// The try in which it asked.
        attempt: TryNo,
    },
}

/// How often a request had withdrawn, for want of a quorum, when it asked. Answers to a former try
/// do not count: what was lent in it is given back.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct TryNo(pub u64);

impl TryNo {
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The number as people count tries; nothing for the first.
    fn in_words(self) -> String {
        if self == Self::default() { String::new() } else { format!(", try {}", self.0 + 1) }
    }
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
            | Message::Wait { ticket }
            | Message::Ok { ticket, .. }
            | Message::Cancel { ticket, .. }
            | Message::Cancelled { ticket, .. }
            | Message::Release { ticket, .. }
            | Message::Raise { ticket, .. }
            | Message::Raised { ticket, .. }
            | Message::Name { ticket, .. }
            | Message::Named { ticket, .. }
            | Message::Taken { ticket, .. } => ticket,
        }
    }

    /// The try it is about, if it is about one.
    pub fn attempt(&self) -> Option<TryNo> {
        match *self {
            Message::Request { attempt, .. }
            | Message::Ok { attempt, .. }
            | Message::Cancel { attempt, .. }
            | Message::Named { attempt, .. }
            | Message::Taken { attempt, .. } => Some(attempt),
            _ => None,
        }
    }

    /// Whether it is for the arbiter half; all others are for the requester half.
    pub fn is_for_arbiter(&self) -> bool {
        match self {
            Message::Request { .. }
            | Message::Cancelled { .. }
            | Message::Release { .. }
            | Message::Raise { .. }
            | Message::Name { .. } => true,
            Message::Ok { .. }
            | Message::Wait { .. }
            | Message::Cancel { .. }
            | Message::Raised { .. }
            | Message::Named { .. }
            | Message::Taken { .. } => false,
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.ticket())?;
        match self {
            Message::Request { units, held, numbers, .. } => {
                write!(f, " for {units}{}", if *held { ", held" } else { "" })?;
                if numbers.is_empty() { Ok(()) } else { write!(f, ": {}", listed(numbers)) }
            }
            Message::Ok { number, .. }
            | Message::Cancel { number, .. }
            | Message::Cancelled { number, .. } => write!(f, " {number}"),
            Message::Release { .. } | Message::Named { .. } | Message::Wait { .. } => Ok(()),
            Message::Name { numbers, .. } => write!(f, ": {}", listed(numbers)),
            Message::Taken { by_others, .. } => write!(f, ": {}", listed(by_others)),
            Message::Raise { ceil, .. } | Message::Raised { ceil, .. } => write!(f, " to {ceil}"),
        }?;
        f.write_str(&self.attempt().unwrap_or_default().in_words())
    }
}
