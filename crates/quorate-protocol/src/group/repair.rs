//! What happens when sessions end: requesters replace lost managers, managers take votes back.
//!
//! The paper has no rules for failures (E10); `docs/protocols/group.md`, "When sessions end", lists
//! these. How long a grant is valid is up to the site layer: a follower whose delegation has
//! expired is released like one that leaves.

use quorate_quorum::{SiteId, SiteSet};

use super::manager::Manager;
use super::occupancy::{DetachedFollowers, Status};
use super::request::{Phase, Request};
use super::requester::Requester;
use super::{GroupLock, Message};
use crate::{ClaimId, Out, Shared, Tick, Why};

impl Requester {
    /// A peer has not answered for half a lease: asks others in its place, and keeps its vote.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            request.ask_quorum(site, out);
        }
    }

    /// Our session at `peer` is over: its vote and its delegations no longer count.
    ///
    /// A pivot without a quorum loses its grant, and its followers have stopped, so it does not
    /// wait for them. A request that no longer needs an answer of `peer` may enter now.
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

    /// Takes `peer` out of all requests and closing occupancies.
    pub(super) fn lose_peer(&mut self, site: &Shared, peer: SiteId, out: &mut Out<GroupLock>) {
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            self.lose_vote(site, peer, id, out);
        }
        self.closings.retain(|_, closing| {
            let lost = closing.lose_vote(site, peer);
            if lost {
                closing.send_over(out);
            }
            !lost
        });
    }

    /// Takes the vote or the admission by `peer` from one request.
    fn lose_vote(&mut self, site: &Shared, peer: SiteId, id: ClaimId, out: &mut Out<GroupLock>) {
        let request = self.requests.get_mut(&id).expect("the claim has a request");
        request.votes.remove(&peer);
        request.repaired = true;
        let why = match request.phase {
            Phase::Pivot(_) if !request.is_complete(site) => Why::NoQuorum,
            Phase::Follower(manager) if manager == peer => Why::DelegationExpired,
            _ => return request.ask_quorum(site, out),
        };
        out.lose(id, why);
        let request = self.requests.remove(&id).expect("the claim has a request");
        if why == Why::NoQuorum {
            self.disarm_stay(&request, out);
        }
        for (&manager, vote) in request.votes.iter() {
            let ticket = request.ticket;
            let end = if vote.held { Message::Over { ticket } } else { Message::NoNeed { ticket } };
            out.send(manager, end);
        }
    }

    /// We have a session at `peer` again: sends it the requests that lack a quorum of asked
    /// managers or collect spare votes, and repeats Release where its Finished is missing. Others
    /// are asked too, if that is not enough: a site that was silent answers again by now.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<GroupLock>) {
        if self.is_idle() {
            return out.ignore("there is no request");
        }
        for (_, request) in self.requests.iter_mut() {
            if request.stays || !request.has_asked_quorum(site) {
                request.ask_replacement(peer, out);
            }
            request.ask_quorum(site, out);
        }
        for closing in self.closings.values().filter(|closing| closing.pending.contains(peer)) {
            out.send(peer, Message::Release { ticket: closing.ticket });
        }
    }

    /// The session of `manager` here is over, and with it the manager's right to admit: all
    /// followers it admitted to our pivots have stopped.
    pub(super) fn on_closed(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            if let Phase::Pivot(lead) = &mut request.phase {
                lead.admitting.remove(manager);
            }
        }
        self.closings.retain(|_, closing| {
            let was_pending = closing.pending.remove(manager);
            !(was_pending && closing.end_if_finished(out))
        });
    }

    /// A manager has a session here again: our pivots renew its right to admit.
    pub(super) fn on_opened(&mut self, site: &Shared, manager: SiteId, out: &mut Out<GroupLock>) {
        for (_, request) in self.requests.iter_mut() {
            if request.votes.get(&manager).is_some_and(|vote| vote.held) {
                request.send_lock_if_pivot(site, manager, out);
            }
        }
    }
}

impl Request {
    /// Asks further managers until those asked in live sessions contain a quorum, if one exists.
    fn ask_quorum(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        if self.has_asked_quorum(site) {
            return;
        }
        let prefer: Vec<SiteId> = self.asked(site).iter().collect();
        let quorum = site.replacement(&prefer);
        for manager in quorum.iter().flat_map(SiteSet::iter) {
            self.ask_replacement(manager, out);
        }
    }

    pub(super) fn ask_replacement(&mut self, manager: SiteId, out: &mut Out<GroupLock>) {
        if !self.votes.contains_key(&manager) {
            self.send_request(manager, out);
            self.repaired = true;
        }
    }

    /// Whether the managers asked contain a quorum. A follower needs none.
    fn has_asked_quorum(&self, site: &Shared) -> bool {
        matches!(self.phase, Phase::Follower(_)) || site.is_quorum(&self.asked(site))
    }

    /// The managers that were asked, without the silent ones.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.votes.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}

impl Manager {
    /// The session of `client` here is over: forgets its requests and takes the vote back.
    ///
    /// Its pivot may still be inside, but no longer by our vote, so the next request gets the vote
    /// at once. Which fences the pivot used is unknown; all below the ceiling are skipped.
    pub(super) fn on_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<GroupLock>,
    ) {
        let queued = self.queue.remove_site(client);
        self.unanswered.retain(|pivot| pivot.site != client);
        for (_, detached) in self.detached.iter_mut().filter(|(pivot, _)| pivot.site == client) {
            detached.asked = false;
        }
        let admitted = self.remove_followers(|follower| follower.site == client, out);
        if self.status.holder().is_none_or(|holder| holder.site != client) {
            if !queued && !admitted {
                out.ignore("it had nothing here");
            }
            return;
        }
        site.skip_fences(out);
        if let Status::Locked(occupancy) | Status::Releasing(occupancy) = &mut self.status {
            let followers = std::mem::take(&mut occupancy.followers);
            if !followers.is_empty() {
                let detached = DetachedFollowers { followers, asked: false };
                self.detached.insert(occupancy.pivot, detached);
            }
        }
        self.send_ok(site, out);
    }

    /// We have a session at a peer: a right to admit that its pivot bound to it is in force now.
    pub(super) fn on_open(&mut self, site: &Shared, now: Tick, out: &mut Out<GroupLock>) {
        self.admit(site, now, out);
    }

    /// A pivot's delegation is valid again: the right to admit is no longer suspended.
    pub(super) fn on_delegation_valid(
        &mut self,
        site: &Shared,
        now: Tick,
        out: &mut Out<GroupLock>,
    ) {
        self.admit(site, now, out);
    }

    /// The quarantine after a restart is over: all followers admitted before it have stopped.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<GroupLock>) {
        for ticket in std::mem::take(&mut self.unanswered) {
            out.send(ticket.site, Message::Finished { ticket });
        }
        if self.status == Status::Vacant {
            self.send_ok(site, out);
        }
    }
}
