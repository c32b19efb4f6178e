//! The door: a request with the permissions of a quorum enters when enough units are free.

use std::collections::BTreeSet;

use super::request::Request;
use super::requester::{Caller, Requester};
use super::stay::Stay;
use super::{Grant, LedgerPool, Message};
use crate::{Fence, Out, Shared, Ticket};

/// How many callers of a site enter together at most.
///
/// A request of another site waits for one such batch where it would wait for one caller. Scenario:
/// `ledger/callers_enter_together`.
pub(super) const BATCH_MAX: usize = 32;

impl Requester {
    /// L2: enters if the request is at the door, the first caller fits, and the ceilings leave room
    /// for a fence. Otherwise, at the door, it waits like any other request (L6).
    pub(super) fn try_to_enter(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        let Some(request) = self.request.as_mut().filter(|r| r.has_quorum(site)) else {
            return self.yield_if_waiting(site, out);
        };
        let fences = request.fences();
        if fences.floor >= fences.ceil {
            request.raise(fences.floor.plus(site.fence_block()), out);
            return self.yield_if_waiting(site, out);
        }
        let room = usize::try_from(fences.ceil.0 - fences.floor.0).unwrap_or(BATCH_MAX);
        let callers = self.callers_that_fit(room.min(BATCH_MAX));
        if callers.is_empty() {
            return self.yield_if_waiting(site, out);
        }
        let request = self.request.take().expect("it is at the door");
        self.enter(site, &request, callers, out);
        self.hold_up();
        self.ask_for_next(site, out);
    }

    /// The first callers that fit, at most `most`, with the lowest free units. The one that the
    /// request was made for is the first, the others follow by ticket.
    fn callers_that_fit(&self, most: usize) -> Vec<(Caller, BTreeSet<u32>)> {
        let request = self.request.as_ref().expect("a request is at the door");
        let first = request.of.ticket;
        let others = self.order.iter().copied().filter(|&ticket| ticket != first);
        let mut free = self.free_units(request);
        let mut fitting = Vec::new();
        for ticket in std::iter::once(first).chain(others).take(most) {
            let caller = self.waiting[&ticket.claim];
            let count = caller.units.count as usize;
            if free.len() < count {
                break;
            }
            let rest = free.split_off(count);
            fitting.push((caller, free.into_iter().collect()));
            free = rest;
        }
        fitting
    }

    /// The units that no ledger in hand lists as taken, in order (L1).
    fn free_units(&self, request: &Request) -> Vec<u32> {
        let mut taken = vec![false; self.units as usize];
        let ledgers = request.held().filter_map(|arbiter| self.ledgers.get(&arbiter));
        for &unit in ledgers.flat_map(|ledger| ledger.entries.values()).flatten() {
            taken[unit as usize] = true;
        }
        (0..self.units).filter(|&unit| !taken[unit as usize]).collect()
    }

    /// L2: registers the callers with every arbiter whose permission is in hand, in the message
    /// that gives the permission back, and cancels the rest.
    fn enter(
        &mut self,
        site: &Shared,
        request: &Request,
        callers: Vec<(Caller, BTreeSet<u32>)>,
        out: &mut Out<LedgerPool>,
    ) {
        let (of, fences) = (request.of, request.fences());
        let floor = fences.floor.plus(callers.len() as u64);
        assert!(floor <= fences.ceil, "I10: a fence lies below every ceiling of its quorum");
        let named = |(caller, numbers): &(Caller, BTreeSet<u32>)| (caller.ticket, numbers.clone());
        let entries: Vec<(Ticket, BTreeSet<u32>)> = callers.iter().map(named).collect();
        let open = |arbiter: &_| site.session_at(*arbiter).is_some();
        for arbiter in request.held().filter(open) {
            out.send(arbiter, Message::Enter { of, callers: entries.clone(), floor });
        }
        for arbiter in request.missing().filter(open) {
            out.send(arbiter, Message::Cancel { of });
        }
        self.forget_short_ledgers();
        for ((caller, numbers), fence) in callers.into_iter().zip(fences.floor.0..) {
            let id = caller.ticket.claim;
            self.waiting.remove(&id);
            self.order.remove(&caller.ticket);
            let shown = if caller.numbered { numbers.clone() } else { BTreeSet::new() };
            let (ticket, units, fence) = (caller.ticket, caller.units, Fence(fence));
            out.grant(id, Grant { ticket, units, numbers: shown, fence });
            let stay = Stay::new(ticket, numbers, request.held().filter(open));
            stay.arm(self.options, out);
            self.stays.insert(id, stay);
        }
    }
}
