//! One arbiter's permission, as the requester sees it.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::{Fences, Message, Mutex, Pass, Target};
use crate::{Fence, GrantNo, Out, Shared, Ticket};

/// One arbiter's permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Permission {
    /// Whether it is in hand; the paper's *replied*.
    pub(super) held: bool,
    /// The highest loan of it that this request has received: the one in hand, if any.
    pub(super) number: GrantNo,
    /// Loans up to this one are refused, as we have told the arbiter.
    pub(super) refused: GrantNo,
    /// Whether the arbiter sent a fail, or we yielded there. The paper has one such bit for all
    /// arbiters and never clears it; a reply clears ours, which avoids needless yields.
    pub(super) failed: bool,
    /// The loan of an inquire that is not answered yet; the paper's `inq_set`.
    pub(super) inquired: Option<GrantNo>,
    /// The requests that come next, and the loan for which that is true; the paper's
    /// `tran_stack`. They may be known before the loan arrives (E7).
    pub(super) next: Option<Box<Next>>,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that the arbiter was asked for.
    pub(super) raising: Fence,
}

/// A loan, and the requests that come after it.
pub(super) type Next = (GrantNo, BTreeSet<Target>);

/// One loan of one permission, as messages identify it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loan {
    pub(super) arbiter: SiteId,
    pub(super) ticket: Ticket,
    pub(super) number: GrantNo,
}

impl Permission {
    pub(super) fn is_inquired(&self) -> bool {
        self.held && self.inquired == Some(self.number)
    }

    /// Takes the fences of a new loan, after which a raise may be asked for again.
    ///
    /// An arbiter's ceiling only grows, so the highest one received counts: a passer may know a
    /// lower one. Scenario: `mutex/session_raised_ceiling_stays_known`.
    pub(super) fn update_fences(&mut self, fences: Fences) {
        let ceil = self.fences.ceil.max(fences.ceil);
        self.fences = Fences { ceil, ..fences };
        self.raising = Fence::default();
    }

    /// Records which requests come after loan `number`. With lists all announcements of one loan
    /// are kept, otherwise only the latest. Announcements of a former loan are dropped.
    pub(super) fn record_next(&mut self, number: GrantNo, then: BTreeSet<Target>, lists: bool) {
        match self.next.as_deref_mut() {
            Some((known, _)) if *known > number => {}
            Some((known, targets)) if *known == number && (lists || then.is_empty()) => {
                targets.extend(then);
            }
            _ if then.is_empty() => self.next = None,
            _ => self.next = Some(Box::new((number, then))),
        }
    }

    /// Yields the permission and keeps waiting for it. With `pass_it` (section 5.2.1) it goes
    /// straight to the request we yield to.
    pub(super) fn give_way(
        &mut self,
        site: &Shared,
        loan: Loan,
        pass_it: bool,
        out: &mut Out<Mutex>,
    ) {
        let Loan { arbiter, ticket, number } = loan;
        let floor = self.fences.floor;
        let passed = if pass_it { self.pass(site, arbiter, floor, out) } else { None };
        self.held = false;
        self.failed = true;
        self.inquired = None;
        self.next = None;
        out.send(arbiter, Message::Yield { ticket, number, passed });
    }

    /// Passes the loan in hand to the next request, if it is known and we can reach it.
    pub(super) fn pass(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        floor: Fence,
        out: &mut Out<Mutex>,
    ) -> Option<Pass> {
        let next = self.next.take().filter(|next| next.0 == self.number)?;
        let (number, mut rest) = *next;
        let next = rest.pop_first().expect("an announcement names a request");
        site.session_of(next.ticket.site)?;
        let (number, then) = (number.next(), rest.clone());
        let fences = Fences { floor, ceil: self.fences.ceil };
        out.send(next.ticket.site, Message::Reply { arbiter, to: next, number, then, fences });
        Some(Pass { next, rest })
    }
}
