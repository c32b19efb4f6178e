//! A request and the permissions it needs.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::permission::{Loan, Permission};
use super::{Message, Mutex, Release};
use crate::{Fence, Out, Shared, Ticket, Violation};

/// A request, with the permission of every arbiter that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    /// The sites that cannot pass this request a permission, because our session there was closed
    /// at some time since the request was made. It only grows (I6).
    pub(super) cut: BTreeSet<SiteId>,
    /// A sorted vector: most have a handful of entries, and there may be many requests.
    pub(super) permissions: LiteMap<SiteId, Permission>,
    /// Whether the arbiters that were asked may be other than exactly one quorum.
    pub(super) repaired: bool,
    /// Whether it has been inside for long and asks every site it reaches for a spare permission.
    pub(super) stays: bool,
    /// Whether the caller inside has left and the next caller of this site waits for its fence.
    pub(super) turning: bool,
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

    /// The arbiters whose permission is in hand, in a session that has not ended. Several sessions
    /// may have ended at once; their `Lost` inputs come one by one.
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
    pub(super) fn has_quorum(&self, site: &Shared) -> bool {
        if self.repaired {
            return site.is_quorum(&self.counted(site));
        }
        let counts = |(&arbiter, permission): (&SiteId, &Permission)| {
            permission.held && site.session_at(arbiter).is_some()
        };
        self.permissions.iter().all(counts)
    }

    /// The lowest fence above all earlier ones: an error if it is not below every ceiling.
    pub(super) fn fence(&self) -> Result<Fence, Fence> {
        let held = || self.permissions.values().filter(|permission| permission.held);
        let fence = held().map(|permission| permission.fences.floor).max();
        let fence = fence.expect("a quorum has a member");
        if held().all(|permission| fence < permission.fences.ceil) { Ok(fence) } else { Err(fence) }
    }

    /// The permission a message is about, unless it is about a former request (E3).
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

    /// The permission a message is about, unless it is about a former loan (E6).
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

    /// The loans in hand with an open inquire.
    pub(super) fn inquired(&self) -> Vec<Loan> {
        let open = self.permissions.iter().filter(|(_, permission)| permission.is_inquired());
        let loan = |(&arbiter, permission): (&SiteId, &Permission)| Loan {
            arbiter,
            ticket: self.ticket,
            number: permission.number,
        };
        open.map(loan).collect()
    }

    /// Action C.1: releases or passes on what is held, and cancels the rest. `fence` is the one
    /// used inside.
    ///
    /// All passes go out before the reports, because the next entry waits for the passes alone.
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
