//! The requester half: collects the permissions of a quorum for one claim at a time.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::permission::{Loan, Permission};
use super::request::Request;
use super::{Fences, Grant, Message, Mutex, Options, Target};
use crate::{ClaimId, Fence, GrantNo, Out, SessionNo, Shared, Ticket, Violation};

/// The requester half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    pub(super) options: Options,
    pub(super) phase: Phase,
}

/// The state of the site's one claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// There is no claim.
    Idle,
    /// It waits for permissions.
    Waiting(Request),
    /// It is inside with this fence.
    Inside(Request, Fence),
}

impl Phase {
    pub(super) fn request(&self) -> Option<&Request> {
        match self {
            Phase::Idle => None,
            Phase::Waiting(request) | Phase::Inside(request, _) => Some(request),
        }
    }

    pub(super) fn request_mut(&mut self) -> Option<&mut Request> {
        match self {
            Phase::Idle => None,
            Phase::Waiting(request) | Phase::Inside(request, _) => Some(request),
        }
    }
}

impl Requester {
    pub(super) fn new(options: Options) -> Self {
        Self { options, phase: Phase::Idle }
    }

    /// Action A.1: asks every arbiter of our quorum for its permission.
    ///
    /// **Deviation.** A.1 also resets *lock*. A site that has lent its permission would then lend
    /// it again, to itself (E1). Here only the arbiter half writes it.
    /// Scenario: `mutex/e1_own_request_keeps_the_lock`.
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        if self.phase != Phase::Idle {
            return Err(Violation::Busy);
        }
        let (quorum, repaired) = match site.quorum() {
            Some(quorum) => (quorum, false),
            None if site.may_ask() => (site.reachable(), true),
            None => return Err(Violation::NoQuorum),
        };
        let ticket = Ticket { time: site.ticket_time(), site: site.site(), claim };
        let cut: BTreeSet<SiteId> = site.unreachable().iter().collect();
        let mut permissions = LiteMap::with_capacity(quorum.len());
        for arbiter in quorum.iter() {
            out.send(arbiter, Message::Request { ticket, held: false, cut: cut.clone() });
            permissions.insert(arbiter, Permission::default());
        }
        let (stays, turning) = (false, false);
        self.phase = Phase::Waiting(Request { ticket, cut, permissions, repaired, stays, turning });
        Ok(())
    }

    /// Actions A.6 and B: takes a permission in hand, and enters with the last one. `session` is
    /// the one in which the request waited at the arbiter.
    ///
    /// A permission that arrives while we are inside is kept: it may replace one that is lost.
    ///
    /// **Deviation.** A.6 answers an open inquire first and may yield although the quorum is
    /// complete (E9). Here entering comes first.
    pub(super) fn on_reply(
        &mut self,
        site: &Shared,
        loan: Loan,
        session: SessionNo,
        fences: Fences,
        then: BTreeSet<Target>,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        if loan.ticket == request.ticket && site.session_at(loan.arbiter) != Some(session) {
            out.ignore("it was asked for in another session");
            return Ok(());
        }
        let Some(permission) = request.permission(loan, out)? else { return Ok(()) };
        let number = loan.number;
        if number <= permission.number || number <= permission.refused {
            out.ignore("the loan is known already, or was refused");
            return Ok(());
        }
        permission.held = true;
        permission.number = number;
        permission.failed = false;
        permission.update_fences(fences);
        permission.inquired = permission.inquired.filter(|&inquired| inquired >= number);
        permission.record_next(number, then, self.options.lists);
        let inquired = permission.is_inquired();
        if !self.try_to_enter(site, out) && inquired {
            self.answer_inquire(site, loan, false, out);
        }
        Ok(())
    }

    /// Action A.3: yields, or leaves the inquire open.
    ///
    /// **Deviation.** A.3 yields even from inside (E2). Here the release is the answer then.
    /// Scenario: `mutex/e2_inside_never_yields`.
    pub(super) fn on_inquire(
        &mut self,
        site: &Shared,
        loan: Loan,
        then: Option<Target>,
        demand: bool,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission_of_loan(loan, out)? else { return Ok(()) };
        permission.record_next(loan.number, then.into_iter().collect(), self.options.lists);
        self.answer_inquire(site, loan, demand, out);
        Ok(())
    }

    /// Action A.5: records which request comes next, also before the loan has arrived.
    ///
    /// **Deviation.** A.5 drops a transfer that overtakes its reply, and the permission then
    /// returns by way of the arbiter (E7). Scenario: `mutex/e7_transfer_before_its_reply`.
    pub(super) fn on_transfer(
        &mut self,
        loan: Loan,
        next: Target,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission_of_loan(loan, out)? else { return Ok(()) };
        permission.record_next(loan.number, BTreeSet::from([next]), self.options.lists);
        Ok(())
    }

    /// Action A.7: the request has to wait at `arbiter`, so it answers all open inquires.
    pub(super) fn on_fail(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Phase::Waiting(request) = &mut self.phase else {
            out.ignore("the request is over, or inside");
            return Ok(());
        };
        let loan = Loan { arbiter, ticket, number: GrantNo::default() };
        let Some(permission) = request.permission(loan, out)? else { return Ok(()) };
        if permission.held {
            out.ignore("the permission overtook its refusal");
            return Ok(());
        }
        permission.failed = true;
        self.answer_open_inquires(site, out);
        Ok(())
    }

    /// Action C.1: leaves, and passes every permission to the next request that is known.
    pub(super) fn release(
        &mut self,
        site: &Shared,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Inside(request, fence) if request.ticket.claim == claim => {
                self.disarm_stay(&request, out);
                request.leave(site, Some(fence), out);
                Ok(())
            }
            other => {
                self.phase = other;
                Err(Violation::NotInside(claim))
            }
        }
    }

    /// Gives up waiting: leaves without having been inside.
    pub(super) fn abandon(
        &mut self,
        site: &Shared,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Waiting(request) if request.ticket.claim == claim => {
                request.leave(site, None, out);
                Ok(())
            }
            other => {
                self.phase = other;
                Err(Violation::NotWaiting(claim))
            }
        }
    }

    /// The sites whose permission is in hand, once the claim is inside.
    pub(super) fn lenders(&self, claim: ClaimId) -> Option<SiteSet> {
        match &self.phase {
            Phase::Inside(request, _) if request.ticket.claim == claim => Some(request.held()),
            _ => None,
        }
    }

    /// Action B: enters if the permissions in hand contain a quorum and their ceilings leave room
    /// for a fence above all earlier ones. False if a request still waits.
    pub(super) fn try_to_enter(&mut self, site: &Shared, out: &mut Out<Mutex>) -> bool {
        let Phase::Waiting(request) = &mut self.phase else {
            self.try_to_turn(site, out);
            return true;
        };
        if !request.has_quorum(site) {
            return false;
        }
        let fence = match request.fence() {
            Ok(fence) => fence,
            Err(fence) => {
                let ceil = fence.plus(site.fence_block());
                request.raise(ceil, out);
                return false;
            }
        };
        let Phase::Waiting(mut request) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            unreachable!("the request was waiting just above");
        };
        for (_, permission) in request.permissions.iter_mut() {
            permission.inquired = None;
        }
        let ticket = request.ticket;
        let allowed = request.permissions.values().all(|p| !p.held || fence < p.fences.ceil);
        assert!(allowed, "I10: a fence lies below every ceiling of its quorum");
        self.phase = Phase::Inside(request, fence);
        out.grant(ticket.claim, Grant { ticket, fence });
        self.arm_stay(ticket.claim, out);
        true
    }

    /// Yields if the request has a fail, or if a request from inside demands the permission.
    /// Otherwise the inquire stays open. Inside, the release is the answer.
    fn answer_inquire(&mut self, site: &Shared, loan: Loan, demand: bool, out: &mut Out<Mutex>) {
        let Phase::Waiting(request) = &mut self.phase else { return };
        let must_yield = demand || request.permissions.values().any(|permission| permission.failed);
        let permission = request.permissions.get_mut(&loan.arbiter).expect("it was asked");
        if must_yield && permission.held && permission.number == loan.number {
            permission.give_way(site, loan, self.options.yield_pass, out);
            if demand {
                // This request has to wait now, so others may need what it holds.
                self.answer_open_inquires(site, out);
            }
        } else {
            permission.inquired = Some(loan.number);
        }
    }

    fn answer_open_inquires(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let inquired = self.phase.request().map(Request::inquired).unwrap_or_default();
        for loan in inquired {
            self.answer_inquire(site, loan, false, out);
        }
    }
}
