//! One arbiter's permission, as the requester sees it.

use quorate_quorum::SiteId;

use super::naming::NamingState;
use super::{Message, Pool};
use crate::{Fence, Fences, GrantNo, Out, Ticket};

/// One arbiter's permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand: the arbiter is in the paper's K.
    pub(super) held: bool,
    /// The highest known loan: in hand, or given back.
    pub(super) number: GrantNo,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that the arbiter was asked for.
    pub(super) raising: Fence,
    /// The state of the naming round at this arbiter.
    pub(super) names: NamingState,
}

impl Permission {
    /// Takes a new loan in hand, after which a raise may be asked for again.
    pub(super) fn take(&mut self, number: GrantNo, fences: Fences) {
        assert!(number > self.number, "loans to one request are numbered in order");
        self.held = true;
        self.number = number;
        self.raising = Fence::default();
        self.raise_fences(fences);
    }

    /// Gives a loan back, and with it the units named at the arbiter.
    pub(super) fn give_back(&mut self, arbiter: SiteId, ticket: Ticket, out: &mut Out<Pool>) {
        self.held = false;
        self.names.give_back();
        out.send(arbiter, Message::Cancelled { ticket, number: self.number });
    }

    /// Takes the higher floor and the higher ceiling: those of an arbiter only grow.
    pub(super) fn raise_fences(&mut self, Fences { floor, ceil }: Fences) {
        self.fences =
            Fences { floor: self.fences.floor.max(floor), ceil: self.fences.ceil.max(ceil) };
    }
}
