//! The requester half: collects the permissions of a quorum for each claim of the site.

use std::time::Duration;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::request::Request;
use super::unit_quorums::UnitQuorums;
use super::{Claim, Grant, Message, Pool, TryNo};
use crate::no_wait::NoWait;
use crate::{ClaimId, ClaimView, Fence, Fences, GrantNo, Out, Shared, Ticket, Violation};

/// The requester half of a site: one of the paper's requesters for each claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    pub(super) quorums: UnitQuorums,
    /// When a request inside asks for spare permissions.
    pub(super) spares: Option<Duration>,
    pub(super) requests: LiteMap<ClaimId, Request>,
}

impl Requester {
    pub(super) fn new(quorums: UnitQuorums, spares: Option<Duration>) -> Self {
        Self { quorums, spares, requests: LiteMap::new() }
    }

    /// Figure 1, *request*: asks every arbiter of a quorum for so many units; none if there is no
    /// quorum now.
    ///
    /// **Deviation.** The clock advances with every request. The paper advances it on receipt only,
    /// and if a request is given up the next one could have the same ticket (E3). Queues are
    /// ordered by time before site; as printed, the lowest site wins for ever (E2).
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        id: ClaimId,
        Claim { units, numbered, no_wait }: Claim,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        self.quorums.check(units)?;
        if self.requests.contains_key(&id) {
            return Err(Violation::Busy);
        }
        let quorums = site.picker_for(self.quorums.of(units.count));
        let quorum = quorums.quorum();
        if quorum.is_none() && !quorums.may_ask() {
            return Err(Violation::NoQuorum);
        }
        let ticket = Ticket { time: site.ticket_time(), site: site.site(), claim: id };
        let mut request = Request {
            ticket,
            attempt: TryNo::default(),
            units,
            permissions: LiteMap::with_capacity(quorum.as_ref().map_or(0, SiteSet::len)),
            repaired: quorum.is_none(),
            inside: None,
            stays: false,
            numbered,
            choice: None,
            no_wait: NoWait::new(no_wait),
        };
        match quorum {
            Some(quorum) => quorum.iter().for_each(|arbiter| request.ask(arbiter, out)),
            None => request.ask_quorum(site, &self.quorums, out),
        }
        self.requests.insert(id, request);
        Ok(())
    }

    /// Figure 1, *ok*: takes a permission in hand, and enters with the last one.
    ///
    /// A permission that arrives while we are inside is kept: it may replace one that is lost.
    pub(super) fn on_ok(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        number: GrantNo,
        fences: Fences,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        let Some(request) = self.request(ticket) else {
            out.ignore("the request is over");
            return Ok(());
        };
        let permission =
            request.permissions.get_mut(&arbiter).ok_or(Violation::NotAsked(arbiter))?;
        if number <= permission.number {
            out.ignore("the loan is known already, or was given back");
            return Ok(());
        }
        permission.take(number, fences);
        self.try_to_enter(site, ticket.claim, out);
        Ok(())
    }

    /// A request with `no_wait` has to wait at an arbiter.
    pub(super) fn on_wait(&mut self, ticket: Ticket) {
        if let Some(request) = self.request(ticket) {
            request.no_wait.hold_up();
        }
    }

    /// Figure 1, *cancel*: gives a permission back, also one that is still in transit (E4). Inside,
    /// the release is the answer.
    pub(super) fn on_cancel(
        &mut self,
        arbiter: SiteId,
        ticket: Ticket,
        number: GrantNo,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        let Some(request) = self.request(ticket) else {
            out.ignore("the request is over");
            return Ok(());
        };
        let (inside, naming) = (request.inside.is_some(), request.choice.is_some());
        let permission =
            request.permissions.get_mut(&arbiter).ok_or(Violation::NotAsked(arbiter))?;
        if inside {
            out.ignore("the request is inside");
        } else if number < permission.number {
            out.ignore("the loan is over");
        } else if naming {
            permission.names.recalled = true;
            out.ignore("the request is about to enter");
        } else {
            permission.number = number;
            permission.give_back(arbiter, ticket, out);
            request.no_wait.hold_up();
        }
        Ok(())
    }

    /// How many units a claim asks for; `None` if the claim is over.
    pub(super) fn units(&self, claim: ClaimId) -> Option<u32> {
        self.requests.get(&claim).map(|request| request.units.count)
    }

    /// An arbiter has raised its fence ceiling.
    pub(super) fn on_raised(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        ceil: Fence,
        out: &mut Out<Pool>,
    ) {
        let request = self.request(ticket);
        let Some(permission) = request.and_then(|r| r.permissions.get_mut(&arbiter)) else {
            return out.ignore("the request is over");
        };
        permission.fences.ceil = permission.fences.ceil.max(ceil);
        self.try_to_enter(site, ticket.claim, out);
    }

    /// Figure 1, *exit*: leaves, and gives everything back.
    ///
    /// **Deviation.** The paper does not empty K: a cancel that crosses the release is then
    /// answered for a request that is over (E1). Here the request is removed.
    pub(super) fn release(&mut self, id: ClaimId, out: &mut Out<Pool>) -> Result<(), Violation> {
        self.requests.get(&id).filter(|r| r.inside.is_some()).ok_or(Violation::NotInside(id))?;
        self.leave(id, out);
        Ok(())
    }

    /// Gives up waiting: leaves without having been inside.
    pub(super) fn abandon(&mut self, id: ClaimId, out: &mut Out<Pool>) -> Result<(), Violation> {
        self.requests.get(&id).filter(|r| r.inside.is_none()).ok_or(Violation::NotWaiting(id))?;
        self.leave(id, out);
        Ok(())
    }

    pub(super) fn leave(&mut self, id: ClaimId, out: &mut Out<Pool>) {
        let request = self.requests.remove(&id).expect("a request that leaves is here");
        self.disarm_stay(&request, out);
        request.leave(out);
    }

    /// Enters if the permissions in hand contain a quorum, the units are named, and the ceilings
    /// leave room for a fence above all earlier ones.
    pub(super) fn try_to_enter(&mut self, site: &Shared, id: ClaimId, out: &mut Out<Pool>) {
        let Some(request) = self.requests.get_mut(&id) else { return };
        if request.inside.is_some() {
            // A permission that arrives now counts once its arbiter has recorded our units.
            request.is_named(out);
            return;
        }
        if !request.has_quorum(site, &self.quorums) {
            return request.withdraw_names(out);
        }
        if !request.is_named(out) {
            return;
        }
        match request.fence() {
            Ok(fence) => {
                request.inside = Some(fence);
                let (ticket, units, numbers) = (request.ticket, request.units, request.numbers());
                out.grant(id, Grant { ticket, units, numbers, fence });
                self.arm_stay(id, out);
            }
            Err(fence) => request.raise(fence.plus(site.fence_block()), out),
        }
    }

    pub(super) fn try_to_enter_all(&mut self, site: &Shared, out: &mut Out<Pool>) {
        let claims: Vec<ClaimId> = self.requests.keys().copied().collect();
        for id in claims {
            self.try_to_enter(site, id, out);
        }
    }

    /// The sites whose permission is in hand, once the claim is inside.
    pub(super) fn lenders(&self, id: ClaimId) -> Option<SiteSet> {
        let request = self.requests.get(&id)?;
        request.inside.map(|_| request.held())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        self.requests.values().map(Request::view).collect()
    }

    pub(super) fn view_of(&self, claim: ClaimId) -> Option<ClaimView> {
        self.requests.get(&claim).map(Request::view)
    }

    /// Whether a message answers a try after which its request has withdrawn.
    pub(super) fn has_withdrawn(&mut self, message: &Message) -> bool {
        let request = self.request(message.ticket());
        let attempt = request.map(|request| request.attempt);
        message.attempt().zip(attempt).is_some_and(|(answered, present)| answered != present)
    }

    /// The request a message is about, unless it is over.
    pub(super) fn request(&mut self, ticket: Ticket) -> Option<&mut Request> {
        self.requests.get_mut(&ticket.claim).filter(|request| request.ticket == ticket)
    }
}

impl Request {
    fn view(&self) -> ClaimView {
        ClaimView {
            ticket: self.ticket,
            inside: self.inside.is_some(),
            held_up: self.no_wait == NoWait::HeldUp && self.inside.is_none(),
            missing: self.missing().collect(),
        }
    }
}
