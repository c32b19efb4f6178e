//! The requester half: collects the permissions of a quorum for one claim at a time.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::permission::{Loan, Permission, Request};
use super::{Fences, Grant, Message, Mutex, Options, Target};
use crate::{ClaimId, Fence, GrantNo, Out, Shared, Ticket, Violation};

/// The requester half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    options: Options,
    pub(super) phase: Phase,
}

/// Where the one claim of the site is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// There is none.
    Idle,
    /// It waits for permissions.
    Waiting(Request),
    /// It has a quorum of them, and uses this fence.
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

    /// Asks every arbiter of our quorum for its permission. Action A.1.
    ///
    /// **Deviation.** A.1 also resets *lock*. A site that has lent its permission would then lend
    /// it again, to itself (E1). Here only the arbiter half can write it.
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
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim };
        let cut: BTreeSet<SiteId> = site.unreachable().iter().collect();
        let mut permissions = LiteMap::with_capacity(quorum.len());
        for arbiter in quorum.iter() {
            out.send(arbiter, Message::Request { ticket, held: false, cut: cut.clone() });
            permissions.insert(arbiter, Permission::default());
        }
        self.phase = Phase::Waiting(Request { ticket, cut, permissions, repaired, turning: false });
        Ok(())
    }

    /// Takes a permission in hand, and enters with the last one. Actions A.6 and B.
    ///
    /// One that comes while we are inside is kept: it may replace one that is lost.
    ///
    /// **Deviation.** A.6 looks for an unanswered inquire first and may give way although the
    /// quorum is complete (E9): entering comes first here.
    pub(super) fn on_reply(
        &mut self,
        site: &Shared,
        (arbiter, to): (SiteId, Target),
        (number, fences): (GrantNo, Fences),
        then: BTreeSet<Target>,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let reply = Loan { arbiter, ticket: to.ticket, number };
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        if to.ticket == request.ticket && site.session_at(arbiter) != Some(to.session) {
            out.ignore("it was asked for in another session");
            return Ok(());
        }
        let Some(permission) = request.permission(reply, out)? else { return Ok(()) };
        if number <= permission.number || number <= permission.refused {
            out.ignore("the loan is known already, or was refused");
            return Ok(());
        }
        permission.held = true;
        permission.number = number;
        permission.failed = false;
        permission.take_fences(fences);
        permission.inquired = permission.inquired.filter(|&asked| asked >= number);
        permission.expect_next(number, then, self.options.lists);
        let inquired = permission.is_inquired();
        if !self.try_to_enter(site, out) && inquired {
            self.answer_inquire(site, reply, false, out);
        }
        Ok(())
    }

    /// Gives way, or leaves the question open. Action A.3.
    ///
    /// **Deviation.** A.3 gives way even from inside (E2): there the release is the answer.
    /// Scenario: `mutex/e2_inside_never_yields`.
    pub(super) fn on_inquire(
        &mut self,
        site: &Shared,
        asked: Loan,
        then: Option<Target>,
        demand: bool,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission_of_loan(asked, out)? else { return Ok(()) };
        permission.expect_next(asked.number, then.into_iter().collect(), self.options.lists);
        self.answer_inquire(site, asked, demand, out);
        Ok(())
    }

    /// Learns who comes next, also while the loan it is good for is still under way. Action A.5.
    ///
    /// **Deviation.** A.5 drops what overtakes the reply, which costs a detour over the arbiter
    /// (E7). Scenario: `mutex/e7_transfer_before_its_reply`.
    pub(super) fn on_transfer(
        &mut self,
        told: Loan,
        next: Target,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission_of_loan(told, out)? else { return Ok(()) };
        permission.expect_next(told.number, BTreeSet::from([next]), self.options.lists);
        Ok(())
    }

    /// Has to wait somewhere, so others may need what it holds. Action A.7.
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
        let said = Loan { arbiter, ticket, number: GrantNo::default() };
        let Some(permission) = request.permission(said, out)? else { return Ok(()) };
        if permission.held {
            out.ignore("the permission overtook its refusal");
            return Ok(());
        }
        permission.failed = true;
        self.answer_all_inquiries(site, out);
        Ok(())
    }

    /// Leaves, and hands every permission to the next request that is known. Action C.1.
    pub(super) fn release(
        &mut self,
        site: &Shared,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Inside(request, fence) if request.ticket.claim == claim => {
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
    pub(super) fn vouchers(&self, claim: ClaimId) -> Option<SiteSet> {
        match &self.phase {
            Phase::Inside(request, _) if request.ticket.claim == claim => Some(request.held()),
            _ => None,
        }
    }

    /// Enters if the permissions in hand contain a quorum and all let us use a fence above those
    /// before. False if a request still waits.
    pub(super) fn try_to_enter(&mut self, site: &Shared, out: &mut Out<Mutex>) -> bool {
        let Phase::Waiting(request) = &mut self.phase else {
            self.try_to_turn(site, out);
            return true;
        };
        if !request.is_complete(site) {
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
            unreachable!("it waited a moment ago");
        };
        for (_, permission) in request.permissions.iter_mut() {
            permission.inquired = None;
        }
        let ticket = request.ticket;
        let allowed = request.permissions.values().all(|p| !p.held || fence < p.fences.ceil);
        assert!(allowed, "I10: a fence lies below every ceiling of its quorum");
        self.phase = Phase::Inside(request, fence);
        out.grant(ticket.claim, Grant { ticket, fence });
        true
    }

    /// Gives way if this request is held up elsewhere, or somebody inside needs the permission;
    /// otherwise the question stays open. Inside, the release is the answer.
    fn answer_inquire(&mut self, site: &Shared, asked: Loan, demand: bool, out: &mut Out<Mutex>) {
        let Phase::Waiting(request) = &mut self.phase else { return };
        let held_up = demand || request.permissions.values().any(|permission| permission.failed);
        let permission = request.permissions.get_mut(&asked.arbiter).expect("it was asked");
        if held_up && permission.held && permission.number == asked.number {
            permission.give_way(site, asked, self.options.yield_pass, out);
            if demand {
                // Now we are held up, and others may need what we hold.
                self.answer_all_inquiries(site, out);
            }
        } else {
            permission.inquired = Some(asked.number);
        }
    }

    fn answer_all_inquiries(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let inquired = self.phase.request().map(Request::inquired).unwrap_or_default();
        for asked in inquired {
            self.answer_inquire(site, asked, false, out);
        }
    }
}
