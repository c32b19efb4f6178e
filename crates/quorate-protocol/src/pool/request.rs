//! A request and the permissions it needs.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::naming::NamingState;
use super::permission::Permission;
use super::unit_quorums::UnitQuorums;
use super::{Message, Pool, TryNo, Units};
use crate::no_wait::NoWait;
use crate::{Fence, Out, Shared, Ticket};

/// A request, with the permission of every arbiter that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    /// How often it has withdrawn.
    pub(super) attempt: TryNo,
    pub(super) units: Units,
    /// A sorted vector: most have a handful of entries, and there may be many requests.
    pub(super) permissions: LiteMap<SiteId, Permission>,
    /// Whether the arbiters that were asked may be other than exactly one quorum.
    pub(super) repaired: bool,
    /// The fence it uses, once it is inside.
    pub(super) inside: Option<Fence>,
    /// Whether it has been inside for long and asks every site it reaches for a spare permission.
    pub(super) stays: bool,
    /// Whether it must know which units it has.
    pub(super) numbered: bool,
    /// The units it has chosen, once it has a quorum of permissions.
    pub(super) choice: Option<BTreeSet<u32>>,
    pub(super) no_wait: NoWait,
}

impl Request {
    /// The arbiters whose permission is not in hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.permissions.iter().filter(|(_, p)| !p.held).map(|(&arbiter, _)| arbiter)
    }

    /// The arbiters whose permission is in hand and counts.
    pub(super) fn held(&self) -> SiteSet {
        let counts = |(_, permission): &(&SiteId, &Permission)| self.counts(permission);
        self.permissions.iter().filter(counts).map(|(&arbiter, _)| arbiter).collect()
    }

    /// Whether a permission in hand counts. Inside with numbered units, it counts only if its
    /// arbiter has recorded them. Scenario: `pool/session_replacements_learn_the_numbers`.
    fn counts(&self, permission: &Permission) -> bool {
        let named = self.inside.is_none() || !self.needs_names() || permission.names.is_agreed();
        permission.held && named
    }

    /// Whether it must name its units. A request for all units need not.
    pub(super) fn needs_names(&self) -> bool {
        self.numbered && self.units.count < self.units.of
    }

    /// Whether the permissions in hand contain a quorum. Those of ended sessions do not count:
    /// several may have ended at once, and their `Lost` inputs come one by one.
    pub(super) fn has_quorum(&self, site: &Shared, quorums: &UnitQuorums) -> bool {
        let counts = |(&arbiter, permission): (&SiteId, &Permission)| {
            self.counts(permission) && site.session_at(arbiter).is_some()
        };
        if !self.repaired {
            return self.permissions.iter().all(counts);
        }
        let counted = self.permissions.iter().filter(|&entry| counts(entry));
        let counted = counted.map(|(&arbiter, _)| arbiter).collect();
        site.picker_for(quorums.of(self.units.count)).is_quorum(&counted)
    }

    /// The lowest fence above all earlier ones: an error if it is not below every ceiling.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.permissions.values().filter(|permission| permission.held);
        let fence = held().map(|permission| permission.fences.floor).max();
        let fence = fence.expect("a quorum has a member");
        if held().all(|permission| fence < permission.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// Asks every arbiter with too low a ceiling, once, to raise it.
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
        let (no_wait, attempt) = (self.no_wait.is_on(), self.attempt);
        out.send(arbiter, Message::Request { ticket, units, held, numbers, no_wait, attempt });
        let names = NamingState::new(held);
        self.permissions.insert(arbiter, Permission { names, ..Permission::default() });
    }

    /// Figure 1, *exit*: sends a release to all arbiters that were asked.
    pub(super) fn leave(&self, out: &mut Out<Pool>) {
        let (ticket, floor) = (self.ticket, self.inside.map(Fence::next));
        for &arbiter in self.permissions.keys() {
            out.send(arbiter, Message::Release { ticket, floor });
        }
    }
}
