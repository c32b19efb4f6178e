//! The requester half: each claim of the site collects the votes of a quorum, or follows a pivot.
//!
//! Manabe & Park 2004, figure 1(a). The figure blocks inside a handler while in the critical
//! section; here entry is an effect and exit an input. `repair.rs` has what happens when sessions
//! end.

use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::closing::Closing;
use super::request::{Lead, Phase, Request};
use super::{Claim, Grant, Group, GroupLock, Groups, Message, Options, Via};
use crate::no_wait::NoWait;
use crate::{
    ClaimId, ClaimView, Fence, Fences, Out, SessionNo, Shared, Ticket, ValidityBasis, Violation,
};

/// The requester half of a site: one of the paper's requesting processes for each claim, and the
/// occupancies whose pivots have left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    pub(super) options: Options,
    pub(super) requests: LiteMap<ClaimId, Request>,
    pub(super) closings: BTreeMap<Ticket, Closing>,
}

/// The fields of an OK message.
pub(super) struct OkVote {
    pub(super) ticket: Ticket,
    pub(super) fences: Fences,
    pub(super) waiting: Vec<(Ticket, Groups)>,
}

/// The fields of an Enter message.
pub(super) struct Enter {
    pub(super) ticket: Ticket,
    pub(super) pivot: Ticket,
    pub(super) group: Group,
    pub(super) fence: Fence,
    pub(super) right: SessionNo,
}

impl Requester {
    pub(super) fn new(options: Options) -> Self {
        Self { options, requests: LiteMap::new(), closings: BTreeMap::new() }
    }

    /// Figure 1(a), request: asks every manager of a quorum for its vote. An earlier occupancy of
    /// this site may still be closing (E1).
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        id: ClaimId,
        Claim { groups, no_wait }: Claim,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        if groups.is_empty() {
            return Err(Violation::NoGroups);
        }
        if self.requests.contains_key(&id) {
            return Err(Violation::Busy);
        }
        let (quorum, repaired) = match site.quorum() {
            Some(quorum) => (quorum, false),
            None if site.may_ask() => (site.reachable(), true),
            None => return Err(Violation::NoQuorum),
        };
        let ticket = Ticket { time: site.ticket_time(), site: site.site(), claim: id };
        let votes = LiteMap::with_capacity(quorum.len());
        let (stays, phase, no_wait) = (false, Phase::Waiting, NoWait::new(no_wait));
        let mut request = Request { ticket, groups, votes, repaired, stays, phase, no_wait };
        for manager in quorum.iter() {
            request.send_request(manager, out);
        }
        self.requests.insert(id, request);
        Ok(())
    }

    /// Figure 1(a), arrival of OK: records a vote, and enters once the votes contain a quorum.
    ///
    /// A pivot inside keeps further votes: they may replace lost ones.
    pub(super) fn on_ok(
        &mut self,
        site: &Shared,
        manager: SiteId,
        OkVote { ticket, fences, waiting }: OkVote,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let Some(request) = self.request(ticket) else {
            out.ignore("the request is over");
            return Ok(());
        };
        if let Phase::Follower(_) = request.phase {
            out.ignore("the request is inside already");
            return Ok(());
        }
        let vote = request.votes.get_mut(&manager).ok_or(Violation::NotAsked(manager))?;
        vote.take(fences, waiting);
        request.send_lock_if_pivot(site, manager, out);
        self.try_to_enter(site, ticket.claim, out);
        Ok(())
    }

    /// Wait: a manager has lent its vote to another request.
    pub(super) fn on_wait(&mut self, ticket: Ticket) {
        if let Some(request) = self.request(ticket) {
            request.no_wait.hold_up();
        }
    }

    /// Figure 1(a), arrival of Enter: enters as a follower, and withdraws from the other managers.
    pub(super) fn on_enter(
        &mut self,
        manager: SiteId,
        Enter { ticket, pivot, group, fence, right }: Enter,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let Some(request) = self.request(ticket) else {
            out.ignore("the request is over");
            return Ok(());
        };
        if request.phase != Phase::Waiting {
            out.ignore("the request is inside already");
            return Ok(());
        }
        if !request.votes.contains_key(&manager) {
            return Err(Violation::NotAsked(manager));
        }
        if !request.groups.contains(&group) {
            return Err(Violation::NotClaimed(ticket));
        }
        request.withdraw(Some(manager), out);
        request.votes.clear();
        request.phase = Phase::Follower(manager);
        let via = Via::Follower { manager, pivot, right };
        out.grant(ticket.claim, Grant { ticket, group, fence, via });
        Ok(())
    }

    /// Figure 1(a), arrival of Cancel: gives the vote back. A request inside does not answer: its
    /// Lock or `NoNeed` is already on its way.
    pub(super) fn on_cancel(
        &mut self,
        manager: SiteId,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let Some(request) = self.request(ticket) else {
            out.ignore("the request is over");
            return Ok(());
        };
        if request.phase != Phase::Waiting {
            out.ignore("the request is inside already");
            return Ok(());
        }
        let vote = request.votes.get_mut(&manager).ok_or(Violation::NotAsked(manager))?;
        vote.held = false;
        vote.waiting = Vec::new();
        request.no_wait.hold_up();
        out.send(manager, Message::Cancelled { ticket });
        Ok(())
    }

    /// Raised: a manager has raised its fence ceiling.
    pub(super) fn on_raised(
        &mut self,
        site: &Shared,
        manager: SiteId,
        ticket: Ticket,
        ceil: Fence,
        out: &mut Out<GroupLock>,
    ) {
        let request = self.request(ticket);
        let Some(vote) = request.and_then(|request| request.votes.get_mut(&manager)) else {
            return out.ignore("the request is over");
        };
        vote.fences.ceil = vote.fences.ceil.max(ceil);
        self.try_to_enter(site, ticket.claim, out);
    }

    /// Figure 1(a), arrival of Finished: the followers admitted by a manager have left. Sends Over
    /// when this is true of all managers.
    pub(super) fn on_finished(
        &mut self,
        manager: SiteId,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) {
        let Some(closing) = self.closings.get_mut(&ticket) else {
            return out.ignore("the occupancy is over");
        };
        closing.pending.remove(manager);
        if closing.end_if_finished(out) {
            self.closings.remove(&ticket);
        }
    }

    /// Figure 1(a), exit: a pivot starts to close its occupancy; a follower sends `NoNeed` to the
    /// manager that admitted it.
    pub(super) fn release(
        &mut self,
        site: &Shared,
        id: ClaimId,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let inside = self.requests.get(&id).filter(|request| request.phase != Phase::Waiting);
        inside.ok_or(Violation::NotInside(id))?;
        let mut request = self.requests.remove(&id).expect("the claim is inside");
        match std::mem::replace(&mut request.phase, Phase::Waiting) {
            Phase::Waiting => unreachable!("a waiting request is not inside"),
            Phase::Follower(manager) => {
                out.send(manager, Message::NoNeed { ticket: request.ticket });
            }
            Phase::Pivot(lead) => {
                self.disarm_stay(&request, out);
                let closing = Closing::start(&request, lead, site, out);
                if !closing.end_if_finished(out) {
                    self.closings.insert(request.ticket, closing);
                }
            }
        }
        Ok(())
    }

    /// The caller gives up: sends `NoNeed` to all managers. Not in the paper.
    pub(super) fn abandon(
        &mut self,
        id: ClaimId,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let waits = self.requests.get(&id).filter(|request| request.phase == Phase::Waiting);
        waits.ok_or(Violation::NotWaiting(id))?.withdraw(None, out);
        self.requests.remove(&id);
        Ok(())
    }

    /// Figure 1(a), K = Q: enters as a pivot if the votes held contain a quorum and allow a new
    /// fence. The pivot is inside as soon as Lock is sent; no answer is needed.
    pub(super) fn try_to_enter(&mut self, site: &Shared, id: ClaimId, out: &mut Out<GroupLock>) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        if request.phase != Phase::Waiting || !request.is_complete(site) {
            return;
        }
        let fence = match request.fence() {
            Ok(fence) => fence,
            Err(fence) => return request.send_raise(fence.plus(site.fence_block()), out),
        };
        let group = request.choose(self.options.choice);
        let lead = Lead { group: group.clone(), fence, admitting: SiteSet::new() };
        request.phase = Phase::Pivot(lead);
        for manager in request.held().iter() {
            request.send_lock_if_pivot(site, manager, out);
        }
        out.grant(id, Grant { ticket: request.ticket, group, fence, via: Via::Pivot });
        self.arm_stay(id, out);
    }

    /// What the validity of a claim inside depends on.
    pub(super) fn validity_basis(&self, id: ClaimId) -> ValidityBasis {
        match self.requests.get(&id).map(|request| (&request.phase, request)) {
            Some((Phase::Pivot(_), request)) => ValidityBasis::Permissions(request.held()),
            Some((Phase::Follower(manager), request)) => {
                ValidityBasis::Delegation(*manager, request.ticket)
            }
            Some((Phase::Waiting, _)) | None => ValidityBasis::Nothing,
        }
    }

    /// Our pivots whose occupancy is not over, and the managers that voted for each.
    pub(super) fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        let leads = |request: &&Request| matches!(request.phase, Phase::Pivot(_));
        let inside = self.requests.values().filter(leads);
        let inside = inside.map(|request| (request.ticket, request.held()));
        inside.chain(self.closings.values().map(|closing| (closing.ticket, closing.votes.clone())))
    }

    /// The managers that have the right to admit followers, each with the pivot to follow.
    pub(super) fn admission_rights(&self) -> impl Iterator<Item = (SiteId, Ticket)> + '_ {
        let inside = self.requests.values().filter_map(|request| match &request.phase {
            Phase::Pivot(lead) => Some((request.ticket, &lead.admitting)),
            _ => None,
        });
        let closing = self.closings.values().map(|closing| (closing.ticket, &closing.pending));
        let all = inside.chain(closing);
        all.flat_map(|(pivot, managers)| managers.iter().map(move |manager| (manager, pivot)))
    }

    /// What the validity of a pivot depends on until its occupancy is over.
    pub(super) fn lead_validity_basis(&self, pivot: Ticket) -> ValidityBasis {
        if let Some(closing) = self.closings.get(&pivot) {
            return ValidityBasis::Permissions(closing.votes.clone());
        }
        let request = self.requests.get(&pivot.claim).filter(|request| request.ticket == pivot);
        match request.map(|request| &request.phase) {
            Some(Phase::Pivot(_)) => self.validity_basis(pivot.claim),
            _ => ValidityBasis::Nothing,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.closings.is_empty()
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        self.requests.values().map(Request::view).collect()
    }

    pub(super) fn view_of(&self, claim: ClaimId) -> Option<ClaimView> {
        self.requests.get(&claim).map(Request::view)
    }

    /// The request that a message is about, if it is not over.
    fn request(&mut self, ticket: Ticket) -> Option<&mut Request> {
        self.requests.get_mut(&ticket.claim).filter(|request| request.ticket == ticket)
    }
}

impl Request {
    fn view(&self) -> ClaimView {
        ClaimView {
            ticket: self.ticket,
            inside: self.phase != Phase::Waiting,
            held_up: self.phase == Phase::Waiting && self.no_wait == NoWait::HeldUp,
            missing: self.missing().collect(),
        }
    }
}
