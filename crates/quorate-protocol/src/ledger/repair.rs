//! The requester half when sessions end: callers inside register elsewhere, and the request asks
//! other arbiters.

use quorate_quorum::{SiteId, SiteSet};

use super::LedgerPool;
use super::requester::Requester;
use super::stay::Stay;
use crate::{ClaimId, Out, Shared, Ticket, Why};

impl Requester {
    /// No reply from a site for half a lease: registers elsewhere and asks others, and keeps what
    /// it has there.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        self.repair(site, out);
    }

    /// We have a session at another site.
    pub(super) fn on_open(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        if self.is_idle() {
            return out.ignore("there is no caller");
        }
        self.repair(site, out);
    }

    /// Our session at `peer` has ended: what we had there is void. A caller inside that is
    /// registered at no quorum any more is lost (L3). The request may enter without `peer`.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<LedgerPool>) {
        self.ledgers.remove(&peer);
        if self.is_idle() {
            return out.ignore("there is no caller");
        }
        for stay in self.stays.values_mut() {
            stay.registrars.remove(&peer);
        }
        for (id, stay) in self.stays.extract_if(.., |_, stay| !stay.is_valid(site)) {
            out.lose(id, Why::NoQuorum);
            stay.leave(site, self.options, out);
        }
        if let Some(request) = &mut self.request {
            request.permissions.remove(&peer);
        }
        self.repair(site, out);
        self.try_to_enter(site, out);
    }

    /// The claim has been inside for long: registers with all other sites as well (L4). Otherwise
    /// the crash of one that is both its registrar and the borrower at the only replacement would
    /// end its grant. Scenario: `ledger/spare_registrations`.
    pub(super) fn on_stay(&mut self, site: &Shared, claim: ClaimId, out: &mut Out<LedgerPool>) {
        let stay = self.stays.get_mut(&claim).expect("a timer is disarmed when its claim leaves");
        stay.stays = true;
        stay.repair(site, out);
    }

    /// An arbiter has registered a caller that is inside, and the registration counts from now on.
    pub(super) fn on_registered(
        &mut self,
        arbiter: SiteId,
        ticket: Ticket,
        out: &mut Out<LedgerPool>,
    ) {
        let stay = self.stays.get_mut(&ticket.claim).filter(|stay| stay.ticket == ticket);
        match stay.and_then(|stay| stay.registrars.get_mut(&arbiter)) {
            Some(counts) => *counts = true,
            None => out.ignore("the caller has left"),
        }
    }

    /// The sites where a caller inside is registered.
    pub(super) fn registrars(&self, claim: ClaimId) -> Option<SiteSet> {
        self.stays.get(&claim).map(|stay| stay.counted().collect())
    }

    fn repair(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        for stay in self.stays.values_mut() {
            Stay::repair(stay, site, out);
        }
        self.ask_quorum(site, out);
    }

    /// L6: asks more arbiters until a quorum has been asked in sessions that are neither lost nor
    /// silent, if there is such a quorum, and else everybody. If no quorum is within reach, it
    /// withdraws everything, and asks in another try when there is one.
    pub(super) fn ask_quorum(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        let Some(request) = &mut self.request else { return };
        let reachable = site.reachable();
        if !site.is_quorum(&reachable) {
            request.cancel(site, out);
            return self.forget_short_ledgers();
        }
        let asked = request.asked(site);
        let quorum = if request.permissions.is_empty() {
            site.quorum()
        } else if site.is_quorum(&asked) {
            return;
        } else {
            site.replacement(&asked.iter().collect::<Vec<_>>())
        };
        for arbiter in quorum.unwrap_or(reachable).iter() {
            let known = self.request.as_ref().is_some_and(|r| r.permissions.contains_key(&arbiter));
            if !known {
                self.ask(arbiter, out);
            }
        }
    }
}
