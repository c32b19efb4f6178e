//! The requester half when sessions end: other arbiters in place of those that are lost.
//!
//! Specified by the site layer's note, sections 4 and 6: any set of replacements serves, because a
//! request enters as soon as what it holds contains a quorum.

use quorate_quorum::{SiteId, SiteSet};

use super::Pool;
use super::family::Family;
use super::request::Request;
use super::requester::Requester;
use crate::{ClaimId, Out, Shared, Why};

impl Requester {
    /// Nothing was heard of a site for half a lease: asks others in its place, and keeps it.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<Pool>) {
        for (_, request) in self.requests.iter_mut() {
            request.ask_a_quorum(site, &self.family, out);
        }
    }

    /// Our session at `peer` is over: what it lent us does not count any more. A request inside on
    /// the word of too few is lost; one that waits asks others. Entering may not depend on `peer`
    /// any more: try again.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Pool>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            let request = self.requests.get_mut(&id).expect("it was there a moment ago");
            request.permissions.remove(&peer);
            request.repaired = true;
            if request.inside.is_some() && !request.is_complete(site, &self.family) {
                out.lose(id, Why::NoQuorum);
                self.leave(id, out);
                continue;
            }
            request.ask_a_quorum(site, &self.family, out);
        }
    }

    /// We have a session at `peer` again: asks it for every request that has asked too few.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Pool>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        for (_, request) in self.requests.iter_mut() {
            if !request.has_asked_enough(site, &self.family) {
                request.ask_another(peer, out);
            }
        }
    }
}

impl Request {
    /// Asks until a quorum is asked in sessions that are neither lost nor silent, if that can be.
    fn ask_a_quorum(&mut self, site: &Shared, family: &Family, out: &mut Out<Pool>) {
        if self.has_asked_enough(site, family) {
            return;
        }
        let prefer: Vec<SiteId> = self.asked(site).iter().collect();
        let quorum = site.among(family.of(self.units.count)).replacement(&prefer);
        for arbiter in quorum.iter().flat_map(SiteSet::iter) {
            self.ask_another(arbiter, out);
        }
    }

    fn ask_another(&mut self, arbiter: SiteId, out: &mut Out<Pool>) {
        if !self.permissions.contains_key(&arbiter) {
            self.ask(arbiter, out);
            self.repaired = true;
        }
    }

    fn has_asked_enough(&self, site: &Shared, family: &Family) -> bool {
        site.among(family.of(self.units.count)).is_quorum(&self.asked(site))
    }

    /// The sites that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.permissions.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}
