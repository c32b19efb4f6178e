//! The requester half when sessions end: other managers in place of those that are lost.
//!
//! Specified by the site layer's note, sections 4 and 6. Validity is the site's matter: a follower
//! whose word has run out is released like one that leaves.

use quorate_quorum::{SiteId, SiteSet};

use super::request::{Phase, Request};
use super::requester::Requester;
use super::{GroupLock, Message};
use crate::{ClaimId, Out, Shared, Why};

impl Requester {
    /// Nothing was heard of a site for half a lease: asks others in its place, and keeps it.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            request.ask_a_quorum(site, out);
        }
    }

    /// Our session at `peer` is over: its vote does not count any more, nor its word.
    ///
    /// A pivot with the votes of too few is lost, and so are all who joined it: there is nothing to
    /// wait for. Entering may not depend on `peer` any more: try again.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<GroupLock>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        self.lose_peer(site, peer, out);
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            self.try_to_enter(site, id, out);
        }
    }

    /// Everything that counted on `peer` goes on without it.
    pub(super) fn lose_peer(&mut self, site: &Shared, peer: SiteId, out: &mut Out<GroupLock>) {
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            self.lose_vote(site, peer, id, out);
        }
        self.closings.retain(|_, closing| {
            let lost = closing.loses(site, peer);
            if lost {
                closing.end(out);
            }
            !lost
        });
    }

    /// One request loses the vote or the word of `peer`.
    fn lose_vote(&mut self, site: &Shared, peer: SiteId, id: ClaimId, out: &mut Out<GroupLock>) {
        let request = self.requests.get_mut(&id).expect("it was there a moment ago");
        request.votes.remove(&peer);
        request.repaired = true;
        let why = match request.phase {
            Phase::Pivot(_) if !request.is_complete(site) => Why::NoQuorum,
            Phase::Follower(manager) if manager == peer => Why::NoWord,
            _ => return request.ask_a_quorum(site, out),
        };
        out.lose(id, why);
        let request = self.requests.remove(&id).expect("it was there a moment ago");
        for (&manager, vote) in request.votes.iter() {
            let ticket = request.ticket;
            let end = if vote.held { Message::Over { ticket } } else { Message::NoNeed { ticket } };
            out.send(manager, end);
        }
    }

    /// We have a session at `peer` again: asks it for every request that has asked too few, and
    /// whether those it let join a session that is being closed have left.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<GroupLock>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        for (_, request) in self.requests.iter_mut() {
            if !request.has_asked_enough(site) {
                request.ask_another(peer, out);
            }
        }
        for closing in self.closings.values().filter(|closing| closing.pending.contains(peer)) {
            out.send(peer, Message::Release { ticket: closing.ticket });
        }
    }

    /// The session of `manager` here is over, and with it its right to let others join our
    /// pivots: all that it let in have stopped.
    pub(super) fn on_closed(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            if let Phase::Pivot(lead) = &mut request.phase {
                lead.admitting.remove(manager);
            }
        }
        self.closings.retain(|_, closing| {
            let waited = closing.pending.remove(manager);
            !(waited && closing.is_over(out))
        });
    }

    /// A manager has a session here again: our pivots give it the right to admit anew.
    pub(super) fn on_opened(&mut self, site: &Shared, manager: SiteId, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            if request.votes.get(&manager).is_some_and(|vote| vote.held) {
                request.lock_if_inside(site, manager, out);
            }
        }
    }
}

impl Request {
    /// Asks until a quorum is asked in sessions that are neither lost nor silent, if that can be.
    fn ask_a_quorum(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        if self.has_asked_enough(site) {
            return;
        }
        let prefer: Vec<SiteId> = self.asked(site).iter().collect();
        let quorum = site.replacement(&prefer);
        for manager in quorum.iter().flat_map(SiteSet::iter) {
            self.ask_another(manager, out);
        }
    }

    fn ask_another(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        if !self.votes.contains_key(&manager) {
            self.ask(manager, out);
            self.repaired = true;
        }
    }

    /// A follower needs no votes.
    fn has_asked_enough(&self, site: &Shared) -> bool {
        matches!(self.phase, Phase::Follower(_)) || site.is_quorum(&self.asked(site))
    }

    /// The sites that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.votes.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}
