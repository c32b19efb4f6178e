//! A caller inside, and the arbiters where it is registered.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::{LedgerPool, Message, Options};
use crate::{ClaimView, Effect, Out, Shared, StayTimer, Ticket};

/// A caller inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stay {
    pub(super) ticket: Ticket,
    pub(super) numbers: BTreeSet<u32>,
    /// Where it has asked to be registered, and whether the registration counts.
    pub(super) registrars: LiteMap<SiteId, bool>,
    /// Whether it has been inside for long and registers with every site it reaches.
    pub(super) stays: bool,
}

impl Stay {
    /// A caller that enters. The registrations at these arbiters count at once: an arbiter lends
    /// again only after it has handled the message with them, and if the session ends before that,
    /// the caller learns it first (L2).
    pub(super) fn new(
        ticket: Ticket,
        numbers: BTreeSet<u32>,
        lenders: impl Iterator<Item = SiteId>,
    ) -> Self {
        let registrars = lenders.map(|arbiter| (arbiter, true)).collect();
        Self { ticket, numbers, registrars, stays: false }
    }

    /// The arbiters where its registration counts.
    pub(super) fn counted(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.registrars.iter().filter(|&(_, &counts)| counts).map(|(&arbiter, _)| arbiter)
    }

    /// L3: whether the sites where it is registered contain a quorum. Those of ended sessions do
    /// not count: several may have ended at once, and their `Lost` inputs come one by one.
    pub(super) fn is_valid(&self, site: &Shared) -> bool {
        let open = self.counted().filter(|&arbiter| site.session_at(arbiter).is_some());
        site.is_quorum(&open.collect())
    }

    /// L4: registers with all sites within reach, if the sites that were asked and answer contain
    /// no quorum, or if it stays for long.
    ///
    /// A silent site is asked too: nothing else tells us when it answers again.
    pub(super) fn repair(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        let answering = self.registrars.keys().copied().filter(|&asked| !site.is_silent(asked));
        if !self.stays && site.is_quorum(&answering.collect()) {
            return;
        }
        let reachable: SiteSet = site.reachable();
        for arbiter in reachable.iter() {
            if !self.registrars.contains_key(&arbiter) {
                self.registrars.insert(arbiter, false);
                let (ticket, numbers) = (self.ticket, self.numbers.clone());
                out.send(arbiter, Message::Register { ticket, numbers });
            }
        }
    }

    /// L5: leaves everywhere where it was to be registered, whether that was acknowledged or not.
    pub(super) fn leave(self, site: &Shared, options: Options, out: &mut Out<LedgerPool>) {
        if options.spares.is_some() && !self.stays {
            out.push(Effect::Disarm(StayTimer(self.ticket.claim)));
        }
        for &arbiter in self.registrars.keys() {
            if site.session_at(arbiter).is_some() {
                out.send(arbiter, Message::Left { ticket: self.ticket });
            }
        }
    }

    /// The caller has entered: it registers at more sites if it stays for long.
    pub(super) fn arm(&self, options: Options, out: &mut Out<LedgerPool>) {
        if let Some(time) = options.spares {
            out.push(Effect::Arm(StayTimer(self.ticket.claim), time));
        }
    }

    pub(super) fn view(&self) -> ClaimView {
        let missing = self.registrars.iter().filter(|&(_, &counts)| !counts);
        ClaimView {
            ticket: self.ticket,
            inside: true,
            held_up: false,
            missing: missing.map(|(&arbiter, _)| arbiter).collect(),
        }
    }
}
