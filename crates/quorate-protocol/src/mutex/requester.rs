//! The requester half: collects the permissions of a quorum for one claim at a time.

use std::collections::{BTreeMap, BTreeSet};

use quorate_quorum::{SiteId, SiteSet};

use super::{Grant, Message, Mutex, Options, Pass, Release};
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
    /// It has them all.
    Inside(Request, Fence),
}

impl Phase {
    pub(super) fn request(&self) -> Option<&Request> {
        match self {
            Phase::Idle => None,
            Phase::Waiting(request) | Phase::Inside(request, _) => Some(request),
        }
    }

    fn request_mut(&mut self) -> Option<&mut Request> {
        match self {
            Phase::Idle => None,
            Phase::Waiting(request) | Phase::Inside(request, _) => Some(request),
        }
    }
}

/// A request and what is known of each permission it needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) permissions: BTreeMap<SiteId, Permission>,
}

/// One arbiter's permission, as the requester sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand; the paper's *replied*.
    pub(super) held: bool,
    /// The highest loan of it that this request has received: the one in hand, if any.
    pub(super) number: GrantNo,
    /// Whether the arbiter said "not now", or we gave way there. The paper has one such bit for
    /// all arbiters, which is never cleared; a reply clears ours, and spares pointless yields.
    pub(super) failed: bool,
    /// The loan of an inquire that is not answered yet; the paper's `inq_set`.
    pub(super) inquired: Option<GrantNo>,
    /// Who comes next, and the loan for which that is true; the paper's `tran_stack`. It may be
    /// known before the loan arrives (E7).
    pub(super) next: Option<(GrantNo, BTreeSet<Ticket>)>,
    /// The lowest fence that an entry with this permission may use.
    floor: Fence,
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
        let quorum = site.quorum().ok_or(Violation::NoQuorum)?;
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim };
        for arbiter in quorum.iter() {
            out.send(arbiter, Message::Request { ticket });
        }
        let permissions = quorum.iter().map(|site| (site, Permission::default())).collect();
        self.phase = Phase::Waiting(Request { ticket, permissions });
        Ok(())
    }

    /// Takes a permission in hand, and enters with the last one. Actions A.6 and B.
    ///
    /// **Deviation.** A.6 looks for an unanswered inquire first and may give way although the
    /// quorum is complete (E9): entering comes first here.
    pub(super) fn on_reply(
        &mut self,
        reply: Loan,
        then: BTreeSet<Ticket>,
        floor: Fence,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Phase::Waiting(request) = &mut self.phase else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission(reply, out)? else { return Ok(()) };
        if reply.number <= permission.number {
            out.ignore("the loan is known already");
            return Ok(());
        }
        permission.held = true;
        permission.number = reply.number;
        permission.failed = false;
        permission.floor = floor;
        permission.inquired = permission.inquired.filter(|&asked| asked >= reply.number);
        permission.expect_next(reply.number, then, self.options.lists);
        let inquired = permission.is_inquired();
        if request.is_complete() {
            self.enter(out);
        } else if inquired {
            self.answer_inquire(reply, out);
        }
        Ok(())
    }

    /// Gives way, or leaves the question open. Action A.3.
    ///
    /// **Deviation.** A.3 gives way even from inside (E2): there the release is the answer.
    /// Scenario: `mutex/e2_inside_never_yields`.
    pub(super) fn on_inquire(
        &mut self,
        asked: Loan,
        then: Option<Ticket>,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let Some(request) = self.phase.request_mut() else {
            out.ignore("the request is over");
            return Ok(());
        };
        let Some(permission) = request.permission_of_loan(asked, out)? else { return Ok(()) };
        permission.expect_next(asked.number, then.into_iter().collect(), self.options.lists);
        if matches!(self.phase, Phase::Waiting(_)) {
            self.answer_inquire(asked, out);
        }
        Ok(())
    }

    /// Learns who comes next, also while the loan it is good for is still under way. Action A.5.
    ///
    /// **Deviation.** A.5 drops what overtakes the reply, which costs a detour over the arbiter
    /// (E7). Scenario: `mutex/e7_transfer_before_its_reply`.
    pub(super) fn on_transfer(
        &mut self,
        told: Loan,
        next: Ticket,
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
        for asked in request.inquired() {
            self.answer_inquire(asked, out);
        }
        Ok(())
    }

    /// Leaves, and hands every permission to the next request that is known. Action C.1.
    pub(super) fn release(
        &mut self,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Inside(request, fence) if request.ticket.claim == claim => {
                leave(request, Some(fence), out);
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
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match std::mem::replace(&mut self.phase, Phase::Idle) {
            Phase::Waiting(request) if request.ticket.claim == claim => {
                leave(request, None, out);
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
            Phase::Inside(request, _) if request.ticket.claim == claim => {
                Some(request.permissions.keys().copied().collect())
            }
            _ => None,
        }
    }

    fn enter(&mut self, out: &mut Out<Mutex>) {
        let Phase::Waiting(mut request) = std::mem::replace(&mut self.phase, Phase::Idle) else {
            unreachable!("only a waiting request enters");
        };
        let floors = request.permissions.values_mut().map(|permission| {
            permission.inquired = None;
            permission.floor
        });
        let fence = floors.max().expect("a quorum has a member");
        let ticket = request.ticket;
        self.phase = Phase::Inside(request, fence);
        out.grant(ticket.claim, Grant { ticket, fence });
    }

    /// Gives way if this request is held up elsewhere; otherwise the question stays open.
    fn answer_inquire(&mut self, asked: Loan, out: &mut Out<Mutex>) {
        let Phase::Waiting(request) = &mut self.phase else {
            unreachable!("only a waiting request gives way");
        };
        let held_up = request.permissions.values().any(|permission| permission.failed);
        let permission = request.permissions.get_mut(&asked.arbiter).expect("it was asked");
        if held_up && permission.held && permission.number == asked.number {
            permission.give_way(asked, self.options.yield_pass, out);
        } else {
            permission.inquired = Some(asked.number);
        }
    }
}

/// One loan of one permission, as messages name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub(super) arbiter: SiteId,
    pub(super) ticket: Ticket,
    pub(super) number: GrantNo,
}

impl Request {
    /// The arbiters whose permission is not in hand.
    pub(super) fn missing(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.permissions.iter().filter(|(_, p)| !p.held).map(|(&arbiter, _)| arbiter)
    }

    fn is_complete(&self) -> bool {
        self.permissions.values().all(|permission| permission.held)
    }

    /// The permission a message speaks of, unless it speaks of a former request (E3).
    fn permission(
        &mut self,
        loan: Loan,
        out: &mut Out<Mutex>,
    ) -> Result<Option<&mut Permission>, Violation> {
        if loan.ticket != self.ticket {
            out.ignore("the request is over");
            return Ok(None);
        }
        match self.permissions.get_mut(&loan.arbiter) {
            Some(permission) => Ok(Some(permission)),
            None => Err(Violation::NotAsked(loan.arbiter)),
        }
    }

    /// The permission a message speaks of, unless it speaks of a former loan (E6).
    fn permission_of_loan(
        &mut self,
        loan: Loan,
        out: &mut Out<Mutex>,
    ) -> Result<Option<&mut Permission>, Violation> {
        let Some(permission) = self.permission(loan, out)? else { return Ok(None) };
        let in_hand = permission.held && loan.number == permission.number;
        if in_hand || loan.number > permission.number {
            return Ok(Some(permission));
        }
        out.ignore("the loan is over");
        Ok(None)
    }

    /// The loans in hand that arbiters would like back.
    fn inquired(&self) -> Vec<Loan> {
        let open = self.permissions.iter().filter(|(_, permission)| permission.is_inquired());
        let loan = |(&arbiter, permission): (&SiteId, &Permission)| Loan {
            arbiter,
            ticket: self.ticket,
            number: permission.number,
        };
        open.map(loan).collect()
    }
}

impl Permission {
    fn is_inquired(&self) -> bool {
        self.held && self.inquired == Some(self.number)
    }

    /// Notes who comes after loan `number`. Lists keep all that was said of one loan; without
    /// them the last word counts. What was said of a former loan is void.
    fn expect_next(&mut self, number: GrantNo, then: BTreeSet<Ticket>, lists: bool) {
        match &mut self.next {
            Some((known, _)) if *known > number => {}
            Some((known, targets)) if *known == number && (lists || then.is_empty()) => {
                targets.extend(then);
            }
            next => *next = Some((number, then)).filter(|(_, targets)| !targets.is_empty()),
        }
    }

    /// Gives the permission up and goes on waiting for it. With 5.2.1 it goes straight to the
    /// request we give way to.
    pub(super) fn give_way(&mut self, asked: Loan, pass_it: bool, out: &mut Out<Mutex>) {
        let Loan { arbiter, ticket, number } = asked;
        let passed = if pass_it { self.pass(arbiter, self.floor, out) } else { None };
        self.held = false;
        self.failed = true;
        self.inquired = None;
        self.next = None;
        out.send(arbiter, Message::Yield { ticket, number, passed });
    }

    /// Hands the loan in hand to the next request, if it is known.
    fn pass(&mut self, arbiter: SiteId, floor: Fence, out: &mut Out<Mutex>) -> Option<Pass> {
        let (number, mut rest) = self.next.take().filter(|&(known, _)| known == self.number)?;
        let next = rest.pop_first().expect("an announcement names somebody");
        let (number, then) = (number.next(), rest.clone());
        out.send(next.site, Message::Reply { arbiter, ticket: next, number, then, floor });
        Some(Pass { next, rest })
    }
}

/// Gives back or hands on what is held, and cancels the rest; `fence` is the one used inside.
///
/// All hand-overs go out before the reports: the next entry waits for them alone.
fn leave(request: Request, fence: Option<Fence>, out: &mut Out<Mutex>) {
    let ticket = request.ticket;
    let mut reports = Vec::with_capacity(request.permissions.len());
    for (arbiter, mut permission) in request.permissions {
        let report = if permission.held {
            let floor = fence.map_or(permission.floor, Fence::next);
            let passed = permission.pass(arbiter, floor, out);
            Message::Release(Release { ticket, number: permission.number, passed, floor })
        } else {
            Message::Cancel { ticket }
        };
        reports.push((arbiter, report));
    }
    for (arbiter, report) in reports {
        out.send(arbiter, report);
    }
}
