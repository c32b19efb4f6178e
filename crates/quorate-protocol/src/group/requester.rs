//! The requester half: collects the votes of a quorum for each claim of the site, or follows.
//!
//! Manabe & Park 2004, figure 1(a). The figure blocks inside a handler while in the critical
//! section; here entering is an effect and leaving an input.

use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::closing::Closing;
use super::request::{Lead, Phase, Request};
use super::{Claim, Grant, Group, GroupLock, Groups, Message, Options, Via};
use crate::haste::Haste;
use crate::{Basis, ClaimId, ClaimView, Fence, Fences, Out, SessionNo, Shared, Ticket, Violation};

/// The requester half of a site: one of the paper's requesters for each claim, and the sessions
/// that its former pivots have yet to close.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    options: Options,
    pub(super) requests: LiteMap<ClaimId, Request>,
    pub(super) closings: BTreeMap<Ticket, Closing>,
}

/// A manager's message that we may come in.
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

    /// Asks every manager of a quorum for its vote. A former session need not be closed yet (E1).
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        id: ClaimId,
        Claim { groups, hasty }: Claim,
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
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim: id };
        let votes = LiteMap::with_capacity(quorum.len());
        let (phase, haste) = (Phase::Waiting, Haste::new(hasty));
        let mut request = Request { ticket, groups, votes, repaired, phase, haste };
        for manager in quorum.iter() {
            request.ask(manager, out);
        }
        self.requests.insert(id, request);
        Ok(())
    }

    /// Takes a vote in hand, and enters with the last one.
    ///
    /// One that comes while we are inside as a pivot is kept: it may replace one that is lost.
    pub(super) fn on_ok(
        &mut self,
        site: &Shared,
        (manager, ticket): (SiteId, Ticket),
        (fences, waiting): (Fences, Vec<(Ticket, Groups)>),
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
        request.lock_if_inside(site, manager, out);
        self.try_to_enter(site, ticket.claim, out);
        Ok(())
    }

    /// A manager has lent its vote to somebody else.
    pub(super) fn on_wait(&mut self, ticket: Ticket) {
        if let Some(request) = self.request(ticket) {
            request.haste.hold_up();
        }
    }

    /// Comes in on the word of a manager; the others are told to forget us.
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

    /// Gives a vote back. Inside, the lock or the message to forget us is the answer, and it is on
    /// its way.
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
        request.haste.hold_up();
        out.send(manager, Message::Cancelled { ticket });
        Ok(())
    }

    /// A manager lets us use more fences.
    pub(super) fn on_raised(
        &mut self,
        site: &Shared,
        (manager, ticket): (SiteId, Ticket),
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

    /// Nobody is left whom a manager let join us. The last of them closes the session.
    pub(super) fn on_finished(
        &mut self,
        manager: SiteId,
        ticket: Ticket,
        out: &mut Out<GroupLock>,
    ) {
        let Some(closing) = self.closings.get_mut(&ticket) else {
            return out.ignore("the session is over");
        };
        closing.pending.remove(manager);
        if closing.is_over(out) {
            self.closings.remove(&ticket);
        }
    }

    /// Leaves. A pivot closes its session; a follower tells the manager that let it in.
    pub(super) fn release(
        &mut self,
        site: &Shared,
        id: ClaimId,
        out: &mut Out<GroupLock>,
    ) -> Result<(), Violation> {
        let inside = self.requests.get(&id).filter(|request| request.phase != Phase::Waiting);
        inside.ok_or(Violation::NotInside(id))?;
        let mut request = self.requests.remove(&id).expect("it is inside");
        match std::mem::replace(&mut request.phase, Phase::Waiting) {
            Phase::Waiting => unreachable!("who waits is not inside"),
            Phase::Follower(manager) => {
                out.send(manager, Message::NoNeed { ticket: request.ticket });
            }
            Phase::Pivot(lead) => {
                let closing = Closing::of(&request, lead, site, out);
                if !closing.is_over(out) {
                    self.closings.insert(request.ticket, closing);
                }
            }
        }
        Ok(())
    }

    /// Gives up waiting: all managers forget us.
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

    /// Enters as a pivot if the votes in hand contain a quorum and all let us use a fence above
    /// those before. We are inside once the locks are sent: nobody has to answer them.
    pub(super) fn try_to_enter(&mut self, site: &Shared, id: ClaimId, out: &mut Out<GroupLock>) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        if request.phase != Phase::Waiting || !request.is_complete(site) {
            return;
        }
        let fence = match request.fence() {
            Ok(fence) => fence,
            Err(fence) => return request.raise(fence.plus(site.fence_block()), out),
        };
        let group = request.choose(self.options.choice);
        let lead = Lead { group: group.clone(), fence, admitting: SiteSet::new() };
        request.phase = Phase::Pivot(lead);
        for manager in request.held().iter() {
            request.lock_if_inside(site, manager, out);
        }
        out.grant(id, Grant { ticket: request.ticket, group, fence, via: Via::Pivot });
    }

    /// What a claim rests on, once it is inside.
    pub(super) fn basis(&self, id: ClaimId) -> Basis {
        match self.requests.get(&id).map(|request| (&request.phase, request)) {
            Some((Phase::Pivot(_), request)) => Basis::Permissions(request.held()),
            Some((Phase::Follower(manager), request)) => Basis::Word(*manager, request.ticket),
            Some((Phase::Waiting, _)) | None => Basis::Nothing,
        }
    }

    /// Our pivots whose session is not over, inside or not, and the votes each rests on.
    pub(super) fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        let leads = |request: &&Request| matches!(request.phase, Phase::Pivot(_));
        let inside = self.requests.values().filter(leads);
        let inside = inside.map(|request| (request.ticket, request.held()));
        inside.chain(self.closings.values().map(|closing| (closing.ticket, closing.votes.clone())))
    }

    /// The managers that may let others join our pivots, and which.
    pub(super) fn rights(&self) -> impl Iterator<Item = (SiteId, Ticket)> + '_ {
        let inside = self.requests.values().filter_map(|request| match &request.phase {
            Phase::Pivot(lead) => Some((request.ticket, &lead.admitting)),
            _ => None,
        });
        let closing = self.closings.values().map(|closing| (closing.ticket, &closing.pending));
        let all = inside.chain(closing);
        all.flat_map(|(pivot, managers)| managers.iter().map(move |manager| (manager, pivot)))
    }

    /// What a pivot of ours rests on, until its session is over.
    pub(super) fn lead_basis(&self, pivot: Ticket) -> Basis {
        if let Some(closing) = self.closings.get(&pivot) {
            return Basis::Permissions(closing.votes.clone());
        }
        let request = self.requests.get(&pivot.claim).filter(|request| request.ticket == pivot);
        match request.map(|request| &request.phase) {
            Some(Phase::Pivot(_)) => self.basis(pivot.claim),
            _ => Basis::Nothing,
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.closings.is_empty()
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        let view = |request: &Request| ClaimView {
            ticket: request.ticket,
            inside: request.phase != Phase::Waiting,
            held_up: request.phase == Phase::Waiting && request.haste == Haste::HeldUp,
            missing: request.missing().collect(),
        };
        self.requests.values().map(view).collect()
    }

    /// The request a message speaks of, if it is not over.
    fn request(&mut self, ticket: Ticket) -> Option<&mut Request> {
        self.requests.get_mut(&ticket.claim).filter(|request| request.ticket == ticket)
    }
}
