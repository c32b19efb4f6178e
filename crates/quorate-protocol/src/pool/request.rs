//! A request and the permissions it needs, as its requester sees them.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::family::Family;
use super::naming::Names;
use super::{Message, Pool, Units};
use crate::haste::Haste;
use crate::{Fence, Fences, GrantNo, Out, Shared, Ticket};

/// A request and what is known of each permission it has asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) units: Units,
    /// All that were asked. A sorted vector, because most have a handful of entries and there may
    /// be many requests.
    pub(super) permissions: LiteMap<SiteId, Permission>,
    /// Whether the sites that were asked are not just one quorum.
    pub(super) repaired: bool,
    /// The fence it uses, once it is inside.
    pub(super) inside: Option<Fence>,
    /// Whether it must know which units it has.
    pub(super) numbered: bool,
    /// Which ones it means, once it has all permissions it needs.
    pub(super) choice: Option<BTreeSet<u32>>,
    pub(super) haste: Haste,
}

/// One arbiter's permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand: the arbiter is in the paper's K.
    pub(super) held: bool,
    /// The highest loan we know of: in hand, or given back.
    pub(super) number: GrantNo,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that was asked of the arbiter.
    pub(super) raising: Fence,
    /// What is known of the names there.
    pub(super) names: Names,
}

impl Request {
    /// The arbiters whose permission is not in hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.permissions.iter().filter(|(_, p)| !p.held).map(|(&arbiter, _)| arbiter)
    }

    /// The arbiters whose permission is in hand, and counts.
    pub(super) fn held(&self) -> SiteSet {
        let counts = |(_, permission): &(&SiteId, &Permission)| self.counts(permission);
        self.permissions.iter().filter(counts).map(|(&arbiter, _)| arbiter).collect()
    }

    /// Whether a permission vouches for us. Inside with numbered units, only that of an arbiter
    /// which knows them does.
    fn counts(&self, permission: &Permission) -> bool {
        let named = self.inside.is_none() || !self.needs_names() || permission.names.is_agreed();
        permission.held && named
    }

    /// Whether it must name its units: who has all of them need not.
    pub(super) fn needs_names(&self) -> bool {
        self.numbered && self.units.count < self.units.of
    }

    /// Whether the permissions in hand contain a quorum. Several sessions may be over at once, and
    /// we are told of one after the other: what was lent in them does not count.
    pub(super) fn is_complete(&self, site: &Shared, family: &Family) -> bool {
        let counts = |(&arbiter, permission): (&SiteId, &Permission)| {
            self.counts(permission) && site.session_at(arbiter).is_some()
        };
        if !self.repaired {
            return self.permissions.iter().all(counts);
        }
        let counted = self.permissions.iter().filter(|&entry| counts(entry));
        let counted = counted.map(|(&arbiter, _)| arbiter).collect();
        site.among(family.of(self.units.count)).is_quorum(&counted)
    }

    /// The lowest fence above all before, if every arbiter lets us use it.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.permissions.values().filter(|permission| permission.held);
        let fence = held().map(|permission| permission.fences.floor).max();
        let fence = fence.expect("a quorum has a member");
        if held().all(|permission| fence < permission.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// Asks the arbiters whose ceiling is too low to raise it, once.
    pub(super) fn raise(&mut self, ceil: Fence, out: &mut Out<Pool>) {
        let ticket = self.ticket;
        let lagging = self.permissions.iter_mut().filter(|(_, p)| p.held && p.fences.ceil < ceil);
        for (&arbiter, permission) in lagging {
            if permission.raising < ceil {
                permission.raising = ceil;
                out.send(arbiter, Message::Raise { ticket, ceil });
            }
        }
    }

    /// Asks one more arbiter, with the same ticket.
    pub(super) fn ask(&mut self, arbiter: SiteId, out: &mut Out<Pool>) {
        let (ticket, units, held) = (self.ticket, self.units.count, self.inside.is_some());
        let numbers = if held { self.numbers() } else { BTreeSet::new() };
        let hasty = self.haste.wants_to_know();
        out.send(arbiter, Message::Request { ticket, units, held, numbers, hasty });
        let names = Names::new(held);
        self.permissions.insert(arbiter, Permission { names, ..Permission::default() });
    }

    /// Tells all that were asked that it is over.
    pub(super) fn leave(self, out: &mut Out<Pool>) {
        let (ticket, floor) = (self.ticket, self.inside.map(Fence::next));
        for &arbiter in self.permissions.keys() {
            out.send(arbiter, Message::Release { ticket, floor });
        }
    }
}

impl Permission {
    /// Takes a new loan in hand. An arbiter's floor and ceiling only grow, so what it told us of
    /// them during a former loan is still true. A raise may be asked for again.
    pub(super) fn take(&mut self, number: GrantNo, fences: Fences) {
        assert!(number > self.number, "loans to one request are numbered in order");
        self.held = true;
        self.number = number;
        self.raising = Fence::default();
        self.raise_fences(fences);
    }

    /// Gives a loan back, and what was noted with it.
    pub(super) fn give_back(&mut self, arbiter: SiteId, ticket: Ticket, out: &mut Out<Pool>) {
        self.held = false;
        self.names.give_back();
        out.send(arbiter, Message::Cancelled { ticket, number: self.number });
    }

    /// Learns of fences that are as high as those known, or higher.
    pub(super) fn raise_fences(&mut self, Fences { floor, ceil }: Fences) {
        self.fences =
            Fences { floor: self.fences.floor.max(floor), ceil: self.fences.ceil.max(ceil) };
    }
}
