//! What happens when sessions end, at the requester half and at the arbiter half.
//!
//! A requester asks other arbiters instead of lost ones. Any of them will do, because a request
//! enters as soon as the permissions in hand contain a quorum. A request that cannot get a quorum
//! any more withdraws, so that it keeps what it has from nobody, and asks again when it can.

use quorate_quorum::{SiteId, SiteSet};

use super::Pool;
use super::arbiter::Arbiter;
use super::queue::Entry;
use super::request::Request;
use super::requester::Requester;
use super::unit_quorums::UnitQuorums;
use crate::{ClaimId, Out, Shared, Why};

impl Requester {
    /// No reply from a site for half a lease: asks others as well, and keeps its permission.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<Pool>) {
        for (_, request) in self.requests.iter_mut() {
            request.ask_quorum(site, &self.quorums, out);
        }
    }

    /// Our session at `peer` has ended: its permissions are void. A request that is inside without
    /// a quorum is lost; the others ask more arbiters. The next step is to try to enter, because
    /// entering may no longer depend on `peer`.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Pool>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            let request = self.requests.get_mut(&id).expect("the key was read just above");
            request.permissions.remove(&peer);
            request.repaired = true;
            if request.inside.is_some() && !request.has_quorum(site, &self.quorums) {
                out.lose(id, Why::NoQuorum);
                self.leave(id, out);
                continue;
            }
            request.ask_quorum(site, &self.quorums, out);
        }
    }

    /// We have a session at `peer` again: every request that has not asked a quorum asks one, if
    /// there is one now, and one that collects spare permissions asks `peer`. A site that was
    /// silent answers again by now.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<Pool>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        for (_, request) in self.requests.iter_mut() {
            if request.stays {
                request.ask_another(peer, out);
            }
            request.ask_quorum(site, &self.quorums, out);
        }
    }
}

impl Request {
    /// Asks more arbiters until a quorum has been asked in sessions that are neither lost nor
    /// silent. If there is no such quorum, asks one with silent ones: their silence ends soon, and
    /// only its bad end is reported. If there is none either, withdraws.
    pub(super) fn ask_quorum(&mut self, site: &Shared, quorums: &UnitQuorums, out: &mut Out<Pool>) {
        if self.has_asked_quorum(site, quorums) {
            return;
        }
        let picker = site.picker_for(quorums.of(self.units.count));
        let asked: Vec<SiteId> = self.asked(site).iter().collect();
        let all_asked: Vec<SiteId> = self.permissions.keys().copied().collect();
        let quorum = picker.replacement(&asked).or_else(|| picker.reachable(&all_asked));
        match quorum {
            Some(quorum) => quorum.iter().for_each(|arbiter| self.ask_another(arbiter, out)),
            // Several sessions may have ended at once, and it is about to learn of their loss.
            None if self.inside.is_some() => {}
            None => self.withdraw(site, out),
        }
    }

    /// Gives everything back and leaves all queues, but keeps its ticket.
    fn withdraw(&mut self, site: &Shared, out: &mut Out<Pool>) {
        if self.permissions.is_empty() {
            return;
        }
        self.permissions.retain(|&arbiter, _| site.session_at(arbiter).is_some());
        self.leave(out);
        self.permissions.clear();
        self.choice = None;
        self.attempt = self.attempt.next();
    }

    pub(super) fn ask_another(&mut self, arbiter: SiteId, out: &mut Out<Pool>) {
        if !self.permissions.contains_key(&arbiter) {
            self.ask(arbiter, out);
            self.repaired = true;
        }
    }

    fn has_asked_quorum(&self, site: &Shared, quorums: &UnitQuorums) -> bool {
        site.picker_for(quorums.of(self.units.count)).is_quorum(&self.asked(site))
    }

    /// The arbiters that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.permissions.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}

impl Arbiter {
    /// The session of `client` here has ended: takes back what was lent in it.
    pub(super) fn on_closed(&mut self, site: &mut Shared, client: SiteId, out: &mut Out<Pool>) {
        let gone = self.queue.remove_site(client);
        if gone.is_empty() {
            return out.ignore("it had nothing here");
        }
        let lent = gone.iter().map(Entry::lent).sum();
        self.take_back(lent);
        if lent > 0 {
            site.skip_fences(out);
        }
        self.new_chance(site, out);
    }

    /// The quarantine after a restart is over: lends.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<Pool>) {
        self.new_chance(site, out);
    }
}
