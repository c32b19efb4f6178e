//! A request and the permissions it needs, as its requester sees them.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::{Fences, Message, Mutex, Pass, Release, Target};
use crate::{Fence, GrantNo, Out, Shared, Ticket, Violation};

/// A request and what is known of each permission it has asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    /// The sites that cannot hand this request a permission, because our session there ended
    /// after the request was made, or was not open then. It only grows.
    pub(super) cut: BTreeSet<SiteId>,
    /// A sorted vector, because most have a handful of entries and there may be many requests.
    pub(super) permissions: LiteMap<SiteId, Permission>,
    /// Whether the sites that were asked are not just one quorum.
    pub(super) repaired: bool,
    /// Whether the caller inside has left and the next one of its site waits for its fence.
    pub(super) turning: bool,
}

/// One arbiter's permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand; the paper's *replied*.
    pub(super) held: bool,
    /// The highest loan of it that this request has received: the one in hand, if any.
    pub(super) number: GrantNo,
    /// Loans up to this one are never counted: the arbiter was told so.
    pub(super) refused: GrantNo,
    /// Whether the arbiter said "not now", or we gave way there. The paper has one such bit for
    /// all arbiters, which is never cleared; a reply clears ours, and spares pointless yields.
    pub(super) failed: bool,
    /// The loan of an inquire that is not answered yet; the paper's `inq_set`.
    pub(super) inquired: Option<GrantNo>,
    /// Who comes next, and the loan for which that is true; the paper's `tran_stack`. It may be
    /// known before the loan arrives (E7).
    pub(super) next: Option<Box<Next>>,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that was asked of the arbiter.
    pub(super) raising: Fence,
}

/// Who comes after a loan, and which loan.
pub(super) type Next = (GrantNo, BTreeSet<Target>);

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

    /// The arbiters whose permission is in hand.
    pub(super) fn held(&self) -> SiteSet {
        self.permissions.iter().filter(|(_, p)| p.held).map(|(&arbiter, _)| arbiter).collect()
    }

    /// The arbiters whose permission is in hand, in a session that is not over. Several may be
    /// over at once, and we are told of one after the other.
    pub(super) fn counted(&self, site: &Shared) -> SiteSet {
        let mut counted = self.held();
        for arbiter in self.permissions.keys() {
            if site.session_at(*arbiter).is_none() {
                counted.remove(*arbiter);
            }
        }
        counted
    }

    /// Whether the permissions in hand contain a quorum.
    pub(super) fn is_complete(&self, site: &Shared) -> bool {
        if self.repaired {
            return site.is_quorum(&self.counted(site));
        }
        let counts = |(&arbiter, permission): (&SiteId, &Permission)| {
            permission.held && site.session_at(arbiter).is_some()
        };
        self.permissions.iter().all(counts)
    }

    /// The lowest fence above all before, if every arbiter lets us use it.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.permissions.values().filter(|permission| permission.held);
        let fence = held().map(|permission| permission.fences.floor).max();
        let fence = fence.expect("a quorum has a member");
        if held().all(|permission| fence < permission.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// The permission a message speaks of, unless it speaks of a former request (E3).
    pub(super) fn permission(
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
    pub(super) fn permission_of_loan(
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
    pub(super) fn inquired(&self) -> Vec<Loan> {
        let open = self.permissions.iter().filter(|(_, permission)| permission.is_inquired());
        let loan = |(&arbiter, permission): (&SiteId, &Permission)| Loan {
            arbiter,
            ticket: self.ticket,
            number: permission.number,
        };
        open.map(loan).collect()
    }

    /// Gives back or hands on what is held, and cancels the rest; `fence` is the one used inside.
    ///
    /// All hand-overs go out before the reports: the next entry waits for them alone.
    pub(super) fn leave(self, site: &Shared, fence: Option<Fence>, out: &mut Out<Mutex>) {
        let ticket = self.ticket;
        let mut reports = Vec::with_capacity(self.permissions.len());
        for (arbiter, mut permission) in self.permissions {
            let report = if permission.held {
                let floor = fence.map_or(permission.fences.floor, Fence::next);
                let passed = permission.pass(site, arbiter, floor, out);
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
}

impl Permission {
    pub(super) fn is_inquired(&self) -> bool {
        self.held && self.inquired == Some(self.number)
    }

    /// Takes the fences of a new loan. An arbiter's ceiling only grows, so what it told us of it
    /// during a former loan is still true; a passer may know less. A raise may be asked for again.
    pub(super) fn take_fences(&mut self, fences: Fences) {
        let ceil = self.fences.ceil.max(fences.ceil);
        self.fences = Fences { ceil, ..fences };
        self.raising = Fence::default();
    }

    /// Notes who comes after loan `number`. Lists keep all that was said of one loan; without
    /// them the last word counts. What was said of a former loan is void.
    pub(super) fn expect_next(&mut self, number: GrantNo, then: BTreeSet<Target>, lists: bool) {
        match self.next.as_deref_mut() {
            Some((known, _)) if *known > number => {}
            Some((known, targets)) if *known == number && (lists || then.is_empty()) => {
                targets.extend(then);
            }
            _ if then.is_empty() => self.next = None,
            _ => self.next = Some(Box::new((number, then))),
        }
    }

    /// Gives the permission up and goes on waiting for it. With 5.2.1 it goes straight to the
    /// request we give way to.
    pub(super) fn give_way(
        &mut self,
        site: &Shared,
        asked: Loan,
        pass_it: bool,
        out: &mut Out<Mutex>,
    ) {
        let Loan { arbiter, ticket, number } = asked;
        let floor = self.fences.floor;
        let passed = if pass_it { self.pass(site, arbiter, floor, out) } else { None };
        self.held = false;
        self.failed = true;
        self.inquired = None;
        self.next = None;
        out.send(arbiter, Message::Yield { ticket, number, passed });
    }

    /// Hands the loan in hand to the next request, if it is known and we can reach it.
    fn pass(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        floor: Fence,
        out: &mut Out<Mutex>,
    ) -> Option<Pass> {
        let next = self.next.take().filter(|next| next.0 == self.number)?;
        let (number, mut rest) = *next;
        let next = rest.pop_first().expect("an announcement names somebody");
        site.session_of(next.ticket.site)?;
        let (number, then) = (number.next(), rest.clone());
        let fences = Fences { floor, ceil: self.fences.ceil };
        out.send(next.ticket.site, Message::Reply { arbiter, to: next, number, then, fences });
        Some(Pass { next, rest })
    }
}
